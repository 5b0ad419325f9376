package main

import (
	"bytes"
	"errors"
	"strconv"
)

// maxHead bounds the head of a message that this program reads.
const maxHead = 64 << 10

var (
	errHead   = errors.New("the head is not understood")
	errLength = errors.New("a message without content-length")
)

// message is read from a connection piece by piece: the head is kept, the body
// is counted and forgotten. Bodies that are not counted by a Content-Length are
// refused: nothing here sends such, and a proxy that makes one has changed the
// message.
type message struct {
	answer bool   // a body without a length is refused; false: a request, which has none then
	head   []byte // as it came, the empty line included
	length int64  // of the body
	left   int64  // of the body
	body   bool   // the head is complete
}

func (m *message) reset() { m.head, m.length, m.left, m.body = m.head[:0], 0, 0, false }

// feed takes the next bytes of a connection and says how many belong to the
// message, and whether it ends there.
func (m *message) feed(p []byte) (n int, done bool, err error) {
	if !m.body {
		from := len(m.head)
		m.head = append(m.head, p[:min(len(p), maxHead)]...)
		at := bytes.Index(m.head[max(0, from-3):], []byte("\r\n\r\n"))
		if at < 0 {
			if len(m.head) >= maxHead {
				return 0, false, errHead
			}
			return len(p), false, nil
		}
		end := max(0, from-3) + at + 4
		m.head, n = m.head[:end], end-from
		if err := m.parse(); err != nil {
			return 0, false, err
		}
		m.body = true
	}
	take := min(m.left, int64(len(p)-n))
	m.left -= take
	return n + int(take), m.left == 0, nil
}

func (m *message) parse() error {
	v, found := m.field("content-length")
	if !found {
		if _, chunked := m.field("transfer-encoding"); chunked || m.answer {
			return errLength
		}
		return nil
	}
	length, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil || length < 0 {
		return errLength
	}
	m.length, m.left = length, length
	return nil
}

// field is the value of the first header of this name, which is lower case.
func (m *message) field(name string) ([]byte, bool) {
	for rest := m.head; ; {
		at := bytes.IndexByte(rest, '\n')
		if at < 0 {
			return nil, false
		}
		rest = rest[at+1:]
		if len(rest) > len(name) && rest[len(name)] == ':' && rest[0]|0x20 == name[0] && bytes.EqualFold(rest[:len(name)], []byte(name)) {
			value, _, _ := bytes.Cut(rest[len(name)+1:], []byte("\r\n"))
			return bytes.TrimSpace(value), true
		}
	}
}

// status is the code of an answer, 0 where there is none.
func (m *message) status() int {
	if len(m.head) < 12 || !bytes.HasPrefix(m.head, []byte("HTTP/1.")) {
		return 0
	}
	code, err := strconv.Atoi(string(m.head[9:12]))
	if err != nil {
		return 0
	}
	return code
}

// path is the target of a request.
func (m *message) path() []byte {
	_, rest, _ := bytes.Cut(m.head, []byte(" "))
	path, _, _ := bytes.Cut(rest, []byte(" "))
	return path
}
