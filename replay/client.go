package replay

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/esshadow/esshadow/capture"
)

// Shot is one request as the target will see it, but for the connection's
// headers (Host, Authorization, Content-Length), which the Client adds: a Shot
// never holds a secret. Once made it is only read.
type Shot struct {
	Method string
	Target string // request target, without the path prefix of the target's URL
	Header []capture.Header
	Body   []byte
}

// Answer is what came back. Its times are zero where the thing did not happen.
type Answer struct {
	Sent  time.Time // a connection was free, and the request was started
	First time.Time // first byte
	Done  time.Time // last byte, or the failure

	Status int
	Err    string // error class of the transport, "" where a whole answer was read
	Shed   string // the request was not sent: the machine's reason
	Type   string // Content-Type
	Coding string // Content-Encoding
	Body   []byte // at most what the client keeps; see Cut
	Size   int64  // body bytes on the wire
	Cut    string // why Body is not kept: too_large or no_room
}

// Error classes of an Outcome.
const (
	ErrThrottled   = "throttled"       // 429
	ErrUnavailable = "unavailable"     // 503
	ErrBadGateway  = "bad_gateway"     // 502
	ErrGatewayTime = "gateway_timeout" // 504
	ErrTimeout     = "timeout"
	ErrRefused     = "refused" // no connection could be made
	ErrReset       = "reset"
	ErrUnreadable  = "unreadable" // not HTTP, not what its headers say, cut, or too large to judge
	ErrCancelled   = "cancelled"
)

// Client sends Shots to one target over HTTP/1.1: each exactly once, as it is,
// on a connection that is kept for the next. It measures, and judges nothing.
//
// It speaks HTTP through fasthttp's codec on connections of its own rather than
// through fasthttp's HostClient, because it must know when a connection is free
// (the request counts as sent from then on), when the first byte comes, and how
// a failure came about; and because an interrupt must end what is under way.
type Client struct {
	host    string // Host header
	addr    string
	prefix  string
	auth    string // Authorization header's value
	tls     *tls.Config
	timeout time.Duration
	idleFor time.Duration
	maxBody int64
	room    *budget

	slots chan struct{} // nil: no bound
	ctx   context.Context
	stop  context.CancelFunc

	mu   sync.Mutex
	idle []*wire
	open map[*wire]struct{}
}

// NewClient makes the data plane of a target. Nothing is dialled yet.
func NewClient(cfg TargetConfig) (*Client, error) {
	u, err := cfg.parseURL()
	if err != nil {
		return nil, err
	}
	c := &Client{
		host: u.Host, addr: dialAddr(u), prefix: pathPrefix(u), auth: cfg.authorization(),
		timeout: cfg.Timeout, idleFor: cfg.IdleTimeout, maxBody: int64(cfg.MaxAnswer),
		room: newBudget(int64(cfg.AnswerMemory)), open: map[*wire]struct{}{},
	}
	if u.Scheme == "https" {
		if c.tls, err = cfg.tlsConfig(u.Hostname()); err != nil {
			return nil, err
		}
	}
	if cfg.Connections > 0 {
		c.slots = make(chan struct{}, cfg.Connections)
	}
	c.ctx, c.stop = context.WithCancel(context.Background())
	return c, nil
}

func dialAddr(u *url.URL) string {
	if port := u.Port(); port != "" {
		return net.JoinHostPort(u.Hostname(), port)
	}
	if u.Scheme == "https" {
		return net.JoinHostPort(u.Hostname(), "443")
	}
	return net.JoinHostPort(u.Hostname(), "80")
}

func (cfg *TargetConfig) authorization() string {
	switch {
	case cfg.APIKey != "":
		return "ApiKey " + cfg.APIKey.Reveal()
	case cfg.User != "":
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(cfg.User+":"+cfg.Password.Reveal()))
	}
	return ""
}

// Send sends the shot and fills ans, which must be zero. It returns when the
// answer was read, the request failed, or Abort was called. The caller gives
// ans.Body back with Release.
func (c *Client) Send(shot *Shot, ans *Answer) {
	if !c.acquire() {
		ans.Sent = time.Now()
		ans.fail(ErrCancelled)
		return
	}
	defer c.release()
	ans.Sent = time.Now()
	deadline := time.Time{}
	if c.timeout > 0 {
		deadline = ans.Sent.Add(c.timeout)
	}
	w, class := c.connect(deadline)
	if class != "" {
		if ans.fail(class); class == shedLocal {
			*ans = Answer{Shed: shedLocal}
		}
		return
	}
	reusable := c.exchange(w, deadline, shot, ans)
	if ans.Err != "" && c.ctx.Err() != nil {
		ans.Err = ErrCancelled
	}
	c.put(w, reusable)
}

// Release gives an Answer's body back. It must be called once for each Answer
// that Send filled.
func (c *Client) Release(ans *Answer) {
	if ans.Body != nil {
		c.room.give(int64(cap(ans.Body)))
		ans.Body = nil
	}
}

// AnswerBytes is how many bytes the bodies of answers hold that were not released.
func (c *Client) AnswerBytes() int64 {
	held, _ := c.room.now()
	return held
}

// Abort ends every request under way, and every later one at once, with the
// class cancelled.
func (c *Client) Abort() {
	c.stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for w := range c.open {
		_ = w.raw.Close()
	}
}

func (a *Answer) fail(class string) {
	a.Done, a.Err = time.Now(), class
}

// exchange writes the request and reads the answer. It reports whether the
// connection can serve another request.
func (c *Client) exchange(w *wire, deadline time.Time, shot *Shot, ans *Answer) bool {
	if err := w.SetDeadline(deadline); err != nil {
		ans.fail(ErrReset)
		return false
	}
	w.expectFirst()
	writeErr := w.send(c, shot)
	if writeErr != nil {
		// A server may refuse a body early: its answer may be there to read.
		_ = w.SetReadDeadline(earlier(deadline, time.Now().Add(earlyAnswerWait)))
	}
	resp := fasthttp.AcquireResponse()
	defer fasthttp.ReleaseResponse(resp)
	resp.StreamBody = true
	resp.SkipBody = shot.Method == fasthttp.MethodHead
	if err := resp.ReadLimitBody(w.br, 0); err != nil {
		ans.First = w.first
		if writeErr != nil {
			err = writeErr
		}
		ans.fail(readClass(err, !w.first.IsZero()))
		return false
	}
	ans.First = w.first
	ans.Status = resp.StatusCode()
	ans.Type = string(resp.Header.ContentType())
	ans.Coding = string(resp.Header.ContentEncoding())
	if err := c.readBody(resp.BodyStream(), resp.Header.ContentLength(), ans); err != nil {
		ans.fail(readClass(err, true))
		return false
	}
	ans.Done = time.Now()
	_ = resp.CloseBodyStream()
	// Elasticsearch up to 8.13 may send a chunk after the answer to a HEAD
	// request: such a connection is not used again.
	lateChunk := resp.SkipBody && resp.Header.ContentLength() == -1
	return writeErr == nil && !resp.ConnectionClose() && !lateChunk && w.br.Buffered() == 0
}

// earlyAnswerWait bounds the wait for an answer after the request could not be
// written whole.
const earlyAnswerWait = 500 * time.Millisecond

func earlier(a, b time.Time) time.Time {
	if !a.IsZero() && a.Before(b) {
		return a
	}
	return b
}

// shedLocal says that this machine had no socket, port or memory for the
// request, so that the target never saw it.
const shedLocal = "local_limit"

func dialClass(err error) string {
	var ne net.Error
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE), errors.Is(err, syscall.EADDRNOTAVAIL),
		errors.Is(err, syscall.ENOBUFS), errors.Is(err, syscall.ENOMEM):
		return shedLocal
	case errors.Is(err, context.Canceled):
		return ErrCancelled
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &ne) && ne.Timeout():
		return ErrTimeout
	}
	return ErrRefused
}

// readClass is the class of a failure to write a request or read its answer.
func readClass(err error, begun bool) string {
	var ne net.Error
	switch {
	case errors.Is(err, fasthttp.ErrTimeout), errors.Is(err, os.ErrDeadlineExceeded),
		errors.As(err, &ne) && ne.Timeout():
		return ErrTimeout
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed):
		return ErrReset
	case !begun && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)):
		return ErrReset
	}
	return ErrUnreadable
}

// appendHead appends the request's head.
func (c *Client) appendHead(b []byte, shot *Shot) []byte {
	b = append(b, shot.Method...)
	b = append(b, ' ')
	b = append(b, c.prefix...)
	b = append(b, shot.Target...)
	b = append(b, " HTTP/1.1\r\nHost: "...)
	b = append(b, c.host...)
	for _, h := range shot.Header {
		b = append(b, '\r', '\n')
		b = append(b, h.Name...)
		b = append(b, ':', ' ')
		b = append(b, h.Value...)
	}
	if c.auth != "" {
		b = append(b, "\r\nAuthorization: "...)
		b = append(b, c.auth...)
	}
	if len(shot.Body) > 0 || !bodiless(shot.Method) {
		b = append(b, "\r\nContent-Length: "...)
		b = strconv.AppendInt(b, int64(len(shot.Body)), 10)
	}
	return append(b, "\r\n\r\n"...)
}

func bodiless(method string) bool {
	return method == fasthttp.MethodGet || method == fasthttp.MethodHead || method == fasthttp.MethodDelete
}
