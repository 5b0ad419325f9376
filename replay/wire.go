package replay

import (
	"bufio"
	"context"
	"crypto/tls"
	"net"
	"slices"
	"time"

	"github.com/esshadow/esshadow/internal/netio"
)

// wire is one connection to the target. It belongs to one Send at a time.
type wire struct {
	net.Conn          // raw, or TLS over raw
	raw      net.Conn // the socket: closing it is safe from any goroutine
	br       *bufio.Reader
	out      []byte // head and small bodies on their way
	first    time.Time
	waiting  bool
	since    time.Time // idle since
}

// A body up to joinBody is copied behind its head, and leaves in one packet or
// TLS record with it; a longer one is written by itself.
const joinBody = 16 << 10

const readBuffer = 16 << 10 // bounds an answer's header lines, too

func (w *wire) expectFirst() { w.first, w.waiting = time.Time{}, true }

// Read stamps the first byte after a request.
func (w *wire) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	if w.waiting && n > 0 {
		w.first, w.waiting = time.Now(), false
	}
	return n, err
}

func (w *wire) send(c *Client, shot *Shot) error {
	w.out = c.appendHead(w.out[:0], shot)
	if len(shot.Body) <= joinBody {
		w.out = append(w.out, shot.Body...)
		_, err := w.Conn.Write(w.out)
		return err
	}
	if w.Conn != w.raw {
		if _, err := w.Conn.Write(w.out); err != nil {
			return err
		}
		_, err := w.Conn.Write(shot.Body)
		return err
	}
	both := net.Buffers{w.out, shot.Body}
	_, err := both.WriteTo(w.Conn)
	return err
}

// acquire waits for a connection slot. It is false after Abort.
func (c *Client) acquire() bool {
	if c.ctx.Err() != nil {
		return false
	}
	if c.slots == nil {
		return true
	}
	select {
	case c.slots <- struct{}{}:
		return true
	case <-c.ctx.Done():
		return false
	}
}

func (c *Client) release() {
	if c.slots != nil {
		<-c.slots
	}
}

// recheckAfter is how long a connection may be idle before it is asked whether
// the target closed it.
const recheckAfter = 100 * time.Millisecond

// connect takes an idle connection or dials. On failure it returns the class.
func (c *Client) connect(deadline time.Time) (*wire, string) {
	for {
		w := c.pop()
		if w == nil {
			return c.dial(deadline)
		}
		rest := time.Since(w.since)
		if rest < recheckAfter || rest < c.idleFor && !closedByPeer(w.raw) {
			return w, ""
		}
		c.drop(w)
	}
}

// pop takes the connection that was used last: the fewest stay busy, and the
// others age.
func (c *Client) pop() *wire {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.idle) == 0 {
		return nil
	}
	w := c.idle[len(c.idle)-1]
	c.idle = c.idle[:len(c.idle)-1]
	return w
}

func (c *Client) dial(deadline time.Time) (*wire, string) {
	d := net.Dialer{Deadline: deadline, KeepAlive: 15 * time.Second}
	raw, err := d.DialContext(c.ctx, "tcp", c.addr)
	if err != nil {
		if c.ctx.Err() != nil {
			return nil, ErrCancelled
		}
		return nil, dialClass(err)
	}
	raw = netio.Quick(raw)
	w := &wire{Conn: raw, raw: raw}
	w.br = bufio.NewReaderSize(w, readBuffer)
	if !c.keep(w) {
		_ = raw.Close()
		return nil, ErrCancelled
	}
	if c.tls == nil {
		return w, ""
	}
	_ = raw.SetDeadline(deadline)
	t := tls.Client(raw, c.tls)
	if err := t.HandshakeContext(context.Background()); err != nil {
		c.drop(w)
		if c.ctx.Err() != nil {
			return nil, ErrCancelled
		}
		return nil, dialClass(err)
	}
	w.Conn = t
	return w, ""
}

// keep notes an open connection, so that Abort can close it.
func (c *Client) keep(w *wire) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return false
	}
	c.open[w] = struct{}{}
	return true
}

// put ends a Send's use of a connection.
func (c *Client) put(w *wire, reusable bool) {
	if !reusable {
		c.drop(w)
		return
	}
	w.since = time.Now()
	c.mu.Lock()
	c.idle = append(c.idle, w)
	old := c.aged(w.since)
	c.mu.Unlock()
	for _, w := range old {
		_ = w.raw.Close()
	}
}

// aged takes off the idle connections those that nobody needed for too long: the
// one used last is taken first, so that after a burst they would stay for ever.
func (c *Client) aged(now time.Time) []*wire {
	n := 0
	for n < len(c.idle) && now.Sub(c.idle[n].since) >= c.idleFor {
		delete(c.open, c.idle[n])
		n++
	}
	if n == 0 {
		return nil
	}
	old := slices.Clone(c.idle[:n])
	c.idle = slices.Delete(c.idle, 0, n)
	return old
}

func (c *Client) drop(w *wire) {
	c.mu.Lock()
	delete(c.open, w)
	c.mu.Unlock()
	_ = w.raw.Close()
}
