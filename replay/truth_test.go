package replay

import (
	"context"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/size"
)

// long tells whether the tests of this file run at full length, on a machine
// that is otherwise quiet: ESSHADOW_LONG=1 go test ./replay -run Truth -v.
// Otherwise they are shorter and leave room for what else the machine does.
func long() bool { return os.Getenv("ESSHADOW_LONG") == "1" }

// busy tells that this machine cannot judge times now. It never is where the
// long tests were asked for.
func busy(t testing.TB, s Stats) bool {
	if long() || s.LagP99 < 3*time.Millisecond {
		return false
	}
	t.Logf("times are not judged: the machine is busy, lag p99 %v", s.LagP99)
	return true
}

// TestTruthOfTheSpan replays 2 000 requests a second at three speeds: the span
// must be right within 1 %, and on a quiet machine the p99 of the send lag under
// 2 ms.
func TestTruthOfTheSpan(t *testing.T) {
	n, gap := 2000, 500*time.Microsecond
	if long() {
		n = 20_000
	}
	addr := serve(t, answerSearch)
	for _, speed := range []Speed{1, 2, 0.5} {
		cfg := Default()
		cfg.Speed = speed
		s, outcomes := replayed(t, cfg, searches(n, gap, 200), client(t, addr, nil))
		if s.Answered != uint64(n) {
			t.Fatalf("speed %v: %+v", speed, s.Counts)
		}
		checkSpan(t, speed, time.Duration(n-1)*gap, outcomes, s)
		t.Logf("speed %v: lag p50 %v, p99 %v, max %v", speed, s.LagP50, s.LagP99, s.LagMax)
		if long() && s.LagP99 > 2*time.Millisecond {
			t.Errorf("speed %v: lag p99 %v", speed, s.LagP99)
		}
	}
}

// TestTruthOfAFrozenTarget freezes the target for a quarter of a replay at 200
// requests a second. A quarter of the requests then waits for anything from
// nothing to the whole freeze, so p90, p95 and p99 of the response time are 60,
// 80 and 96 % of it.
func TestTruthOfAFrozenTarget(t *testing.T) {
	freeze, tolerance := time.Second, 0.05
	if long() {
		freeze, tolerance = 5*time.Second, 0.02
	}
	var begin sync.Once
	var start atomic.Int64
	addr := serve(t, func(ctx *fasthttp.RequestCtx) {
		begin.Do(func() { start.Store(time.Now().UnixNano()) })
		since := time.Duration(time.Now().UnixNano() - start.Load())
		if rest := 2*freeze - since; since > freeze && rest > 0 {
			<-time.After(rest)
		}
		answerSearch(ctx)
	})
	n := int(4*freeze/time.Second) * 200
	s, outcomes := replayed(t, Default(), searches(n, 5*time.Millisecond, 1500), client(t, addr, nil))
	if s.Answered != uint64(n) {
		t.Fatalf("%+v", s.Counts)
	}
	if busy(t, s) {
		return
	}
	var response []int64
	for _, o := range outcomes {
		response = append(response, o.Done-o.Planned)
	}
	for _, c := range []struct{ q, share float64 }{{0.90, 0.60}, {0.95, 0.80}, {0.99, 0.96}} {
		got, truth := quantile(response, c.q), time.Duration(c.share*float64(freeze))
		t.Logf("p%g: %v, truth %v", 100*c.q, got, truth)
		if off := float64(got-truth) / float64(truth); off > tolerance || off < -tolerance {
			t.Errorf("p%g: %v is %.1f %% off %v", 100*c.q, got, 100*off, truth)
		}
	}
}

// TestTruthAtABlackHole replays against a target that accepts connections and
// never answers, until all requests were due.
func TestTruthAtABlackHole(t *testing.T) {
	length := time.Second
	if long() {
		length = 5 * time.Second
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var held []net.Conn
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			held = append(held, c)
		}
	})
	defer func() {
		_ = ln.Close()
		wg.Wait()
		for _, c := range held {
			_ = c.Close()
		}
	}()
	cfg := Default()
	const most = 1000
	cfg.InFlight = most
	lines := &memoryLines{}
	before := runtime.NumGoroutine()
	n := uint64(length/time.Second) * 2000
	src := searches(int(n), 500*time.Microsecond, 1_000_000)
	e := New(cfg, Deps{Source: src, Target: client(t, ln.Addr().String(), nil), Lines: lines})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var goroutines int
	var mem runtime.MemStats
	wg.Go(func() {
		defer cancel()
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for s := e.Stats(); s.Records+uint64(s.InFlight) < n; s = e.Stats() {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
		goroutines = runtime.NumGoroutine() - before
		runtime.ReadMemStats(&mem)
	})
	if err := e.Run(ctx); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	s := e.Stats()
	checkSums(t, s, lines.outcomes)
	t.Logf("%d goroutines, heap %d MiB, %+v", goroutines, mem.HeapInuse>>20, s.Counts)
	if s.InFlightPeak != most || s.Errors[ErrCancelled] != most || s.Shed[shedInFlight] != n-most {
		t.Errorf("%+v, peak %d", s.Counts, s.InFlightPeak)
	}
	if goroutines > most+50 || mem.HeapInuse > 256<<20 {
		t.Errorf("%d goroutines, heap %d MiB", goroutines, mem.HeapInuse>>20)
	}
}

// zeros is a body of that many bytes.
type zeros int

func (z *zeros) Read(p []byte) (int, error) {
	if *z == 0 {
		return 0, io.EOF
	}
	n := min(len(p), int(*z))
	clear(p[:n])
	*z -= zeros(n)
	return n, nil
}

func TestTruthOfLargeAnswers(t *testing.T) {
	n, large := 24, 20<<20
	if long() {
		n, large = 200, 50<<20
	}
	addr := serve(t, func(ctx *fasthttp.RequestCtx) {
		z := zeros(large)
		ctx.SetBodyStream(&z, large)
	})
	target := client(t, addr, func(cfg *TargetConfig) { cfg.AnswerMemory = 128 * size.MiB })
	s, outcomes := replayed(t, Default(), searches(n, time.Millisecond, n), target)
	if _, peak := target.room.now(); peak > 128<<20 {
		t.Errorf("answers held %d MiB", peak>>20)
	}
	for _, o := range outcomes {
		if o.AnswerSize != int64(large) || o.Err != ErrUnreadable || o.Got == nil {
			t.Errorf("%+v", o)
		}
	}
	t.Logf("%+v", s.Counts)
}

// TestTruthOfLongRuns sends many requests and looks for what grows.
func TestTruthOfLongRuns(t *testing.T) {
	n := 20_000
	if long() {
		n = 300_000
	}
	addr := serve(t, answerSearch)
	cfg := Default()
	cfg.Speed, cfg.InFlight = Max, 64
	cfg.Backlog = 256 // or answers that wait to be noted are what grows on a busy machine
	target := client(t, addr, nil)
	var at []uint64
	src := searches(n, 0, 64)
	plain := src.make
	src.make = func(i int, r *capture.Record) {
		if plain(i, r); i%(n/4) == n/8 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			at = append(at, m.HeapAlloc)
		}
	}
	e := New(cfg, Deps{Source: src, Target: target})
	began := time.Now()
	if err := e.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("%.0f requests/s, client and server on this machine; heap %v", float64(n)/time.Since(began).Seconds(), at)
	if s := e.Stats(); s.Answered != uint64(n) {
		t.Errorf("%+v", s.Counts)
	}
	if grown := int64(at[len(at)-1]) - int64(at[0]); grown > 16<<20 {
		t.Errorf("the heap grew by %d MiB", grown>>20)
	}
}
