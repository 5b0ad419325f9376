package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"

	"golang.org/x/sys/unix"
)

// backend answers like a cluster that needs no time: one thread, answers made
// beforehand. It must cost far less than any proxy before it, because all share
// the machine.
type backend struct {
	poll     *poller
	listener int
	addr     netip.AddrPort
	served   uint64

	conns  map[int32]*served
	buf    []byte
	search []byte
	root   []byte
	bulk   map[int64][]byte // by the length of the request's body
}

// served is a connection of a client.
type served struct {
	fd  int
	req message
	out []byte // of an answer that did not fit into the socket
}

func newBackend(uuid string) (*backend, error) {
	poll, err := newPoller()
	if err != nil {
		return nil, err
	}
	b := &backend{
		poll: poll, conns: map[int32]*served{}, buf: make([]byte, 256<<10),
		search: searchAnswer(), root: rootAnswer(uuid), bulk: map[int64][]byte{},
	}
	if b.listener, b.addr, err = listen(); err != nil {
		poll.close()
		return nil, err
	}
	if err := poll.add(b.listener, int32(b.listener)); err != nil {
		b.close()
		return nil, fmt.Errorf("listen: %w", err)
	}
	return b, nil
}

func (b *backend) close() {
	for _, c := range b.conns {
		_ = unix.Close(c.fd)
	}
	_ = unix.Close(b.listener)
	b.poll.close()
}

// serve answers until ctx ends.
func (b *backend) serve(ctx context.Context) error {
	for ctx.Err() == nil {
		events, err := b.poll.wait(maxWait)
		if err != nil {
			return err
		}
		for _, e := range events {
			if e.Fd == int32(b.listener) {
				b.accept()
				continue
			}
			c := b.conns[e.Fd]
			if c == nil {
				continue
			}
			if b.advance(c, e.Events) != nil {
				delete(b.conns, e.Fd)
				_ = unix.Close(c.fd)
			}
		}
	}
	return nil
}

func (b *backend) accept() {
	for {
		fd, _, err := unix.Accept4(b.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err != nil {
			return
		}
		if unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1) != nil || b.poll.add(fd, int32(fd)) != nil {
			_ = unix.Close(fd)
			continue
		}
		b.conns[int32(fd)] = &served{fd: fd}
	}
}

// advance does what a connection is ready for. An error ends the connection.
func (b *backend) advance(c *served, events uint32) error {
	if len(c.out) > 0 {
		if events&(unix.EPOLLOUT|unix.EPOLLERR|unix.EPOLLHUP) == 0 {
			return nil
		}
		if err := b.send(c, c.out); err != nil || len(c.out) > 0 {
			return err
		}
		return b.poll.want(c.fd, int32(c.fd), false)
	}
	n, err := read(c.fd, b.buf)
	if errors.Is(err, unix.EAGAIN) {
		return nil
	}
	if err != nil || n == 0 {
		return errClosed
	}
	for p := b.buf[:n]; len(p) > 0; {
		took, done, err := c.req.feed(p)
		if err != nil {
			return err
		}
		p = p[took:]
		if !done {
			continue
		}
		b.served++
		answer := b.answer(&c.req)
		c.req.reset()
		if len(c.out) > 0 {
			c.out = append(c.out[:len(c.out):len(c.out)], answer...)
			continue
		}
		if err := b.send(c, answer); err != nil {
			return err
		}
		if len(c.out) > 0 {
			if err := b.poll.want(c.fd, int32(c.fd), true); err != nil {
				return err
			}
		}
	}
	return nil
}

// send writes what the socket takes; the rest is c.out.
func (b *backend) send(c *served, p []byte) error {
	for len(p) > 0 {
		n, err := write(c.fd, p)
		if errors.Is(err, unix.EAGAIN) {
			break
		}
		if err != nil {
			return err
		}
		p = p[n:]
	}
	c.out = p
	return nil
}

func (b *backend) answer(m *message) []byte {
	path := m.path()
	switch {
	case bytes.Equal(path, []byte("/")):
		return b.root
	case !bytes.HasSuffix(path, []byte("/_bulk")):
		return b.search
	}
	a := b.bulk[m.length]
	if a == nil {
		a = bulkAnswer(m.length)
		b.bulk[m.length] = a
	}
	return a
}
