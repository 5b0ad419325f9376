package replay

import (
	"fmt"
	"sync"
	"time"

	"github.com/esshadow/esshadow/internal/es"
)

// notes is the queue between the senders and the noters. Adding never waits: its
// length is bounded by the engine's backlog budget, for which only the
// dispatcher waits.
type notes struct {
	mu     sync.Mutex
	some   *sync.Cond
	items  []*item
	closed bool
}

func (n *notes) init() { n.some = sync.NewCond(&n.mu) }

func (n *notes) add(it *item) {
	n.mu.Lock()
	n.items = append(n.items, it)
	n.mu.Unlock()
	n.some.Signal()
}

func (n *notes) close() {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.some.Broadcast()
}

// takeSome waits for items and moves up to cap(batch) of them into batch. It is empty
// when the queue is closed and empty.
func (n *notes) takeSome(batch []*item) []*item {
	n.mu.Lock()
	defer n.mu.Unlock()
	for len(n.items) == 0 && !n.closed {
		n.some.Wait()
	}
	k := min(cap(batch), len(n.items))
	batch = append(batch[:0], n.items[:k]...)
	rest := copy(n.items, n.items[k:])
	clear(n.items[rest:])
	n.items = n.items[:rest]
	return batch
}

// note puts an item whose fate is known into the queue.
func (e *Engine) note(it *item) { e.notes.add(it) }

// noteAll turns items into outcome lines until the queue is closed. Several
// goroutines run it: reading answers is the replayer's largest work, and none of
// it is done where it could delay a request.
func (e *Engine) noteAll() {
	var z es.Summarizer
	batch := make([]*item, 0, 64)
	for {
		if batch = e.notes.takeSome(batch); len(batch) == 0 {
			return
		}
		for _, it := range batch {
			e.facts(&z, it)
			e.write(it)
			e.backlog.give(1)
			it.end()
		}
		clear(batch)
	}
}

// facts reads the answer.
func (e *Engine) facts(z *es.Summarizer, it *item) {
	o, a := &it.out, &it.ans
	defer e.survive(func() {
		*z = es.Summarizer{}
		if o.Sent != 0 {
			e.fault(it)
		}
	})
	if o.Refused == "" {
		o.requestFacts(it.plan.op, &it.plan.shot)
	}
	if o.Sent == 0 {
		return
	}
	defer e.deps.Target.Release(a)
	switch {
	case a.Status == 0:
	case it.live != nil && it.live.Told == nil: // nothing may be told of it
	case a.Cut != "":
		o.Got = &es.Summary{Unreadable: a.Cut}
	case a.Err == "":
		o.Got = z.Summarize(it.plan.op, a.Status, a.Type, a.Coding, a.Body, e.deps.Mapper)
		if o.Err == "" && o.Got.Unreadable != "" {
			o.Err = ErrUnreadable
		}
	}
}

// judge names an outcome's differences.
func (e *Engine) judge(o *Outcome) (kinds []string) {
	if e.deps.Judge == nil {
		return nil
	}
	defer e.survive(func() {
		if o.Sent != 0 {
			o.Err, o.Got = Fault, nil
		}
	})
	return e.deps.Judge(o)
}

// counted tells of an outcome that the tally has.
func (e *Engine) counted(o *Outcome) {
	if e.deps.Counted == nil {
		return
	}
	defer e.survive(func() {})
	e.deps.Counted(o)
}

// write judges, counts and stores the outcome. One goroutine at a time is in it.
func (e *Engine) write(it *item) {
	w := &e.writing
	w.mu.Lock()
	defer w.mu.Unlock()
	defer e.survive(func() {}) // counted it is
	o := &it.out
	example := e.tally.add(o, e.judge(o))
	e.counted(o)
	if example {
		o.Example = it.example()
	}
	if e.deps.Veil != nil {
		e.deps.Veil.hide(o)
	}
	if e.deps.Lines == nil || w.broken {
		return
	}
	w.line = AppendOutcome(w.line[:0], o)
	err := e.deps.Lines.Append(w.line, o.Time)
	if w.appends++; err == nil && w.appends%tickEach == 0 {
		err = e.deps.Lines.Tick(time.Now())
	}
	if err != nil {
		w.broken = true
		e.fail(fmt.Errorf("%w: %w", errWrite, err))
	}
}

// writing makes judging and writing outcomes the work of one goroutine at a time.
// It is not the tally's lock: a disk may take its time, and whoever asks for the
// counts need not wait for that.
type writing struct {
	mu      sync.Mutex
	line    []byte // the last outcome's
	broken  bool   // the outcome file failed
	appends int
}

// tickEach lines the file is asked what is due: often enough for its flush
// interval, and seldom enough to cost nothing.
const tickEach = 64

// end tells the owner of a live request that the Engine is done with it.
func (it *item) end() {
	if it.live != nil && it.live.Done != nil {
		it.live.Done()
	}
}

// example is what may be shown of the request.
func (it *item) example() *Example {
	if it.live != nil {
		return it.live.example(it.out.Index)
	}
	return exampleOf(&it.plan.shot, it.out.Index)
}

// exampleOf is the request as sent; index is the one that was captured, by which
// its shape goes.
func exampleOf(s *Shot, index string) *Example {
	if s.Method == "" {
		return nil
	}
	body := s.Body
	if len(body) > MaxExampleBody {
		body = body[:MaxExampleBody]
	}
	r := es.Classify(s.Method, s.Target)
	shape := es.Fingerprint(r.Op, index, r.Query, s.Body)
	return &Example{Method: s.Method, Target: s.Target, Body: string(body), Shape: shape.Text}
}
