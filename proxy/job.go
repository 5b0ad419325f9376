package proxy

import (
	"bufio"
	"errors"
	"io"
	"time"
	"unsafe"

	"github.com/valyala/fasthttp"

	"github.com/esshadow/esshadow/internal/es"
)

// How far the client has been answered: what may still be said to it.
type stage uint8

const (
	stageRequest stage = iota // nothing
	stageAnswer               // a byte of an answer may have gone out
)

// piece is the size of what streams at a time.
const piece = 64 << 10

// job is one request on its way. It belongs to a client's connection, which
// serves one at a time, and its slices are valid until the server reads on.
type job struct {
	p      *Proxy
	set    *setup // that holds for this job
	client *clientConn

	method, target []byte
	op             es.Op
	class          es.Class
	http10         bool
	headOnly       bool // HEAD
	closing        bool // the connection ends after the answer
	unread         bool // something of the request may still be to come
	forwarded      bool // a node was asked

	req, resp head
	status    int // of the answer, 0: none

	body     *buffer   // request body; its beginning while rest is set
	rest     io.Reader // of a body that streams, nil: body is whole
	bodySize int64     // bytes of the body so far
	copyBody bool      // body is kept for the Tap

	answer     *buffer // copy or whole of the answer's body
	answerSize int64
	copyAnswer bool
	unheld     bool // the Tap has no room: nothing is copied

	reserved int64 // part of Proxy.bodies: the memory of body and answer

	scratch *buffer // heads
	pending *buffer // of a streamed answer, not yet with the client
	stage   stage

	arrived, ready, sent, first, last, done time.Time
}

func (j *job) begin(p *Proxy, c *clientConn, ctx *fasthttp.RequestCtx) {
	h := &ctx.Request.Header
	*j = job{p: p, set: p.now.Load(), client: c, method: h.Method(), http10: !h.IsHTTP11()}
	j.headOnly = h.IsHead()
	j.arrived = c.arrived
	if j.arrived.IsZero() {
		// It came together with an earlier request.
		j.arrived = time.Now()
	}
	j.scratch = p.buffers.get(4 << 10)
}

// release gives the job's memory back, but what went into an Exchange.
func (j *job) release() {
	p := j.p
	p.buffers.put(j.scratch)
	p.buffers.put(j.body)
	p.buffers.put(j.answer)
	p.bodies.Add(-j.reserved)
	*j = job{}
}

// reserve asks for memory to hold bytes of a body in, until the job's end.
func (j *job) reserve(memory int64) bool {
	if j.p.bodies.Add(memory) > int64(j.set.cfg.BodyMemory) {
		j.p.bodies.Add(-memory)
		return false
	}
	j.reserved += memory
	return true
}

// hold gives b, or another buffer with its bytes in its place, with room for n more;
// b is nil where there is none yet. Both are accounted for while bytes go from one to
// the other. ok is false, and b as it was, where BodyMemory does not allow it.
func (j *job) hold(b *buffer, n int) (held *buffer, ok bool) {
	if b != nil && cap(b.b)-len(b.b) >= n {
		return b, true
	}
	size := grown(b, n)
	if !j.reserve(int64(room(size))) {
		return b, false
	}
	held = j.p.buffers.get(size)
	if b != nil {
		held.b = append(held.b, b.b...)
		j.letGo(b)
	}
	return held, true
}

// letGo gives back a buffer that hold gave.
func (j *job) letGo(b *buffer) {
	if b == nil {
		return
	}
	memory := int64(cap(b.b))
	j.p.buffers.put(b)
	j.p.bodies.Add(-memory)
	j.reserved -= memory
}

// run takes the request to a node and the answer to the client. Its error, a
// *refusal among others, says what is left to do.
func (j *job) run(ctx *fasthttp.RequestCtx) error {
	if err := j.inspect(ctx); err != nil {
		j.closing = true
		return err
	}
	if j.late() {
		j.closing = true
		return errDraining
	}
	if j.req.probe && j.op == es.OpInfo {
		return j.answerProbe()
	}
	if err := j.gather(ctx); err != nil {
		j.closing = true
		return err
	}
	j.ready = time.Now()
	return j.forward()
}

// late tells that the request came when the proxy had begun to end. The first
// one of a connection is none such: it may have waited in the backlog for long.
func (j *job) late() bool {
	from := j.p.lateFrom.Load()
	return j.p.refusing.Load() || from > 0 && j.client.requests > 1 && j.arrived.UnixNano() >= from
}

// inspect reads the request's head once more, strictly.
func (j *job) inspect(ctx *fasthttp.RequestCtx) error {
	h := &ctx.Request.Header
	raw := h.RawHeaders()
	if n := len(raw); n >= 2 && string(raw[n-2:]) == "\r\n" {
		raw = raw[:n-2] // the empty line
	}
	if err := j.req.scan(raw); err != nil {
		return badRequest(err.Error())
	}
	j.closing = j.req.close || j.http10 && !j.req.keep
	if v := h.Protocol(); string(v) != "HTTP/1.1" && string(v) != "HTTP/1.0" {
		return badRequest("unknown protocol version")
	}
	if j.http10 && j.req.chunked {
		return badRequest("transfer-encoding in HTTP/1.0")
	}
	target, ok := originForm(h.UserAgent()) // see setAside
	if !ok {
		return badRequest("unknown form of request target")
	}
	j.target = target
	route := es.Classify(text(j.method), text(target))
	j.op, j.class = route.Op, route.Class
	return nil
}

// text is b as a string without a copy, valid as long as b.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// gather reads the request's body, or the beginning of one that streams.
func (j *job) gather(ctx *fasthttp.RequestCtx) error {
	j.copyBody, j.copyAnswer = j.p.tap != nil, j.p.tap != nil
	stream := ctx.RequestBodyStream()
	if stream == nil {
		return nil
	}
	cfg := &j.set.cfg
	if cfg.MaxRequestBody > 0 && j.req.length > int64(cfg.MaxRequestBody) {
		return errTooLargeBody
	}
	j.client.silence = cfg.ClientTimeout
	switch n := j.req.length; {
	case n == 0:
		return nil
	case n > int64(cfg.StreamAbove):
		j.rest = stream
		return nil
	case n > 0:
		body, ok := j.hold(nil, int(n))
		if !ok {
			j.rest = stream
			return nil
		}
		j.body, body.b = body, body.b[:n]
		if _, err := io.ReadFull(stream, j.body.b); err != nil {
			return j.bodyError(err)
		}
		j.bodySize = n
		return nil
	}
	return j.gatherChunks(stream)
}

func (j *job) gatherChunks(stream io.Reader) error {
	for {
		body, ok := j.hold(j.body, 1)
		if !ok {
			j.rest = stream
			return nil
		}
		j.body = body
		b := body.b
		n, err := stream.Read(b[len(b):cap(b)])
		j.body.b = b[:len(b)+n]
		j.bodySize += int64(n)
		if j.tooLarge() {
			return errTooLargeBody
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return j.bodyError(err)
		case j.bodySize > int64(j.set.cfg.StreamAbove):
			j.rest = stream
			return nil
		}
	}
}

func (j *job) tooLarge() bool {
	limit := int64(j.set.cfg.MaxRequestBody)
	return limit > 0 && j.bodySize > limit
}

// bodyError says what a failed read of the request's body means.
func (j *job) bodyError(err error) error {
	switch {
	case isTimeout(err):
		return errSlowRequest
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), isBroken(err), j.client.gone():
		return errGone
	default:
		return badRequest("malformed chunked body")
	}
}

// forward tries the nodes in turn until one has taken a byte of the request.
func (j *job) forward() error {
	j.forwarded = true
	var tried uint64
	for range j.set.nodes.all {
		n := j.set.nodes.pick(tried, j.set.cfg.Balance == "least_loaded")
		err := n.attempt(j)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, fasthttp.ErrNoFreeConns):
			return err
		case errors.Is(err, errNothingSent):
			n.failed()
			tried = j.set.nodes.mark(tried, n)
			continue
		}
		if r, _ := outcomeOf(err); r == errReset && j.stage == stageRequest {
			n.failed()
		}
		return err
	}
	return errUnreachable
}

// exchange sends the request on conn and passes the answer on. keep says
// whether conn can carry another request.
func (j *job) exchange(n *upstream, conn *upConn, br *bufio.Reader) (keep bool, err error) {
	j.sent = time.Now()
	sendErr := j.sendRequest(n, conn)
	if sendErr != nil {
		if conn.sent == 0 || !errors.Is(sendErr, errEarly) && !isBroken(sendErr) {
			return false, sendErr
		}
		// The node did not want the rest. What it said before it closed can
		// often still be read, and tells the client more than an error of ours.
		conn.timeout = lastWords
		j.closing = j.closing || j.rest != nil
	}
	if err := j.readHead(br); err != nil {
		if sendErr != nil && !errors.Is(err, errGone) {
			return false, errReset
		}
		return false, err
	}
	conn.timeout = j.set.cfg.UpstreamTimeout
	n.answered()
	keep, err = j.relay(br)
	return keep && sendErr == nil && br.Buffered() == 0 && conn.quiet(), err
}

// lastWords is how long an answer is awaited from a node that would not take
// the whole request.
const lastWords = 2 * time.Second
