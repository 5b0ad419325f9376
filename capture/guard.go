package capture

import (
	"sync/atomic"

	"go.uber.org/zap"
)

// guardWindow is how many requests the share of what is dropped is taken of.
const guardWindow = 10_000

// guard watches the share of requests of which the Sanitizer stores nothing: a
// capture that lacks too much is better stopped than believed.
type guard struct {
	limit         atomic.Uint64 // of guardWindow requests; 0: no limit
	seen, dropped atomic.Uint64
}

func (g *guard) setLimit(share float64) { g.limit.Store(uint64(share * guardWindow)) }

// add counts one request, and tells at the end of each window whether too many
// were dropped in it. Workers may call it at once.
func (g *guard) add(dropped bool) (n uint64, stop bool) {
	if dropped {
		g.dropped.Add(1)
	}
	if g.seen.Add(1) != guardWindow {
		return 0, false
	}
	n = g.dropped.Swap(0)
	g.seen.Store(0)
	limit := g.limit.Load()
	return n, limit > 0 && n > limit
}

// watch pauses capturing where the guard says so. Traffic passes on; capturing
// is switched on again by hand.
func (r *Recorder) watch(dropped bool) {
	if n, stop := r.guard.add(dropped); stop {
		r.log.Error("capture paused: more records than stop_if_dropped_over allows cannot be sanitised",
			zap.Uint64("dropped", n), zap.Int("of", guardWindow))
		r.Pause(true)
	}
}
