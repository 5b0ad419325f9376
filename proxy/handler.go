package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/valyala/fasthttp"
	"go.uber.org/zap"

	"github.com/esshadow/esshadow/internal/es"
)

// probeHeader marks the one request that is not passed on: GET / with it asks
// the proxy who it is, so that a replay can refuse to be pointed at it.
const probeHeader = "esshadow-probe"

// ProbeHeader is its name as a client sends it, with any value.
const ProbeHeader = "Esshadow-Probe"

// serve is the server's handler: one request.
func (p *Proxy) serve(ctx *fasthttp.RequestCtx) {
	c, ok := ctx.Conn().(*clientConn)
	if !ok {
		ctx.SetConnectionClose()
		return
	}
	c.requests++
	p.inFlight.Add(1)
	j := &c.job
	j.begin(p, c, ctx)
	defer func() {
		if v := recover(); v != nil {
			p.metrics.panics.Inc()
			p.logPanic("request panicked", v)
			j.closing = true
			j.settle(errInternal)
		}
		c.mute = true
		closing, unread := j.closing, j.unread || j.rest != nil
		j.release()
		p.inFlight.Add(-1)
		if closing {
			ctx.SetConnectionClose()
			if unread || c.peer.stirred() {
				p.lingerOn(c)
			}
		}
	}()
	j.settle(j.run(ctx))
}

// settle tells the client of a failure, counts, and offers the exchange.
func (j *job) settle(err error) {
	class := ""
	var own *refusal
	if err != nil {
		own, class = outcomeOf(err)
		j.fail(own)
	}
	p := j.p
	j.done = time.Now()
	p.requests.Add(1)
	p.metrics.count(j.op, j.status)
	if !j.forwarded {
		p.own.Add(1)
		return
	}
	p.metrics.observe(j)
	if p.tap != nil {
		if errors.Is(err, errTooLargeBody) || own != nil && own.status < 500 {
			return // refused while it streamed: no exchange with the cluster
		}
		j.offer(class)
	}
}

// fail answers with r where the client has had nothing yet. Otherwise, and
// where the client has left, the connection is cut so that what it got cannot
// pass for a whole answer.
func (j *job) fail(r *refusal) {
	switch {
	case r == nil:
		j.p.metrics.byClient.Inc()
		if j.stage == stageRequest {
			j.status = codeGone
		}
	case j.stage == stageAnswer:
		j.p.metrics.byNode.Inc()
	default:
		j.status = r.status
		j.unread = j.closing // for whatever reason
		j.closing = j.closing || j.rest != nil || j.p.draining.Load()
		j.stage = stageAnswer
		j.scratch.b = r.appendAnswer(j.scratch.b[:0], j.headOnly, j.closing)
		if _, err := j.client.send(j.scratch.b); err == nil {
			return
		}
	}
	j.closing = true
	j.client.abort()
}

// answerProbe says who this proxy is.
func (j *job) answerProbe() error {
	body, err := json.Marshal(map[string]any{"esshadow": map[string]string{
		"version": j.p.version, "instance": j.p.instance,
	}})
	if err != nil {
		return err
	}
	j.status, j.stage = 200, stageAnswer
	j.scratch.b = appendOwn(j.scratch.b[:0], 200, body, j.headOnly, j.closing)
	if _, err := j.client.send(j.scratch.b); err != nil {
		return errGone
	}
	return nil
}

// refuse is the server's error handler: what it could not read as a request.
func (p *Proxy) refuse(ctx *fasthttp.RequestCtx, err error) {
	c, ok := ctx.Conn().(*clientConn)
	if !ok || c.mute {
		return
	}
	defer func() { c.mute = true }()
	r := badRequest("malformed request")
	var small *fasthttp.ErrSmallBuffer
	switch {
	case errors.As(err, &small):
		r = errTooLargeHead
	case isTimeout(err):
		r = errSlowRequest
	}
	p.requests.Add(1)
	p.own.Add(1)
	p.metrics.count(es.OpUnknown, r.status)
	if _, err := c.send(r.appendAnswer(nil, false, true)); err == nil {
		p.lingerOn(c)
	}
}

// logPanic says where, never with what: a panic's value may quote a request.
func (p *Proxy) logPanic(msg string, v any) {
	p.log.Error(msg, zap.String("type", fmt.Sprintf("%T", v)), zap.Stack("stack"))
}

// quietLogger stands in for fasthttp's logger, which quotes what it could not
// read.
type quietLogger struct{ p *Proxy }

// Printf drops the arguments and the format, and counts.
func (l quietLogger) Printf(string, ...any) { l.p.serverErrors.Add(1) }
