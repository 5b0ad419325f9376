package replay

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/esshadow/esshadow/capture"
)

// Source gives the records of a capture in order of time, and io.EOF after the
// last. A Record and its slices are used only until the next call; its Want is
// kept.
type Source interface {
	Next() (*capture.Record, error)
}

// Target sends a shot and waits for its answer; Client is one. Send must be
// safe for use by many goroutines, and Release takes the answer's body back.
type Target interface {
	Send(shot *Shot, ans *Answer)
	Release(ans *Answer)
	Abort()
}

// item is one record on its way through the engine. It has one owner at a time:
// reader, dispatcher, the lane of its connection, a sender, a noter.
type item struct {
	live  *Live // nil: of a capture
	out   Outcome
	plan  plan
	ans   Answer
	bytes int64 // held of the memory budgets
	due   int64
}

// reader takes records from the source, decides what becomes of them and hands
// them on in order, no further ahead than the bounds say.
type reader struct {
	cfg     *Config
	src     Source
	planner *planner
	handles *handles     // nil: nothing is sent
	clock   func() int64 // ns since the run's start
	ahead   *budget
	out     chan<- *item

	seq   uint64
	first int64
	gaps  atomic.Uint64 // records that the capture says are missing
}

// run ends at the end of the source or of its window, with its error, or when
// ctx ends.
func (r *reader) run(ctx context.Context) error {
	defer close(r.out)
	for ctx.Err() == nil {
		rec, err := r.src.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		it, more := r.take(rec)
		if !more {
			return nil
		}
		if it != nil && !r.pass(ctx, it) {
			return nil
		}
	}
	return nil
}

// take makes an item of the record. It is nil where the record is outside the
// window or a note of what is missing; more is false after the window's end.
func (r *reader) take(rec *capture.Record) (it *item, more bool) {
	switch r.cfg.Window.place(rec.Time) {
	case before:
		return nil, true
	case after:
		return nil, false
	}
	if rec.Kind == "gap" {
		if rec.Gap != nil {
			r.gaps.Add(rec.Gap.Count)
		}
		return nil, true
	}
	if r.seq++; r.seq == 1 {
		r.first = rec.Time
	}
	it = &item{due: addClamped(Due(rec.Time-r.first, r.cfg.Speed), int64(startLead))}
	it.out = Outcome{
		Seq: r.seq, Time: rec.Time, Conn: rec.Conn, Op: rec.Op, Shape: rec.Shape,
		SourceStatus: rec.Status, Want: rec.Want, SourceWait: rec.Wait, SourceTook: rec.Took,
		Fidelity: rec.Fidelity, FidWhy: rec.FidWhy,
	}
	it.plan = r.planner.plan(rec)
	it.out.Refused = it.plan.refused
	it.out.Class, it.out.Index = it.plan.class.String(), it.plan.index
	if it.plan.refused == "" && r.handles != nil {
		r.handles.expect(r.seq, it.plan.gives)
	}
	it.bytes = int64(len(it.plan.shot.Body)+len(it.plan.shot.Target)) + itemWeight
	return it, true
}

// startLead is how long after the run's start the first request is due: the
// reader is ahead by then, and no time of an Outcome that happened is 0.
const startLead = 20 * time.Millisecond

// itemWeight is about what an item holds besides its body, in bytes.
const itemWeight = 1024

// pass hands the item on when it is near enough.
func (r *reader) pass(ctx context.Context, it *item) bool {
	if !r.ahead.take(ctx, it.bytes) {
		return false
	}
	if wait := it.due - r.clock() - int64(r.cfg.Ahead); wait > 0 {
		timer := time.NewTimer(time.Duration(wait))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return false
		}
	}
	select {
	case r.out <- it:
		return true
	case <-ctx.Done():
		return false
	}
}
