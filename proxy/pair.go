package proxy

import (
	"io"
	"net"
)

// pair is up to two byte slices on their way out. A plain connection takes both
// in one system call.
type pair struct {
	room [2][]byte
	left net.Buffers
}

func (p *pair) set(a, b []byte) {
	p.left = p.room[:0]
	for _, s := range [2][]byte{a, b} {
		if len(s) > 0 {
			p.left = append(p.left, s)
		}
	}
}

// clear lets go of the slices.
func (p *pair) clear() {
	p.room, p.left = [2][]byte{}, nil
}

// writeTo writes what is left, and after an error keeps what is left then.
func (p *pair) writeTo(w io.Writer) (int, error) {
	if q, ok := w.(interface {
		WriteBoth(a, b []byte) (int, error)
	}); ok && len(p.left) == 2 {
		n, err := q.WriteBoth(p.left[0], p.left[1])
		p.cut(n)
		return n, err
	}
	if len(p.left) == 1 {
		n, err := w.Write(p.left[0])
		p.left[0] = p.left[0][n:]
		return n, err
	}
	n, err := p.left.WriteTo(w)
	return int(n), err
}

// cut takes n bytes off what is left.
func (p *pair) cut(n int) {
	for len(p.left) > 0 && n >= len(p.left[0]) {
		n -= len(p.left[0])
		p.left = p.left[1:]
	}
	if n > 0 {
		p.left[0] = p.left[0][n:]
	}
}
