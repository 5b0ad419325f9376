package capture

import "sync"

// entry is an exchange with the weight that the queue took it for: the owner of
// its buffers might change them later.
type entry struct {
	x      *Exchange
	weight int64
	tick   uint32 // of the pace, when it was put
}

// queue holds exchanges until a worker takes them, bounded by bytes. Its lock is
// held for a few instructions only. Lines that wait for the writer count into
// the same bytes (charge), so one bound holds for all that capture keeps.
//
// Waking a sleeping worker for every exchange would cost a busy proxy more than
// the capture itself: the queue signals only when it ceases to be empty, and
// when it fills. See worker.wait.
type queue struct {
	limit       int64
	writesFirst bool          // a part of limit is theirs
	wake        chan struct{} // not empty any more, or more left than one worker took
	hurry       chan struct{} // filling: do not wait for more
	help        chan struct{} // eager workers are to take from it: see queue.pressed
	done        chan struct{} // closed

	mu     sync.Mutex
	ring   Ring[entry]
	held   int64
	closed bool
	pace   pace
}

// hurryPart of the limit is when workers stop waiting for more.
const hurryPart = 16

// reservePart of the limit is what writes have for themselves, if they go first.
const reservePart = 4

func newQueue(limit int64) *queue {
	return &queue{
		limit: limit,
		wake:  make(chan struct{}, 1), hurry: make(chan struct{}, 1), help: make(chan struct{}, 1), done: make(chan struct{}),
	}
}

// setLimit changes the bound, and whether writes go first. What is held already
// stays.
func (q *queue) setLimit(limit int64, writesFirst bool) {
	q.mu.Lock()
	q.limit, q.writesFirst = limit, writesFirst
	q.mu.Unlock()
}

// room is whether w bytes more may be held. What is no write leaves the reserve
// free, unless nothing is held at all: a body as large as the queue must fit.
// q.mu is held.
func (q *queue) room(w int64, write bool) bool {
	if q.held == 0 {
		return w <= q.limit
	}
	limit := q.pace.limit(q.limit)
	if q.writesFirst && !write {
		limit -= limit / reservePart
	}
	return q.held+w <= limit
}

// mayTake tells whether w bytes more might be held. It is asked before they are, so
// that a lossy queue costs no copies; as long as the queue is not, it says yes.
func (q *queue) mayTake(w int64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.pace.lossy || q.room(w, true)
}

// put takes an exchange, or says why not.
func (q *queue) put(x *Exchange, write bool) (refused string) {
	e := entry{x: x, weight: x.Weight()}
	if x.Unheld {
		e.weight += x.BodySize + x.AnswerSize // would have been, and was refused
	}
	q.mu.Lock()
	e.tick = q.pace.tick
	if q.closed {
		q.mu.Unlock()
		return DropClosed
	}
	became := q.pace.meet(e.weight)
	if x.Unheld || !q.room(e.weight, write) {
		q.pace.refused += e.weight
		q.mu.Unlock()
		return DropQueueFull
	}
	before, fullBefore := q.held, q.full()
	q.held += e.weight
	q.ring.Push(e)
	first := q.ring.Len() == 1
	crossed := before < q.limit/hurryPart && q.held >= q.limit/hurryPart
	patient := q.pace.patient()
	pressed := !fullBefore && q.full() || first && !patient
	q.mu.Unlock()
	if pressed {
		signal(q.help)
	}
	if first && patient || became {
		signal(q.wake)
	}
	if crossed {
		signal(q.hurry)
	}
	return ""
}

// take appends up to n exchanges of together about maxWeight to dst, for a patient
// worker.
func (q *queue) take(dst []entry, n int, maxWeight int64) []entry {
	q.mu.Lock()
	if !q.pace.patient() && !q.closed {
		q.mu.Unlock()
		return dst
	}
	dst, weight := q.pop(dst, n, maxWeight)
	q.pace.taken += weight
	more := q.ring.Len() > 0
	q.mu.Unlock()
	if more {
		signal(q.wake) // for the next worker
	}
	return dst
}

// takePressed is take for an eager worker: it takes only from a pressed queue.
func (q *queue) takePressed(dst []entry, n int, maxWeight int64) []entry {
	q.mu.Lock()
	if !q.pressed() {
		q.mu.Unlock()
		return dst
	}
	dst, _ = q.pop(dst, n, maxWeight)
	more := q.pressed()
	q.mu.Unlock()
	if more {
		signal(q.help)
	}
	return dst
}

// pop moves exchanges from the ring to dst. q.mu is held.
func (q *queue) pop(dst []entry, n int, maxWeight int64) (taken []entry, weight int64) {
	for ; n > 0 && weight < maxWeight; n-- {
		e, ok := q.ring.Pop()
		if !ok {
			break
		}
		weight += e.weight
		dst = append(dst, e)
	}
	return dst, weight
}

// charge adds bytes that are held, or with a negative number gives them back.
func (q *queue) charge(n int64) {
	q.mu.Lock()
	q.held += n
	q.mu.Unlock()
}

func (q *queue) bytes() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.held
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

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
