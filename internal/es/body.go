package es

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
)

// DefaultMaxDecoded bounds what Decoder makes of one body, in bytes, unless
// told otherwise.
const DefaultMaxDecoded = 64 << 20

// maxKeptBuffer is the largest buffer that a Decoder keeps between two bodies.
const maxKeptBuffer = 4 << 20

// maxLayers bounds how many codings may lie on top of each other.
const maxLayers = 3

// Errors of Decoder. They never quote the body.
var (
	ErrCoding   = errors.New("content coding not known")
	ErrPacked   = errors.New("compressed body is malformed")
	ErrCut      = errors.New("compressed body ends early")
	ErrTooLarge = errors.New("decoded body exceeds its bound")
)

// Decoder undoes the Content-Encoding of bodies: gzip, deflate (with and
// without the zlib wrapping, as clients send both) and identity. The zero value
// is ready; it may be reused, but not by two goroutines at once.
type Decoder struct {
	Max int // bound of the decoded size in bytes, 0 means DefaultMaxDecoded

	in   bytes.Reader
	gz   *gzip.Reader
	zlib io.ReadCloser
	raw  io.ReadCloser
	out  []byte
}

// Decode returns the plain form of body. Without a coding that is body itself;
// otherwise it is a buffer that the next call of Decode writes over.
func (d *Decoder) Decode(coding string, body []byte) ([]byte, error) {
	if coding == "" || len(body) == 0 {
		return body, nil
	}
	// The coding that a list names last was applied last.
	rest, layers := coding, 0
	for more := true; more; layers++ {
		if layers == maxLayers {
			return nil, ErrCoding
		}
		i := strings.LastIndexByte(rest, ',')
		var last string
		last, rest, more = rest[i+1:], rest[:max(i, 0)], i >= 0
		if layers > 0 {
			body = bytes.Clone(body) // it may lie in the buffer that comes next
		}
		var err error
		if body, err = d.decodeOne(strings.TrimSpace(last), body); err != nil {
			return nil, err
		}
	}
	return body, nil
}

func (d *Decoder) decodeOne(coding string, body []byte) ([]byte, error) {
	switch {
	case coding == "" || strings.EqualFold(coding, "identity"):
		return body, nil
	case strings.EqualFold(coding, "gzip"), strings.EqualFold(coding, "x-gzip"):
		return d.gunzip(body)
	case strings.EqualFold(coding, "deflate"):
		return d.inflate(body)
	}
	return nil, ErrCoding
}

func (d *Decoder) gunzip(body []byte) ([]byte, error) {
	d.in.Reset(body)
	var err error
	if d.gz == nil {
		d.gz, err = gzip.NewReader(&d.in)
	} else {
		err = d.gz.Reset(&d.in)
	}
	if err != nil {
		return nil, packedError(err)
	}
	return d.readAll(d.gz, len(body))
}

// inflate reads zlib data (RFC 1950), which is what "deflate" means in HTTP,
// and bare deflate data (RFC 1951), which is what some senders make of it.
func (d *Decoder) inflate(body []byte) ([]byte, error) {
	d.in.Reset(body)
	var err error
	if d.zlib == nil {
		d.zlib, err = zlib.NewReader(&d.in)
	} else {
		err = d.zlib.(zlib.Resetter).Reset(&d.in, nil)
	}
	if err == nil {
		return d.readAll(d.zlib, len(body))
	}
	if !errors.Is(err, zlib.ErrHeader) {
		return nil, packedError(err)
	}
	d.in.Reset(body)
	if d.raw == nil {
		d.raw = flate.NewReader(&d.in)
	} else if err = d.raw.(flate.Resetter).Reset(&d.in, nil); err != nil {
		return nil, packedError(err)
	}
	return d.readAll(d.raw, len(body))
}

func (d *Decoder) readAll(r io.Reader, packed int) ([]byte, error) {
	limit := d.Max
	if limit <= 0 {
		limit = DefaultMaxDecoded
	}
	out := d.out[:0]
	if cap(out) == 0 || cap(out) > maxKeptBuffer {
		out = make([]byte, 0, min(limit, 4*packed)+512)
	}
	for {
		n, err := r.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		switch {
		case len(out) > limit:
			d.out = out
			return nil, ErrTooLarge
		case errors.Is(err, io.EOF):
			d.out = out
			return out, nil
		case err != nil:
			d.out = out
			return nil, packedError(err)
		}
		if len(out) == cap(out) {
			out = append(out, 0)[:len(out)]
		}
	}
}

func packedError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return ErrCut
	}
	return ErrPacked
}
