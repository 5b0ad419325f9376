package mirror

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/replay"
)

// Options is what a Mirror is made of besides its Config.
type Options struct {
	// Target gets the requests; a *replay.Client is one.
	Target replay.Target
	// Ask asks the target who it is, as replay.Identify does.
	Ask func(context.Context) (es.Identity, error)
	// Source is the cluster that the proxy stands before, as far as it is known: it
	// must not be the target. It may be nil.
	Source func(context.Context) es.Identity

	// NewSanitizer makes the Sanitizer that says what may be told of a request, and
	// a new one after a panic in it.
	NewSanitizer func() capture.Sanitizer
	// Mapper is the Sanitizer's rule for ids and names in answers. Several
	// goroutines use it at once.
	Mapper es.Mapper
	// MaxBody bounds, in bytes, what is made of a body or an answer that has a
	// Content-Encoding; a larger one is sent as it came, and not read. 0 means
	// es.DefaultMaxDecoded.
	MaxBody int
	// Veil covers outcomes of which nothing readable may be stored; nil: none.
	Veil *replay.Veil
	// Judge is as in replay.Deps.
	Judge func(*replay.Outcome) []string
	// Counted is as in replay.Deps.
	Counted func(*replay.Outcome)

	Dir string // run directory
	// Shared lets a process that follows this one begin to write to Dir before this
	// one has ended; without it a second process is refused (replay.ErrRunBusy).
	Shared bool
	Run    replay.Run // its description, but for the target
	Log    *zap.Logger
}

// Mirror takes exchanges and sends their requests to its target. Offer never
// waits.
type Mirror struct {
	cfg  Config
	opt  Options
	log  *zap.Logger
	send replay.Config // the engine's; what the guards look at
	mark string        // MirrorHeader's value, by which what it sent is known when it comes back

	door    *door
	queue   *queue
	breaker *breaker
	keeper  *keeper
	engine  *replay.Engine

	sample   atomic.Uint64 // Float64bits of the ratio
	inFlight atomic.Int64
	largest  atomic.Int64 // bytes of the largest exchange of late; the feed alone writes it
	paused   atomic.Bool
	closed   atomic.Bool
	fault    atomic.Bool // a panic was logged
	looped   atomic.Bool // a loop was logged
	identity atomic.Pointer[es.Identity]
	source   atomic.Pointer[es.Identity] // as it told a client
	asking   sync.Mutex                  // held while the target is asked who it is
	kick     chan struct{}               // the breaker's state changed, or what was asked for

	about sync.Mutex // guards run and its file
	run   replay.Run
	lock  *replay.RunLock
	undo  func() error // of what openFiles did to Dir; nil: nothing was done

	abort context.CancelFunc
	rest  context.CancelFunc // ends the watch
	tick  chan struct{}      // closed: the keeper's clock stops
	done  chan struct{}      // the engine has ended, and the files are closed
	once  sync.Once
}

// New opens the run directory and starts mirroring, in a state in which nothing
// is sent until the target is identified: by a call of Identify, or by and by.
func New(cfg Config, o Options) (*Mirror, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("mirror: %w", err)
	}
	if o.Target == nil || o.Ask == nil || o.NewSanitizer == nil {
		return nil, errors.New("mirror: Target, Ask and NewSanitizer are needed")
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	m := &Mirror{
		cfg: cfg, opt: o, log: o.Log, send: cfg.Engine(), door: newDoor(),
		queue: newQueue(int64(cfg.Queue), cfg.InFlight), keeper: newKeeper(o.Log), run: o.Run,
		mark: rand.Text(), kick: make(chan struct{}, 1), tick: make(chan struct{}), done: make(chan struct{}),
	}
	m.breaker = newBreaker(&cfg, m.breakerChanged)
	m.sample.Store(math.Float64bits(cfg.Sample))
	m.inFlight.Store(int64(cfg.InFlight))
	m.run.Asked.Mirror, m.run.Asked.Sample, m.run.Asked.InFlight = true, cfg.Sample, cfg.InFlight
	var err error
	if m.lock, err = replay.LockRun(o.Dir, o.Shared); err != nil {
		return nil, fmt.Errorf("mirror: %w", err)
	}
	if err := m.keeper.begin(m.openFiles); err != nil {
		return nil, fmt.Errorf("mirror: %w", errors.Join(err, m.lock.Undo()))
	}
	m.send.Origin = max(0, time.Since(m.run.Started))
	m.engine = replay.New(m.send, replay.Deps{
		Feed: newFeed(m), Target: &guarded{o.Target, m.breaker, m.mark}, Lines: m.keeper, Judge: m.judge, Counted: o.Counted,
		Mapper: o.Mapper, Who: m.who, Veil: o.Veil, Log: o.Log,
	})
	m.start()
	return m, nil
}

func (m *Mirror) start() {
	ctx, abort := context.WithCancel(context.Background())
	watched, rest := context.WithCancel(ctx)
	m.abort, m.rest = abort, rest
	var around sync.WaitGroup
	around.Go(func() { m.watch(watched) })
	around.Go(func() { m.keeper.run(m.tick) })
	go func() {
		defer close(m.done)
		err := m.engine.Run(ctx)
		rest()
		close(m.tick)
		around.Wait()
		m.leave(err)
	}()
}

// leave ends what the engine left: requests that it did not reach are shed, and
// the run directory gets its end.
func (m *Mirror) leave(err error) {
	m.queue.close()
	for {
		e, ok := m.queue.pop()
		if !ok {
			break
		}
		m.letGo(e, ShedClosed)
	}
	m.door.forsake(ShedClosed)
	m.keeper.end()
	m.describe(func(r *replay.Run) {
		s := m.engine.Stats()
		m.door.addCounts(&s.Counts)
		r.Asked.Sample, r.Asked.InFlight = m.Sample(), int(m.inFlight.Load())
		r.End(time.Now(), s, false, err)
	})
	if err != nil {
		m.log.Error("mirror ended", zap.Error(err))
	}
	if err := m.lock.Release(); err != nil {
		m.log.Warn("mirror's run directory cannot be released", zap.Error(err))
	}
}

// Offer takes over an exchange: it is counted, and released once. It never
// waits, and nothing that goes wrong in it reaches the caller.
func (m *Mirror) Offer(x *capture.Exchange) {
	if x == nil {
		return
	}
	m.door.offer()
	kept, op := false, es.OpUnknown
	defer func() {
		if v := recover(); v != nil {
			m.panicked(v)
			if !kept {
				m.door.drop(ShedPanic, op)
			}
		}
		if !kept {
			m.release(x)
		}
	}()
	route := es.Classify(x.Method, x.Target)
	op = route.Op
	if reason := m.refusal(x, route); reason != "" {
		m.door.refuse(reason, op)
		return
	}
	if !capture.Sampled(x.Conn, m.Sample()) {
		m.door.sampleOut()
		return
	}
	reason := m.shed(x)
	if reason == "" {
		if reason = m.queue.put(x); reason == "" {
			kept = true
			return
		}
	}
	m.door.drop(reason, op)
}

// Room is always: what the queue cannot hold is shed when it is offered.
func (m *Mirror) Room(int64) bool { return true }

// judge is the engine's, which calls it once for each outcome.
func (m *Mirror) judge(o *replay.Outcome) []string {
	m.door.pass(o.Op, -1)
	if m.opt.Judge == nil {
		return nil
	}
	return m.opt.Judge(o)
}

// refusal is why a request of that operation is never sent.
func (m *Mirror) refusal(x *capture.Exchange, route es.Route) string {
	if route.Op == es.OpInfo {
		m.learn(x)
		return RefusedInfo
	}
	return replay.RefusalOf(&m.send, route)
}

// shed is why an exchange is not even queued.
func (m *Mirror) shed(x *capture.Exchange) string {
	switch {
	case m.fromMirror(x):
		return ShedLoop
	case m.paused.Load():
		return ShedPaused
	case x.BodySize > int64(len(x.Body)):
		return ShedBodyTooLarge
	case !m.breaker.admits(time.Now()):
		return ShedBreaker
	}
	return ""
}

// fromMirror tells that a mirror sent the request: the way to its target, this
// one's or another's, leads through here. This one's target is left alone then: the
// source has what it was sent, twice.
func (m *Mirror) fromMirror(x *capture.Exchange) bool {
	for i := range x.Header {
		if len(x.Header[i].Name) == len(replay.MirrorHeader) && strings.EqualFold(x.Header[i].Name, replay.MirrorHeader) {
			if state, _ := m.breaker.now(); state != BreakerOpen && x.Header[i].Value == m.mark {
				m.breaker.trip(time.Now(), whyNot(replay.ErrTargetIsProxy))
			}
			if m.looped.CompareAndSwap(false, true) {
				m.log.Warn("a mirror's requests come through this proxy: they are not mirrored again")
			}
			return true
		}
	}
	return false
}

// letGo counts an exchange that was taken in and is not sent, and releases it.
func (m *Mirror) letGo(e entry, reason string) {
	m.queue.give(e.weight)
	m.door.drop(reason, es.Classify(e.x.Method, e.x.Target).Op)
	m.release(e.x)
}

// release gives an exchange back; a panic there must hurt nobody else.
func (m *Mirror) release(x *capture.Exchange) {
	defer func() {
		if v := recover(); v != nil {
			m.panicked(v)
		}
	}()
	x.Release()
}

// panicked logs the first panic: where it came from and the type of its value,
// never the value, which may hold anything.
func (m *Mirror) panicked(v any) {
	if m.fault.CompareAndSwap(false, true) {
		m.log.Error("panic in mirror, counted from now on", zap.String("type", fmt.Sprintf("%T", v)), zap.Stack("stack"))
	}
}

// Sample is the part of the connections that is mirrored.
func (m *Mirror) Sample() float64 { return math.Float64frombits(m.sample.Load()) }

// SetSample changes the part of the connections that is mirrored.
func (m *Mirror) SetSample(ratio float64) {
	m.sample.Store(math.Float64bits(ratio))
	m.wake()
}

// wake makes the watch look at what changed.
func (m *Mirror) wake() {
	select {
	case m.kick <- struct{}{}:
	default:
	}
}

// Pause switches mirroring off, or on again. What comes meanwhile is shed.
func (m *Mirror) Pause(on bool) { m.paused.Store(on) }

// Reload takes over Sample, Queue and InFlight of cfg. An invalid cfg changes
// nothing.
func (m *Mirror) Reload(cfg Config) error {
	if err := cfg.Validate(); err != nil {
		return fmt.Errorf("mirror: %w", err)
	}
	m.queue.set(int64(cfg.Queue), cfg.InFlight)
	m.inFlight.Store(int64(cfg.InFlight))
	m.SetSample(cfg.Sample)
	return nil
}

// ErrStuck says that the mirror's files did not come back from a write within
// the time that Close had.
var ErrStuck = errors.New("the mirror's outcome files are stuck")

// closeGrace is what Close waits, once the drain is over, for the engine to close
// what it opened at the target, and for the files.
const closeGrace = 4 * time.Second

// Close takes nothing more, waits up to Config.Drain for what is in flight, sheds
// the rest and closes the run directory. The sums that it returns hold exactly.
func (m *Mirror) Close() (Stats, error) {
	m.once.Do(func() {
		m.closed.Store(true)
		m.queue.close()
		m.rest()
	})
	defer m.abort()
	if m.wait(m.cfg.Drain) {
		return m.Stats(), nil
	}
	m.abort()
	if m.wait(closeGrace) {
		return m.Stats(), nil
	}
	return m.Stats(), ErrStuck
}

func (m *Mirror) wait(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-m.done:
		return true
	case <-t.C:
		return false
	}
}
