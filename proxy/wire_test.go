package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

// A header's name means the same in any spelling.
func TestSpellingOfConnectionHeaders(t *testing.T) {
	n := recording(t)
	p := start(t, Deps{}, nil, n.url())
	for _, h := range []string{"Connection: keep-alive", "connection: keep-alive", "CONNECTION: Keep-Alive", "Connection: x\r\nConnection: keep-alive"} {
		c := dial(t, p.addr)
		for range 2 {
			a := c.ask("GET / HTTP/1.0\r\nHost: h\r\n" + h + "\r\n\r\n")
			if a.status() != 200 || fmt.Sprint(a.get("connection")) != "[keep-alive]" {
				t.Fatalf("%q: answer %q %q %v", h, a.line, a.headers, a.err)
			}
		}
	}
	for _, h := range []string{"connection: close", "CONNECTION: x,\tClose\t,y", "Connection: x\r\nConnection: close"} {
		c := dial(t, p.addr)
		if a := c.ask("GET / HTTP/1.1\r\nHost: h\r\n" + h + "\r\n\r\n"); a.status() != 200 || fmt.Sprint(a.get("connection")) != "[close]" {
			t.Fatalf("%q: answer %q %q %v", h, a.line, a.headers, a.err)
		}
		if _, err := c.br.ReadByte(); err != io.EOF {
			t.Errorf("%q: the connection stays open: %v", h, err)
		}
	}
	for _, h := range []string{"Expect: 100-continue", "expect: 100-continue", "EXPECT:100-Continue ", "expect: x\r\nexpect: 100-continue"} {
		for framing, body := range map[string]string{"content-length: 3": "abc", "transfer-encoding: chunked": "3\r\nabc\r\n0\r\n\r\n"} {
			c := dial(t, p.addr)
			_ = c.SetDeadline(time.Now().Add(5 * time.Second))
			c.write("POST / HTTP/1.1\r\nHost: h\r\n" + h + "\r\n" + framing + "\r\n\r\n")
			if a := c.read("POST"); a.status() != 100 {
				t.Fatalf("%q, %s: interim answer %q %v", h, framing, a.line, a.err)
			}
			c.write(body)
			if a := c.read("POST"); a.status() != 200 {
				t.Fatalf("%q, %s: answer %q", h, framing, a.line)
			}
			all := n.requests()
			if got := all[len(all)-1]; got.get("expect") != nil || string(got.body) != "abc" {
				t.Errorf("%q: the node saw %q", h, got.raw)
			}
		}
	}
	if a := dial(t, p.addr).ask("POST / HTTP/1.0\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx"); a.status() != 200 {
		t.Errorf("HTTP/1.0: %q", a.line)
	}
	all := n.requests()
	if got := all[len(all)-1]; got.get("expect") != nil {
		t.Errorf("HTTP/1.0: the node saw %q", got.raw)
	}
}

// The time for a head is for the head: a body may be as slow as it likes, while it is
// not silent for too long, however small it is.
func TestSlowBodies(t *testing.T) {
	n := recording(t)
	p := start(t, Deps{}, func(c *Config) { c.HeaderTimeout, c.ClientTimeout = 200*time.Millisecond, 10*time.Second }, n.url())
	for name, c := range map[string]struct{ head, body string }{
		"length":  {"Content-Length: 10\r\n\r\n", "0123456789"},
		"long":    {"Content-Length: 20010\r\n\r\n" + strings.Repeat("x", 20000), "0123456789"},
		"chunked": {"Transfer-Encoding: chunked\r\n\r\n", "1\r\na\r\n0\r\n\r\n"},
		"expect":  {"Expect: 100-continue\r\nContent-Length: 10\r\n\r\n", "0123456789"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := dial(t, p.addr)
			for range 2 {
				conn.write("POST / HTTP/1.1\r\nHost: h\r\n" + c.head)
				for i := range c.body {
					<-time.After(50 * time.Millisecond)
					conn.write(c.body[i : i+1])
				}
				a := conn.read("POST")
				if a.status() == 100 {
					a = conn.read("POST")
				}
				if a.status() != 200 {
					t.Fatalf("answer %q %s %v", a.line, a.body, a.err)
				}
			}
			conn.write("GET / HT")
			if a := conn.read("GET"); a.status() != 408 {
				t.Errorf("half a head: %q %v", a.line, a.err)
			}
		})
	}
}

// Interim answers are no answers: what comes of them while the request is on its way
// does not end it. They end at the proxy with what concerns one connection.
func TestInterimAnswersWithinRequest(t *testing.T) {
	const interims = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 102 Processing\r\nConnection: X-Mine\r\nKeep-Alive: 5\r\nX-Mine: 1\r\nX-Yours: 2\r\n\r\n"
	for name, size := range map[string]int{"small": 100, "held": 900 << 10, "streamed": 8 << 20} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, func(n *node, c net.Conn, br *bufio.Reader) {
				for {
					line, err := br.ReadString('\n')
					if err != nil {
						return
					}
					_, _ = io.WriteString(c, interims[:30])
					<-time.After(20 * time.Millisecond)
					_, _ = io.WriteString(c, interims[30:])
					<-time.After(2 * watchEvery) // while the proxy cannot write on
					rest := bufio.NewReaderSize(io.MultiReader(strings.NewReader(line), br), 16)
					s, err := readSeen(rest)
					if err != nil {
						return
					}
					n.note(s)
					_, _ = io.WriteString(c, okAnswer)
				}
			})
			p := start(t, Deps{}, nil, n.url())
			c := dial(t, p.addr)
			for i := range 2 {
				sent := make(chan struct{})
				go func() {
					defer close(sent)
					_, _ = fmt.Fprintf(c, "POST /_bulk HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", size, strings.Repeat("x", size))
				}()
				if a := c.read("POST"); a.line != "HTTP/1.1 102 Processing" || !slices.Equal(a.headers, []string{"X-Yours: 2"}) {
					t.Fatalf("interim answer %q %q %v", a.line, a.headers, a.err)
				}
				if a := c.read("POST"); a.status() != 200 || a.get("connection") != nil {
					t.Fatalf("answer %q %q %s %v", a.line, a.headers, a.body, a.err)
				}
				<-sent
				if all := n.requests(); len(all) != i+1 || len(all[i].body) != size {
					t.Fatalf("the node saw %d requests", len(all))
				}
			}
		})
	}
}

// A client that first sends all of its request and then reads gets an answer that
// was given before, and no error in its sending.
func TestAnswerBeforeAllWasSent(t *testing.T) {
	const size = 24 << 20
	a := newAuthority(t)
	a.leaf(t, "localhost")
	early := newNode(t, func(_ *node, c net.Conn, br *bufio.Reader) {
		if _, err := br.ReadString('\n'); err == nil {
			_, _ = io.WriteString(c, "HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\n{}")
			_, _ = io.Copy(io.Discard, br)
		}
	})
	length := fmt.Sprintf("Content-Length: %d\r\n\r\n", size)
	for name, c := range map[string]struct {
		change func(*Config)
		head   string
		status int
	}{
		"the node's":     {nil, length, 401},
		"too large":      {func(c *Config) { c.MaxRequestBody = 1 << 20 }, length, 413},
		"malformed head": {nil, "X : y\r\n" + length, 400},
		"bad name":       {nil, "Connection: " + strings.Repeat("a,", 20) + "\r\n" + length, 400},
		"TLS":            {func(c *Config) { c.TLS.Cert, c.TLS.Key = a.file("localhost.pem"), a.file("localhost.key") }, length, 401},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, Deps{}, c.change, early.url())
			var conn *client
			if name == "TLS" {
				var err error
				if conn, err = dialTLS(t, p.addr, a); err != nil {
					t.Fatal(err)
				}
			} else {
				conn = dial(t, p.addr)
			}
			conn.write("POST /_bulk HTTP/1.1\r\nHost: h\r\n" + c.head)
			piece := strings.Repeat("x", size/64)
			for range 64 {
				conn.write(piece)
				<-time.After(2 * time.Millisecond)
			}
			got := conn.read("POST")
			if got.status() != c.status || fmt.Sprint(got.get("connection")) != "[close]" {
				t.Fatalf("answer %q %q %v", got.line, got.headers, got.err)
			}
			if _, err := conn.br.ReadByte(); err != io.EOF {
				t.Errorf("then %v", err)
			}
		})
	}
}

// Whoever goes on sending for ever, or holds the connection open, is not read for ever.
func TestLingerEnds(t *testing.T) {
	for name, c := range map[string]struct {
		talk bool
		stop bool
	}{"silent": {}, "drained": {talk: true, stop: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := recording(t)
			p := start(t, Deps{}, func(c *Config) { c.MaxRequestBody = 10 }, n.url())
			conn := dial(t, p.addr)
			conn.write("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000000\r\n\r\n" + strings.Repeat("x", 10000))
			if a := conn.read("POST"); a.status() != 413 {
				t.Fatalf("answer %q", a.line)
			}
			if c.stop {
				p.stop()
			}
			for c.talk {
				<-time.After(10 * time.Millisecond)
				if _, err := io.WriteString(conn, "x"); err != nil {
					break
				}
			}
			end := time.Now().Add(10 * time.Second)
			for len(p.conns.all()) > 0 && time.Now().Before(end) {
				<-time.After(10 * time.Millisecond)
			}
			if len(p.conns.all()) > 0 {
				t.Error("the connection is still there")
			}
		})
	}
}

// A request that is refused is told so also where it came together with one before.
func TestBadRequestBehindAGoodOne(t *testing.T) {
	n := recording(t)
	p := start(t, Deps{}, func(c *Config) { c.HeaderTimeout = 300 * time.Millisecond }, n.url())
	for name, c := range map[string]struct {
		second string
		status int
	}{
		"two lengths":   {"POST /bad HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", 400},
		"odd name":      {"GET /bad HTTP/1.1\r\nHost: h\r\nA\x01: b\r\n\r\n", 400},
		"not HTTP":      {"\x16\x03\x01\x02\r\n", 400},
		"half a line":   {"GET /bad HT", 408},
		"malformed all": {"GET /bad HTTP/1.1\r\nHost: h\r\nConnection: " + strings.Repeat("a,", 20) + "\r\n\r\n", 400},
	} {
		t.Run(name, func(t *testing.T) {
			conn := dial(t, p.addr)
			conn.write(getRoot + c.second)
			if a := conn.read("GET"); a.status() != 200 {
				t.Fatalf("the first: %q %v", a.line, a.err)
			}
			checkRefusal(t, conn.read("GET"), c.status, "proxy_bad_request")
			if b, err := conn.br.ReadByte(); err != io.EOF {
				t.Errorf("then %q %v", b, err)
			}
		})
	}
	for _, s := range n.requests() {
		if strings.Contains(s.line, "bad") {
			t.Errorf("the node saw %q", s.raw)
		}
	}
}

// What Connection names is missing at the node, and so is added.
func TestForwardedNamedAway(t *testing.T) {
	n := recording(t)
	p := start(t, Deps{}, func(c *Config) { c.Forwarded = "append" }, n.url())
	dial(t, p.addr).ask("GET / HTTP/1.1\r\nHost: h\r\nConnection: X-Forwarded-Proto, x-forwarded-host\r\nX-Forwarded-Proto: a\r\nX-Forwarded-Host: b\r\n\r\n")
	s := n.requests()[0]
	if proto, host := s.get("x-forwarded-proto"), s.get("x-forwarded-host"); fmt.Sprint(proto, host) != "[http] [h]" {
		t.Errorf("the node saw %q", s.headers)
	}
}
