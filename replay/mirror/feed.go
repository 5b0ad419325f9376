package mirror

import (
	"bytes"
	"context"
	"strings"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/replay"
)

// feed makes requests of exchanges: what is sent, and beside it what the
// sanitiser lets be told. One goroutine uses it, so that the order stays.
type feed struct {
	m        *Mirror
	sanitize capture.Sanitizer // nil after a panic in it: a new one is made
	told     capture.Record
	decoder  es.Decoder
	handles  es.HandleReader
	found    []es.Handle
	op       es.Op // of the last request
}

var _ replay.Feed = (*feed)(nil)

func newFeed(m *Mirror) *feed {
	return &feed{m: m, decoder: es.Decoder{Max: m.opt.MaxBody}, handles: es.HandleReader{MaxDecoded: m.opt.MaxBody}}
}

// Next implements replay.Feed.
func (f *feed) Next(ctx context.Context) (*replay.Live, error) {
	for {
		e, err := f.m.queue.take(ctx)
		if err != nil {
			if e.x != nil {
				f.m.letGo(e, ShedClosed)
			}
			return nil, err
		}
		if q := f.take(e); q != nil {
			f.m.door.pass(f.op.String(), 1)
			return q, nil
		}
	}
}

// itemWeight is about what a request holds besides its texts, in bytes: the
// engine's part of it, its outcome and the Summary of its answer.
const itemWeight = 4 << 10

// take makes a request, to which the exchange's hold of the queue goes over, and
// releases the exchange. It is nil where that cannot be; then that is counted.
func (f *feed) take(e entry) (q *replay.Live) {
	reason := ShedPanic
	defer func() {
		if v := recover(); v != nil {
			f.m.panicked(v)
			f.sanitize, q, reason = nil, nil, ShedPanic
		}
		if q == nil {
			f.m.letGo(e, reason)
		}
	}()
	x := e.x
	f.m.took(e.weight)
	coding := headerOf(x.Header, "Content-Encoding")
	body, err := f.decoder.Decode(coding, x.Body)
	plain := err == nil
	if !plain {
		body = x.Body // sent as it came; what needs to be read of it to be safe is refused then
	}
	made := &replay.Live{Record: f.record(x, body, plain && coding != "")}
	weight := int64(len(body)+len(x.Target)) + itemWeight
	made.Told, made.Why = f.tell(x)
	if t := made.Told; t != nil {
		weight += int64(len(t.Body) + len(t.Target))
	}
	if !f.m.queue.resize(e.weight, weight) {
		reason = ShedQueueFull
		return nil
	}
	made.Done = func() { f.m.queue.give(weight) }
	f.m.release(x)
	return made
}

// record is the request as its client sent it, with texts of its own. decoded:
// body is not as it came but without its coding.
func (f *feed) record(x *capture.Exchange, body []byte, decoded bool) capture.Record {
	r := capture.Record{
		Time: x.Time, Conn: x.Conn, Request: x.Request, Method: x.Method, Target: x.Target,
		BodySize: x.BodySize, Status: x.Status, Err: x.Err, Wait: x.Wait / 1000, Took: x.Took / 1000,
	}
	if len(body) > 0 {
		r.Body = bytes.Clone(body)
	}
	for _, h := range x.Header {
		if decoded && strings.EqualFold(h.Name, "Content-Encoding") {
			continue
		}
		r.Header = append(r.Header, h)
	}
	route := es.Classify(x.Method, x.Target)
	f.op = route.Op
	f.found = f.handles.Request(f.found[:0], route, body)
	for _, h := range f.found {
		r.Handles = append(r.Handles, capture.Handle{Kind: h.Kind, Dir: "use", ID: string(h.Value)})
	}
	f.found = f.handles.Answer(f.found[:0], route, body, x.AnswerType, x.AnswerCoding, x.Answer)
	for _, h := range f.found {
		r.Handles = append(r.Handles, capture.Handle{Kind: h.Kind, Dir: "give", ID: string(h.Value)})
	}
	return r
}

// longTold is the length of a sanitised body above which its beginning alone is
// kept for an example.
const longTold = 16 << 10

// tell is what may be told of an exchange, or why nothing may.
func (f *feed) tell(x *capture.Exchange) (*replay.Told, string) {
	if f.sanitize == nil {
		f.sanitize = f.m.opt.NewSanitizer()
	}
	f.told = capture.Record{Header: f.told.Header[:0], Body: f.told.Body[:0], Handles: f.told.Handles[:0]}
	if drop := f.sanitize.Sanitize(&f.told, x); drop != "" {
		return nil, drop
	}
	r := &f.told
	t := &replay.Told{Shape: r.Shape, Want: r.Want, Method: r.Method, Target: strings.Clone(r.Target)}
	if len(r.Body) <= longTold {
		t.Body = bytes.Clone(r.Body)
	} else {
		route := es.Classify(r.Method, r.Target)
		t.Text = es.Fingerprint(route.Op, route.Index, route.Query, r.Body).Text
		t.Body = bytes.Clone(r.Body[:replay.MaxExampleBody])
		r.Body = nil // one large request must not cost its size for ever
	}
	return t, ""
}

func headerOf(hs []capture.Header, name string) string {
	for i := range hs {
		if strings.EqualFold(hs[i].Name, name) {
			return hs[i].Value
		}
	}
	return ""
}
