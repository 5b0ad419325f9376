package proxy

import (
	"strings"
	"sync"

	"github.com/esshadow/esshadow/capture"
)

// Tap gets a copy of every request that was passed to the cluster, and of its
// answer. Offer is called after the answer has been written to the client, by
// the goroutine that serves the client's next request: it must not wait. The
// Exchange is the Tap's from then on; its last holder calls Release once.
//
// Its Time is when the request's first byte was read; for a request that came
// together with an earlier one of its connection, when the proxy turned to it.
// A body that could not be held is nil and has its size all the same.
type Tap interface {
	Offer(x *capture.Exchange)
	// Room tells whether an exchange with so many bytes more in its bodies might be
	// taken now. It is asked before a body is copied that could pass without; where
	// there is none the exchange is offered all the same, without bodies and Unheld.
	Room(size int64) bool
}

// maxKeptHeaders bounds the header slice that a reused Exchange holds.
const maxKeptHeaders = 128

// exchange is a capture.Exchange with the memory behind it.
type exchange struct {
	capture.Exchange
	owner        *exchanges
	body, answer *buffer
}

type exchanges struct {
	pool    sync.Pool
	buffers *buffers
}

func (s *exchanges) get() *exchange {
	if x, ok := s.pool.Get().(*exchange); ok {
		return x
	}
	x := &exchange{owner: s}
	x.Free = x.free
	return x
}

func (x *exchange) free(*capture.Exchange) {
	s := x.owner
	s.buffers.put(x.body)
	s.buffers.put(x.answer)
	header := x.Header
	clear(header)
	if cap(header) > maxKeptHeaders {
		header = nil
	}
	x.Exchange = capture.Exchange{Header: header[:0], Free: x.Free}
	x.body, x.answer = nil, nil
	s.pool.Put(x)
}

// offer hands the job to the Tap. What the Tap does with it, a panic among it,
// is nothing to the client.
func (j *job) offer(class string) {
	defer func() {
		if v := recover(); v != nil {
			j.p.metrics.tapPanics.Inc()
			j.p.logPanic("tap panicked", v)
		}
	}()
	x := j.p.exchanges.get()
	x.Time = j.arrived.UnixNano()
	x.Conn, x.Request = j.client.id, j.client.requests
	x.Method, x.Target = intern(j.method), string(j.target)
	x.Header = appendHeader(x.Header[:0], string(j.req.block))
	x.BodySize, x.Unheld = max(j.bodySize, j.req.length), j.unheld
	if j.rest == nil && j.body != nil && j.copyBody && j.bodySize <= int64(j.set.cfg.MaxBody) {
		x.body, j.body = j.body, nil
		x.Body = x.body.b
	}
	x.Err = class
	if class == "" {
		j.offerAnswer(x)
	} else {
		x.Took = int64(j.done.Sub(j.arrived)) // until it failed
	}
	j.p.offered.Add(1)
	j.p.tap.Offer(&x.Exchange)
}

// askRoom is called where a body begins that passes in pieces, of size bytes at least.
// Without room nothing of the exchange is kept.
func (j *job) askRoom(size int64) {
	if j.p.tap == nil || j.unheld {
		return
	}
	defer func() {
		if v := recover(); v != nil {
			j.p.metrics.tapPanics.Inc()
			j.p.logPanic("tap panicked", v)
		}
	}()
	if size <= int64(j.set.cfg.MaxBody) && !j.p.tap.Room(size) {
		j.copyBody, j.copyAnswer, j.unheld = false, false, true
	}
}

func (j *job) offerAnswer(x *exchange) {
	x.Status = j.status
	x.AnswerType, x.AnswerCoding = string(j.resp.contentType), string(j.resp.contentCoding)
	x.AnswerSize = j.answerSize
	if j.answer != nil && j.copyAnswer {
		x.answer, j.answer = j.answer, nil
		x.Answer = x.answer.b
	}
	x.Wait, x.Took = int64(j.first.Sub(j.arrived)), int64(j.last.Sub(j.arrived))
}

// appendHeader splits header lines that have been scanned before. Its strings
// are parts of block: one allocation for all of them.
func appendHeader(dst []capture.Header, block string) []capture.Header {
	for {
		line, rest, ok := strings.Cut(block, "\r\n")
		if !ok {
			return dst
		}
		name, value, _ := strings.Cut(line, ":")
		dst = append(dst, capture.Header{Name: name, Value: strings.Trim(value, " \t")})
		block = rest
	}
}

// intern is the method as a string, without an allocation for the usual ones.
func intern(method []byte) string {
	switch string(method) {
	case "GET":
		return "GET"
	case "POST":
		return "POST"
	case "PUT":
		return "PUT"
	case "DELETE":
		return "DELETE"
	case "HEAD":
		return "HEAD"
	}
	return string(method)
}
