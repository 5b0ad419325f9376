package replay

import (
	"context"
	"errors"
	"math"
	"sort"
	"strconv"
	"testing"
	"time"

	"github.com/esshadow/esshadow/capture"
)

func TestOneRecordEndsAtOnce(t *testing.T) {
	addr := serve(t, answerSearch)
	began := time.Now()
	s, outcomes := replayed(t, Default(), searches(1, 0, 1), client(t, addr, nil))
	if took := time.Since(began); took > time.Second {
		t.Errorf("took %v", took)
	}
	o := outcomes[0]
	if s.Answered != 1 || o.Status != 200 || o.Got == nil || o.Got.Total == nil || o.Got.Total.Value != 1 || o.Example == nil {
		t.Errorf("outcome %+v of %+v", o, s.Counts)
	}
}

func TestNoRecords(t *testing.T) {
	addr := serve(t, answerSearch)
	if s, _ := replayed(t, Default(), searches(0, 0, 1), client(t, addr, nil)); s.Records != 0 {
		t.Errorf("%+v", s.Counts)
	}
}

func TestEveryRecordIsSentOnceEachTime(t *testing.T) {
	const n = 12_374
	var c counter
	addr := serve(t, c.handle)
	for run := 1; run <= 5; run++ {
		cfg := Default()
		cfg.Speed = Max
		s, _ := replayed(t, cfg, searches(n, time.Millisecond, 64), client(t, addr, nil))
		if s.Answered != n {
			t.Fatalf("run %d: answered %d of %d: %+v", run, s.Answered, n, s.Counts)
		}
		for i := range n {
			if got := c.seen[strconv.Itoa(i)]; got != run {
				t.Fatalf("run %d: the server saw request %d %d times", run, i, got)
			}
		}
	}
}

func TestSpan(t *testing.T) {
	addr := serve(t, answerSearch)
	const n, gap = 1000, time.Millisecond
	for _, speed := range []Speed{0.5, 1, 2} {
		cfg := Default()
		cfg.Speed = speed
		s, outcomes := replayed(t, cfg, searches(n, gap, 50), client(t, addr, nil))
		if s.Answered != n {
			t.Fatalf("speed %v: %+v", speed, s.Counts)
		}
		checkSpan(t, speed, time.Duration(n-1)*gap, outcomes, s)
		t.Logf("speed %v: lag p50 %v, p99 %v, max %v", speed, s.LagP50, s.LagP99, s.LagMax)
	}
}

// checkSpan looks at the planned times, and at the time from the first to the
// last send.
func checkSpan(t *testing.T, speed Speed, captured time.Duration, outcomes []Outcome, s Stats) {
	t.Helper()
	first, last := int64(math.MaxInt64), int64(0)
	for _, o := range outcomes {
		first, last = min(first, o.Sent), max(last, o.Sent)
		if want := int64(startLead) + Due(o.Time-captureStart, speed); o.Planned != want {
			t.Fatalf("record %d planned at %d, want %d", o.Seq, o.Planned, want)
		}
	}
	span, want := time.Duration(last-first), float64(captured)/float64(speed)
	t.Logf("speed %v: span %v, want %v", speed, span, time.Duration(want))
	if off := math.Abs(float64(span)/want - 1); off > 0.01 && !busy(t, s) {
		t.Errorf("speed %v: span %v is %.1f %% off %v", speed, span, 100*off, time.Duration(want))
	}
}

func TestOrderOfAConnection(t *testing.T) {
	for _, speed := range []Speed{1, 10, Max} {
		t.Run(speed.String(), func(t *testing.T) {
			var c counter
			addr := serve(t, c.handle)
			cfg := Default()
			cfg.Speed = speed
			s, _ := replayed(t, cfg, searches(1000, 200*time.Microsecond, 1), client(t, addr, nil))
			if s.Answered != 1000 {
				t.Fatalf("%+v", s.Counts)
			}
			for i, n := range c.all {
				if n != strconv.Itoa(i) {
					t.Fatalf("request %s came at place %d", n, i)
				}
			}
		})
	}
}

// stuck is a Target that answers when it is told to.
type stuck struct {
	entered chan *Shot
	free    chan struct{}
	gone    chan struct{}
}

func newStuck() *stuck {
	return &stuck{entered: make(chan *Shot, 1<<16), free: make(chan struct{}), gone: make(chan struct{})}
}

func (s *stuck) Send(shot *Shot, ans *Answer) {
	ans.Sent = time.Now()
	s.entered <- shot
	select {
	case <-s.free:
		ans.First, ans.Status = time.Now(), 200
	case <-s.gone:
		ans.Err = ErrCancelled
	}
	ans.Done = time.Now()
}

func (s *stuck) Release(*Answer) {}
func (s *stuck) Abort()          { close(s.gone) }

func TestInFlightBoundShedsExactly(t *testing.T) {
	const n, bound = 200, 30
	cfg := Default()
	cfg.InFlight = bound
	target := newStuck()
	done := make(chan struct{})
	var s Stats
	var outcomes []Outcome
	go func() {
		defer close(done)
		s, outcomes = replayed(t, cfg, searches(n, time.Millisecond, n), target)
	}()
	for range bound {
		<-target.entered
	}
	<-time.After(400 * time.Millisecond) // all are due by then
	close(target.free)
	<-done
	if s.Planned != n || s.Sent != bound || s.Shed[shedInFlight] != n-bound || s.InFlightPeak != bound {
		t.Errorf("%+v, peak %d", s.Counts, s.InFlightPeak)
	}
	for _, o := range outcomes {
		if o.Shed != "" && (o.Sent != 0 || o.Planned == 0) {
			t.Errorf("a shed request was sent or not planned: %+v", o)
		}
	}
}

func TestMaxWaitsAtTheBound(t *testing.T) {
	const n, bound = 500, 7
	cfg := Default()
	cfg.Speed, cfg.InFlight = Max, bound
	addr := serve(t, answerSearch)
	s, outcomes := replayed(t, cfg, searches(n, time.Hour, n), client(t, addr, nil))
	if s.Answered != n || s.InFlightPeak > bound {
		t.Errorf("%+v, peak %d", s.Counts, s.InFlightPeak)
	}
	for _, o := range outcomes {
		if o.Planned != o.Sent {
			t.Fatalf("planned %d, sent %d", o.Planned, o.Sent)
		}
	}
}

func TestMemoryBoundSheds(t *testing.T) {
	cfg := Default()
	cfg.InFlightMemory = 10_000
	target := newStuck()
	src := &records{n: 10, make: func(i int, r *capture.Record) {
		search(r, i)
		r.Time, r.Body = int64(i)*int64(time.Millisecond)+1, append(r.Body, make([]byte, 4000)...)
	}}
	time.AfterFunc(300*time.Millisecond, func() { close(target.free) })
	s, _ := replayed(t, cfg, src, target)
	if s.Shed[shedMemory] != 9 && s.Shed[shedMemory] != 8 || s.Sent+s.Shed[shedMemory] != 10 {
		t.Errorf("%+v", s.Counts)
	}
}

func TestInterrupt(t *testing.T) {
	target := newStuck()
	lines := &memoryLines{}
	e := New(Default(), Deps{Source: searches(1_000_000, 2*time.Millisecond, 20), Target: target, Lines: lines})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	began := time.Now()
	if err := e.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 1300*time.Millisecond {
		t.Errorf("stopped after %v", took)
	}
	s := e.Stats()
	checkSums(t, s, lines.outcomes)
	if s.Errors[ErrCancelled] != 20 || s.Shed[shedCancelled] == 0 || s.Planned > 200 || !lines.closed {
		t.Errorf("%+v", s.Counts)
	}
}

func TestFailureToWriteEndsTheRun(t *testing.T) {
	lines := &memoryLines{failAt: 10}
	e := New(Default(), Deps{Source: searches(1_000_000, time.Millisecond, 20), Target: client(t, serve(t, answerSearch), nil), Lines: lines})
	if err := e.Run(t.Context()); !errors.Is(err, errDisk) {
		t.Errorf("error %v", err)
	}
	if s := e.Stats(); s.Records > 1000 {
		t.Errorf("went on: %+v", s.Counts)
	}
}

func TestFailureToReadEndsTheRun(t *testing.T) {
	src := searches(50, time.Millisecond, 5)
	src.fail = errDisk
	e := New(Default(), Deps{Source: src, Target: client(t, serve(t, answerSearch), nil)})
	if err := e.Run(t.Context()); !errors.Is(err, errDisk) {
		t.Errorf("error %v", err)
	}
	if s := e.Stats(); s.Answered != 50 {
		t.Errorf("what was read before is not sent: %+v", s.Counts)
	}
}

func quantile(ns []int64, q float64) time.Duration {
	sort.Slice(ns, func(i, j int) bool { return ns[i] < ns[j] })
	return time.Duration(ns[min(len(ns)-1, int(q*float64(len(ns))))])
}
