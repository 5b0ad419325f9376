package replay

import (
	"sync"
	"time"
)

// lanes keep the order of each source connection: of its items that are due, one
// is with a sender and the others wait behind it.
type lanes struct {
	mu    sync.Mutex
	open  map[uint64]*lane // by connection; present while an item of it is with a sender
	alone int              // items without a connection that are with a sender
	spare []*lane
	idle  *sync.Cond
}

type lane struct {
	waiting []*item
	next    int // waiting[:next] are gone
}

// enter reports whether the item may go to a sender now.
func (l *lanes) enter(it *item) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if it.out.Conn == 0 {
		l.alone++
		return true
	}
	if ln := l.open[it.out.Conn]; ln != nil {
		ln.waiting = append(ln.waiting, it)
		return false
	}
	l.open[it.out.Conn] = l.fresh()
	return true
}

// leave ends the item's turn and returns the one whose turn it is now.
func (l *lanes) leave(it *item) *item {
	l.mu.Lock()
	defer l.mu.Unlock()
	if it.out.Conn == 0 {
		l.alone--
		l.tell()
		return nil
	}
	ln := l.open[it.out.Conn]
	if ln.next < len(ln.waiting) {
		next := ln.waiting[ln.next]
		ln.waiting[ln.next] = nil
		ln.next++
		return next
	}
	delete(l.open, it.out.Conn)
	if cap(ln.waiting) <= 64 && len(l.spare) < 1024 {
		ln.waiting, ln.next = ln.waiting[:0], 0
		l.spare = append(l.spare, ln)
	}
	l.tell()
	return nil
}

func (l *lanes) fresh() *lane {
	if n := len(l.spare); n > 0 {
		ln := l.spare[n-1]
		l.spare = l.spare[:n-1]
		return ln
	}
	return &lane{}
}

func (l *lanes) tell() {
	if l.idle != nil && l.empty() {
		l.idle.Broadcast()
	}
}

func (l *lanes) empty() bool { return l.alone == 0 && len(l.open) == 0 }

// waitEmpty returns when no item is with a sender. Nothing may enter any more.
func (l *lanes) waitEmpty() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle = sync.NewCond(&l.mu)
	for !l.empty() {
		l.idle.Wait()
	}
}

// hand gives the item to an idle sender, or to a new one: as many grow as there
// are requests in flight at once.
func (e *Engine) hand(it *item) {
	select {
	case e.work <- it:
	default:
		e.senders.Go(func() {
			for ok := true; ok; it, ok = <-e.work {
				for it != nil {
					it = e.send(it)
				}
			}
		})
	}
}

// send sends one item and returns the next of its connection.
func (e *Engine) send(it *item) *item {
	e.try(it)
	e.inFlight.give(1)
	e.memory.give(it.bytes)
	next := e.lanes.leave(it)
	if next != nil && next.out.Planned != 0 {
		if now := e.clock(); now > next.out.Planned {
			next.out.Ready = now
		}
	}
	e.note(it)
	return next
}

// try sends an item, if it can be, and settles what follows from its answer for
// others.
func (e *Engine) try(it *item) {
	defer e.survive(func() {
		e.fault(it)
		e.handles.settle(it.out.Seq, it.plan.gives, nil)
	})
	if e.prepare(it) {
		e.deps.Target.Send(&it.plan.shot, &it.ans)
	}
	e.settle(it)
	if len(it.plan.gives) > 0 {
		e.handles.settle(it.out.Seq, it.plan.gives, readHandles(&it.plan, &it.ans))
	}
	if closes(it.plan.op) && it.out.Sent != 0 && it.out.Err == "" {
		e.handles.drop(it.plan.uses)
	}
}

// prepare does what can only be done at the time of sending. It is false where
// the item is not sent after all.
func (e *Engine) prepare(it *item) bool {
	if e.ctx.Err() != nil {
		it.out.Shed = shedCancelled
		return false
	}
	if !e.handles.substitute(e.ctx, it.out.Seq, &it.plan, e.cfg.HandleWait) {
		if e.ctx.Err() != nil {
			it.out.Shed = shedCancelled
		} else {
			it.out.Refused, it.out.Planned = RefusedHandle, 0
		}
		return false
	}
	return true
}

// settle puts the times of the answer, and the class of its failure, into the
// outcome.
func (e *Engine) settle(it *item) {
	o, a := &it.out, &it.ans
	if a.Shed != "" {
		o.Shed = a.Shed
	}
	if o.Shed != "" || o.Refused != "" {
		if o.Planned == 0 && o.Shed != "" {
			o.Planned = e.clock()
		}
		return
	}
	o.Sent, o.First, o.Done = e.since(a.Sent), e.since(a.First), e.since(a.Done)
	if o.Planned == 0 { // at Max a request is planned for when it can start
		o.Planned = o.Sent
	}
	o.Status, o.AnswerSize, o.Err = a.Status, a.Size, a.Err
	if o.Err == "" {
		o.Err = StatusClass(a.Status)
	}
	if o.Err == "" && a.Cut != "" {
		o.Err = ErrUnreadable
	}
}

func (e *Engine) since(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return max(1, int64(t.Sub(e.start)))
}

// StatusClass is the error class of a status that says that the request was not
// dealt with.
func StatusClass(status int) string {
	switch status {
	case 429:
		return ErrThrottled
	case 502:
		return ErrBadGateway
	case 503:
		return ErrUnavailable
	case 504:
		return ErrGatewayTime
	}
	return ""
}
