package audit

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

var errTooLarge = errors.New("expands beyond the bound")

// inflated calls yield with what compressed data in text expands to, up to max
// bytes each, and reports what exceeds that. Data that turns bad in the middle
// gives what came before.
func inflated(text []byte, max int64, yield func(decoding), trouble func(error)) {
	for _, f := range []struct {
		way   string
		magic []byte
		open  func(io.Reader) (io.Reader, error)
	}{
		{"gzip", []byte{0x1F, 0x8B, 8}, func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }},
		{"zstd", []byte{0x28, 0xB5, 0x2F, 0xFD}, openZstd},
		{"zlib", []byte{0x78, 0x01}, openZlib},
		{"zlib", []byte{0x78, 0x5E}, openZlib},
		{"zlib", []byte{0x78, 0x9C}, openZlib},
		{"zlib", []byte{0x78, 0xDA}, openZlib},
	} {
		rest := text
		for range 4 { // the first two bytes may come by chance
			i := bytes.Index(rest, f.magic)
			if i < 0 {
				break
			}
			out, err := expand(f.open, rest[i:], max)
			if len(out) > 0 {
				yield(decoding{f.way, out})
			}
			if err != nil {
				trouble(err)
			}
			rest = rest[i+1:]
		}
	}
}

func openZlib(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) }

func openZstd(r io.Reader) (io.Reader, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}

func expand(open func(io.Reader) (io.Reader, error), data []byte, max int64) ([]byte, error) {
	r, err := open(bytes.NewReader(data))
	if err != nil {
		return nil, nil //nolint:nilerr // not compressed after all
	}
	if c, ok := r.(io.Closer); ok {
		defer func() { _ = c.Close() }()
	}
	out, _ := io.ReadAll(io.LimitReader(r, max+1))
	if int64(len(out)) > max {
		return out[:max], errTooLarge
	}
	return out, nil
}
