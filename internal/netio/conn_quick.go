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
	talk    func(fd uintptr) bool
	asked   bool // the Ask that is under way has begun
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
	q.talk = func(fd uintptr) bool {
		if q.asked {
			return q.receive(fd)
		}
		q.asked = true
		if q.receive(fd) {
			return true // the peer has spoken, or gone
		}
		return !q.out.send(fd) || q.out.err != 0
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

// Ask writes request, waits for what the peer says to it, and reads that into answer,
// neither of which may be empty. The attempt to read that each wait begins with comes
// before the request here: it is the look whether the peer has spoken or gone before,
// which would be a system call of its own. In that case nothing is written, what the
// peer said is in answer, and the error is ErrSpoke.
//
// Where sent is less than the request without an error, the socket takes no more for
// now, and the caller goes on with Write. With all of it sent, the error is that of the
// wait, such as that of the read deadline.
func (q *Conn) Ask(request, answer []byte) (sent, n int, err error) {
	q.in, q.out, q.asked = transfer{}, transfer{}, false
	q.in.set(answer)
	q.out.set(request)
	err = q.raw.Read(q.talk)
	left := q.out.n
	q.in.parts, q.out.parts = [2]unix.Iovec{}, [2]unix.Iovec{}
	sent = q.out.done
	switch {
	case !q.asked:
		return 0, 0, err
	case q.in.err != unix.EAGAIN && left > 0:
		return 0, max(q.in.done, 0), ErrSpoke
	case q.out.err != 0 && q.out.err != unix.EAGAIN:
		return sent, 0, q.out.err
	case left > 0:
		return sent, 0, nil
	}
	n, err = q.moved(err)
	return sent, n, err
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
