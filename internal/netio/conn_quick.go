//go:build linux && !race

package netio

import (
	"io"
	"net"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Conn is a TCP connection that reads and writes without telling the scheduler
// of Go. Its socket is non-blocking, so that no call waits in the kernel; but the
// scheduler, told of a system call, looks after some µs whether it should give the
// processor to others, and on a busy machine wakes a thread to do so. Where the socket
// is not ready, the goroutine waits as ever.
//
// One goroutine may read and one write at a time.
type Conn struct {
	*net.TCPConn
	raw     syscall.RawConn
	in      transfer
	out     transfer
	receive func(fd uintptr) bool
	send    func(fd uintptr) bool
	fetch   func(fd uintptr) bool
	room    Room // of the Fetch that is under way
}

// transfer is what a call is to move, and what came of it.
type transfer struct {
	parts [2]unix.Iovec
	n     int // of parts
	done  int // bytes
	err   syscall.Errno
}

// Quick is c, or what moves its bytes with less ado.
func Quick(c net.Conn) net.Conn {
	t, ok := c.(*net.TCPConn)
	if !ok {
		return c
	}
	raw, err := t.SyscallConn()
	if err != nil {
		return c
	}
	q := &Conn{TCPConn: t, raw: raw}
	q.receive = func(fd uintptr) bool {
		n, err := move(unix.SYS_READ, unix.SYS_READV, fd, q.in.parts[:q.in.n])
		q.in.done, q.in.err = n, err
		return err != unix.EAGAIN
	}
	q.send = func(fd uintptr) bool { return q.out.send(fd) }
	q.fetch = func(fd uintptr) bool {
		q.in.set(q.room.Take())
		q.receive(fd)
		q.in.parts, q.in.n = [2]unix.Iovec{}, 0
		if q.in.done <= 0 {
			q.room.Give()
		}
		return q.in.err != unix.EAGAIN
	}
	return q
}

// move reads or writes parts by the one system call or, where there are two, by the
// other; again where a signal came between.
func move(call, vector, fd uintptr, parts []unix.Iovec) (n int, err syscall.Errno) {
	for err = unix.EINTR; err == unix.EINTR; {
		var r uintptr
		if len(parts) == 1 {
			r, _, err = syscall.RawSyscall(call, fd, uintptr(unsafe.Pointer(parts[0].Base)), uintptr(parts[0].Len))
		} else {
			r, _, err = syscall.RawSyscall(vector, fd, uintptr(unsafe.Pointer(&parts[0])), uintptr(len(parts)))
		}
		n = int(r)
	}
	return n, err
}

// set makes s one of the parts.
func (t *transfer) set(s []byte) {
	if len(s) > 0 {
		t.parts[t.n].Base = &s[0]
		t.parts[t.n].SetLen(len(s))
		t.n++
	}
}

// send writes what is left. It is false where the socket takes no more for now.
func (t *transfer) send(fd uintptr) bool {
	for t.n > 0 {
		n, err := move(unix.SYS_WRITE, unix.SYS_WRITEV, fd, t.parts[:t.n])
		if t.err = err; err != 0 {
			return err != unix.EAGAIN
		}
		t.done += n
		t.cut(n)
	}
	return true
}

// cut takes n bytes off the parts.
func (t *transfer) cut(n int) {
	for t.n > 0 && n >= int(t.parts[0].Len) {
		n -= int(t.parts[0].Len)
		t.parts[0], t.parts[1] = t.parts[1], unix.Iovec{}
		t.n--
	}
	if n > 0 {
		p := &t.parts[0]
		p.Base = (*byte)(unsafe.Add(unsafe.Pointer(p.Base), n))
		p.SetLen(int(p.Len) - n)
	}
}

func (q *Conn) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	q.in = transfer{}
	q.in.set(p)
	err := q.raw.Read(q.receive)
	q.in.parts = [2]unix.Iovec{}
	return q.moved(err)
}

// Fetch is Read into memory that it takes from where for each attempt, and gives back
// where that brought nothing: a connection that waits holds none.
func (q *Conn) Fetch(where Room) (int, error) {
	q.in, q.room = transfer{}, where
	err := q.raw.Read(q.fetch)
	q.room = nil
	return q.moved(err)
}

// moved is what came of a read; err is why it was not tried.
func (q *Conn) moved(err error) (int, error) {
	switch {
	case err != nil:
		return 0, err
	case q.in.err != 0:
		return 0, q.in.err
	case q.in.done == 0:
		return 0, io.EOF
	}
	return q.in.done, nil
}

func (q *Conn) Write(p []byte) (int, error) { return q.WriteBoth(p, nil) }

// WriteBoth writes a and b, in one system call where the socket takes all.
func (q *Conn) WriteBoth(a, b []byte) (int, error) {
	q.out = transfer{}
	q.out.set(a)
	q.out.set(b)
	err := q.raw.Write(q.send)
	q.out.parts = [2]unix.Iovec{}
	switch {
	case err != nil:
		return q.out.done, err
	case q.out.err != 0:
		return q.out.done, q.out.err
	}
	return q.out.done, nil
}
