package proxy

import (
	"io"
	"strconv"
)

// inline is the size up to which a body travels in one write with its head.
const inline = 32 << 10

// sendRequest writes the request: the client's own line and headers but those
// of the connection, and the body in the client's framing.
func (j *job) sendRequest(n *upstream, conn *upConn) error {
	s := j.scratch.b[:0]
	s = append(s, j.method...)
	s = append(s, ' ')
	if len(n.prefix) > 0 && j.target[0] == '/' {
		s = append(s, n.prefix...)
	}
	s = append(s, j.target...)
	s = append(s, " HTTP/1.1\r\n"...)
	j.req.forward = j.set.cfg.Forwarded == "append"
	s = j.req.appendKept(s, n.host)
	if !j.req.host {
		// HTTP/1.0 may come without; 1.1 may not.
		s = append(s, "Host: "...)
		s = append(s, n.authority...)
		s = append(s, "\r\n"...)
	}
	if j.req.forward {
		s = j.appendForwarded(s)
	}
	s = append(s, "\r\n"...)
	defer func() { j.scratch.b = s[:0] }()

	var body []byte
	if j.body != nil {
		body = j.body.b
	}
	if j.rest != nil {
		return j.sendStream(conn, s, body)
	}
	tail := ""
	if j.req.chunked {
		s = appendChunkSize(s, len(body))
		tail = chunkEnd(len(body))
	}
	if len(body) <= inline {
		s = append(append(s, body...), tail...)
		return conn.ask(s, j.sent)
	}
	if _, err := conn.writeBoth(s, body); err != nil || tail == "" {
		return err
	}
	_, err := io.WriteString(conn, tail)
	return err
}

// appendChunkSize begins the only chunk of a body of n bytes, which has none
// when it is empty.
func appendChunkSize(dst []byte, n int) []byte {
	if n == 0 {
		return dst
	}
	dst = strconv.AppendInt(dst, int64(n), 16)
	return append(dst, "\r\n"...)
}

func chunkEnd(n int) string {
	if n == 0 {
		return "0\r\n\r\n"
	}
	return "\r\n0\r\n\r\n"
}

// sendStream writes head, what was read of the body, and the rest piece by
// piece, until the node answers early.
func (j *job) sendStream(conn *upConn, headBytes, begun []byte) error {
	if _, err := conn.Write(headBytes); err != nil {
		return err
	}
	if len(begun) > 0 {
		if err := j.sendPiece(conn, begun); err != nil {
			return err
		}
	}
	if j.askRoom(max(j.req.length, j.bodySize)); !j.copyBody {
		j.letGo(j.body)
		j.body = nil
	}
	buf := j.p.buffers.get(piece)
	defer func() { j.p.buffers.put(buf) }()
	b := buf.b[:cap(buf.b)]
	for {
		n, err := j.rest.Read(b)
		if n > 0 {
			j.bodySize += int64(n)
			if j.tooLarge() {
				return errTooLargeBody
			}
			j.keepBody(b[:n])
			if err := j.sendPiece(conn, b[:n]); err != nil {
				return err
			}
		}
		switch {
		case err == io.EOF:
			j.rest = nil
			return j.endStream(conn)
		case err != nil:
			j.closing = true
			return j.bodyError(err)
		}
	}
}

func (j *job) sendPiece(conn *upConn, b []byte) error {
	if conn.early() {
		return errEarly
	}
	if !j.req.chunked {
		_, err := conn.Write(b)
		return err
	}
	var room [20]byte
	if _, err := conn.Write(appendChunkSize(room[:0], len(b))); err != nil {
		return err
	}
	if _, err := conn.Write(b); err != nil {
		return err
	}
	_, err := io.WriteString(conn, "\r\n")
	return err
}

func (j *job) endStream(conn *upConn) error {
	if !j.req.chunked {
		if j.bodySize != j.req.length {
			j.closing = true
			return errGone
		}
		return nil
	}
	_, err := io.WriteString(conn, "0\r\n\r\n")
	return err
}

// keepBody copies a piece for the Tap, up to what is captured. Of a body whose
// length says that it will be too large nothing is copied.
func (j *job) keepBody(b []byte) {
	if j.copyBody {
		j.body, j.copyBody = j.keep(j.body, b, j.bodySize, j.req.length)
	}
}

// keepAnswer is keepBody for the answer.
func (j *job) keepAnswer(b []byte) {
	j.answerSize += int64(len(b))
	if j.copyAnswer {
		j.answer, j.copyAnswer = j.keep(j.answer, b, j.answerSize, j.resp.length)
	}
}

// keep appends b to a copy of what passed, size bytes with b; length is the whole's if
// known, else -1. What cannot be kept is given up, with what was copied of it.
func (j *job) keep(copied *buffer, b []byte, size, length int64) (*buffer, bool) {
	ok := max(size, length) <= int64(j.set.cfg.MaxBody)
	if ok {
		n := len(b)
		if copied == nil {
			n = max(n, int(length))
		}
		copied, ok = j.hold(copied, n)
	}
	if !ok {
		j.letGo(copied)
		return nil, false
	}
	copied.b = append(copied.b, b...)
	return copied, true
}
