package proxy

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/internal/testenv"
)

// edgeCase is one line of the corpus of requests that broke others.
type edgeCase struct {
	ID          string            `json:"id"`
	Method      string            `json:"method"`
	Path        string            `json:"path"`
	ContentType string            `json:"content_type"`
	Headers     map[string]string `json:"headers"`
	Body        string            `json:"body"`
}

func (e *edgeCase) request(host string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", e.Method, e.Path, host)
	if e.ContentType != "" {
		fmt.Fprintf(&b, "content-Type: %s\r\n", e.ContentType)
	}
	for k, v := range e.Headers {
		fmt.Fprintf(&b, "%s: %s\r\n", k, v)
	}
	if e.Body != "" {
		fmt.Fprintf(&b, "Content-length: %d\r\n", len(e.Body))
	}
	return b.String() + "\r\n" + e.Body
}

func TestEdgeCasesReachTheUpstreamUnchanged(t *testing.T) {
	f, err := os.Open(testenv.Corpus(t, "edge_cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := recording(t)
	p := start(t, Deps{Tap: newTap()}, nil, n.url())
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	count := 0
	for lines.Scan() {
		var e edgeCase
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		t.Run(e.ID, func(t *testing.T) {
			req := e.request("es.example:9200")
			a := dial(t, p.addr).ask(req)
			if a.status() != 200 {
				t.Fatalf("answer %q %q", a.line, a.body)
			}
			all := n.requests()
			if got := string(all[len(all)-1].raw); got != req {
				t.Errorf("upstream saw\n%q, want\n%q", got, req)
			}
		})
		count++
	}
	if count < 20 {
		t.Fatalf("only %d cases", count)
	}
}

// sameCases are requests that must reach the node byte for byte. HOST stands
// for the node's address.
func sameCases() map[string]string {
	long := strings.Repeat("a", 64<<10)
	return map[string]string{
		"get":                 "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
		"get with body":       "GET /i/_search HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
		"head":                "HEAD /i HTTP/1.1\r\nHost: h\r\n\r\n",
		"delete with body":    "DELETE /_search/scroll HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}",
		"options star":        "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n",
		"unknown method":      "PURGE /x HTTP/1.1\r\nHost: h\r\n\r\n",
		"post without length": "POST /i/_refresh HTTP/1.1\r\nHost: h\r\n\r\n",
		"post of length 0":    "POST /i/_refresh HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
		"no content type":     "POST /i/_doc HTTP/1.1\r\nHost: h\r\ncontent-length: 2\r\n\r\n{}",
		"double slash":        "GET //_search HTTP/1.1\r\nHost: h\r\n\r\n",
		"slashes and scheme":  "GET //a://b HTTP/1.1\r\nHost: h\r\n\r\n",
		"odd host":            "GET / HTTP/1.1\r\nHost: a b@[::c%zz\r\n\r\n",
		"dots":                "GET /a/../b/./c/%2e%2e/d HTTP/1.1\r\nHost: h\r\n\r\n",
		"bare question mark":  "GET /_search? HTTP/1.1\r\nHost: h\r\n\r\n",
		"fragment":            "GET /_search?a=1#b?c HTTP/1.1\r\nHost: h\r\n\r\n",
		"bad escapes":         "GET /a%zz/%/%2?x=%&y=%% HTTP/1.1\r\nHost: h\r\n\r\n",
		"plus and semicolon":  "GET /a+b/_search?q=a+b;c=%2B&;&= HTTP/1.1\r\nHost: h\r\n\r\n",
		"brackets and more":   "GET /<a>{b}|\\^`\"[c]/_search?q=<>{}|\\^`\"[] HTTP/1.1\r\nHost: h\r\n\r\n",
		"non-ascii target":    "GET /K\xc3\xb6ln/\xff\xfe?q=\xe6\x97\xa5 HTTP/1.1\r\nHost: h\r\n\r\n",
		"64 KiB line":         "GET /_search?source=" + long + " HTTP/1.1\r\nHost: h\r\n\r\n",
		"spelling and order":  "GET / HTTP/1.1\r\nx-a: 1\r\nX-A: 2\r\nhOsT: h\r\nX_under: 3\r\nx-a: 1\r\nUSER-agent: me\r\ncookie: a=b; c\r\nCOOKIE: d\r\n\r\n",
		"spaces in values":    "GET / HTTP/1.1\r\nHost: h\r\nA:no space\r\nB:   three  \r\nC:\r\nD: \t tab\tin \r\n\r\n",
		"non-ascii value":     "GET / HTTP/1.1\r\nHost: h\r\nX-Opaque-Id: K\xc3\xb6ln \xff\r\n\r\n",
		"odd names":           "GET / HTTP/1.1\r\nHost: h\r\n!#$%&'*+-.^_`|~1a: x\r\n\r\n",
		"many headers":        "GET / HTTP/1.1\r\nHost: h\r\n" + strings.Repeat("X-Many: value\r\n", 1000) + "\r\n",
		"32 KiB header":       "GET / HTTP/1.1\r\nHost: h\r\nX-Big: " + long[:32<<10] + "\r\n\r\n",
		"authorization":       "GET / HTTP/1.1\r\nHost: h\r\nAuthorization: ApiKey x==\r\n\r\n",
		"gzip that is none":   "POST /_bulk HTTP/1.1\r\nHost: h\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x00",
		"multipart":           "POST /_bulk HTTP/1.1\r\nHost: h\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 5\r\n\r\n--y\r\n",
		"accept-encoding":     "GET / HTTP/1.1\r\nHost: h\r\nAccept-Encoding: gzip, br;q=0\r\n\r\n",
		"forwarded":           "GET / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 1.2.3.4\r\nVia: 1.1 x\r\nForwarded: for=1\r\n\r\n",
		"range and friends":   "GET / HTTP/1.1\r\nHost: h\r\nRange: bytes=0-1\r\nIf-None-Match: \"x\"\r\nDate: now\r\nServer: x\r\nDNT: 1\r\n\r\n",
		"host with port":      "GET / HTTP/1.1\r\nHost: ES.Example.com:9200\r\n\r\n",
		"one chunk":           "POST /_bulk HTTP/1.1\r\nHost: h\r\ntransfer-encoding: Chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n",
		"no chunk":            "POST /_bulk HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"get chunked":         "GET /_search HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
	}
}

func TestRequestsReachTheUpstreamUnchanged(t *testing.T) {
	n := recording(t)
	p := start(t, Deps{Tap: newTap()}, nil, n.url())
	for name, req := range sameCases() {
		t.Run(name, func(t *testing.T) {
			direct := dial(t, n.ln.Addr().String()).ask(req)
			through := dial(t, p.addr).ask(req)
			if fmt.Sprint(through) != fmt.Sprint(direct) {
				t.Errorf("answer %+v, direct %+v", through, direct)
			}
			all := n.requests()
			if len(all) < 2 {
				t.Fatal("nothing reached the upstream")
			}
			if got, want := string(all[len(all)-1].raw), string(all[len(all)-2].raw); got != want || got != req {
				t.Errorf("upstream saw\n%q, direct\n%q", got, want)
			}
		})
	}
}

// What changes on the way, and how: the documented list.
func TestDocumentedChanges(t *testing.T) {
	cases := map[string]struct{ in, want string }{
		"hop-by-hop": {
			"GET / HTTP/1.1\r\nHost: h\r\nConnection: keep-alive, X-Mine\r\nKeep-Alive: 5\r\nX-Mine: 1\r\nTE: trailers\r\nUpgrade: h2c\r\nProxy-Connection: keep-alive\r\nX-Yours: 2\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: h\r\nX-Yours: 2\r\n\r\n",
		},
		"framing and host cannot be named away": {
			"POST / HTTP/1.1\r\nHost: h\r\nConnection: Content-Length, host\r\nContent-Length: 2\r\n\r\n{}",
			"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}",
		},
		"absolute form": {
			"GET http://other:1/a?b HTTP/1.1\r\nHost: h\r\n\r\n",
			"GET /a?b HTTP/1.1\r\nHost: h\r\n\r\n",
		},
		"absolute form without path": {
			"GET http://other:1 HTTP/1.1\r\nHost: h\r\n\r\n",
			"GET / HTTP/1.1\r\nHost: h\r\n\r\n",
		},
		"chunk borders, extensions and trailers": {
			"POST / HTTP/1.1\r\nHost: h\r\nTrailer: X-T\r\nTransfer-Encoding: chunked\r\n\r\n1;ext=1\r\na\r\n2\r\nbc\r\n0\r\nX-T: 1\r\n\r\n",
			"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
		},
		"http/1.0": {
			"GET /a HTTP/1.0\r\nHost: h\r\n\r\n",
			"GET /a HTTP/1.1\r\nHost: h\r\n\r\n",
		},
		"leading empty line": {
			"\r\nGET /a HTTP/1.1\r\nHost: h\r\n\r\n",
			"GET /a HTTP/1.1\r\nHost: h\r\n\r\n",
		},
	}
	n := recording(t)
	p := start(t, Deps{}, nil, n.url())
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			a := dial(t, p.addr).ask(c.in)
			if a.err != nil {
				t.Fatal(a.err)
			}
			all := n.requests()
			if got := string(all[len(all)-1].raw); got != c.want {
				t.Errorf("upstream saw\n%q, want\n%q", got, c.want)
			}
		})
	}
}

func TestExpectIsAnsweredAndNotForwarded(t *testing.T) {
	n := recording(t)
	p := start(t, Deps{}, nil, n.url())
	c := dial(t, p.addr)
	c.write("POST /_bulk HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
	if a := c.read("POST"); a.status() != 100 {
		t.Fatalf("interim answer %q", a.line)
	}
	c.write("abc")
	if a := c.read("POST"); a.status() != 200 {
		t.Fatalf("answer %q", a.line)
	}
	want := "POST /_bulk HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
	if got := string(n.requests()[0].raw); got != want {
		t.Errorf("upstream saw %q", got)
	}
}

// Two servers must never disagree about where a request ends.
func TestMalformedFramingIsRefused(t *testing.T) {
	cases := map[string]string{
		"length and chunked":       "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"chunked and length":       "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
		"two lengths":              "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcde",
		"the same length twice":    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nabcde",
		"length list":              "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5, 5\r\n\r\nabcde",
		"signed length":            "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: +5\r\n\r\nabcde",
		"negative length":          "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -5\r\n\r\nabcde",
		"hex length":               "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0x5\r\n\r\nabcde",
		"empty length":             "POST / HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n\r\nabcde",
		"huge length":              "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\nabcde",
		"space before colon":       "POST / HTTP/1.1\r\nHost: h\r\nContent-Length : 5\r\n\r\nabcde",
		"gzip, chunked":            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		"identity":                 "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nabcde",
		"chunked twice":            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"obscured chunked":         "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
		"vertical tab chunked":     "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
		"folded coding":            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
		"folded header":            "GET / HTTP/1.1\r\nHost: h\r\nX-A: 1\r\n 2\r\n\r\n",
		"bare line feed":           "GET / HTTP/1.1\r\nHost: h\r\nX-A: 1\nX-B: 2\r\n\r\n",
		"bare carriage return":     "GET / HTTP/1.1\r\nHost: h\r\nX-A: 1\rX-B: 2\r\n\r\n",
		"nul in value":             "GET / HTTP/1.1\r\nHost: h\r\nX-A: 1\x002\r\n\r\n",
		"space in name":            "GET / HTTP/1.1\r\nHost: h\r\nX A: 1\r\n\r\n",
		"empty name":               "GET / HTTP/1.1\r\nHost: h\r\n: 1\r\n\r\n",
		"missing colon":            "GET / HTTP/1.1\r\nHost: h\r\nX-A\r\n\r\n",
		"no host":                  "GET / HTTP/1.1\r\nX-A: 1\r\n\r\n",
		"two hosts":                "GET / HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n",
		"chunked in 1.0":           "POST / HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"unknown version":          "GET / HTTP/3.7\r\nHost: h\r\n\r\n",
		"http/2 preface":           "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"not http":                 "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 \r\n\r\n",
		"connect":                  "CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n",
		"target without slash":     "GET i/_search HTTP/1.1\r\nHost: h\r\n\r\n",
		"space in target":          "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n",
		"control in target":        "GET /a\x01b HTTP/1.1\r\nHost: h\r\n\r\n",
		"chunk size not hex":       "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n\r\n",
		"chunk size negative":      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
		"chunk size overflow":      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffffff\r\n\r\n",
		"chunk longer than said":   "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n",
		"chunk line by line feeds": "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n2\nab\n0\n\n",
		"length in trailer":        "POST / HTTP/1.1\r\nHost: h\r\nTrailer: Content-Length\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 5\r\n\r\n",
	}
	n := recording(t)
	tap := newTap()
	p := start(t, Deps{Tap: tap}, nil, n.url())
	for name, req := range cases {
		t.Run(name, func(t *testing.T) {
			c := dial(t, p.addr)
			c.write(req + "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n")
			a := c.read("POST")
			checkRefusal(t, a, 400, "proxy_bad_request")
			if b, err := c.br.ReadByte(); err == nil {
				t.Errorf("the connection goes on with %q", b)
			}
		})
	}
	if got := n.requests(); len(got) != 0 {
		t.Errorf("upstream saw %q", got[0].raw)
	}
	if len(tap.list) != 0 {
		t.Error("refused requests were offered")
	}
}

// checkRefusal checks that the proxy answered itself, in the shape that
// Elasticsearch clients read.
func checkRefusal(t *testing.T, a *answer, status int, kind string) {
	t.Helper()
	if a.status() != status {
		t.Fatalf("answer %q %q (%v), want %d %s", a.line, a.body, a.err, status, kind)
	}
	type cause struct{ Type, Reason string }
	var got struct {
		Error struct {
			cause
			RootCause []cause `json:"root_cause"`
		}
		Status int
	}
	if err := json.Unmarshal(a.body, &got); err != nil {
		t.Fatalf("%v: %q", err, a.body)
	}
	if got.Status != status || got.Error.Type != kind || got.Error.Reason == "" ||
		len(got.Error.RootCause) != 1 || got.Error.RootCause[0] != got.Error.cause {
		t.Errorf("answer %s", a.body)
	}
}

func TestTooLarge(t *testing.T) {
	n := recording(t)
	p := start(t, Deps{}, func(c *Config) { c.MaxRequestBody = 10 }, n.url())
	long := strings.Repeat("a", 200<<10)
	for name, c := range map[string]struct {
		req    string
		status int
	}{
		"line":    {"GET /" + long + " HTTP/1.1\r\nHost: h\r\n\r\n", 431},
		"header":  {"GET / HTTP/1.1\r\nHost: h\r\nX: " + long + "\r\n\r\n", 431},
		"body":    {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\nabcdefghijk", 413},
		"chunked": {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nabcdefghijk\r\n0\r\n\r\n", 413},
	} {
		t.Run(name, func(t *testing.T) {
			checkRefusal(t, dial(t, p.addr).ask(c.req), c.status, "proxy_too_large")
		})
	}
	if len(n.requests()) != 0 {
		t.Error("a refused request reached the upstream")
	}
}

func TestPipelinedRequestsAreAnsweredInOrder(t *testing.T) {
	n := answering(t, func(s *seen) string {
		path := strings.Fields(s.line)[1]
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(path), path)
	})
	p := start(t, Deps{Tap: newTap()}, nil, n.url())
	c := dial(t, p.addr)
	var all strings.Builder
	for i := range 50 {
		fmt.Fprintf(&all, "POST /%d HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc", i)
	}
	c.write(all.String())
	for i := range 50 {
		if a := c.read("POST"); string(a.body) != fmt.Sprintf("/%d", i) {
			t.Fatalf("answer %d is %q %q", i, a.line, a.body)
		}
	}
}

// A request cut into single bytes is the same request.
func TestSplitAtEveryByte(t *testing.T) {
	n := recording(t)
	p := start(t, Deps{}, nil, n.url())
	c := dial(t, p.addr)
	req := "POST /i/_bulk?a=b HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nabcd"
	for i := range len(req) {
		c.write(req[i : i+1])
	}
	if a := c.read("POST"); a.status() != 200 {
		t.Fatalf("answer %q", a.line)
	}
	for cut := 1; cut < len(req); cut++ {
		c.write(req[:cut])
		c.write(req[cut:])
		if a := c.read("POST"); a.status() != 200 {
			t.Fatalf("cut at %d: answer %q", cut, a.line)
		}
	}
	for _, s := range n.requests() {
		if string(s.raw) != req {
			t.Fatalf("upstream saw %q", s.raw)
		}
	}
}
