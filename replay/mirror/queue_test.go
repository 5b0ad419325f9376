package mirror

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/capture"
)

func exchangeOf(n int) *capture.Exchange {
	return &capture.Exchange{Method: "POST", Target: "/i/_search", Request: uint64(n), Body: make([]byte, n)}
}

// A model of the queue: bounds hold at any time, nothing is lost or turned round.
func TestQueueAlways(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := int64(rapid.IntRange(1000, 20_000).Draw(t, "limit"))
		most := rapid.IntRange(1, 20).Draw(t, "in flight")
		q := newQueue(limit, most)
		var waiting, taken []entry
		held := int64(0)
		for n := range rapid.IntRange(1, 300).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				x := exchangeOf(rapid.IntRange(0, 4000).Draw(t, "size"))
				x.Request = uint64(n)
				w := x.Weight()
				want := ""
				switch {
				case len(waiting)+len(taken) >= most:
					want = ShedInFlight
				case held+w > limit:
					want = ShedQueueFull
				}
				if got := q.put(x); got != want {
					t.Fatalf("put: %q, want %q", got, want)
				}
				if want == "" {
					waiting, held = append(waiting, entry{x, w}), held+w
				}
			case 2:
				e, ok := q.pop()
				if ok != (len(waiting) > 0) || ok && e != waiting[0] {
					t.Fatalf("pop: %v %v, want the first of %d", e, ok, len(waiting))
				}
				if ok {
					waiting, taken = waiting[1:], append(taken, e)
				}
			case 3:
				if len(taken) == 0 {
					continue
				}
				e := &taken[0]
				to := int64(rapid.IntRange(0, 8000).Draw(t, "to"))
				if ok := q.resize(e.weight, to); ok != (to <= e.weight || held+to-e.weight <= limit) {
					t.Fatalf("resize from %d to %d with %d of %d held: %v", e.weight, to, held, limit, ok)
				} else if ok {
					held, e.weight = held+to-e.weight, to
				}
				q.give(e.weight)
				held, taken = held-e.weight, taken[1:]
			}
			if bytes, count := q.now(); bytes != held || count != len(waiting)+len(taken) {
				t.Fatalf("%d bytes of %d, want %d of %d", bytes, count, held, len(waiting)+len(taken))
			}
		}
	})
}

func TestQueueTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(1<<20, 100)
		got := make(chan uint64, 100)
		ended := make(chan error, 1)
		go func() {
			for {
				e, err := q.take(t.Context())
				if err != nil {
					ended <- err
					return
				}
				got <- e.x.Request
			}
		}()
		for i := range 10 {
			q.put(exchangeOf(i))
			if i%3 == 0 {
				<-time.After(10 * time.Millisecond)
			}
		}
		q.close()
		if err := <-ended; !errors.Is(err, io.EOF) || len(got) != 10 {
			t.Errorf("%v after %d", err, len(got))
		}
		for i := range uint64(10) {
			if n := <-got; n != i {
				t.Errorf("%d instead of %d", n, i)
			}
		}
		if reason := q.put(exchangeOf(1)); reason != ShedClosed {
			t.Errorf("put into a closed queue: %q", reason)
		}
		ctx, stop := context.WithCancel(t.Context())
		open := newQueue(1<<20, 100)
		go func() {
			_, err := open.take(ctx)
			ended <- err
		}()
		synctest.Wait()
		stop()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
