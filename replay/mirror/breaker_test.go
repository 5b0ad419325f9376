package mirror

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/replay"
)

// desk is a breaker with a clock that the test turns.
type desk struct {
	*breaker
	t    time.Time
	news []Breaker
}

func newDesk(failures int) *desk {
	cfg := Default()
	cfg.BreakerFailures, cfg.BreakerWait, cfg.BreakerMaxWait = failures, time.Second, 4*time.Second
	d := &desk{t: time.Unix(1_700_000_000, 0)}
	d.breaker = newBreaker(&cfg, func(_, to Breaker, _ string) { d.news = append(d.news, to) })
	return d
}

func (d *desk) pass(after time.Duration) { d.t = d.t.Add(after) }

// answer sends one request, if it may be sent, with that result.
func (d *desk) answer(class string) bool {
	may, trial := d.begin()
	if may {
		d.end(d.t, class, trial)
	}
	return may
}

func (d *desk) is(t *testing.T, want Breaker) {
	t.Helper()
	if got, _ := d.now(); got != want {
		t.Errorf("it is %s, want %s", got, want)
	}
}

func TestBreakerOpensAfterARunOfFailures(t *testing.T) {
	for class, failures := range map[string]int{
		replay.ErrRefused: 3, replay.ErrReset: 3, replay.ErrTimeout: 3, replay.ErrUnavailable: 3, replay.ErrBadGateway: 3,
		replay.ErrGatewayTime: 3, replay.ErrUnreadable: 3, replay.ErrThrottled: 15,
	} {
		t.Run(class, func(t *testing.T) {
			d := newDesk(3)
			d.asked(d.t, "")
			for range failures - 1 {
				d.answer(class)
				d.is(t, BreakerClosed)
			}
			d.answer("") // the run is over
			for range failures - 1 {
				d.answer(class)
			}
			d.is(t, BreakerClosed)
			d.answer(class)
			d.is(t, BreakerOpen)
			if _, why := d.now(); why != class || d.answer("") || d.admits(d.t) {
				t.Errorf("open for %q, or it lets requests pass", why)
			}
		})
	}
}

func TestBreakerIgnoresWhatSaysNothingOfTheTarget(t *testing.T) {
	d := newDesk(2)
	d.asked(d.t, "")
	for range 20 {
		d.answer(replay.ErrCancelled)
		d.answer(classNotSent)
	}
	d.is(t, BreakerClosed)
}

func TestBreakerAtTheStart(t *testing.T) {
	d := newDesk(2)
	d.is(t, BreakerOpen)
	if until, open := d.due(); !open || until.After(d.t) {
		t.Error("the target is not asked at once")
	}
	d.asked(d.t, "unreachable")
	if until, _ := d.due(); until != d.t.Add(time.Second) {
		t.Errorf("asked again after %s", until.Sub(d.t))
	}
	d.pass(time.Second)
	d.asked(d.t, "")
	d.is(t, BreakerClosed) // nothing is known against it
}

// After an outage one request goes first; while it is on its way no other does.
func TestBreakerHalfOpen(t *testing.T) {
	d := newDesk(1)
	d.asked(d.t, "")
	late, trial := d.begin() // a request that is on its way for long
	d.answer(replay.ErrTimeout)
	for i, wait := range []time.Duration{1, 2, 4, 4} {
		until, _ := d.due()
		if until != d.t.Add(wait*time.Second) {
			t.Fatalf("failure %d: left alone for %s, want %ds", i, until.Sub(d.t), wait)
		}
		d.pass(until.Sub(d.t))
		d.asked(d.t, "")
		d.is(t, BreakerHalfOpen)
		if !d.admits(d.t) || d.admits(d.t) {
			t.Fatal("not one request is let in")
		}
		d.pass(inviteEvery)
		if !d.admits(d.t) {
			t.Fatal("a request that never got to the target blocks the way")
		}
		may, first := d.begin()
		if again, _ := d.begin(); !may || !first || again || d.admits(d.t.Add(time.Hour)) {
			t.Fatal("not one request tries")
		}
		if i == 0 && late { // its failure is of another time
			d.end(d.t, replay.ErrTimeout, trial)
			d.is(t, BreakerHalfOpen)
		}
		d.end(d.t, replay.ErrUnavailable, true)
		d.is(t, BreakerOpen)
	}
	until, _ := d.due()
	d.pass(until.Sub(d.t))
	d.asked(d.t, "")
	d.answer(replay.ErrCancelled) // decides nothing
	d.is(t, BreakerHalfOpen)
	d.answer("")
	d.is(t, BreakerClosed)
	d.answer(replay.ErrReset)
	if until, _ := d.due(); until != d.t.Add(time.Second) {
		t.Errorf("after a recovery it is left alone for %s", until.Sub(d.t))
	}
}

// Whatever happens in whatever order: an open breaker lets nothing pass, a
// half-open one no more than one at a time, and a closed one everything.
func TestBreakerAlways(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDesk(rapid.IntRange(1, 5).Draw(t, "failures"))
		type flight struct{ trial bool }
		var flying []flight
		trials := 0
		classes := []string{"", "", replay.ErrTimeout, replay.ErrThrottled, replay.ErrCancelled, classNotSent}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				state, _ := d.now()
				may, trial := d.begin()
				if state == BreakerOpen && may || state == BreakerClosed && (!may || trial) || state == BreakerHalfOpen && may != (trials == 0) {
					t.Fatalf("%s: may %v, trial %v with %d trials on their way", state, may, trial, trials)
				}
				if may {
					flying = append(flying, flight{trial})
				}
				if trial {
					trials++
				}
			case 1:
				if len(flying) > 0 {
					i := rapid.IntRange(0, len(flying)-1).Draw(t, "which")
					f := flying[i]
					flying = append(flying[:i], flying[i+1:]...)
					if f.trial {
						trials--
					}
					d.end(d.t, rapid.SampledFrom(classes).Draw(t, "class"), f.trial)
				}
			case 2:
				d.pass(time.Duration(rapid.IntRange(1, 5000).Draw(t, "ms")) * time.Millisecond)
			case 3:
				if until, open := d.due(); open && !d.t.Before(until) {
					d.asked(d.t, rapid.SampledFrom([]string{"", "", "unreachable"}).Draw(t, "why"))
				}
			}
			if until, open := d.due(); open && until.Sub(d.t) > 4*time.Second {
				t.Fatalf("left alone for %s", until.Sub(d.t))
			}
		}
	})
}

// Whoever is told of a change may take its time: a log that does not come back
// must not hold up clients, who ask the breaker.
func TestBreakerTellsWithoutItsLock(t *testing.T) {
	d := newDesk(3)
	told := make(chan Breaker, 1)
	d.changed = func(_, to Breaker, _ string) {
		d.admits(d.t)
		told <- to
	}
	go d.trip(d.t, "unreachable")
	select {
	case to := <-told:
		if to != BreakerOpen {
			t.Errorf("told of %s", to)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the breaker is locked while it tells")
	}
}

// A trial that ends in a panic ends: the next request is one.
func TestTrialThatPanics(t *testing.T) {
	d := newDesk(1)
	d.asked(d.t, "")
	d.answer(replay.ErrRefused)
	d.asked(d.t, "")
	d.is(t, BreakerHalfOpen)
	g := &guarded{newCluster(func(context.Context, *replay.Shot) replay.Answer { panic("fault") }), d.breaker, "mark"}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is gone")
			}
		}()
		g.Send(&replay.Shot{}, &replay.Answer{})
	}()
	if !d.answer("") {
		t.Error("the breaker waits for the trial that panicked")
	}
	d.is(t, BreakerClosed)
}
