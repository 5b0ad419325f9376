package proxy

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http/httputil"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

func TestHeadScan(t *testing.T) {
	for name, c := range map[string]struct {
		block string
		err   error
		want  func(*head) bool
	}{
		"empty":           {"", nil, func(h *head) bool { return h.length == -1 && !h.chunked && !h.close }},
		"length":          {"CONTENT-LENGTH:  12 \r\n", nil, func(h *head) bool { return h.length == 12 }},
		"chunked":         {"transfer-encoding: CHUNKED\r\n", nil, func(h *head) bool { return h.chunked }},
		"close":           {"Connection: a, Close ,b\r\nconnection: c\r\n", nil, func(h *head) bool { return h.close && h.nNamed == 3 }},
		"keep-alive":      {"Connection: Keep-Alive\r\n", nil, func(h *head) bool { return h.keep && !h.close }},
		"expect":          {"Expect: 100-Continue\r\n", nil, func(h *head) bool { return h.expect }},
		"other expect":    {"Expect: else\r\n", nil, func(h *head) bool { return !h.expect }},
		"type and coding": {"Content-Type: a\r\nContent-Encoding: b\r\n", nil, func(h *head) bool { return string(h.contentType) == "a" && string(h.contentCoding) == "b" }},
		"no end":          {"A: b", errLine, nil},
		"line feed only":  {"A: b\n", errLine, nil},
		"no colon":        {"Ab\r\n", errLine, nil},
		"no name":         {": b\r\n", errLine, nil},
		"space in name":   {"A b: c\r\n", errLine, nil},
		"space at colon":  {"A : c\r\n", errLine, nil},
		"non-ascii name":  {"\xe4: c\r\n", errLine, nil},
		"fold":            {"A: b\r\n c\r\n", errFold, nil},
		"fold first":      {"\tA: b\r\n", errFold, nil},
		"two lengths":     {"Content-Length: 1\r\nContent-Length: 1\r\n", errLength, nil},
		"bad length":      {"Content-Length: 1 1\r\n", errLength, nil},
		"long length":     {"Content-Length: 0000000000000000001\r\n", errLength, nil},
		"both":            {"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", errBothFraming, nil},
		"coding":          {"Transfer-Encoding: gzip\r\n", errCoding, nil},
		"two codings":     {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", errCoding, nil},
		"two hosts":       {"Host: a\r\nHost: a\r\n", errHosts, nil},
		"many named":      {"Connection: " + strings.Repeat("a,", maxNamed+1) + "\r\n", errNamed, nil},
	} {
		var h head
		if err := h.scan([]byte(c.block)); !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", name, err, c.err)
		} else if c.want != nil && !c.want(&h) {
			t.Errorf("%s: %+v", name, h)
		}
	}
}

func TestPrintable(t *testing.T) {
	for n := 1; n <= 20; n++ {
		for at := range n {
			for c := range 256 {
				b := []byte("\t\xff~ \t@\x80z\t~\xff \xffabcd\t\x80 "[:n])
				b[at] = byte(c)
				if got, want := printable(b), c == '\t' || c >= ' ' && c != 0x7f; got != want {
					t.Fatalf("printable(%q) = %v", b, got)
				}
			}
		}
	}
}

func TestTokenBytes(t *testing.T) {
	const tchar = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	for c := range 256 {
		if got, want := tokenByte(byte(c)), strings.IndexByte(tchar, byte(c)) >= 0; got != want {
			t.Errorf("tokenByte(%d) = %v", c, got)
		}
	}
}

func TestOriginForm(t *testing.T) {
	for in, want := range map[string]string{
		"/": "/", "/a?b": "/a?b", "//a": "//a", "*": "*", "/http://x/y": "/http://x/y",
		"http://h": "/", "http://h/": "/", "http://h:1/a/b?c=/d": "/a/b?c=/d", "http://h?a": "/?a", "HTTP://h//": "//",
		"": "", "a": "", "h:443": "",
	} {
		got, ok := originForm([]byte(in))
		if string(got) != want || ok != (want != "") {
			t.Errorf("originForm(%q) = %q, %v", in, got, ok)
		}
	}
}

// Whatever scan accepts is read alike by another parser, and what is kept of it
// passes again, unchanged.
func FuzzHead(f *testing.F) {
	for _, req := range sameCases() {
		_, block, _ := strings.Cut(req, "\r\n")
		block, _, _ = strings.Cut(block, "\r\n\r\n")
		f.Add([]byte(block + "\r\n"))
	}
	f.Add([]byte("Connection: a, close\r\nA: b\r\nKeep-Alive: 1\r\n"))
	f.Fuzz(func(t *testing.T, block []byte) {
		var h, again head
		if h.scan(block) != nil {
			return
		}
		kept := h.appendKept(nil, "")
		if err := again.scan(kept); err != nil {
			t.Fatalf("kept %q of %q: %v", kept, block, err)
		}
		if !bytes.Equal(again.appendKept(nil, ""), kept) || again.length != h.length || again.chunked != h.chunked || again.nNamed != 0 {
			t.Fatalf("kept %q of %q is another head", kept, block)
		}
		if !h.host {
			return
		}
		var req fasthttp.RequestHeader
		req.DisableNormalizing()
		raw := append(append([]byte("POST / HTTP/1.1\r\n"), block...), "\r\n"...)
		if req.Read(bufio.NewReaderSize(bytes.NewReader(raw), len(raw)+1)) != nil {
			return // the server is stricter in places
		}
		want := int64(req.ContentLength())
		if want == -2 {
			want = -1 // no body
		}
		if h.chunked != (req.ContentLength() == -1) || !h.chunked && h.length != want {
			t.Fatalf("%q: length %d chunked %v, fasthttp %d", block, h.length, h.chunked, req.ContentLength())
		}
	})
}

// Whole bodies decode as in the standard library; no cut one does.
func FuzzChunks(f *testing.F) {
	for _, s := range []string{
		"0\r\n\r\n", "3\r\nabc\r\n0\r\n\r\n", "3;a=b\r\nabc\r\n0\r\nT: u\r\n\r\n", "A\r\n0123456789\r\n1\r\nx\r\n0\r\n\r\n",
		"3\r\nabcd\r\n0\r\n\r\n", "x\r\n", "3\nabc\n0\n\n", "fffffffffffffff\r\n", "",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		got, err := io.ReadAll(&chunkReader{br: bufio.NewReader(bytes.NewReader(in))})
		if err != nil {
			return
		}
		want, err := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(in)))
		if err != nil {
			t.Fatalf("%q decodes to %q, elsewhere %v", in, got, err)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("%q decodes to %q, elsewhere to %q", in, got, want)
		}
	})
}

func TestChunksCutAnywhereAreNotWhole(t *testing.T) {
	const body = "3;x\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\nT: u\r\n\r\n"
	for cut := range len(body) {
		b, err := io.ReadAll(&chunkReader{br: bufio.NewReader(strings.NewReader(body[:cut]))})
		if err == nil {
			t.Errorf("cut at %d: %q passes for whole", cut, b)
		}
	}
	b, err := io.ReadAll(&chunkReader{br: bufio.NewReader(iotest{strings.NewReader(body)})})
	if err != nil || string(b) != "abc0123456789abcdef" {
		t.Errorf("%q %v", b, err)
	}
}

// iotest reads one byte at a time.
type iotest struct{ r io.Reader }

func (o iotest) Read(p []byte) (int, error) { return o.r.Read(p[:min(len(p), 1)]) }
