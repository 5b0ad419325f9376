package mirror

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/replay"
)

// classNotSent is what a request comes to that this machine could not send.
const classNotSent = "not_sent"

// guarded is a target behind the breaker.
type guarded struct {
	replay.Target
	breaker *breaker
}

var _ replay.Target = (*guarded)(nil)

// Send implements replay.Target.
func (g *guarded) Send(shot *replay.Shot, ans *replay.Answer) {
	may, trial := g.breaker.begin()
	if !may {
		ans.Shed = ShedBreaker
		return
	}
	class := classNotSent
	defer func() { g.breaker.end(time.Now(), class, trial) }() // a panic must not leave it waiting for its trial
	g.Target.Send(shot, ans)
	class = failureOf(ans)
}

// failureOf is the class of a failure that speaks of the target's health, "" where
// it answered. An answer that is no HTTP, or breaks off, is one.
func failureOf(ans *replay.Answer) string {
	switch {
	case ans.Shed != "":
		return classNotSent
	case ans.Err != "":
		return ans.Err
	}
	return replay.StatusClass(ans.Status)
}

// identifyWait bounds the question to the target who it is.
const identifyWait = 5 * time.Second

// Identify asks the target who it is, and opens the way to it, unless it is the
// source or a proxy: then the error wraps replay.ErrTargetIsSource or
// replay.ErrTargetIsProxy. Other errors say why nothing is known; the mirror goes
// on asking.
func (m *Mirror) Identify(ctx context.Context) error {
	m.asking.Lock()
	defer m.asking.Unlock()
	return m.identify(ctx)
}

func (m *Mirror) identify(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, identifyWait)
	defer stop()
	id, err := m.opt.Ask(ctx)
	if err == nil {
		err = m.checkTarget(ctx, id)
	}
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return err
	}
	m.breaker.asked(time.Now(), whyNot(err))
	return err
}

// maxInfo bounds an answer to GET / that is read.
const maxInfo = 16 << 10

// learn reads who the source is where it tells a client: a secured cluster tells
// the proxy nothing, which has no credentials. If it is the target, that is left
// alone.
func (m *Mirror) learn(x *capture.Exchange) {
	if m.source.Load() != nil || x.Status != 200 || len(x.Answer) == 0 || len(x.Answer) > maxInfo || x.AnswerCoding != "" {
		return
	}
	id, err := es.ParseIdentity(x.Answer)
	if err != nil || id.UUID == "" {
		return
	}
	m.source.Store(&id)
	if err := replay.Distinct(m.who(), id.UUID); err != nil {
		m.breaker.trip(time.Now(), whyNot(err))
	}
}

// sourceUUID is what is known of the source, "" if nothing is.
func (m *Mirror) sourceUUID(ctx context.Context) string {
	if id := m.source.Load(); id != nil {
		return id.UUID
	}
	if m.opt.Source == nil {
		return ""
	}
	return m.opt.Source(ctx).UUID
}

// checkTarget compares the target with the source, and notes what it is.
func (m *Mirror) checkTarget(ctx context.Context, id es.Identity) error {
	if err := replay.Distinct(id, m.sourceUUID(ctx)); err != nil {
		return err
	}
	if old := m.identity.Swap(&id); old == nil || *old != id {
		m.describe(func(r *replay.Run) { r.Target = id })
		m.log.Info("mirror target identified", zap.String("flavor", id.Flavor), zap.String("version", id.Version))
	}
	return nil
}

// whyNot names an error of Identify without quoting it.
func whyNot(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, replay.ErrTargetIsSource):
		return "target_is_source"
	case errors.Is(err, replay.ErrTargetIsProxy):
		return "target_is_proxy"
	case errors.Is(err, replay.ErrTargetUnauthorised):
		return "unauthorised"
	case errors.Is(err, replay.ErrTargetUnreachable):
		return "unreachable"
	}
	return whyUnknown
}

// who is the target, as far as it is known.
func (m *Mirror) who() es.Identity {
	if id := m.identity.Load(); id != nil {
		return *id
	}
	return es.Identity{}
}

// watch asks a target that is left alone, when its time has come, whether it is
// back, until ctx ends.
func (m *Mirror) watch(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		wait := time.Hour
		if until, open := m.breaker.due(); open {
			wait = time.Until(until)
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
			m.asking.Lock()
			if until, open := m.breaker.due(); open && !time.Now().Before(until) {
				_ = m.identify(ctx) // the breaker keeps why not, and tells of it
			}
			m.asking.Unlock()
		case <-m.kick:
			m.tellAsked()
		case <-ctx.Done():
			return
		}
	}
}

// breakerChanged logs, and wakes the watch.
func (m *Mirror) breakerChanged(from, to Breaker, why string) {
	m.wake()
	facts := []zap.Field{zap.Stringer("state", to), zap.Stringer("before", from), zap.String("why", why)}
	switch to {
	case BreakerOpen:
		m.log.Warn("mirror breaker changed", facts...)
	case BreakerClosed:
		m.log.Info("mirror breaker changed", facts...)
	default:
		m.log.Debug("mirror breaker changed", facts...)
	}
}
