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

// guarded is a target behind the breaker. What it sends bears the mirror's mark.
type guarded struct {
	replay.Target
	breaker *breaker
	mark    string
}

var _ replay.Target = (*guarded)(nil)

// Send implements replay.Target.
func (g *guarded) Send(shot *replay.Shot, ans *replay.Answer) {
	may, trial := g.breaker.begin()
	if !may {
		ans.Shed = ShedBreaker
		return
	}
	for i := range shot.Header {
		if shot.Header[i].Name == replay.MirrorHeader {
			shot.Header[i].Value = g.mark
		}
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
	if errors.Is(err, replay.ErrTargetIsSource) || errors.Is(err, replay.ErrTargetIsProxy) {
		m.breaker.trip(time.Now(), whyNot(err)) // however well it answers
		return err
	}
	m.breaker.asked(time.Now(), whyNot(err))
	return err
}

// maxInfo bounds an answer to GET / that is read.
const maxInfo = 16 << 10

// learn reads who the source is where it tells a client: a secured cluster tells
// the proxy nothing, which has no credentials. The last word counts: a name may lead
// to another cluster one day. If it is the target, that is left alone.
func (m *Mirror) learn(x *capture.Exchange) {
	if x.Status != 200 || len(x.Answer) == 0 || len(x.Answer) > maxInfo || x.AnswerCoding != "" {
		return
	}
	id, err := es.ParseIdentity(x.Answer)
	if err != nil || id.UUID == "" {
		return
	}
	if old := m.source.Swap(&id); old != nil && old.UUID == id.UUID {
		return
	}
	if err := replay.Distinct(m.who(), id.UUID); err != nil {
		m.breaker.trip(time.Now(), whyNot(err))
	}
}

// checkTarget compares the target with the source, as clients and as the proxy
// were told of it, and notes what it is.
func (m *Mirror) checkTarget(ctx context.Context, id es.Identity) error {
	if told := m.source.Load(); told != nil {
		if err := replay.Distinct(id, told.UUID); err != nil {
			return err
		}
	}
	if m.opt.Source != nil {
		if err := replay.Distinct(id, m.opt.Source(ctx).UUID); err != nil {
			return err
		}
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

// identifyEvery is how often a target that answers is asked who it is: its name may
// lead to another cluster one day, to the source among others.
const identifyEvery = 10 * time.Second

// watch asks a target who it is: one that is left alone when its time has come, any
// other by and by, until ctx ends.
func (m *Mirror) watch(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	asked := time.Now()
	due := func() time.Time {
		if until, open := m.breaker.due(); open {
			return until
		}
		return asked.Add(identifyEvery)
	}
	for {
		timer.Reset(time.Until(due()))
		select {
		case <-timer.C:
			m.asking.Lock()
			if !time.Now().Before(due()) {
				_ = m.identify(ctx) // the breaker keeps why not, and tells of it
				asked = time.Now()
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
