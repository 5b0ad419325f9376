package proxy

import (
	"errors"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// sharePort lets other sockets be bound to the same address.
func sharePort(fd uintptr) error {
	return unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
}

// steerAway makes the kernel give new connections to the second socket of the
// group that shares the port: the sockets stand in the order in which they came,
// so that is the successor's. Without one the kernel finds no second socket and
// goes on as before. Connections are lost otherwise: those that wait, or are
// still shaking hands, when a listening socket closes.
func steerAway(ln net.Listener) error {
	sc, ok := ln.(syscall.Conn)
	if !ok {
		return errors.ErrUnsupported
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return err
	}
	program := [1]unix.SockFilter{{Code: unix.BPF_RET | unix.BPF_K, K: 1}}
	var refused error
	err = raw.Control(func(fd uintptr) {
		refused = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_REUSEPORT_CBPF, &unix.SockFprog{
			Len: uint16(len(program)), Filter: &program[0],
		})
	})
	return errors.Join(err, os.NewSyscallError("setsockopt", refused))
}

// waiting reports whether a connection waits to be accepted.
func waiting(ln net.Listener) (yes bool) {
	sc, ok := ln.(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return false
	}
	err = raw.Control(func(fd uintptr) {
		ask := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(ask[:], 0)
		yes = err == nil && n == 1 && ask[0].Revents&unix.POLLIN != 0
	})
	return yes && err == nil
}
