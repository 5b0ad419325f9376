package replay

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
)

// MirrorHeader marks every request that a live mirror sends, so that none is
// mirrored again where the way to the target leads through another proxy. A
// cluster passes over the header.
const MirrorHeader = "Esshadow-Mirror"

// Live is one request of live traffic on its way to the target.
type Live struct {
	// Record is what is sent: the request as its client sent it, in memory only,
	// with a body without Content-Encoding where that could be undone. Its handles
	// are the source's ids as they are. Want and what the capture makes of a request
	// (Op, Shape, Fidelity) are not looked at. The Engine owns it.
	Record capture.Record
	// Told is what may be stored of the request; nil: nothing but what Record says
	// in numbers, and Why.
	Told *Told
	// Why is the sanitiser's reason for there being nothing Told.
	Why string
	// Done, which may be nil, is called once: when the Engine holds nothing of it
	// any more. It is not called for what a run that was ended did not reach.
	Done func()
}

// Told is the sanitised side of a Live request.
type Told struct {
	Shape string
	Want  *es.Summary
	// Method, Target and Body are for an Example. Of a long body it is enough to
	// have the first MaxExampleBody bytes, if Text has the shape's readable form.
	Method string
	Target string
	Body   []byte
	Text   string
}

// Feed hands out live requests in the order in which they are to be sent. One
// goroutine asks it.
type Feed interface {
	// Next waits for the next request. It is io.EOF when there will be none, and
	// the context's error when that ended.
	Next(ctx context.Context) (*Live, error)
}

// liveReader is to a Feed what reader is to a Source: it makes items that are
// due at once.
type liveReader struct {
	e       *Engine
	planner *planner
	out     chan<- *item
	seq     uint64
}

func (r *liveReader) run(ctx context.Context) error {
	defer close(r.out)
	for {
		q, err := r.e.deps.Feed.Next(ctx)
		switch {
		case errors.Is(err, io.EOF), ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		it := r.item(q)
		r.e.ahead.take(ctx, it.bytes)
		select {
		case r.out <- it:
		case <-ctx.Done():
			return nil
		}
	}
}

func (r *liveReader) item(q *Live) (it *item) {
	defer r.e.survive(func() { it = r.stopped(q) })
	return r.take(q)
}

func (r *liveReader) take(q *Live) *item {
	rec := &q.Record
	r.seq++
	r.planner.target = r.e.identity()
	it := &item{live: q, due: max(1, r.e.clock())}
	it.plan = r.planner.plan(rec)
	it.out = Outcome{
		Seq: r.seq, Time: rec.Time, Conn: rec.Conn, Op: it.plan.op.String(), Class: it.plan.class.String(),
		Refused: it.plan.refused, SourceStatus: rec.Status, SourceWait: rec.Wait, SourceTook: rec.Took,
		// What is sent is what the source was asked: nothing is lost in between.
		Fidelity: capture.Exact,
	}
	if t := q.Told; t != nil {
		it.out.Shape, it.out.Want = t.Shape, t.Want
		it.out.Index = es.Classify(t.Method, t.Target).Index
	} else {
		it.out.Fidelity, it.out.FidWhy = capture.Broken, q.Why
	}
	if it.plan.refused == "" {
		r.e.handles.expect(r.seq, it.plan.gives)
	}
	it.bytes = int64(len(it.plan.shot.Body)+len(it.plan.shot.Target)) + itemWeight
	q.Record = capture.Record{} // the plan has what of it is still needed
	return it
}

// example is what a Live request's outcome shows of it.
func (q *Live) example(index string) *Example {
	t := q.Told
	if t == nil {
		return nil
	}
	e := exampleOf(&Shot{Method: t.Method, Target: t.Target, Body: t.Body}, index)
	if e != nil && t.Text != "" {
		e.Shape = t.Text
	}
	return e
}

// liveHeader names what a mirror passes on of a live request's headers: what an
// engine reads to understand the request, and what traces it. All others, in
// whatever header somebody carries credentials, stay behind.
func liveHeader(lower string) bool {
	switch lower {
	case "content-type", "content-encoding", "accept", "accept-encoding", "elastic-api-version", "x-opaque-id",
		"traceparent", "tracestate", "user-agent", "x-elastic-product-origin":
		return true
	}
	return false
}

// liveHeaders are the headers that a mirror sends.
func (p *planner) liveHeaders(in []capture.Header) []capture.Header {
	out := make([]capture.Header, 0, len(in)+1)
	for _, h := range in {
		if liveHeader(strings.ToLower(h.Name)) {
			// A copy: the text that it is part of holds the headers that stay behind.
			out = append(out, capture.Header{Name: strings.Clone(h.Name), Value: strings.Clone(h.Value)})
		}
	}
	return append(rewriteMedia(out, p.target), capture.Header{Name: MirrorHeader, Value: "1"})
}

// Turned is what a mirror turned away, of which no outcome tells: its counters
// stand among the drops in the footers of its outcome files.
type Turned struct {
	Shed   bool   // it was planned; else a guard refused it
	Reason string // without an @
	Op     string // operation; empty: not known
}

const (
	turnedRefused = "refused."
	turnedShed    = "shed."
	turnedOp      = "@"
)

// String is the counter's name: refused.write@bulk, shed.paused@search.
func (t Turned) String() string {
	name := turnedRefused + t.Reason
	if t.Shed {
		name = turnedShed + t.Reason
	}
	if t.Op != "" {
		name += turnedOp + t.Op
	}
	return name
}

// ParseTurned reads a counter's name; ok is false for one that is no Turned.
func ParseTurned(name string) (t Turned, ok bool) {
	rest, refused := strings.CutPrefix(name, turnedRefused)
	if !refused {
		if rest, t.Shed = strings.CutPrefix(name, turnedShed); !t.Shed {
			return Turned{}, false
		}
	}
	t.Reason, t.Op, _ = strings.Cut(rest, turnedOp)
	return t, true
}

// RefusalOf is the guards' reason not to send a request of that route at all, ""
// where it depends on more than its operation or where it may be sent. cfg says
// whether writes may.
func RefusalOf(cfg *Config, route es.Route) string { return refuse(cfg, route.Op, route.Class) }
