package capture

import (
	"strings"
	"testing"
)

// offerAll offers a window of requests of which every n-th is dropped by the
// Sanitizer, and waits until they are through.
func offerAll(t *testing.T, f *fixture, every int) {
	t.Helper()
	for i := range guardWindow {
		target := "/_search"
		if i%every == 0 {
			target = "/_search?drop=unknown_clause"
		}
		for f.Stats().QueueBytes > 1<<20 {
			wait(1)
		}
		f.Offer(f.exchange(target, uint64(i)))
	}
	for f.Stats().QueueBytes > 0 {
		if err := f.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCapturingPausesWhenTooMuchIsDropped(t *testing.T) {
	for name, c := range map[string]struct {
		limit float64
		every int // every n-th request is dropped
		want  State
	}{
		"below the limit": {0.05, 25, StateOn},
		"above the limit": {0.05, 10, StatePaused},
		"without a limit": {0, 2, StateOn},
		"all are dropped": {0.99, 1, StatePaused},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := Default()
			cfg.StopOver = c.limit
			f := start(t, cfg, &memory{}, nil)
			offerAll(t, f, c.every)
			if f.State() != c.want {
				t.Errorf("state %v, want %v", f.State(), c.want)
			}
			logged := 0
			for _, l := range f.logs.All() {
				if strings.Contains(l.Message, "stop_if_dropped_over") {
					logged++
				}
			}
			if (logged == 1) != (c.want == StatePaused) {
				t.Errorf("told %d times", logged)
			}
			f.Pause(false)
			if f.State() != StateOn {
				t.Errorf("state %v after it was switched on again", f.State())
			}
			if _, err := f.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestStopOverIsAShare(t *testing.T) {
	for _, v := range []float64{-0.1, 1, 5} {
		cfg := Default()
		cfg.StopOver = v
		if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "stop_if_dropped_over") {
			t.Errorf("%v: %v", v, err)
		}
	}
}
