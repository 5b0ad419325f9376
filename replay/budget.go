package replay

import (
	"context"
	"sync"
)

// budget bounds an amount of memory or a number of things. One amount above the
// whole limit is let in alone, so that nothing waits for ever. A limit of 0 is
// no limit.
type budget struct {
	mu    sync.Mutex
	limit int64
	held  int64
	peak  int64
	freed chan struct{} // holds a token when something was given back
}

func newBudget(limit int64) *budget {
	return &budget{limit: limit, freed: make(chan struct{}, 1)}
}

// try takes n if there is room.
func (b *budget) try(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.limit > 0 && b.held > 0 && b.held+n > b.limit {
		return false
	}
	b.add(n)
	return true
}

func (b *budget) add(n int64) {
	b.held += n
	b.peak = max(b.peak, b.held)
}

// take waits for room. Only one goroutine may wait at a time. It is false when
// ctx ended first.
func (b *budget) take(ctx context.Context, n int64) bool {
	for !b.try(n) {
		select {
		case <-b.freed:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

func (b *budget) give(n int64) {
	b.mu.Lock()
	b.held -= n
	b.mu.Unlock()
	select {
	case b.freed <- struct{}{}:
	default:
	}
}

func (b *budget) now() (held, peak int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held, b.peak
}
