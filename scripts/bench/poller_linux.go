package main

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// poller waits for sockets with a bound in nanoseconds. It stays below the
// runtime's own poller because that one wakes in whole milliseconds and passes
// each event through the scheduler, which would be measured as the proxy's
// latency. One locked thread owns it.
type poller struct {
	fd     int
	events [256]unix.EpollEvent
}

// errOldKernel names the system call that times of less than 1 ms need.
var errOldKernel = errors.New("epoll_pwait2 is missing: the load needs Linux 5.11")

func newPoller() (*poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	// Timers of this thread are then exact; it fails only where it is unknown.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	return &poller{fd: fd}, nil
}

func (p *poller) close() { _ = unix.Close(p.fd) }

// add watches a socket; id comes back with its events.
func (p *poller) add(fd int, id int32) error {
	return unix.EpollCtl(p.fd, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: id})
}

// want says whether room to write is waited for, instead of something to read.
func (p *poller) want(fd int, id int32, write bool) error {
	e := unix.EpollEvent{Events: unix.EPOLLIN, Fd: id}
	if write {
		e.Events = unix.EPOLLOUT
	}
	return unix.EpollCtl(p.fd, unix.EPOLL_CTL_MOD, fd, &e)
}

// wait is epoll_pwait2 outside of the scheduler's sight, since a thread that
// tells the scheduler of each wait pays for its supervision at every wake-up.
// Nothing may collect garbage meanwhile; the bound keeps that short.
func (p *poller) wait(d time.Duration) ([]unix.EpollEvent, error) {
	ts := unix.NsecToTimespec(int64(max(0, min(d, 50*time.Millisecond))))
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT2, uintptr(p.fd), uintptr(unsafe.Pointer(&p.events[0])),
		uintptr(len(p.events)), uintptr(unsafe.Pointer(&ts)), 0, 0)
	switch errno {
	case 0:
		return p.events[:n], nil
	case syscall.EINTR:
		return nil, nil
	case syscall.ENOSYS:
		return nil, errOldKernel
	}
	return nil, fmt.Errorf("epoll: %w", errno)
}

// read and write are the system calls, likewise without the scheduler: the
// sockets never block.
func read(fd int, p []byte) (int, error) {
	n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

func write(fd int, p []byte) (int, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), unix.MSG_NOSIGNAL, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// dial connects a socket that then never blocks.
func dial(addr netip.AddrPort) (int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("socket: %w", err)
	}
	err = unix.Connect(fd, &unix.SockaddrInet4{Addr: addr.Addr().As4(), Port: int(addr.Port())})
	if err == nil {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	}
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		_ = unix.Close(fd)
		return 0, fmt.Errorf("connect to %s: %w", addr, err)
	}
	return fd, nil
}

// listen opens a socket of 127.0.0.1 at a port of the kernel's choice.
func listen() (fd int, addr netip.AddrPort, err error) {
	fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return 0, addr, fmt.Errorf("socket: %w", err)
	}
	var sa unix.Sockaddr
	err = unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	if err == nil {
		err = unix.Listen(fd, 1024)
	}
	if err == nil {
		sa, err = unix.Getsockname(fd)
	}
	in, ok := sa.(*unix.SockaddrInet4)
	if err != nil || !ok {
		_ = unix.Close(fd)
		return 0, addr, fmt.Errorf("listen on 127.0.0.1: %w", err)
	}
	return fd, netip.AddrPortFrom(netip.AddrFrom4(in.Addr), uint16(in.Port)), nil
}
