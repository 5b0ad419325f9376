//go:build unix && !linux

package proxy

import (
	"errors"
	"net"

	"golang.org/x/sys/unix"
)

// sharePort lets other sockets be bound to the same address.
func sharePort(fd uintptr) error {
	return unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
}

// steerAway cannot be done on this system.
func steerAway(net.Listener) error { return errors.ErrUnsupported }

// waiting is unknown on this system.
func waiting(net.Listener) bool { return false }
