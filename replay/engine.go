package replay

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/esshadow/esshadow/internal/es"
)

// Lines takes the outcome lines of a run, each with its record's time (Unix ns);
// segment.Writer is one. It is used by one goroutine at a time.
type Lines interface {
	Append(line []byte, t int64) error
	Tick(now time.Time) error
	Close(drops map[string]uint64) error
}

// Deps is what an Engine works with.
type Deps struct {
	Source Source
	// Feed, in place of Source, makes it a live mirror: requests are due when they
	// come. Config must then have no bound of its own but Backlog: what comes is
	// what the Feed lets in.
	Feed   Feed
	Target Target
	// Lines keeps the outcomes; nil keeps none.
	Lines Lines
	// Judge is shown every outcome, and names its differences: for the live counts,
	// and because an outcome that differs gets an Example. nil names none. It is
	// called by one goroutine at a time and must not keep the Outcome.
	Judge func(*Outcome) []string
	// Counted is shown every outcome once Stats count it, so that what is added up
	// there never runs ahead of Stats. It is called as Judge is; it may be nil.
	Counted func(*Outcome)
	// Mapper is the capture's id rule, for answers of a target that holds the
	// original ids.
	Mapper es.Mapper
	// Identity is the target's, as Identify found it. Who, where it is set, says it
	// anew for each request: a mirror's target may not be known yet, or change.
	Identity es.Identity
	Who      func() es.Identity
	// Veil covers the outcomes of a sealed capture, of which nothing readable may
	// reach the outcome file; nil: they are stored as they are.
	Veil *Veil
	Log  *zap.Logger // may be nil
}

// Engine replays one capture once. It is an open loop: a request is sent when it
// is due, however late or slow others are, with two exceptions that are both
// visible in its Outcome: requests of one source connection keep their order
// (the wait counts as lag), and what exceeds a bound at its due time is shed.
type Engine struct {
	cfg   Config
	deps  Deps
	start time.Time

	reader  reader
	lanes   lanes
	handles handles
	notes   notes
	tally   tally
	writing writing

	ahead    *budget // bytes read ahead
	inFlight *budget // requests due and not done
	memory   *budget // bytes of their bodies
	backlog  *budget // requests due and not noted

	work    chan *item
	senders sync.WaitGroup
	ctx     context.Context //nolint:containedctx // the run's, which senders look at
	fail    context.CancelCauseFunc

	newPacer func() pacer
	position atomic.Int64 // Unix ns of the last record that was due
	faulty   atomic.Bool  // a panic was logged
	began    atomic.Pointer[time.Time]
}

// New makes an Engine for one Run. cfg must be valid.
func New(cfg Config, deps Deps) *Engine {
	if deps.Log == nil {
		deps.Log = zap.NewNop()
	}
	e := &Engine{cfg: cfg, deps: deps, newPacer: newPacer, work: make(chan *item)}
	e.ahead = newBudget(int64(cfg.AheadMemory))
	e.inFlight = newBudget(int64(cfg.InFlight))
	e.memory = newBudget(int64(cfg.InFlightMemory))
	e.backlog = newBudget(int64(cfg.Backlog))
	e.lanes.open = map[uint64]*lane{}
	e.handles.init()
	e.notes.init()
	e.tally.init()
	if deps.Feed != nil {
		e.newPacer = newTimerPacer // it never sleeps: what comes is due
		e.tally.anew = examplesAnew
	}
	return e
}

// aheadItems bounds the number of items read ahead.
const aheadItems = 8192

// Run replays until the source ends or ctx does, and returns when every request
// is accounted for and the outcome file is closed. Ending by ctx is no error;
// Stats tells how far it came.
func (e *Engine) Run(ctx context.Context) error {
	ctx, e.fail = context.WithCancelCause(ctx)
	defer e.fail(nil)
	stopAbort := context.AfterFunc(ctx, e.deps.Target.Abort)
	defer stopAbort()
	e.ctx = ctx

	e.start = time.Now().Add(-e.cfg.Origin)
	e.began.Store(&e.start)
	items := make(chan *item, aheadItems)
	var readErr error
	var reading, noting sync.WaitGroup
	reading.Go(func() { readErr = e.read(ctx, items) })
	for range max(1, runtime.GOMAXPROCS(0)/2) {
		noting.Go(e.noteAll)
	}
	var dispatching sync.WaitGroup
	dispatching.Go(func() { e.dispatch(ctx, items) })
	dispatching.Wait()
	reading.Wait()
	e.senders.Wait()
	e.closeLeft()
	e.notes.close()
	noting.Wait()
	e.tally.end(time.Since(e.start))
	return e.verdict(ctx, readErr)
}

// read makes items of what there is to send, and closes items at the end.
func (e *Engine) read(ctx context.Context, items chan<- *item) error {
	p := newPlanner(&e.cfg, e.deps.Identity)
	if e.deps.Feed != nil {
		p.live = true
		r := liveReader{e: e, planner: p, out: items}
		return r.run(ctx)
	}
	e.reader.cfg, e.reader.src, e.reader.planner = &e.cfg, e.deps.Source, p
	e.reader.handles, e.reader.clock, e.reader.ahead, e.reader.out = &e.handles, e.clock, e.ahead, items
	return e.reader.run(ctx)
}

// identity is what the target is as far as is known now.
func (e *Engine) identity() es.Identity {
	if e.deps.Who != nil {
		return e.deps.Who()
	}
	return e.deps.Identity
}

// verdict is the run's error: of reading, or of writing outcomes.
func (e *Engine) verdict(ctx context.Context, readErr error) error {
	var errs []error
	if readErr != nil {
		errs = append(errs, fmt.Errorf("reading the capture: %w", readErr))
	}
	if cause := context.Cause(ctx); cause != nil && errors.Is(cause, errWrite) {
		errs = append(errs, cause)
	}
	if e.deps.Lines != nil {
		if err := e.deps.Lines.Close(nil); err != nil {
			errs = append(errs, fmt.Errorf("%w: %w", errWrite, err))
		}
	}
	return errors.Join(errs...)
}

var errWrite = errors.New("writing the outcomes")

func (e *Engine) clock() int64 { return int64(time.Since(e.start)) }

// dispatch hands each item to its connection's lane when it is due. It runs on
// a thread of its own where the pacer needs one, and closes work at the end.
func (e *Engine) dispatch(ctx context.Context, items <-chan *item) {
	p := e.newPacer()
	defer p.close()
	defer func() { e.senders.Go(e.closeWork) }()
	for {
		select {
		case it, ok := <-items:
			if !ok || !e.dispatchOne(ctx, p, it) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// closeWork ends the idle senders once no lane holds an item.
func (e *Engine) closeWork() {
	e.lanes.waitEmpty()
	close(e.work)
}

// dispatchOne is false when ctx ended before the item's turn: it then counts
// nowhere, for it was not reached.
func (e *Engine) dispatchOne(ctx context.Context, p pacer, it *item) bool {
	if !e.waitDue(ctx, p, it.due) || !e.backlog.take(ctx, 1) {
		return false
	}
	e.ahead.give(it.bytes)
	e.position.Store(it.out.Time)
	if it.out.Refused != "" {
		e.note(it)
		return true
	}
	if it.out.Shed != "" {
		it.out.Planned = it.due
		e.note(it)
		return true
	}
	if e.cfg.Speed == Max {
		if !e.inFlight.take(ctx, 1) {
			return false
		}
		if !e.memory.take(ctx, it.bytes) {
			return false
		}
	} else {
		it.out.Planned = it.due
		if reason := e.admit(it); reason != "" {
			it.out.Shed = reason
			e.handles.settle(it.out.Seq, it.plan.gives, nil)
			e.note(it)
			return true
		}
	}
	if e.lanes.enter(it) {
		e.hand(it)
	}
	return true
}

// Reasons to shed a request.
const (
	shedInFlight  = "in_flight" // as many were due and not done as the bound allows
	shedMemory    = "memory"    // their bodies hold as much as the bound allows
	shedCancelled = "cancelled" // the run was interrupted while it waited for its connection
)

// admit takes the item's share of the bounds, or names the one that is full.
func (e *Engine) admit(it *item) string {
	if !e.inFlight.try(1) {
		return shedInFlight
	}
	if !e.memory.try(it.bytes) {
		e.inFlight.give(1)
		return shedMemory
	}
	return ""
}

// waitDue sleeps until the run's clock shows due.
func (e *Engine) waitDue(ctx context.Context, p pacer, due int64) bool {
	if e.cfg.Speed == Max {
		return ctx.Err() == nil
	}
	for {
		rest := due - e.clock()
		if rest <= 0 {
			return ctx.Err() == nil
		}
		p.sleep(ctx, time.Duration(rest))
		if ctx.Err() != nil {
			return false
		}
	}
}
