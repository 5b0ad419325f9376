package proxy

// asker is a connection that sends a request and reads what answers it in one go: see
// netio.Conn.Ask.
type asker interface {
	Ask(request, answer []byte) (sent, n int, err error)
}

// ahead is the beginning of a node's answer, read before it was asked for.
type ahead struct {
	from    asker // nil: the connection cannot
	buffers *buffers
	buf     *buffer // nil: there is nothing
	taken   int     // bytes of buf
}

// ask sends a request, of which sent bytes went out, and keeps what came.
func (a *ahead) ask(request []byte) (sent int, err error) {
	buf := a.buffers.get(answerAhead)
	sent, n, err := a.from.Ask(request, buf.b[:answerAhead])
	if n == 0 {
		a.buffers.put(buf)
		return sent, err
	}
	buf.b = buf.b[:n]
	a.buf, a.taken = buf, 0
	return sent, err
}

// answerAhead holds the answers to most searches; of a longer one the rest is read to
// where it belongs.
const answerAhead = 8 << 10

func (a *ahead) empty() bool { return a.buf == nil }

// next copies what is left into p; 0: there is nothing.
func (a *ahead) next(p []byte) int {
	if a.buf == nil {
		return 0
	}
	n := copy(p, a.buf.b[a.taken:])
	if a.taken += n; a.taken == len(a.buf.b) {
		a.buffers.put(a.buf)
		a.buf = nil
	}
	return n
}
