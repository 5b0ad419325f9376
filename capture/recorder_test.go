package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/esshadow/esshadow/capture/segment"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// wait lets time pass: the bubble's own, in a test by synctest.
func wait(d time.Duration) { <-time.After(d) }

// memory is a Lines that keeps what it was given. Blocks are of size lines, or
// whatever there is at a Tick.
type memory struct {
	report Report
	size   int
	gate   chan struct{} // if not nil, each Append takes one token
	fault  func() error  // asked for each block

	pending [][]byte
	err     error
	closed  bool

	mu      sync.Mutex
	written []Record
	drops   map[string]uint64
}

func (m *memory) open(r Report) (Lines, error) {
	m.report = r
	return m, nil
}

func (m *memory) Append(line []byte, _ int64) error {
	if m.gate != nil {
		<-m.gate
	}
	m.pending = append(m.pending, bytes.Clone(line))
	if len(m.pending) < m.size {
		return nil
	}
	return m.Flush()
}

func (m *memory) Flush() error {
	if len(m.pending) == 0 {
		return nil
	}
	block := m.pending
	m.pending = nil
	if m.fault != nil {
		if m.err = m.fault(); m.err != nil {
			return &segment.LostError{Records: uint64(len(block)), Err: m.err}
		}
	}
	raw := 0
	m.mu.Lock()
	for _, line := range block {
		var r Record
		if err := DecodeRecord(line, &r); err != nil {
			panic(err)
		}
		raw += len(line)
		m.written = append(m.written, r)
	}
	m.mu.Unlock()
	m.report.Written(segment.Written{Records: uint64(len(block)), Raw: uint64(raw), Packed: 1})
	return nil
}

func (m *memory) Tick(time.Time) error { return m.Flush() }
func (m *memory) Rotate() error        { return m.Flush() }
func (m *memory) Err() error           { return m.err }

func (m *memory) Reopen(time.Time) error {
	if m.fault != nil {
		m.err = m.fault()
	}
	return m.err
}

func (m *memory) Close(map[string]uint64) error {
	err := m.Flush()
	m.closed, m.drops = true, m.report.Drops()
	return err
}

func (m *memory) records() (requests, gaps []Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.written {
		if r.Kind == KindGap {
			gaps = append(gaps, r)
		} else {
			requests = append(requests, r)
		}
	}
	return requests, gaps
}

// plain is a Sanitizer that does what the request's target asks it to.
type plain struct {
	gate  chan struct{}
	calls int
}

const secret = "SECRET-of-the-client"

func (p *plain) Sanitize(rec *Record, x *Exchange) string {
	p.calls++
	if p.gate != nil {
		<-p.gate
	}
	if strings.Contains(x.Target, "panic") {
		panic(secret)
	}
	if _, reason, ok := strings.Cut(x.Target, "drop="); ok {
		return reason
	}
	rec.Time, rec.Conn, rec.Request = x.Time, x.Conn, x.Request
	rec.Op, rec.Method, rec.Target = "search", x.Method, x.Target
	rec.Body = append(rec.Body, x.Body...)
	if p.calls == 1 {
		rec.Err = "first" // and nobody else's
	}
	return ""
}

type fixture struct {
	*Recorder
	out      *memory
	logs     *observer.ObservedLogs
	released atomic.Int64
	made     atomic.Int32
	gate     chan struct{} // of the sanitizers
}

func start(t *testing.T, cfg Config, out *memory, gate chan struct{}) *fixture {
	t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	f := &fixture{out: out, logs: logs, gate: gate}
	if out.size == 0 {
		out.size = 10
	}
	var err error
	f.Recorder, err = NewRecorder(cfg, Options{
		Open: out.open, Log: zap.New(core),
		NewSanitizer: func() Sanitizer { f.made.Add(1); return &plain{gate: gate} },
	})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fixture) exchange(target string, n uint64) *Exchange {
	return &Exchange{
		Time: int64(1000 + n), Conn: n%7 + 1, Request: n, Method: "POST", Target: target,
		Body: []byte(`{}`), BodySize: 2, Status: 200, Free: func(*Exchange) { f.released.Add(1) },
	}
}

// balanced fails unless every exchange is accounted for.
func (f *fixture) balanced(t *testing.T, s Stats, offered uint64) {
	t.Helper()
	sum := s.Captured + Sum(s.Filtered) + s.SampledOut + Sum(s.Dropped) + s.Pending
	if s.Received != offered || sum != offered {
		t.Errorf("offered %d, received %d, sum %d: %+v", offered, s.Received, sum, s)
	}
}

func (f *fixture) close(t *testing.T, offered uint64) Stats {
	t.Helper()
	s, err := f.Close(context.Background())
	if err != nil {
		t.Errorf("close: %v", err)
	}
	f.balanced(t, s, offered)
	if s.Pending != 0 || s.QueueBytes != 0 || s.State != StateOff {
		t.Errorf("after close: %+v", s)
	}
	if n := f.released.Load(); n != int64(offered) {
		t.Errorf("%d of %d exchanges released", n, offered)
	}
	return s
}

func TestEveryFateIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Default()
		cfg.MaxBody = 100
		f := start(t, cfg, &memory{}, nil)
		big := f.exchange("/i/_search", 90)
		big.BodySize, big.Body = 5000, nil
		large := f.exchange("/i/_search", 91)
		large.Body = make([]byte, 101)
		large.BodySize = 101
		hello := f.exchange("/", 1)
		hello.Method = "GET"
		wipe := f.exchange("/i", 1)
		wipe.Method = "DELETE"
		for _, x := range []*Exchange{
			f.exchange("/i/_search", 1), f.exchange("/_bulk", 2), f.exchange("/_msearch", 3),
			f.exchange("/i/_update_by_query", 4), f.exchange("/_no_such_api?drop=unknown_endpoint", 5),
			f.exchange("/i/_search?drop=unknown_clause", 6), f.exchange("/i/_search?drop=unknown_clause", 8),
			f.exchange("/i/_search?panic", 7), big, large, hello, wipe,
			f.exchange("/_cluster/settings?x", 9),
		} {
			f.Offer(x)
		}
		f.Offer(nil)
		s := f.close(t, 13)
		want := Stats{
			CPU:      s.CPU,
			Received: 13, Captured: 4,
			Filtered: s.Filtered,
			Dropped:  map[string]uint64{"unknown_endpoint": 1, "unknown_clause": 2, DropPanic: 1, DropBodyTooLarge: 2},
			RawBytes: s.RawBytes, WrittenBytes: s.WrittenBytes,
		}
		if diff := cmp.Diff(want, s); diff != "" || Sum(s.Filtered) != 3 || s.Filtered[FilteredInfo] != 1 {
			t.Errorf("%s\nfiltered %v", diff, s.Filtered)
		}
		requests, gaps := f.out.records()
		if len(requests) != 4 || len(gaps) != 4 {
			t.Fatalf("%d requests and %d gap lines", len(requests), len(gaps))
		}
		told := map[string]uint64{}
		for _, g := range gaps {
			told[g.Gap.Reason] += g.Gap.Count
			if g.Gap.Reason == "unknown_clause" && (g.Gap.From != 1006 || g.Gap.To != 1008 || g.Time != 1008) {
				t.Errorf("gap %+v at %d", g.Gap, g.Time)
			}
		}
		if diff := cmp.Diff(s.Dropped, told); diff != "" {
			t.Errorf("gap lines tell (-dropped +told):\n%s", diff)
		}
		if diff := cmp.Diff(s.Dropped, f.out.drops); diff != "" || !f.out.closed {
			t.Errorf("the footer tells:\n%s", diff)
		}
		for i, r := range f.out.written {
			if r.Seq != uint64(i+1) {
				t.Errorf("line %d has seq %d", i, r.Seq)
			}
		}
	})
}

func TestRecordsDoNotInherit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Default(), &memory{}, nil)
		for i := range uint64(3) {
			f.Offer(f.exchange("/i/_search", i))
		}
		f.close(t, 3)
		for i, r := range f.out.written {
			if want := map[bool]string{true: "first"}[i == 0]; r.Err != want {
				t.Errorf("record %d: err %q", i, r.Err)
			}
		}
	})
}

func TestPanicIsContained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Default()
		cfg.Workers, cfg.Nice = 1, 0 // one sanitizer at a time
		f := start(t, cfg, &memory{}, nil)
		for i := range uint64(20) {
			f.Offer(f.exchange([]string{"/i/_search", "/i/_search?panic"}[i%2], i))
		}
		bad := f.exchange("/i/_search", 1)
		bad.Free = func(*Exchange) { f.released.Add(1); panic(secret) }
		f.Offer(bad)
		s := f.close(t, 21)
		if s.Captured != 11 || s.Dropped[DropPanic] != 10 {
			t.Errorf("%+v", s)
		}
		if n := f.made.Load(); n != 11 { // one, and one after each panic
			t.Errorf("%d sanitizers made", n)
		}
		panics := 0
		for _, e := range f.logs.All() {
			if strings.Contains(fmt.Sprint(e.Message, e.ContextMap()), secret) {
				t.Errorf("logged the value: %v", e)
			}
			if strings.Contains(e.Message, "panic") {
				panics++
			}
		}
		if panics != 1 {
			t.Errorf("%d log entries", panics)
		}
	})
}

// Offers never wait for a writer that stands still, what is held stays in its
// bound, and every loss is counted.
func TestStuckWriterCostsOnlyRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Default()
		cfg.Queue, cfg.MaxBody, cfg.Workers = 1<<20, 64<<10, 2
		out := &memory{gate: make(chan struct{})}
		f := start(t, cfg, out, nil)
		const n = 400
		slack := int64(cap(f.empty))*(chunkSize+64<<10) + 2*batchWeight
		for i := range uint64(n) {
			x := f.exchange("/i/_search", i)
			x.Body = bytes.Repeat([]byte("x"), 32<<10)
			x.BodySize = int64(len(x.Body))
			before := time.Now()
			f.Offer(x)
			if time.Since(before) != 0 {
				t.Fatal("an offer waited")
			}
			if held := f.Stats().QueueBytes; held > int64(cfg.Queue)+slack {
				t.Fatalf("%d bytes held", held)
			}
		}
		synctest.Wait()
		wait(10 * linger)
		s := f.Stats()
		f.balanced(t, s, n)
		if s.Captured != 0 || s.Dropped[DropQueueFull] == 0 || s.Pending == 0 {
			t.Errorf("while stuck: %+v", s)
		}
		close(out.gate)
		s = f.close(t, n)
		if s.Captured == 0 || s.Captured+s.Dropped[DropQueueFull] != n {
			t.Errorf("at the end: %+v", s)
		}
	})
}

func TestCloseGivesUpInTime(t *testing.T) {
	for _, c := range []struct {
		name           string
		writer, worker bool // which of them stands still
		err            error
	}{
		{"writer stuck for ever", true, false, ErrStuck},
		{"sanitizer slow", false, true, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := &memory{}
				var gate chan struct{}
				if c.writer {
					out.gate = make(chan struct{})
				}
				if c.worker {
					gate = make(chan struct{})
				}
				cfg := Default()
				cfg.Workers = 1
				f := start(t, cfg, out, gate)
				for i := range uint64(50) {
					f.Offer(f.exchange("/i/_search", i))
				}
				wait(10 * linger)
				if c.worker { // come back, but only after Close lost patience
					time.AfterFunc(1500*time.Millisecond, func() { close(gate) })
				}
				ctx, cancel := context.WithTimeout(context.Background(), time.Second)
				defer cancel()
				begun := time.Now()
				s, err := f.Close(ctx)
				if took := time.Since(begun); took < time.Second || took > time.Second+closeGrace {
					t.Errorf("took %v", took)
				}
				if !errors.Is(err, c.err) {
					t.Errorf("%v, want %v", err, c.err)
				}
				f.balanced(t, s, 50)
				if s.Pending != 0 || s.Dropped[DropClosed] < 40 {
					t.Errorf("%+v", s)
				}
				if c.writer {
					close(out.gate)
				}
				<-f.done
				if again := f.Stats(); !maps.Equal(again.Dropped, s.Dropped) || again.Captured != s.Captured {
					t.Errorf("the sums moved after Close: %+v", again)
				}
				if n := f.released.Load(); n != 50 {
					t.Errorf("%d released", n)
				}
			})
		})
	}
}

func TestOfferAfterClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Default(), &memory{}, nil)
		f.close(t, 0)
		f.Offer(f.exchange("/i/_search", 1))
		s, err := f.Close(context.Background()) // twice is no fault
		if err != nil || s.Dropped[DropClosed] != 1 || f.released.Load() != 1 {
			t.Errorf("%+v %v", s, err)
		}
		if err := f.Rotate(context.Background()); err == nil {
			t.Error("rotated a closed capture")
		}
	})
}

func TestFailuresHealByThemselves(t *testing.T) {
	for _, c := range []struct {
		name   string
		fault  error
		state  State
		reason string
	}{
		{"disk low", segment.ErrDiskLow, StateDiskLow, DropDiskLow},
		{"write error", errors.New("input/output error"), StateFailed, DropWriteFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var broken atomic.Bool
				out := &memory{fault: func() error {
					if broken.Load() {
						return c.fault
					}
					return nil
				}}
				f := start(t, Default(), out, nil)
				offer := func(n uint64) {
					for i := range n {
						f.Offer(f.exchange("/i/_search", i))
					}
					wait(300 * time.Millisecond)
				}
				offer(5)
				broken.Store(true)
				offer(15) // lost with the block
				if f.State() != c.state {
					t.Fatalf("state %v", f.State())
				}
				offer(7) // not even queued
				wait(10 * time.Second)
				if s := f.Stats(); s.Captured != 5 || s.Dropped[c.reason] != 22 || s.State != c.state || s.Pending != 0 {
					t.Fatalf("while broken: %+v", s)
				}
				if s, err := f.Stats(), f.Rotate(t.Context()); !errors.Is(s.Why, c.fault) || !errors.Is(err, c.fault) {
					t.Errorf("why: %v; rotate: %v", s.Why, err)
				}
				broken.Store(false)
				wait(lastRetry)
				if s := f.Stats(); s.Why != nil {
					t.Errorf("why: %v", s.Why)
				}
				if f.State() != StateOn {
					t.Fatalf("state %v", f.State())
				}
				offer(3)
				s := f.close(t, 30)
				if s.Captured != 8 || s.Dropped[c.reason] != 22 {
					t.Errorf("%+v", s)
				}
				_, gaps := out.records()
				var told uint64
				for _, g := range gaps {
					told += g.Gap.Count
				}
				if told != 22 {
					t.Errorf("gap lines tell of %d", told)
				}
				if n := f.logs.FilterMessage("capture state changed").Len(); n != 3 { // bad, on, off
					t.Errorf("%d changes logged: %v", n, f.logs.All())
				}
			})
		})
	}
}

// Switched on again while nothing can be written, the log says why once more.
func TestSwitchedOnWhileBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fault := errors.New("no space")
		f := start(t, Default(), &memory{size: 1000, fault: func() error { return fault }}, nil)
		f.Offer(f.exchange("/i/_search", 1))
		wait(2 * time.Second)
		f.Pause(true)
		f.Pause(false)
		changes := f.logs.FilterMessage("capture state changed").All() // failed, paused, failed
		if len(changes) != 3 {
			t.Fatalf("%v", changes)
		}
		for i, why := range []any{fault.Error(), nil, fault.Error()} {
			if got := changes[i].ContextMap()["error"]; got != why {
				t.Errorf("change %d: %v, want %v", i, got, why)
			}
		}
		f.close(t, 1)
	})
}

// A gap line that is lost is told again, and counts nothing twice.
func TestLostGapLineIsToldAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		out := &memory{size: 1000, fault: func() error {
			if broken.Load() {
				return errors.New("no space")
			}
			return nil
		}}
		f := start(t, Default(), out, nil)
		f.Offer(f.exchange("/i/_search?drop=why", 1))
		broken.Store(true)
		wait(1500 * time.Millisecond)
		broken.Store(false)
		wait(5 * time.Second)
		s := f.close(t, 1)
		_, gaps := out.records()
		if len(gaps) != 1 || gaps[0].Gap.Count != 1 || s.Dropped["why"] != 1 || len(s.Dropped) != 1 {
			t.Errorf("%+v %+v", gaps, s)
		}
	})
}

// A fault of ours in the writer costs what it held, not the process.
func TestWriterPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		out := &memory{fault: func() error {
			if broken.Load() {
				panic(secret)
			}
			return nil
		}}
		f := start(t, Default(), out, nil)
		for i, bad := range []bool{false, true, false} {
			broken.Store(bad)
			for j := range uint64(12) {
				f.Offer(f.exchange("/i/_search", j))
			}
			wait(500 * time.Millisecond)
			if want := []State{StateOn, StateFailed, StateOn}[i]; f.State() != want {
				t.Fatalf("step %d: state %v", i, f.State())
			}
			broken.Store(false)
			wait(5 * time.Second)
		}
		s := f.close(t, 36)
		if s.Captured != 24 || s.Dropped[DropWriteFailed] != 12 {
			t.Errorf("%+v", s)
		}
		for _, e := range f.logs.All() {
			if strings.Contains(fmt.Sprint(e.Message, e.ContextMap()), secret) {
				t.Errorf("logged the value: %v", e)
			}
		}
	})
}

func TestOpenFailsAtFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &memory{size: 10}
		tries := 0
		f := &fixture{out: out}
		var err error
		f.Recorder, err = NewRecorder(Default(), Options{
			Open: func(r Report) (Lines, error) {
				if tries++; tries < 3 {
					return nil, errors.New("read-only file system")
				}
				return out.open(r)
			},
			NewSanitizer: func() Sanitizer { return &plain{} },
		})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if f.State() != StateFailed {
			t.Fatalf("state %v", f.State())
		}
		f.Offer(f.exchange("/i/_search", 1))
		wait(10 * time.Second)
		if f.State() != StateOn {
			t.Fatalf("state %v", f.State())
		}
		f.Offer(f.exchange("/i/_search", 2))
		if s := f.close(t, 2); s.Captured != 1 || s.Dropped[DropWriteFailed] != 1 {
			t.Errorf("%+v", s)
		}
	})
}

func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Default(), &memory{}, nil)
		f.Offer(f.exchange("/i/_search", 1))
		f.Pause(true)
		f.Offer(f.exchange("/i/_search", 2))
		if f.State() != StatePaused {
			t.Errorf("state %v", f.State())
		}
		f.Pause(false)
		f.Offer(f.exchange("/i/_search", 3))
		if s := f.close(t, 3); s.Captured != 2 || s.Dropped[DropPaused] != 1 {
			t.Errorf("%+v", s)
		}
	})
}

func TestGapLinesAreRare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, Default(), &memory{}, nil)
		for i := range uint64(500) { // 5 s of losses for two reasons
			f.Offer(f.exchange([]string{"/i/_search?drop=a", "/i/_search?drop=b"}[i%2], i))
			wait(10 * time.Millisecond)
		}
		f.close(t, 500)
		if _, gaps := f.out.records(); len(gaps) < 8 || len(gaps) > 14 {
			t.Errorf("%d gap lines in 5 s for 2 reasons", len(gaps))
		}
	})
}

func TestConcurrentOffers(t *testing.T) {
	cfg := Default()
	cfg.Queue, cfg.MaxBody, cfg.Workers, cfg.Sample = 1<<20, 1<<20, 3, 0.8
	f := start(t, cfg, &memory{size: 64}, nil)
	const clients, each = 8, 2000
	targets := []string{"/i/_search", "/_bulk", "/i/_search?drop=why", "/", "/i/_search?panic"}
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			for i := range uint64(each) {
				x := f.exchange(targets[i%uint64(len(targets))], i)
				x.Conn = uint64(c)
				if x.Target == "/" {
					x.Method = "GET"
				}
				f.Offer(x)
				if i%100 == 0 {
					snap := f.Stats()
					f.balanced(t, snap, snap.Received)
				}
			}
		})
	}
	stop := make(chan struct{})
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				s := f.Stats()
				if sum := s.Captured + Sum(s.Filtered) + s.SampledOut + Sum(s.Dropped) + s.Pending; sum != s.Received {
					t.Errorf("a snapshot does not add up: %+v", s)
				}
				if s.State == StateOn && i%3 == 0 {
					_ = f.Rotate(context.Background())
				}
			}
		}
	})
	go func() {
		for f.Stats().Received < clients*each {
			<-time.After(time.Millisecond)
		}
		close(stop)
	}()
	wg.Wait()
	s := f.close(t, clients*each)
	requests, _ := f.out.records()
	if uint64(len(requests)) != s.Captured || s.Captured == 0 {
		t.Errorf("%d lines, %+v", len(requests), s)
	}
	for i, r := range f.out.written {
		if r.Seq != uint64(i+1) {
			t.Fatalf("line %d has seq %d", i, r.Seq)
		}
	}
}

func TestConfigValidate(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Error(err)
	}
	bad := Config{Workers: -1, Sample: 1.5}
	err := bad.Validate()
	for _, key := range []string{"max_body", "queue", "priority", "workers", "sample"} {
		if err == nil || !strings.Contains(err.Error(), key+":") {
			t.Errorf("%v does not name %s", err, key)
		}
	}
	if _, err := NewRecorder(bad, Options{}); err == nil {
		t.Error("started with a bad config")
	}
	if _, err := NewRecorder(Default(), Options{}); err == nil {
		t.Error("started without Open")
	}
}

// discard is a Lines that keeps nothing.
type discard struct{ report Report }

func (d *discard) Append(line []byte, _ int64) error {
	d.report.Written(segment.Written{Records: 1, Raw: uint64(len(line))})
	return nil
}
func (*discard) Tick(time.Time) error          { return nil }
func (*discard) Flush() error                  { return nil }
func (*discard) Rotate() error                 { return nil }
func (*discard) Reopen(time.Time) error        { return nil }
func (*discard) Err() error                    { return nil }
func (*discard) Close(map[string]uint64) error { return nil }

// BenchmarkOffer is what a request costs from Offer to the writer: filter, queue,
// encoding, counts. Sanitising and the file are not in it.
func BenchmarkOffer(b *testing.B) {
	r, err := NewRecorder(Default(), Options{
		Open:         func(r Report) (Lines, error) { return &discard{r}, nil },
		NewSanitizer: func() Sanitizer { return &plain{} },
	})
	if err != nil {
		b.Fatal(err)
	}
	x := &Exchange{Method: "POST", Target: "/logs/_search", Body: benchRecord().Body}
	x.BodySize = int64(len(x.Body))
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		r.Offer(x)
		if n%256 == 0 {
			for r.queue.bytes() > r.queue.limit/2 {
				runtime.Gosched()
			}
		}
	}
	s, err := r.Close(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(100*float64(s.Captured)/float64(s.Received), "%captured")
}
