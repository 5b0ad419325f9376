package proxy

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// errGone says that the client has left.
var errGone = errors.New("client left")

// clientConn is a client's connection as fasthttp's server sees it. The proxy
// writes answers to it past the server, which would reorder and rename headers;
// what the server then writes for the same request is discarded.
//
// All methods but Close and idleNew are for the goroutine that serves it.
type clientConn struct {
	net.Conn          // TCP or TLS
	tcp      net.Conn // below TLS, or the same
	peer     socket   // of tcp
	tls      bool
	origin   *origin // nil: the client's own connection

	id       uint64
	requests uint64
	job      job

	greeted bool      // what comes before a first request has been read
	fresh   bool      // the next byte read is the first of a request
	arrived time.Time // of that byte; zero when it came with an earlier request
	mute    bool      // what is written is the server's own answer: discard it

	rest    time.Duration // longest silence between requests, and before the first; 0: any
	head    time.Duration // for a head to arrive
	silence time.Duration // bounds each read of a body, 0: outside
	heading bool          // a head is being read
	headBy  time.Time     // when it has to be there; zero: not asked yet
	restBy  time.Time     // when the rest is over; zero: never
	have    time.Time     // the read deadline that is set

	out       pair
	writes    limit
	timeout   time.Duration // longest silence while an answer is written
	started   atomic.Bool   // a byte has come
	off       atomic.Bool   // cut
	closeOnce sync.Once
	onClose   func(*clientConn)
}

// Read notes when a request's first byte came.
func (c *clientConn) Read(p []byte) (int, error) {
	if !c.greeted {
		if err := c.greet(); err != nil {
			return 0, err
		}
	}
	if err := c.readUntil(c.deadline()); err != nil {
		return 0, err
	}
	if c.silence == 0 && len(p) > headRead {
		p = p[:headRead]
	}
	n, err := c.Conn.Read(p)
	if n > 0 && c.fresh {
		c.fresh = false
		c.arrived = time.Now()
		c.started.Store(true)
	}
	return n, err
}

// deadline is that of the next read: in a body it is the silence that counts, in a
// head the time since its first byte, and between requests the rest.
func (c *clientConn) deadline() time.Time {
	switch {
	case c.silence > 0:
		return time.Now().Add(c.silence)
	case c.heading && c.headBy.IsZero():
		from := c.arrived
		if from.IsZero() {
			from = time.Now() // it came with an earlier request
		}
		c.headBy = from.Add(c.head)
	}
	if c.heading {
		return c.headBy
	}
	return c.restBy
}

func (c *clientConn) readUntil(at time.Time) error {
	if at.Equal(c.have) {
		return nil
	}
	c.have = at
	return c.Conn.SetReadDeadline(at)
}

// greet reads what comes before a first request, a load balancer's header and a
// handshake, in the time that a head has. From then on a connection that has sent
// nothing is one that rests, as it is for Elasticsearch: clients open some in
// advance.
func (c *clientConn) greet() error {
	if c.origin != nil || c.tls {
		if err := c.readUntil(time.Now().Add(c.head)); err != nil {
			return err
		}
	}
	if c.origin != nil {
		if err := c.origin.header(); err != nil {
			return err
		}
	}
	if t, ok := c.Conn.(*tls.Conn); ok {
		if err := t.Handshake(); err != nil {
			return err
		}
	}
	c.greeted = true
	c.idle()
	return nil
}

// headRead bounds what is read at a time while a head is awaited: the server's
// buffer is made for the longest head, and what comes of a body with the head
// would fill it only to be copied out again.
const headRead = 8 << 10

// SetReadDeadline is what the server calls where a head has a body: see setAside. It
// reads the beginning of that by itself, for which the time of a head does not count.
func (c *clientConn) SetReadDeadline(time.Time) error {
	c.silence = c.timeout
	return nil
}

// Write is the server's: interim answers pass, its answers do not.
func (c *clientConn) Write(p []byte) (int, error) {
	if c.mute {
		return len(p), nil
	}
	return c.send(p)
}

// send writes p, and waits as long as the client takes some of it now and then.
func (c *clientConn) send(p []byte) (int, error) { return c.sendBoth(p, nil) }

// sendBoth writes head and body, in one system call where that can be.
func (c *clientConn) sendBoth(head, body []byte) (done int, err error) {
	c.out.set(head, body)
	defer c.out.clear()
	w := c.tcp // takes both in one call, which what wraps it does not
	if c.tls {
		w = c.Conn
	}
	for {
		if at, set := c.writes.next(c.timeout); set {
			if err := c.Conn.SetWriteDeadline(at); err != nil {
				return done, err
			}
		}
		n, err := c.out.writeTo(w)
		done += n
		if err == nil || c.tls || n == 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return done, err
		}
	}
}

// idle says that the request is over: what comes next is a new one.
func (c *clientConn) idle() {
	c.mute, c.fresh, c.arrived, c.silence = false, true, time.Time{}, 0
	c.heading, c.headBy = false, time.Time{}
	if c.rest > 0 {
		c.restBy = time.Now().Add(c.rest)
	}
}

// gone reports whether the client has closed its side.
func (c *clientConn) gone() bool { return c.off.Load() || c.peer.hungUp() }

// abort ends the connection so that the client cannot take what it got for the
// whole: by a reset, and without the end mark of TLS.
func (c *clientConn) abort() {
	c.mute = true
	if t, ok := c.tcp.(interface{ SetLinger(sec int) error }); ok {
		_ = t.SetLinger(0)
	}
	_ = c.tcp.Close()
}

// Close may be called more than once.
func (c *clientConn) Close() (err error) {
	c.closeOnce.Do(func() {
		err = c.Conn.Close()
		c.onClose(c)
	})
	return err
}

// cut makes whatever the connection's goroutine is waiting for fail, from
// outside of it.
func (c *clientConn) cut() {
	c.off.Store(true)
	_ = c.tcp.Close()
}
