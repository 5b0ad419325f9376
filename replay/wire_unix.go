//go:build unix

package replay

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// closedByPeer looks, without waiting and without taking a byte, whether
// something came on an idle connection: an end, or bytes that nobody asked for.
// Either way it must not be used again.
func closedByPeer(c net.Conn) bool {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return false
	}
	rc, err := sc.SyscallConn()
	if err != nil {
		return true
	}
	closed := false
	err = rc.Read(func(fd uintptr) bool {
		var b [1]byte
		_, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		closed = err != unix.EAGAIN && err != unix.EWOULDBLOCK && err != unix.EINTR
		return true
	})
	return closed || err != nil
}
