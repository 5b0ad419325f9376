package capture

import (
	"context"
	"errors"
	"maps"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/capture/segment"
)

// Whatever happens in whatever order, every exchange is accounted for at every
// moment, exactly the captured ones are lines, and once writing works again the
// gap lines tell of all the others.
func TestSumsUnderRandomFaults(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var failed any // rapid fails by a panic, which has to leave the bubble's goroutine
		synctest.Test(t, func(*testing.T) {
			defer func() { failed = recover() }()
			randomDay(rt)
		})
		if failed != nil {
			panic(failed)
		}
	})
}

func randomDay(t *rapid.T) {
	const (
		sound = iota
		diskLow
		writeError
		writerPanics
	)
	var fault atomic.Int32
	out := &memory{size: rapid.IntRange(1, 40).Draw(t, "block"), fault: func() error {
		switch fault.Load() {
		case diskLow:
			return segment.ErrDiskLow
		case writeError:
			return errors.New("input/output error")
		case writerPanics:
			panic(secret)
		}
		return nil
	}}
	cfg := Default()
	cfg.Workers = rapid.IntRange(1, 3).Draw(t, "workers")
	cfg.Queue, cfg.MaxBody = 1<<20, 1<<20
	cfg.Priority = rapid.SampledFrom([]string{PriorityWrites, PriorityNone}).Draw(t, "priority")
	f := &fixture{out: out}
	var err error
	f.Recorder, err = NewRecorder(cfg, Options{Open: out.open, NewSanitizer: func() Sanitizer { return &plain{} }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = f.Close(context.Background()) }()
	balanced := func(s Stats, offered uint64) {
		if sum := s.Captured + Sum(s.Filtered) + s.SampledOut + Sum(s.Dropped) + s.Pending; s.Received != offered || sum != offered {
			t.Fatalf("offered %d, sum %d: %+v", offered, sum, s)
		}
	}
	offered := uint64(0)
	targets := []string{"/i/_search", "/_bulk", "/i/_search?drop=why", "/i/_search?panic", "/_cat/indices"}
	t.Repeat(map[string]func(*rapid.T){
		"offer": func(t *rapid.T) {
			for range rapid.IntRange(1, 60).Draw(t, "n") {
				offered++
				x := f.exchange(rapid.SampledFrom(targets).Draw(t, "target"), offered)
				x.Body = noise(rapid.SampledFrom([]int{0, 10, 100_000}).Draw(t, "size"), offered)
				x.BodySize = int64(len(x.Body))
				f.Offer(x)
			}
		},
		"wait":   func(t *rapid.T) { wait(time.Duration(rapid.IntRange(1, 3000).Draw(t, "ms")) * time.Millisecond) },
		"fault":  func(t *rapid.T) { fault.Store(rapid.Int32Range(sound, writerPanics).Draw(t, "fault")) },
		"pause":  func(t *rapid.T) { f.Pause(rapid.Bool().Draw(t, "on")) },
		"sample": func(t *rapid.T) { f.SetSample(rapid.Float64Range(0, 1).Draw(t, "ratio")) },
		"rotate": func(*rapid.T) { _ = f.Rotate(context.Background()) },
		"":       func(*rapid.T) { balanced(f.Stats(), offered) },
	})
	fault.Store(sound)
	wait(2 * lastRetry)
	s, err := f.Close(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	balanced(s, offered)
	requests, gaps := out.records()
	told := map[string]uint64{}
	for _, g := range gaps {
		told[g.Gap.Reason] += g.Gap.Count
	}
	if uint64(len(requests)) != s.Captured || s.Pending != 0 || s.QueueBytes != 0 || f.released.Load() != int64(offered) {
		t.Fatalf("%d lines, %d released: %+v", len(requests), f.released.Load(), s)
	}
	if !maps.Equal(told, s.Dropped) {
		t.Fatalf("gap lines tell %v, dropped were %v", told, s.Dropped)
	}
	last := uint64(0)
	for _, r := range out.written {
		if r.Seq <= last {
			t.Fatalf("seq %d after %d", r.Seq, last)
		}
		last = r.Seq
	}
}
