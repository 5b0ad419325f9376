package capture

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/internal/testenv"
)

// window lets a pace live through one window in which so many bytes were offered,
// refused, and taken by patient workers.
func window(p *pace, offered, refused, taken int64) (changed bool) {
	p.offered, p.refused, p.taken = offered, refused, taken
	for range paceWindow {
		changed = p.next() || changed
	}
	return changed
}

// A queue is lossy from when more is lost than taken until little is lost, or until
// it is time to try again; it then holds what is taken in half a second.
func TestPace(t *testing.T) {
	const limit = 64 << 20
	p := pace{on: true}
	for range 10 {
		if window(&p, 100<<20, 50<<20, 10<<20) || p.limit(limit) != limit {
			t.Fatal("lossy although half is captured")
		}
	}
	if !window(&p, 100<<20, 51<<20, 10<<20) || !p.lossy {
		t.Fatal("not lossy although more than half is lost")
	}
	for range 20 {
		window(&p, 100<<20, 90<<20, 6<<20)
	}
	if got := p.limit(limit); got < 9<<20 || got > 11<<20 { // 20 MiB/s
		t.Errorf("a lossy queue of %d bytes", got)
	}
	for range 20 {
		window(&p, 100<<20, 90<<20, 0)
	}
	if got := p.limit(limit); got != shortQueue {
		t.Errorf("the shortest queue has %d bytes", got)
	}
	if window(&p, 100<<20, 26<<20, 0); !p.lossy {
		t.Error("a quarter is lost, and the queue is not lossy any more")
	}
	if !window(&p, 100<<20, 25<<20, 0) || p.lossy || p.limit(limit) != limit {
		t.Error("lossy although less than a quarter is lost")
	}
}

// Tries in vain become rarer, up to a bound, and what is long past is forgotten.
func TestPaceTriesAgain(t *testing.T) {
	p := pace{on: true}
	rest := func() (d time.Duration) {
		for !p.lossy {
			window(&p, 100, 90, 10)
		}
		for ; p.lossy; d += paceWindow * paceEvery {
			window(&p, 100, 90, 10)
		}
		return d
	}
	for i, want := range []time.Duration{firstProbe, 2 * firstProbe, 4 * firstProbe, lastProbe, lastProbe} {
		if got := rest(); got < want || got > want+time.Second {
			t.Errorf("rest %d took %s, want %s", i, got, want)
		}
	}
	for range int(lastProbe/(paceWindow*paceEvery)) + 1 {
		window(&p, 100, 0, 100)
	}
	if got := rest(); got > firstProbe+time.Second {
		t.Errorf("after a time without losses the rest took %s", got)
	}
}

// A flood makes a queue lossy as soon as more was lost than kept in the last ticks,
// wherever in a window it began; once it is over, the next one is judged by itself.
func TestPaceIsQuick(t *testing.T) {
	for phase := range paceWindow {
		p := pace{on: true}
		for range phase {
			p.next()
		}
		tick := func(offered, refused int64) bool {
			p.offered, p.refused = offered, refused
			return p.next()
		}
		if tick(100<<20, 40<<20) || p.lossy { // the queue takes the rest
			t.Errorf("phase %d: lossy although more was kept than lost", phase)
		}
		if !tick(100<<20, 95<<20) || !p.lossy {
			t.Errorf("phase %d: not lossy when more was lost than kept", phase)
		}
		for range 2 * paceWindow {
			tick(0, 0)
		}
		if p.lossy || tick(100<<20, 50<<20) {
			t.Errorf("phase %d: lossy for what is past", phase)
		}
	}
}

// Where the load has fallen far below what was too much, nobody waits for the next try;
// a short lull, or a load that once failed at that height, changes nothing.
func TestPaceTriesAgainAtEbb(t *testing.T) {
	p := pace{on: true}
	one := func(offered int64) {
		for range paceWindow {
			p.offered = offered / paceWindow
			p.refused = p.offered * 9 / 10
			p.next()
		}
	}
	live := func(windows int, offered int64) (stayed int) {
		for ; stayed < windows && p.lossy; stayed++ {
			one(offered)
		}
		return stayed
	}
	if one(400 << 20); !p.lossy {
		t.Fatal("not lossy")
	}
	if live(10, 101<<20) != 10 || !p.lossy {
		t.Error("lossy no more although the load is above a quarter of what was too much")
	}
	if live(ebbWindows-1, 100<<20); live(1, 400<<20) != 1 || !p.lossy {
		t.Error("lossy no more after a short lull")
	}
	if got := live(10, 100<<20); got != ebbWindows || p.lossy {
		t.Errorf("after %d windows of ebb lossy %v, want an end after %d", got, p.lossy, ebbWindows)
	}
	one(100 << 20)
	if live(10, 100<<20) != 10 || !p.lossy {
		t.Error("what failed is tried again although the load is the same")
	}
}

// A load that begins in the midst of a window is measured by its last tick.
func TestFloodThatBegins(t *testing.T) {
	p := pace{on: true}
	for range paceWindow {
		p.next()
	}
	p.offered, p.refused = 10<<20, 9<<20
	if !p.next() || p.flood != paceWindow*10<<20 {
		t.Errorf("lossy %v with a flood of %d bytes", p.lossy, p.flood)
	}
}

// Who had to share a processor rests, who had one for himself does so for half as long
// each time.
func TestRestAfterAnEffort(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		effort  effort
		crowded bool
		calm    int
		want    time.Duration
	}{
		{effort{}, false, 0, 0},
		{effort{cpu: 5 * ms, wall: 5 * ms}, false, 1, 160 * ms},
		{effort{cpu: 5 * ms, wall: 5 * ms}, false, 6, 5 * ms},
		{effort{cpu: 5 * ms, wall: 5 * ms}, false, 7, 0},
		{effort{cpu: 5 * ms, wall: 5 * ms}, false, 1000, 0},
		{effort{cpu: 8 * ms, wall: 9 * ms}, false, 1, 256 * ms},
		{effort{cpu: 8 * ms, wall: 9*ms + 1}, true, 0, 512 * ms},
		{effort{cpu: 5 * ms, wall: 11 * ms}, true, 0, 320 * ms},
		{effort{cpu: 5 * ms, wall: time.Minute}, true, 0, 320 * ms},
		{effort{wall: ms}, true, 0, 0}, // the clock of the thread does not go
	} {
		if got := c.effort.crowded(); got != c.crowded {
			t.Errorf("%+v: crowded %v", c.effort, got)
		}
		if got := c.effort.rest(c.calm); got != c.want {
			t.Errorf("%+v, calm %d: %s, want %s", c.effort, c.calm, got, c.want)
		}
	}
}

// Free processors show in most of several efforts; a crowded one brings back a part of the
// rests, and of many no rest is left out. A time in which nothing was lost begins them anew.
func TestRestsBecomeShorter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1 << 20)
		q.pace.on, q.pace.lossy = true, true
		w := newWorker(&Recorder{queue: q})
		for i, c := range []struct {
			wall, want time.Duration
		}{
			{1300, 64000},
			{1000, 32000},
			{1000, 16000},
			{1000, 8000},
			{1300, 64000},
			{1100, 32000},
			{2000, 64000},
			{2000, 64000},
			{1000, 32000},
			{1000, 16000},
			{1000, 8000},
			{1000, 4000},
			{1000, 2000},
			{1000, 1000},
			{1000, 0},
			{1000, 0},
			{1000, 0},
			{2000, 2000},
			{1000, 1000},
			{1000, 0},
			{2000, 4000},
			{2000, 32000},
			{2000, 64000},
		} {
			w.effort = effort{cpu: 1000, wall: c.wall}
			begin := time.Now()
			if w.rest(); time.Since(begin) != c.want {
				t.Errorf("effort %d: a rest of %s, want %s", i, time.Since(begin), c.want)
			}
		}
		q.pace.lossy = false
		if w.work(); w.calm != 0 {
			t.Error("calm of the last time when much was lost")
		}
	})
}

// While one worker rests, nobody is called in his place because what waits is late.
func TestNobodyIsCalledWhileOneRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1000)
		q.pace.on, q.pace.heavy, q.pace.lossy = true, true, true
		if refused := q.put(&Exchange{}, true); refused != "" {
			t.Fatal(refused)
		}
		q.pace.tick += lateTicks
		w := newWorker(&Recorder{queue: q})
		w.effort = effort{cpu: time.Millisecond, wall: time.Second}
		var done sync.WaitGroup
		done.Go(w.rest)
		synctest.Wait()
		if got := q.takePressed(nil, 1, 1); len(got) != 0 {
			t.Error("an eager worker took it")
		}
		done.Wait()
		if got := q.takePressed(nil, 1, 1); len(got) != 1 {
			t.Error("nobody takes what is late")
		}
	})
}

// A rest takes its time while the queue is lossy, ends within a tick when it is so no
// more, and at once with the queue; without an effort there is none.
func TestRestEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			name     string
			lossy    bool
			effort   effort
			calm     time.Duration // the queue is lossy until then; 0: throughout
			closed   time.Duration // and then closed; 0: never
			from, to time.Duration
		}{
			{"whole", true, effort{cpu: 10, wall: 100}, 0, 0, 640, 640},
			{"long", true, effort{cpu: time.Second, wall: time.Minute}, 0, 0, 64 * time.Second, 64 * time.Second},
			{"no effort", true, effort{}, 0, 0, 0, 0},
			{"not lossy", false, effort{cpu: time.Second, wall: time.Minute}, 0, 0, 0, 0},
			{"calm", true, effort{cpu: time.Second, wall: time.Minute}, time.Second, 0, time.Second, time.Second + paceEvery},
			{"closed", true, effort{cpu: time.Second, wall: time.Minute}, 0, 1010 * time.Millisecond, 1010 * time.Millisecond, 1010 * time.Millisecond},
		} {
			q := newQueue(1 << 20)
			q.pace.on, q.pace.lossy = true, c.lossy
			w := newWorker(&Recorder{queue: q})
			w.effort = c.effort
			if c.calm > 0 {
				time.AfterFunc(c.calm, func() {
					q.mu.Lock()
					q.pace.lossy = false
					q.mu.Unlock()
				})
			}
			if c.closed > 0 {
				time.AfterFunc(c.closed, q.close)
			}
			begin := time.Now()
			w.rest()
			if got := time.Since(begin); got < c.from || got > c.to {
				t.Errorf("%s: %s, want %s to %s", c.name, got, c.from, c.to)
			}
			if w.effort != (effort{}) {
				t.Errorf("%s: the effort counts again", c.name)
			}
		}
	})
}

// Only what is done while the queue is lossy counts as an effort.
func TestEffortIsOfLossyTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := worker{out: new(chunk), sanitize: slow{}}
		for _, lossy := range []bool{false, true} {
			w.lossy = lossy
			if _, drop := w.measured(&Exchange{Target: "/_search", Body: []byte("{}")}); drop != "" {
				t.Fatal(drop)
			}
			if got := w.effort.wall == time.Second; got != lossy {
				t.Errorf("lossy %v: an effort of %s", lossy, w.effort.wall)
			}
		}
	})
}

// slow takes a second.
type slow struct{}

func (slow) Sanitize(r *Record, _ *Exchange) string {
	wait(time.Second)
	r.Op = "search"
	return ""
}

// Whatever happens, a queue may hold at least what a lossy one may and at most its
// limit, and a pace that is off changes nothing.
func TestPaceLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := pace{on: rapid.Bool().Draw(t, "on")}
		limit := rapid.Int64Range(1<<20, 1<<32).Draw(t, "limit")
		for range rapid.IntRange(0, 300).Draw(t, "windows") {
			offered := rapid.Int64Range(0, 1<<40).Draw(t, "offered")
			window(&p, offered, rapid.Int64Range(0, offered).Draw(t, "refused"), rapid.Int64Range(0, 1<<40).Draw(t, "taken"))
			if got := p.limit(limit); got > limit || got < min(limit, shortQueue) || !p.on && got != limit {
				t.Fatalf("limit %d of %d", got, limit)
			}
		}
	})
}

// An eager worker takes from a queue only if much is in it, or it is late or closed.
func TestPressedQueue(t *testing.T) {
	for _, c := range []struct {
		name  string
		setup func(q *queue)
		held  int
		ticks int
		want  bool
	}{
		{"empty", func(*queue) {}, 0, 100, false},
		{"below the half", func(*queue) {}, 499, 0, false},
		{"half full", func(*queue) {}, 500, 0, true},
		{"half full, no eager workers", func(q *queue) { q.pace.on = false }, 500, 0, false},
		{"half full, in vain", func(q *queue) { q.pace.lossy = true }, 500, 0, false},
		{"not late yet", func(*queue) {}, 300, lateTicks - 1, false},
		{"late", func(*queue) {}, 300, lateTicks, true},
		{"late and lossy", func(q *queue) { q.pace.lossy = true }, 300, lateTicks, true},
		{"closed", func(q *queue) { q.close() }, 300, 0, true},
	} {
		q := newQueue(1000)
		q.pace.on, q.pace.heavy = true, true
		if c.held > 0 {
			x := &Exchange{Body: make([]byte, c.held-256)}
			if refused := q.put(x, true); refused != "" {
				t.Fatal(refused)
			}
		}
		c.setup(q)
		for range c.ticks {
			q.nextTick()
		}
		got := q.takePressed(nil, 10, 1<<20)
		if (len(got) == 1) != c.want {
			t.Errorf("%s: %d taken, want any: %v", c.name, len(got), c.want)
		}
		if left := q.ring.Len() > 0; c.held > 0 && left == c.want {
			t.Errorf("%s: %d left", c.name, q.ring.Len())
		}
	}
}

// Many small requests press a queue that is far from half full.
func TestManyRequestsPressTheQueue(t *testing.T) {
	q := newQueue(1 << 30)
	q.pace.on, q.pace.heavy = true, true
	called := func() bool {
		select {
		case <-q.help:
			return true
		default:
			return false
		}
	}
	for i := range pressedMany {
		if called() {
			t.Fatalf("eager workers are called with %d requests in the queue", i)
		}
		q.put(&Exchange{}, false)
	}
	if !called() {
		t.Errorf("nobody is called with %d requests in the queue", pressedMany)
	}
	if got := len(q.takePressed(nil, 10, 1<<20)); got != 10 {
		t.Errorf("%d taken, want 10", got)
	}
	if got := len(q.takePressed(nil, 10, 1<<20)); got != 0 {
		t.Errorf("%d taken from a queue that is not pressed any more", got)
	}
}

// Small requests are the eager workers' alone; a large one calls the patient ones, who
// keep the queue until none came for a while.
func TestLightAndHeavyLoads(t *testing.T) {
	q := newQueue(1 << 30)
	q.pace.on = true
	called := func(c chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	put := func(size int) (patient, eager bool) {
		if refused := q.put(&Exchange{Body: make([]byte, size)}, true); refused != "" {
			t.Fatal(refused)
		}
		return called(q.wake), called(q.help)
	}
	if patient, eager := put(100); patient || !eager {
		t.Errorf("a small request calls patient %v, eager %v", patient, eager)
	}
	if got := q.take(nil, 10, 1<<20); len(got) != 0 {
		t.Error("a patient worker took a small request")
	}
	if patient, eager := put(100); patient || eager {
		t.Errorf("the second small request calls patient %v, eager %v", patient, eager)
	}
	if patient, eager := put(largeWeight); !patient || eager || !q.heavy() {
		t.Errorf("a large request calls patient %v, eager %v", patient, eager)
	}
	if got := q.takePressed(nil, 10, 1<<20); len(got) != 0 {
		t.Error("an eager worker took from a queue that is not pressed")
	}
	if got := q.take(nil, 10, 1<<20); len(got) != 3 {
		t.Errorf("a patient worker took %d of 3", len(got))
	}
	for i := range calmTicks + 1 {
		if !q.heavy() {
			t.Fatalf("light again after %d ticks", i)
		}
		q.nextTick()
	}
	if q.heavy() {
		t.Error("heavy for ever")
	}
	called(q.help)
	if patient, eager := put(100); patient || !eager {
		t.Errorf("a small request later calls patient %v, eager %v", patient, eager)
	}
	if got := q.takePressed(nil, 10, 1<<20); len(got) != 1 {
		t.Error("nobody takes it")
	}
}

// The Go runtime has more processors while patient workers are at work: from the first
// large request on, until none came for a while or more is lost than captured.
func TestWideWhilePatientWorkersWork(t *testing.T) {
	if err := canStepBack(Default().Nice); err != nil {
		testenv.Skip(t, "no thread can step back here: "+err.Error())
	}
	synctest.Test(t, func(t *testing.T) {
		cfg := Default()
		cfg.Workers = 1
		var mu sync.Mutex
		var told []int
		f := &fixture{out: &memory{size: 10}}
		var err error
		f.Recorder, err = NewRecorder(cfg, Options{
			Open: f.out.open, NewSanitizer: func() Sanitizer { return &plain{} },
			Wide: func(threads int) {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, threads)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		n := uint64(0)
		expect := func(when string, want ...int) {
			t.Helper()
			wait(2 * paceEvery)
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(told, want) {
				t.Errorf("%s: told %v, want %v", when, told, want)
			}
		}
		large := func() {
			n++
			x := f.exchange("/_bulk", n)
			x.Body = make([]byte, largeWeight)
			x.BodySize = largeWeight
			f.Offer(x)
		}
		lossy := func(on bool) {
			f.queue.mu.Lock()
			defer f.queue.mu.Unlock()
			f.queue.pace.lossy, f.queue.pace.rest = on, time.Minute
			f.queue.pace.lately = [paceWindow]flows{{100, 100}, {100, 100}, {100, 100}}
			if !on {
				f.queue.pace.lately = [paceWindow]flows{}
			}
		}
		wait(paceEvery / 2) // so that each time two ticks come, and none at the moment of a look
		expect("at the start")
		large()
		expect("a large request", 2)
		lossy(true)
		expect("lossy", 2, 0)
		lossy(false)
		expect("lossy no more", 2, 0, 2)
		wait(calmTicks * paceEvery)
		expect("calm", 2, 0, 2, 0)
		large()
		expect("another large one", 2, 0, 2, 0, 2)
		f.close(t, n)
		expect("the end", 2, 0, 2, 0, 2, 0)
	})
}

// What waits when the load becomes light again is not forgotten.
func TestLeftWhenTheLoadBecomesLight(t *testing.T) {
	q := newQueue(1 << 30)
	q.pace.on = true
	q.put(&Exchange{Body: make([]byte, largeWeight)}, true)
	<-q.wake
	for range calmTicks + 1 {
		select {
		case <-q.help: // late
		default:
		}
		q.nextTick()
	}
	select {
	case <-q.help:
	default:
		t.Error("no eager worker is called for what is left")
	}
}

// A record that no patient worker gets to, since it has no processor, is written by
// an eager one: within its time when it is late, at once when the queue is half full.
func TestEagerWorkersHelp(t *testing.T) {
	if err := canStepBack(Default().Nice); err != nil {
		testenv.Skip(t, "no thread can step back here: "+err.Error())
	}
	synctest.Test(t, func(t *testing.T) {
		cfg := Default()
		cfg.Queue, cfg.MaxBody, cfg.Workers = 1<<20, 1<<20, 1
		var stuck atomic.Bool
		gate := make(chan struct{})
		f := &fixture{out: &memory{size: 10}}
		var err error
		f.Recorder, err = NewRecorder(cfg, Options{
			Open: f.out.open, NewSanitizer: func() Sanitizer { return &gated{opens: gate, stuck: &stuck} },
		})
		if err != nil {
			t.Fatal(err)
		}
		if f.threads != 2 {
			t.Errorf("%d threads, want 2", f.threads)
		}
		n := uint64(0)
		offer := func(size int) {
			n++
			x := f.exchange("/_bulk", n)
			x.Body = bytes.Repeat([]byte("x"), size)
			x.BodySize = int64(size)
			f.Offer(x)
		}
		offer(largeWeight)
		wait(10 * linger) // the patient worker has it
		if !stuck.Load() {
			t.Fatal("nobody took the first request")
		}
		offer(20)
		wait((lateTicks + 2) * paceEvery)
		wait(2 * time.Second) // to be written
		if s := f.Stats(); s.Captured != 1 || s.Pending != 1 {
			t.Errorf("a late request: %d captured, %d pending", s.Captured, s.Pending)
		}
		offer(600 << 10)
		wait(time.Millisecond)
		if held := f.Stats().QueueBytes; held > 700<<10 {
			t.Errorf("a queue that is half full still holds %d bytes", held)
		}
		close(gate)
		f.balanced(t, f.close(t, n), n)
	})
}

// gated sanitises, but the first request of all only when the gate opens.
type gated struct {
	plain
	opens chan struct{}
	stuck *atomic.Bool
}

func (g *gated) Sanitize(r *Record, x *Exchange) string {
	if g.stuck.CompareAndSwap(false, true) {
		<-g.opens
	}
	return g.plain.Sanitize(r, x)
}
