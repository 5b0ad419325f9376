package replay

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/esshadow/esshadow/capture"
)

// model is a Target in virtual time: each request takes as long as takes says.
type model struct {
	takes func(at time.Time) time.Duration
	mu    sync.Mutex
	shots []string
	sent  []time.Time
	gone  chan struct{}
}

func newModel(takes func(time.Time) time.Duration) *model {
	return &model{takes: takes, gone: make(chan struct{})}
}

func (m *model) Send(shot *Shot, ans *Answer) {
	ans.Sent = time.Now()
	m.mu.Lock()
	m.shots, m.sent = append(m.shots, shot.Target), append(m.sent, ans.Sent)
	m.mu.Unlock()
	timer := time.NewTimer(m.takes(ans.Sent))
	defer timer.Stop()
	select {
	case <-timer.C:
		ans.Status = 200
	case <-m.gone:
		ans.Err = ErrCancelled
	}
	ans.Done = time.Now()
	ans.First = ans.Done
}

func (m *model) Release(*Answer) {}
func (m *model) Abort()          { close(m.gone) }

func TestVirtualSpans(t *testing.T) {
	for _, speed := range []Speed{0.1, 0.5, 1, 1.5, 2, 6} {
		t.Run(speed.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				// Seven minutes of traffic, and a target that always takes longer than the
				// time between two requests.
				m := newModel(func(time.Time) time.Duration { return 300 * time.Millisecond })
				cfg := Default()
				cfg.Speed = speed
				_, outcomes := replayedBy(t, cfg, searches(2101, 200*time.Millisecond, 50_000), m, newTimerPacer)
				for _, o := range outcomes {
					if want := int64(startLead) + Due(o.Time-captureStart, speed); o.Planned != want || o.Sent != want {
						t.Fatalf("record %d planned at %d and sent at %d, want %d", o.Seq, o.Planned, o.Sent, want)
					}
				}
				span := m.sent[len(m.sent)-1].Sub(m.sent[0])
				if want := Due(int64(420*time.Second), speed); int64(span) != want {
					t.Errorf("span %v, want %v", span, time.Duration(want))
				}
			})
		})
	}
}

// TestVirtualFreeze is the freeze of TestTruthOfAFrozenTarget in virtual time,
// where every number is exact, for few and for many connections.
func TestVirtualFreeze(t *testing.T) {
	for _, conns := range []int{20, 200, 4000} {
		t.Run(fmt.Sprint(conns), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				thaw := start.Add(12 * time.Second)
				m := newModel(func(at time.Time) time.Duration {
					if at.After(start.Add(7*time.Second)) && at.Before(thaw) {
						return thaw.Sub(at) + time.Millisecond
					}
					return time.Millisecond
				})
				s, outcomes := replayedBy(t, Default(), searches(4000, 5*time.Millisecond, conns), m, newTimerPacer)
				if s.Answered != 4000 {
					t.Fatalf("%+v", s.Counts)
				}
				var response []int64
				for _, o := range outcomes {
					response = append(response, o.Done-o.Planned)
				}
				for _, c := range []struct {
					q     float64
					truth time.Duration
				}{{0.90, 3 * time.Second}, {0.95, 4 * time.Second}, {0.99, 4800 * time.Millisecond}} {
					got := quantile(response, c.q)
					if off := float64(got-c.truth) / float64(c.truth); off > 0.02 || off < -0.02 {
						t.Errorf("p%g: %v is %.1f %% off %v", 100*c.q, got, 100*off, c.truth)
					}
				}
			})
		})
	}
}

// A slow answer delays its own connection's next requests and nobody else's, and
// what is late does not make the later ones late.
func TestVirtualLateness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var begun atomic.Bool
		m := newModel(func(time.Time) time.Duration {
			if !begun.Swap(true) {
				return time.Second
			}
			return time.Millisecond
		})
		_, outcomes := replayedBy(t, Default(), searches(40, 100*time.Millisecond, 2), m, newTimerPacer)
		for _, o := range outcomes {
			lag := time.Duration(o.Sent - o.Planned)
			at := time.Duration(o.Time - captureStart)
			late := o.Conn == 1 && at > 0 && at <= time.Second
			if late != (lag > 0) || lag > time.Second {
				t.Errorf("conn %d, %v after the first: lag %v", o.Conn, at, lag)
			}
		}
	})
}

func TestVirtualLookAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		m := newModel(func(time.Time) time.Duration { return time.Millisecond })
		cfg := Default()
		cfg.Ahead = 5 * time.Second
		src := searches(600, time.Second, 1)
		plain := src.make
		src.make = func(i int, r *capture.Record) {
			if ahead := time.Duration(i)*time.Second - time.Since(start); ahead > cfg.Ahead+2*time.Second {
				t.Errorf("record %d is read %v ahead", i, ahead)
			}
			plain(i, r)
		}
		replayedBy(t, cfg, src, m, newTimerPacer)
	})
}

// Records that stand out of order, and a gap of years, change nothing else.
func TestVirtualOddTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newModel(func(time.Time) time.Duration { return time.Millisecond })
		times := []int64{1000e9, 999e9, 1001e9, 1, 1000e9 + int64(3*365*24*time.Hour)}
		src := &records{n: len(times), make: func(i int, r *capture.Record) { search(r, i); r.Time = times[i] }}
		_, outcomes := replayedBy(t, Default(), src, m, newTimerPacer)
		for i, want := range []int64{0, 0, 1e9, 0, int64(3 * 365 * 24 * time.Hour)} {
			for _, o := range outcomes {
				if o.Seq == uint64(i)+1 && o.Planned != want+int64(startLead) {
					t.Errorf("record %d planned at %d, want %d", i, o.Planned, want)
				}
			}
		}
	})
}

func TestVirtualWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newModel(func(time.Time) time.Duration { return time.Millisecond })
		cfg := Default()
		cfg.Window = Window{From: captureStart + 10e9, Duration: 5 * time.Second}
		began := time.Now()
		s, _ := replayedBy(t, cfg, searches(100, time.Second, 3), m, newTimerPacer)
		if s.Answered != 5 || m.shots[0] != "/logs/_search?n=10" || time.Since(began) > 5*time.Second {
			t.Errorf("%+v, first %s, took %v", s.Counts, m.shots[0], time.Since(began))
		}
	})
}
