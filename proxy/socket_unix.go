//go:build unix && !linux

package proxy

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// socket asks the kernel about a connection without taking bytes from it. The
// zero value knows nothing and says no.
type socket struct {
	raw syscall.RawConn
}

func (s *socket) init(c net.Conn) {
	if sc, ok := c.(syscall.Conn); ok {
		s.raw, _ = sc.SyscallConn()
	}
}

func (s *socket) peek() (n int, err error) {
	if s.raw == nil {
		return 0, unix.EAGAIN
	}
	var b [1]byte
	if e := s.raw.Control(func(fd uintptr) {
		n, _, err = unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	}); e != nil {
		return 0, nil
	}
	return n, err
}

// hungUp reports whether the peer has closed its side or the connection broke.
// It cannot see past bytes that wait to be read.
func (s *socket) hungUp() bool {
	n, err := s.peek()
	return err == nil && n == 0 || err != nil && err != unix.EAGAIN && err != unix.EINTR
}

// stirred reports whether there is anything to read, an end or an error among
// it.
func (s *socket) stirred() bool {
	_, err := s.peek()
	return err != unix.EAGAIN && err != unix.EINTR
}
