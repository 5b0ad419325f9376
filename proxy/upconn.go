package proxy

import (
	"bufio"
	"errors"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/esshadow/esshadow/internal/netio"
)

// errEarly says that the upstream began to answer, or hung up, before it had
// the whole request.
var errEarly = errors.New("early answer")

// watchEvery is how often a wait for the upstream looks whether the client is
// still there, and whether the upstream answers early.
const watchEvery = 250 * time.Millisecond

// upConn is a connection to an upstream node. One goroutine uses it at a time.
type upConn struct {
	net.Conn
	peer    socket
	tls     bool
	below   *below        // nil: no TLS
	timeout time.Duration // longest silence, 0: any
	places  *places
	at      netip.AddrPort
	out     pair

	reads, writes limit

	generation uint32 // of places, when at was last found among them

	used   bool          // has carried a request before
	doubt  bool          // whether the node has closed it since then
	sent   int64         // bytes of this request that went to the kernel
	ahead  ahead         // of the answer
	waited time.Duration // for the answer, before the first Read
	broken error         // what the first Read is to say
	client *clientConn   // who waits, nil: nobody
	answer *bufio.Reader // of this request, nil: none is awaited
}

// begin readies the connection for a request of client. It is false when the
// node's name stands for another one now. Whether the node has closed it, or sent
// what nobody asked for, since the last one, is seen when the request is written:
// errNothingSent.
func (u *upConn) begin(client *clientConn, timeout time.Duration) bool {
	u.sent, u.client, u.timeout, u.waited, u.broken = 0, client, timeout, 0, nil
	if u.used && u.moved() {
		return false
	}
	u.used, u.doubt = true, u.used
	return true
}

// ask writes a whole request now, and waits for a moment for its answer where that is
// one with writing it.
func (u *upConn) ask(request []byte, now time.Time) error {
	if u.ahead.from == nil {
		_, err := u.Write(request)
		return err
	}
	step := u.step(0)
	if at, set := u.reads.from(now, step); set {
		if err := u.Conn.SetReadDeadline(at); err != nil {
			return err
		}
	}
	sent, err := u.ahead.ask(request)
	u.sent = int64(sent)
	switch {
	case errors.Is(err, netio.ErrSpoke) && (u.doubt || u.ahead.empty()):
		return errNothingSent
	case sent < len(request):
		if err == nil || errors.Is(err, netio.ErrSpoke) || errors.Is(err, os.ErrDeadlineExceeded) {
			u.doubt = u.doubt && sent == 0
			_, err = u.Write(request[sent:])
		}
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		if u.waited = step; u.client.gone() {
			return errGone
		}
	default:
		u.broken = err
	}
	return nil
}

// quiet reports whether the node has said nothing behind its answer that has been read
// from the kernel. The rest is seen when the next request is written.
func (u *upConn) quiet() bool {
	return u.ahead.empty() && (u.below == nil || u.below.quiet())
}

// moved reports whether the node's name stands for other addresses now.
func (u *upConn) moved() bool {
	if u.places == nil {
		return false
	}
	now := u.places.generation.Load()
	if now == u.generation {
		return false
	}
	u.generation = now
	return !u.places.has(u.at)
}

// Read waits until bytes come, the silence lasts too long (an
// os.ErrDeadlineExceeded) or the client leaves (errGone). The client gets what
// there is for it first.
func (u *upConn) Read(p []byte) (int, error) {
	if u.client != nil {
		if err := u.client.job.flush(); err != nil {
			return 0, err
		}
	}
	if n := u.ahead.next(p); n > 0 {
		return n, nil
	}
	if err := u.broken; err != nil {
		return 0, err
	}
	waited := u.waited
	if u.waited = 0; u.timeout > 0 && waited >= u.timeout {
		return 0, os.ErrDeadlineExceeded
	}
	for {
		step := u.step(waited)
		at, set := u.reads.next(step)
		if set {
			if err := u.Conn.SetReadDeadline(at); err != nil {
				return 0, err
			}
			step += step / 8
		}
		n, err := u.Conn.Read(p)
		if n > 0 || err == nil || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if u.client != nil && u.client.gone() {
			return 0, errGone
		}
		if waited += step; u.timeout > 0 && waited >= u.timeout {
			return 0, err
		}
	}
}

// Write waits while the node takes bytes, however slowly. It stops with
// errEarly when the node answers instead.
func (u *upConn) Write(p []byte) (int, error) { return u.writeBoth(p, nil) }

// writeBoth is Write for head and body, in one system call where that can be.
func (u *upConn) writeBoth(head, body []byte) (done int, err error) {
	if u.doubt && u.peer.stirred() {
		return 0, errNothingSent
	}
	u.doubt = false
	u.out.set(head, body)
	defer u.out.clear()
	for waited := time.Duration(0); ; {
		step := u.step(waited)
		if u.tls {
			// crypto/tls cannot go on after a write that timed out.
			step = u.timeout
		}
		at, set := u.writes.next(step)
		if set {
			if err := u.Conn.SetWriteDeadline(at); err != nil {
				return done, err
			}
			step += step / 8
		}
		n, err := u.out.writeTo(u.Conn)
		done += n
		u.sent += int64(n)
		if err == nil || u.tls || !errors.Is(err, os.ErrDeadlineExceeded) {
			return done, err
		}
		if u.early() {
			return done, errEarly
		}
		if u.client != nil && u.client.gone() {
			return done, errGone
		}
		if waited += step; n > 0 {
			waited = 0
		}
		if u.timeout > 0 && waited >= u.timeout {
			return done, err
		}
	}
}

// early reports whether the node has begun its answer, or hung up, while it still
// gets the request; interim answers pass meanwhile. Over TLS bytes may come that
// are no answer, tickets above all; only an end counts there.
func (u *upConn) early() bool {
	if u.tls {
		return u.peer.hungUp()
	}
	if !u.peer.stirred() {
		return false
	}
	if u.client == nil || u.answer == nil {
		return true
	}
	timeout := u.timeout
	u.timeout = lastWords // for the rest of a head that has begun
	defer func() { u.timeout = timeout }()
	return !u.client.job.interimOnly(u.answer)
}

func (u *upConn) step(waited time.Duration) time.Duration {
	if u.timeout > 0 {
		return min(watchEvery, max(u.timeout-waited, 1)) // 0 would be for ever
	}
	return watchEvery
}
