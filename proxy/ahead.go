package proxy

import "github.com/esshadow/esshadow/internal/netio"

// ahead is what was read of a client's connection before the server asked for it. The
// server waits for one byte, so that a connection without a request holds no buffer;
// what came with that byte is fetched by the same system call.
type ahead struct {
	from    fetcher // nil: the connection cannot fetch
	buffers *buffers
	buf     *buffer // nil: there is nothing
	taken   int     // bytes of buf
}

// fetcher is a connection that asks for memory once there is something to read.
type fetcher interface {
	Fetch(where netio.Room) (int, error)
}

// Take implements netio.Room.
func (a *ahead) Take() []byte {
	a.buf = a.buffers.get(headRead)
	return a.buf.b[:headRead]
}

// Give implements netio.Room.
func (a *ahead) Give() {
	a.buffers.put(a.buf)
	a.buf = nil
}

// fetch waits for bytes. It must be asked only when there are none left.
func (a *ahead) fetch() error {
	n, err := a.from.Fetch(a)
	if err != nil {
		return err
	}
	a.buf.b, a.taken = a.buf.b[:n], 0
	return nil
}

// next copies what is left into p; 0: there is nothing.
func (a *ahead) next(p []byte) int {
	if a.buf == nil {
		return 0
	}
	n := copy(p, a.buf.b[a.taken:])
	if a.taken += n; a.taken == len(a.buf.b) {
		a.Give()
	}
	return n
}
