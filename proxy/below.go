package proxy

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
)

// recordHead is what each record of TLS begins with; its last two bytes are the
// length of the rest.
const recordHead = 5

// below is a connection to a node that TLS is spoken over. The TLS connection reads
// ahead, so that what a node sent behind an answer may be there already, where the
// kernel does not show it.
type below struct {
	net.Conn
	over  *tls.Conn
	still bool // what is read is what has been read
	begun int  // bytes of a record's head
	left  int  // bytes of a record, once its head is whole
}

func (b *below) Read(p []byte) (int, error) {
	if b.still {
		return 0, os.ErrDeadlineExceeded // after which TLS can go on
	}
	n, err := b.Conn.Read(p)
	b.follow(p[:max(n, 0)])
	return n, err
}

// follow keeps account of where records end.
func (b *below) follow(p []byte) {
	for len(p) > 0 {
		if b.begun < recordHead {
			if b.begun++; b.begun >= recordHead-1 {
				b.left = b.left<<8 | int(p[0])
			}
			p = p[1:]
		} else {
			n := min(b.left, len(p))
			b.left, p = b.left-n, p[n:]
		}
		if b.begun == recordHead && b.left == 0 {
			b.begun = 0
		}
	}
}

// quiet reports whether nothing came behind what was read: no answer, no end, and no
// beginning of either.
func (b *below) quiet() bool {
	b.still = true
	defer func() { b.still = false }()
	var room [1]byte
	n, err := b.over.Read(room[:])
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && b.begun == 0
}
