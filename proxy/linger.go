package proxy

import (
	"errors"
	"os"
	"time"
)

const (
	// lingerFor bounds how long a client that has its answer may go on to send the
	// request that it belongs to.
	lingerFor = 30 * time.Second
	// lingerSilence is how long it may be silent meanwhile.
	lingerSilence = 2 * time.Second
)

// linger ends the connection of a client that may still be sending: to close with
// bytes unread makes the system reset the connection, upon which the client's
// writing fails, and it may never read the answer that it was given. So the
// client is told that no more comes, and read until it closes too, is silent,
// or over reports that there is no time for that.
func (c *clientConn) linger(room *buffer, over func() bool) {
	if t, ok := c.Conn.(interface{ CloseWrite() error }); ok && c.tls {
		_ = t.CloseWrite()
	}
	t, ok := c.tcp.(interface{ CloseWrite() error })
	if !ok || t.CloseWrite() != nil {
		return
	}
	b := room.b[:cap(room.b)]
	now := time.Now()
	for end, heard := now.Add(lingerFor), now; now.Before(end) && now.Sub(heard) < lingerSilence && !over(); now = time.Now() {
		if c.tcp.SetReadDeadline(now.Add(watchEvery)) != nil {
			return
		}
		n, err := c.tcp.Read(b)
		if n > 0 {
			heard = time.Now()
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
	}
}

// lingerOn is linger for a connection that the proxy is about to end.
func (p *Proxy) lingerOn(c *clientConn) {
	room := p.buffers.get(piece)
	c.linger(room, p.refusing.Load)
	p.buffers.put(room)
}
