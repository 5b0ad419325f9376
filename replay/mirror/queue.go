package mirror

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/esshadow/esshadow/capture"
)

// entry is an exchange that was taken in, with the weight it was taken for.
type entry struct {
	x      *capture.Exchange
	weight int64
}

// queue holds exchanges until the feed takes them, and bounds in bytes and in
// number all that the mirror holds: what was taken stays counted until it is
// given back. Its lock is held for a few instructions only.
type queue struct {
	wake chan struct{} // not empty any more
	done chan struct{} // closed

	mu       sync.Mutex
	limit    int64
	inFlight int
	waiting  capture.Ring[entry]
	count    int   // held, those that wait among them
	held     int64 // bytes of these
	closed   bool
	timer    *time.Timer // the feed's
}

func newQueue(limit int64, inFlight int) *queue {
	q := &queue{limit: limit, inFlight: inFlight, wake: make(chan struct{}, 1), done: make(chan struct{})}
	q.timer = time.NewTimer(time.Hour)
	q.timer.Stop()
	return q
}

// set changes the bounds. What is held already stays.
func (q *queue) set(limit int64, inFlight int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.limit, q.inFlight = limit, inFlight
}

// put takes an exchange in, or says why not.
func (q *queue) put(x *capture.Exchange) (refused string) {
	e := entry{x, x.Weight()}
	q.mu.Lock()
	switch {
	case q.closed:
		refused = ShedClosed
	case q.count >= q.inFlight:
		refused = ShedInFlight
	case q.held+e.weight > q.limit:
		refused = ShedQueueFull
	}
	if refused != "" {
		q.mu.Unlock()
		return refused
	}
	q.held += e.weight
	q.count++
	q.waiting.Push(e)
	first := q.waiting.Len() == 1
	q.mu.Unlock()
	if first {
		select {
		case q.wake <- struct{}{}:
		default:
		}
	}
	return ""
}

// linger is how long the feed waits for more once something has come: a few
// wake-ups a second cost a busy proxy less than one for every request. A request
// counts as due when the feed is done with it, so this is no part of any latency.
const linger = time.Millisecond

// take waits for an exchange. Its error is io.EOF when the queue is closed and
// empty, and the context's when that ended.
func (q *queue) take(ctx context.Context) (entry, error) {
	for {
		if e, ok := q.pop(); ok {
			return e, ctx.Err()
		}
		select {
		case <-q.wake:
			q.timer.Reset(linger)
			select {
			case <-q.timer.C:
			case <-q.done:
			case <-ctx.Done():
			}
		case <-q.done:
			if e, ok := q.pop(); ok {
				return e, ctx.Err()
			}
			return entry{}, io.EOF
		case <-ctx.Done():
			return entry{}, ctx.Err()
		}
	}
}

func (q *queue) pop() (entry, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting.Pop()
}

// resize makes another weight of one that is held. It is false, and changes
// nothing, where a larger one has no room.
func (q *queue) resize(from, to int64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if to > from && q.held+to-from > q.limit {
		return false
	}
	q.held += to - from
	return true
}

// give ends the hold of one exchange or of what was made of it.
func (q *queue) give(weight int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.held -= weight
	q.count--
}

func (q *queue) now() (bytes int64, count int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.held, q.count
}

// close refuses all that comes from now on.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.closed = true
		close(q.done)
	}
}
