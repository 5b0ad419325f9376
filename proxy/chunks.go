package proxy

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

var errChunk = errors.New("malformed chunk")

// chunkReader reads a chunked body. Extensions and trailers are read over: they
// concern one connection only.
type chunkReader struct {
	br   *bufio.Reader
	left int64 // of the chunk
	open bool  // within a chunk: its CRLF is still to come
	end  bool
}

// Read returns what is there, and io.EOF after the last line of the body only.
func (r *chunkReader) Read(p []byte) (int, error) {
	if r.end {
		return 0, io.EOF
	}
	if r.left == 0 {
		if err := r.next(); err != nil {
			return 0, noEOF(err)
		}
		if r.end {
			return 0, io.EOF
		}
	}
	n, err := r.br.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	return n, noEOF(err)
}

// next reads up to the first byte of the next chunk, or the end of the body.
func (r *chunkReader) next() error {
	if r.open {
		line, err := r.line()
		if err != nil {
			return err
		}
		if len(line) != 0 {
			return errChunk
		}
		r.open = false
	}
	line, err := r.line()
	if err != nil {
		return err
	}
	digits, _, _ := bytes.Cut(line, []byte{';'})
	n, ok := parseHex(bytes.TrimRight(digits, " \t"))
	if !ok {
		return errChunk
	}
	if r.left, r.open = n, true; n > 0 {
		return nil
	}
	for {
		line, err := r.line()
		if err != nil {
			return err
		}
		if len(line) == 0 {
			r.end = true
			return nil
		}
	}
}

// line reads up to CRLF, and returns what is before it.
func (r *chunkReader) line() ([]byte, error) {
	b, err := r.br.ReadSlice('\n')
	if err != nil {
		if errors.Is(err, bufio.ErrBufferFull) {
			return nil, errChunk
		}
		return nil, err
	}
	if len(b) < 2 || b[len(b)-2] != '\r' {
		return nil, errChunk
	}
	return b[:len(b)-2], nil
}

func parseHex(b []byte) (n int64, ok bool) {
	if len(b) == 0 || len(b) > 15 {
		return 0, false
	}
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | int64(c-'0')
		case c >= 'a' && c <= 'f':
			n = n<<4 | int64(c-'a'+10)
		case c >= 'A' && c <= 'F':
			n = n<<4 | int64(c-'A'+10)
		default:
			return 0, false
		}
	}
	return n, true
}

// fixedReader reads left bytes, and takes an earlier end for an error.
type fixedReader struct {
	br   *bufio.Reader
	left int64
}

func (r *fixedReader) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n, err := r.br.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	return n, noEOF(err)
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
