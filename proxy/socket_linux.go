package proxy

import (
	"net"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// socket asks the kernel about a connection without taking bytes from it. The
// zero value knows nothing and says no.
type socket struct {
	raw syscall.RawConn
	fd  [1]unix.PollFd
	ask func(uintptr)
}

func (s *socket) init(c net.Conn) {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return
	}
	s.raw = raw
	s.ask = func(fd uintptr) {
		s.fd[0].Fd = int32(fd)
		for {
			// It does not wait: see netio.Conn.
			var now unix.Timespec
			_, _, err := syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&s.fd[0])), 1, uintptr(unsafe.Pointer(&now)), 0, 0, 0)
			if err != unix.EINTR {
				return
			}
		}
	}
}

func (s *socket) poll(events int16) int16 {
	if s.raw == nil {
		return 0
	}
	s.fd[0] = unix.PollFd{Events: events}
	if err := s.raw.Control(s.ask); err != nil {
		return unix.POLLHUP // closed by us
	}
	return s.fd[0].Revents
}

// hungUp reports whether the peer has closed its side or the connection broke.
func (s *socket) hungUp() bool {
	return s.poll(unix.POLLRDHUP)&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0
}

// stirred reports whether there is anything to read, an end or an error among
// it.
func (s *socket) stirred() bool {
	return s.poll(unix.POLLIN|unix.POLLRDHUP) != 0
}
