package capture

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/esshadow/esshadow/internal/es"
)

// ErrStuck says that the writer did not come back from a write within the time
// that Close had; what it holds is counted as dropped.
var ErrStuck = errors.New("capture writer is stuck")

// closeGrace is what Close waits, once its context has ended, for workers and
// writer to drop what they hold and to close the file.
const closeGrace = 2 * time.Second

// Options is what a Recorder is made of besides its Config.
type Options struct {
	// Open starts writing; OpenSegments makes one for segment files. It is called
	// at the start, and again while it fails.
	Open func(Report) (Lines, error)
	// NewSanitizer makes the Sanitizer of one worker, and a new one after a
	// panic in it.
	NewSanitizer func() Sanitizer
	Log          *zap.Logger // nil: none
	// Wide is told how many threads step back and work all the same, 0 when none does
	// any more. One of them that waits for a processor of the machine keeps one of the
	// Go runtime's (of which there are GOMAXPROCS), so there should be as many more.
	Wide func(threads int) // nil: nobody
}

// Recorder takes exchanges and writes their sanitised records. Offer filters and
// never waits; workers sanitise and encode; one goroutine writes.
type Recorder struct {
	cfg    Config
	open   func(Report) (Lines, error)
	make   func() Sanitizer
	log    *zap.Logger
	counts *tally
	queue  *queue
	sample atomic.Uint64 // Float64bits of the ratio
	filter atomic.Pointer[filter]
	body   atomic.Int64 // Config.MaxBody
	cpu    atomic.Int64 // ns of processor time

	threads int // that step back
	scribe  *scribe
	wide    func(threads int)

	mu     sync.Mutex // guards the state's three parts, for a few instructions
	paused bool
	closed bool
	disk   State // what the writer says: on, disk_low or failed
	why    error // it is not on; nil: it is
	state  atomic.Uint32

	full  chan *chunk // workers → writer
	empty chan *chunk // writer → workers
	asked chan request
	abort chan struct{} // what is left is to be dropped
	once  sync.Once
	done  chan struct{} // workers and writer have ended
	guard guard
	fault atomic.Bool // a panic was logged
	err   error       // of closing the file; read after done
}

// NewRecorder starts capturing. That the capture cannot be written is no error:
// the Recorder is then in StateFailed and tries again.
func NewRecorder(cfg Config, o Options) (*Recorder, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	if o.Open == nil || o.NewSanitizer == nil {
		return nil, errors.New("capture: Open and NewSanitizer are needed")
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	cfg.Workers = cfg.WorkersOn(runtime.GOMAXPROCS(0))
	if cfg.Nice > 0 {
		if err := canStepBack(cfg.Nice); err != nil {
			cfg.Nice = 0
			if !errors.Is(err, errors.ErrUnsupported) {
				o.Log.Warn("capture cannot step back behind the proxy (capture.nice), it goes on beside it", zap.Error(err))
			}
		}
	}
	workers := cfg.Workers
	if cfg.Nice > 0 {
		workers *= 2 // eager ones besides
	}
	r := &Recorder{
		cfg: cfg, open: o.Open, make: o.NewSanitizer, log: o.Log, wide: o.Wide,
		counts: newTally(), queue: newQueue(int64(cfg.Queue)), disk: StateOn,
		full: make(chan *chunk, chunksFor(workers)), empty: make(chan *chunk, chunksFor(workers)),
		asked: make(chan request), abort: make(chan struct{}), done: make(chan struct{}),
	}
	for range cap(r.empty) {
		r.empty <- new(chunk)
	}
	r.state.Store(uint32(StateOn))
	if err := r.Reload(cfg); err != nil {
		return nil, err
	}
	r.start()
	return r, nil
}

func (r *Recorder) start() {
	r.scribe = newScribe(r)
	r.scribe.reopen(time.Now())
	if r.cfg.Nice > 0 {
		r.threads = r.cfg.Workers + 1
		r.queue.pace.on = true
	}
	var workers, all sync.WaitGroup
	for range r.cfg.Workers {
		workers.Go(func() { r.stepBack(newWorker(r).run) })
	}
	if r.cfg.Nice > 0 {
		for range r.cfg.Workers {
			workers.Go(newWorker(r).runEager)
		}
		all.Go(r.keepPace)
	}
	all.Go(func() { r.stepBack(r.scribe.run) })
	all.Go(func() {
		workers.Wait()
		close(r.full)
	})
	go func() {
		all.Wait()
		close(r.done)
	}()
}

// Offer takes over an exchange: it is counted, and released once. It never
// waits, and nothing that goes wrong in it reaches the caller.
func (r *Recorder) Offer(x *Exchange) {
	if x == nil {
		return
	}
	r.counts.receive()
	queued := false
	defer func() {
		if v := recover(); v != nil {
			r.panicked(v)
			if !queued {
				r.counts.drop(one(DropPanic, x.Time))
			}
		}
		if !queued {
			r.release(x)
		}
	}()
	route := es.Classify(x.Method, x.Target)
	reason := filterReason(route)
	if reason == "" {
		reason = r.filter.Load().reason(route)
	}
	if reason != "" {
		r.counts.filter(reason)
		return
	}
	if !Sampled(x.Conn, r.Sample()) {
		r.counts.sampleOut()
		return
	}
	reason = r.refusal(x)
	if reason == "" {
		if reason = r.queue.put(x, writes(route)); reason == "" {
			queued = true
			return
		}
	}
	r.counts.drop(one(reason, x.Time))
}

// refusal is why an exchange is not even queued.
func (r *Recorder) refusal(x *Exchange) string {
	if reason := r.State().dropReason(); reason != "" {
		return reason
	}
	held := int64(len(x.Body))
	if !x.Unheld && x.BodySize > held || max(x.BodySize, held) > r.body.Load() {
		return DropBodyTooLarge
	}
	return ""
}

// Room tells whether an exchange with so many bytes more in its bodies might be
// queued now. Only while more is lost than captured the answer is no.
func (r *Recorder) Room(size int64) bool { return r.queue.mayTake(size) }

// one is the gap that a single request leaves.
func one(reason string, t int64) Gap { return Gap{Reason: reason, Count: 1, From: t, To: t} }

// release gives an exchange back; a panic there must hurt nobody else.
func (r *Recorder) release(x *Exchange) {
	defer func() {
		if v := recover(); v != nil {
			r.panicked(v)
		}
	}()
	x.Release()
}

// panicked logs the first panic: where it came from and the type of its value,
// never the value, which may hold anything.
func (r *Recorder) panicked(v any) {
	if r.fault.CompareAndSwap(false, true) {
		r.log.Error("panic in capture, counted from now on", zap.String("type", fmt.Sprintf("%T", v)), zap.Stack("stack"))
	}
}

// Reload takes over cfg but for Workers and Nice: what is queued stays, what is offered
// from now on is chosen and bounded anew. An invalid cfg changes nothing.
func (r *Recorder) Reload(cfg Config) error {
	if err := cfg.Validate(); err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	f, err := newFilter(cfg)
	if err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	r.filter.Store(f)
	r.body.Store(int64(cfg.MaxBody))
	r.queue.setLimit(int64(cfg.Queue), cfg.Priority == PriorityWrites)
	r.SetSample(cfg.Sample)
	r.guard.setLimit(cfg.StopOver)
	return nil
}

// Sample is the part of the connections that is captured.
func (r *Recorder) Sample() float64 { return math.Float64frombits(r.sample.Load()) }

// SetSample changes the part of the connections that is captured.
func (r *Recorder) SetSample(ratio float64) { r.sample.Store(math.Float64bits(ratio)) }

// Pause switches capturing off, or on again. What is dropped meanwhile is
// counted and leaves a gap line.
func (r *Recorder) Pause(on bool) {
	r.change(func() { r.paused = on })
}

// State says whether capture works.
func (r *Recorder) State() State { return State(r.state.Load()) }

// change changes parts of the state, and logs once if the state became another.
func (r *Recorder) change(part func()) {
	r.mu.Lock()
	part()
	before, now := r.State(), r.disk
	switch {
	case r.closed:
		now = StateOff
	case r.paused:
		now = StatePaused
	}
	r.state.Store(uint32(now))
	why := r.why
	r.mu.Unlock()
	if before == now {
		return
	}
	facts := []zap.Field{zap.Stringer("state", now), zap.Stringer("before", before)}
	if now == StateDiskLow || now == StateFailed {
		r.log.Warn("capture state changed", append(facts, zap.Error(why))...)
		return
	}
	r.log.Info("capture state changed", facts...)
}

// setDisk sets what the writer says of itself, and why it cannot write if so.
func (r *Recorder) setDisk(state State, why error) {
	r.change(func() { r.disk, r.why = state, why })
}

// hindered is why nothing can be written; nil: it can.
func (r *Recorder) hindered() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.why
}

func (r *Recorder) diskState() State {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.disk
}

// Stats are the sums at this moment.
func (r *Recorder) Stats() Stats {
	s := r.counts.stats()
	s.QueueBytes, s.State, s.CPU = r.queue.bytes(), r.State(), time.Duration(r.cpu.Load())
	s.Why = r.hindered()
	return s
}

// QueueBytes is Stats.QueueBytes alone.
func (r *Recorder) QueueBytes() int64 { return r.queue.bytes() }

// Rotate closes the file that is being written; the next line starts a new one.
func (r *Recorder) Rotate(ctx context.Context) error {
	return r.ask(ctx, func(l Lines) error { return l.Rotate() })
}

// Flush writes what was offered and encoded so far to the file.
func (r *Recorder) Flush(ctx context.Context) error {
	return r.ask(ctx, func(l Lines) error { return l.Flush() })
}

func (r *Recorder) ask(ctx context.Context, do func(Lines) error) error {
	q := request{do: do, answer: make(chan error, 1)}
	select {
	case r.asked <- q:
		return <-q.answer
	case <-r.done:
		return errors.New("capture is closed")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close writes what is queued, the last gap lines and the file's footer, and
// returns the sums, which then hold exactly. If ctx ends before, what is left is
// dropped as "closed". Exchanges offered later are dropped too.
func (r *Recorder) Close(ctx context.Context) (Stats, error) {
	r.queue.close()
	var err error
	select {
	case <-r.done:
	case <-ctx.Done():
		r.once.Do(func() { close(r.abort) })
		grace := time.NewTimer(closeGrace)
		defer grace.Stop()
		select {
		case <-r.done:
		case <-grace.C:
			r.counts.seal(DropClosed)
			err = ErrStuck
		}
	}
	r.change(func() { r.closed = true })
	if err == nil {
		err = r.err
	}
	return r.Stats(), err
}
