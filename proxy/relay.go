package proxy

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"time"
)

// maxInterim bounds the interim answers before one answer.
const maxInterim = 16

// readHead reads the answer's status line and headers into j.resp. Interim
// answers go on to the client at once, but for 100: the proxy has said that
// itself where it was asked for.
func (j *job) readHead(br *bufio.Reader) error {
	for range maxInterim {
		raw, err := j.peekHead(br)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			return j.takeLongHead(br)
		case err != nil:
			return err
		}
		line, block, ok := cutStatus(raw)
		if !ok {
			return errGarbage
		}
		switch code := statusOf(line); {
		case code == 101, code == 0:
			return errGarbage
		case code >= 200:
			return j.takeHead(br, raw, code)
		}
		if err := j.passInterim(line, block); err != nil {
			return err
		}
		_, _ = br.Discard(len(raw))
	}
	return errGarbage
}

// interimOnly takes the interim answers that came while the request is still on
// its way. It is false when something else came, which stays in the reader.
func (j *job) interimOnly(br *bufio.Reader) bool {
	for range maxInterim {
		raw, err := j.peekHead(br)
		if err != nil {
			return false
		}
		line, block, ok := cutStatus(raw)
		if !ok {
			return false
		}
		if code := statusOf(line); code >= 200 || code == 101 || j.passInterim(line, block) != nil {
			return false
		}
		if _, _ = br.Discard(len(raw)); br.Buffered() == 0 {
			return true
		}
	}
	return false
}

// passInterim gives the client an interim answer, unless it is a 100 or the client
// knows none.
func (j *job) passInterim(line, block []byte) error {
	if j.resp.scan(block[:len(block)-2]) != nil {
		return errGarbage
	}
	if j.http10 || statusOf(line) == 100 {
		return nil
	}
	out := j.p.buffers.get(len(line) + len(block) + 2)
	defer func() { j.p.buffers.put(out) }()
	out.b = append(appendStatus(out.b, line), "\r\n"...)
	out.b = append(j.resp.appendKept(out.b, ""), "\r\n"...)
	if _, err := j.client.send(out.b); err != nil {
		return errGone
	}
	return nil
}

// appendStatus is the status line in the proxy's version.
func appendStatus(dst, line []byte) []byte {
	return append(append(dst, "HTTP/1.1"...), line[8:]...)
}

// takeHead moves the head out of the reader's buffer, which the body reuses.
func (j *job) takeHead(br *bufio.Reader, raw []byte, code int) error {
	j.scratch.b = append(j.scratch.b[:0], raw...)
	_, _ = br.Discard(len(raw))
	return j.scanHead(code)
}

// scanHead looks at the answer's head, which is in scratch.
func (j *job) scanHead(code int) error {
	_, block, _ := cutStatus(j.scratch.b)
	if err := j.resp.scan(block[:len(block)-2]); err != nil {
		return errGarbage
	}
	j.status = code
	return nil
}

// takeLongHead is takeHead for one that the reader has no room for, as deprecation
// warnings can make it. No interim answer is so long.
func (j *job) takeLongHead(br *bufio.Reader) error {
	end := []byte("\r\n\r\n")
	s := j.scratch.b[:0]
	for !bytes.HasSuffix(s, end) {
		if len(s) > longHead {
			return errGarbage
		}
		part, err := br.ReadSlice('\n')
		s = append(s, part...)
		j.scratch.b = s
		switch {
		case err == nil, errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return errReset
		default:
			return err
		}
	}
	line, _, ok := cutStatus(s)
	if !ok || statusOf(line) < 200 {
		return errGarbage
	}
	return j.scanHead(statusOf(line))
}

// peekHead waits for a whole head. It stays in the reader, which may be too small
// for it (bufio.ErrBufferFull).
func (j *job) peekHead(br *bufio.Reader) ([]byte, error) {
	for seen := 0; ; {
		b, err := br.Peek(br.Buffered())
		if err != nil {
			return nil, err
		}
		from := max(seen-3, 0)
		if i := bytes.Index(b[from:], []byte("\r\n\r\n")); i >= 0 {
			return b[:from+i+4], nil
		}
		seen = len(b)
		if _, err := br.Peek(seen + 1); err != nil {
			if errors.Is(err, io.EOF) {
				return nil, errReset
			}
			return nil, err
		}
		if j.first.IsZero() {
			j.first = time.Now()
		}
	}
}

// cutStatus splits a head into its status line and its header lines with the
// empty one. The line is HTTP/1.x, a space and three digits at least.
func cutStatus(raw []byte) (line, block []byte, ok bool) {
	end := bytes.Index(raw, []byte("\r\n"))
	if end < 12 {
		return nil, nil, false
	}
	line, block = raw[:end], raw[end+2:]
	if string(line[:7]) != "HTTP/1." || line[7] < '0' || line[7] > '9' || line[8] != ' ' {
		return nil, nil, false
	}
	if len(line) > 12 && line[12] != ' ' || statusOf(line) == 0 {
		return nil, nil, false
	}
	for _, c := range line {
		if c < ' ' && c != '\t' || c == 0x7f {
			return nil, nil, false
		}
	}
	return line, block, true
}

// statusOf is the code of a status line, 0 if it is none.
func statusOf(line []byte) int {
	n := 0
	for _, c := range line[9:12] {
		if c < '0' || c > '9' {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	if n < 100 {
		return 0
	}
	return n
}

// relay passes the answer on. It reports whether the node's connection is in a
// known state and may be used again.
func (j *job) relay(br *bufio.Reader) (keep bool, err error) {
	line, _, _ := cutStatus(j.scratch.b)
	keep = !j.resp.close && (line[7] == '1' || j.resp.keep)
	empty := j.headOnly || j.status == 204 || j.status == 304
	switch {
	case empty:
		// Some Elasticsearch versions send the end of a chunked body after the
		// head of an answer that has none.
		keep = keep && !j.resp.chunked && (j.headOnly || j.status == 304 || j.resp.length <= 0)
		err = j.sendWhole(nil)
	case j.resp.chunked:
		chunks := chunkReader{br: br}
		err = j.stream(&chunks, true)
	case j.resp.length < 0:
		keep, j.closing = false, true
		err = j.stream(br, false)
	case j.resp.length == 0:
		err = j.sendWhole(nil)
	case j.resp.length <= int64(j.set.cfg.StreamAbove) && j.holdAnswer():
		err = j.relayWhole(br)
	default:
		err = j.stream(&fixedReader{br: br, left: j.resp.length}, false)
	}
	return keep && err == nil, err
}

// appendHead builds the head that the client gets.
func (j *job) appendHead(dst []byte) []byte {
	line, _, _ := cutStatus(j.scratch.b)
	j.resp.dechunk = j.http10
	dst = append(appendStatus(dst, line), "\r\n"...)
	dst = j.resp.appendKept(dst, "")
	j.closing = j.closing || j.p.draining.Load() || j.http10 && j.resp.chunked
	switch {
	case j.closing:
		dst = append(dst, "connection: close\r\n"...)
	case j.http10:
		dst = append(dst, "connection: keep-alive\r\n"...)
	}
	return append(dst, "\r\n"...)
}

// holdAnswer makes room for the whole answer, if there is.
func (j *job) holdAnswer() (ok bool) {
	j.answer, ok = j.hold(nil, int(j.resp.length))
	return ok
}

// relayWhole reads the whole body, for which there is room, before the client gets a
// byte.
func (j *job) relayWhole(br *bufio.Reader) error {
	n := int(j.resp.length)
	j.answer.b = j.answer.b[:n]
	if _, err := io.ReadFull(br, j.answer.b); err != nil {
		return cutShort(err)
	}
	j.answerSize = int64(n)
	if j.answerSize > int64(j.set.cfg.MaxBody) {
		j.copyAnswer = false
	}
	return j.sendWhole(j.answer.b)
}

// cutShort is the error of an answer that ends too early.
func cutShort(err error) error {
	if errors.Is(err, errChunk) {
		return errGarbage
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errReset
	}
	return err
}

// sendWhole gives the client head and body.
func (j *job) sendWhole(body []byte) error {
	j.last = time.Now()
	out := j.p.buffers.get(len(j.scratch.b) + min(len(body), inline) + 64)
	defer func() { j.p.buffers.put(out) }()
	out.b = j.appendHead(out.b)
	if len(body) <= inline {
		out.b = append(out.b, body...)
		body = nil
	}
	j.stage = stageAnswer
	if _, err := j.client.sendBoth(out.b, body); err != nil {
		return errGone
	}
	return nil
}

// stream passes the body on as it comes: what the node has sent so far goes out
// before the next wait for it.
func (j *job) stream(body io.Reader, chunked bool) error {
	chunked = chunked && !j.http10
	j.askRoom(max(j.resp.length, 0))
	in, out := j.p.buffers.get(piece), j.p.buffers.get(2*piece)
	j.pending = out
	defer func() {
		j.pending = nil
		j.p.buffers.put(in)
		j.p.buffers.put(out)
	}()
	out.b = j.appendHead(out.b)
	b := in.b[:cap(in.b)]
	for {
		n, err := body.Read(b)
		if n > 0 {
			j.keepAnswer(b[:n])
			if chunked {
				out.b = appendChunkSize(out.b, n)
			}
			out.b = append(out.b, b[:n]...)
			if chunked {
				out.b = append(out.b, "\r\n"...)
			}
		}
		if err != nil && err != io.EOF {
			if j.stage == stageRequest {
				return cutShort(err)
			}
			// What came before the break may be what explains it.
			_ = j.flush()
			return cutShort(err)
		}
		if err == io.EOF {
			j.last = time.Now()
			if chunked {
				out.b = append(out.b, chunkEnd(0)...)
			}
			return j.flush()
		}
		if len(out.b) >= piece {
			if err := j.flush(); err != nil {
				return err
			}
		}
	}
}

// flush gives the client what is pending of a streamed answer. The node's
// connection calls it before each wait for more.
func (j *job) flush() error {
	out := j.pending
	if out == nil || len(out.b) == 0 {
		return nil
	}
	j.stage = stageAnswer
	_, err := j.client.send(out.b)
	out.b = out.b[:0]
	if err != nil {
		return errGone
	}
	return nil
}
