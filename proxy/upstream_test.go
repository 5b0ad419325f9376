package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/esshadow/esshadow/internal/testenv"
)

const getRoot = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

// Whatever the node answers, the client gets the same as directly.
func TestAnswersReachTheClientUnchanged(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 256<<10) // 4 MiB
	cases := map[string]string{
		"es 8 spelling":         okAnswer,
		"empty":                 "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
		"no reason":             "HTTP/1.1 200 \r\ncontent-length: 0\r\n\r\n",
		"no reason space":       "HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n",
		"odd reason":            "HTTP/1.1 299 So So\r\ncontent-length: 1\r\n\r\nx",
		"unknown status":        "HTTP/1.1 599 X\r\ncontent-length: 0\r\n\r\n",
		"201 location":          "HTTP/1.1 201 Created\r\nLocation: /i/_doc/1\r\ncontent-length: 2\r\n\r\n{}",
		"204":                   "HTTP/1.1 204 No Content\r\nX: y\r\n\r\n",
		"304":                   "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\ncontent-length: 12\r\n\r\n",
		"301":                   "HTTP/1.1 301 Moved\r\nLocation: http://elsewhere/\r\ncontent-length: 0\r\n\r\n",
		"400":                   "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}",
		"401":                   "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nWWW-Authenticate: ApiKey\r\ncontent-length: 0\r\n\r\n",
		"429":                   "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\ncontent-length: 0\r\n\r\n",
		"503":                   "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n",
		"duplicates":            "HTTP/1.1 200 OK\r\nWarning: 299 a\r\nwarning: 299 b\r\nSet-Cookie: a\r\nset-cookie: b\r\nWarning: 299 a\r\nContent-Length: 0\r\n\r\n",
		"date and server":       "HTTP/1.1 200 OK\r\nDATE: Thu, 01 Jan 1970 00:00:00 GMT\r\nserver: x\r\nVia: 1.1 y\r\ncontent-length: 0\r\n\r\n",
		"gzip":                  "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\n\x1f\x8b\x00",
		"odd type":              "HTTP/1.1 200 OK\r\nContent-TYPE: application/vnd.elasticsearch+json;compatible-with=8\r\ncontent-length: 0\r\n\r\n",
		"chunked":               "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
		"chunked empty":         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"many chunks":           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("5\r\nabcde\r\n", 20000) + "0\r\n\r\n",
		"1 chunk of 4MiB":       fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(big), big),
		"40 KiB":                fmt.Sprintf("HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s", 40<<10, big[:40<<10]),
		"1 MiB":                 fmt.Sprintf("HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s", 1<<20, big[:1<<20]),
		"1 MiB and 1":           fmt.Sprintf("HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s", 1<<20+1, big[:1<<20+1]),
		"4 MiB":                 fmt.Sprintf("HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s", len(big), big),
		"100 KiB head":          "HTTP/1.1 200 OK\r\n" + strings.Repeat("Warning: 299 Elasticsearch something is deprecated\r\n", 2000) + "content-length: 2\r\n\r\n{}",
		"100 KiB head, chunked": "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 100<<10) + "\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
		"40 KiB of head":        "HTTP/1.1 200 OK\r\n" + strings.Repeat("Warning: 299 Elasticsearch something is deprecated\r\n", 800) + "content-length: 0\r\n\r\n",
	}
	for name, reply := range cases {
		t.Run(name, func(t *testing.T) {
			n := answering(t, func(*seen) string { return reply })
			tap := newTap()
			p := start(t, Deps{Tap: tap}, func(c *Config) { c.UpstreamIdle = time.Minute }, n.url())
			through := dial(t, p.addr)
			for i := range 3 {
				want := dial(t, n.ln.Addr().String()).ask(getRoot)
				got := through.ask(getRoot)
				if got.line != want.line || fmt.Sprint(got.headers) != fmt.Sprint(want.headers) || string(got.body) != string(want.body) || got.err != nil {
					t.Fatalf("answer %d: %q %q %d bytes (%v), direct %q %q %d bytes",
						i, got.line, got.headers, len(got.body), got.err, want.line, want.headers, len(want.body))
				}
				x := tap.wait(t, i+1)[i]
				if x.Status != want.status() || string(x.Answer) != string(want.body) || x.AnswerSize != int64(len(want.body)) {
					t.Fatalf("exchange: %d, %d bytes of %d", x.Status, len(x.Answer), x.AnswerSize)
				}
			}
			if got := n.opened(); got != 4 {
				t.Errorf("%d connections to the upstream, want 3 direct and 1 that the proxy kept", got)
			}
		})
	}
}

func TestAnswersToHead(t *testing.T) {
	for name, reply := range map[string]string{
		"length":          "HTTP/1.1 200 OK\r\ncontent-length: 1234\r\n\r\n",
		"no length":       "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n",
		"chunked":         "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
		"chunked and end": "HTTP/1.1 404 Not Found\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			n := answering(t, func(s *seen) string {
				if strings.HasPrefix(s.line, "HEAD") {
					return reply
				}
				return okAnswer
			})
			p := start(t, Deps{}, nil, n.url())
			c := dial(t, p.addr)
			for range 20 {
				a := c.ask("HEAD /i HTTP/1.1\r\nHost: h\r\n\r\n")
				head, _, _ := strings.Cut(reply, "\r\n\r\n")
				if got := a.line + "\r\n" + strings.Join(a.headers, "\r\n"); got != head {
					t.Fatalf("answer %q, want %q", got, head)
				}
				if a := c.ask("POST /_bulk HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx"); a.status() != 200 || string(a.body) != "{}" {
					t.Fatalf("the answer after it: %q %q", a.line, a.body)
				}
			}
		})
	}
}

// Elasticsearch up to 8.13 sends the last chunk of an answer to HEAD; here it
// comes late, when the connection already carries something else.
func TestLateChunkAfterHead(t *testing.T) {
	for _, coding := range []string{"transfer-encoding: chunked", "content-length: 5"} {
		answered, late := make(chan struct{}), make(chan struct{}, 1)
		defer close(answered) // where the test has failed, the node may still wait for it
		n := newNode(t, func(n *node, c net.Conn, br *bufio.Reader) {
			for {
				s, err := readSeen(br)
				if err != nil {
					return
				}
				n.note(s)
				if !strings.HasPrefix(s.line, "HEAD") {
					_, _ = io.WriteString(c, okAnswer)
					continue
				}
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n"+coding+"\r\n\r\n")
				<-answered
				_, _ = io.WriteString(c, "0\r\n\r\n")
				late <- struct{}{}
			}
		})
		p := start(t, Deps{}, nil, n.url())
		c := dial(t, p.addr)
		for range 5 {
			if a := c.ask("HEAD /i HTTP/1.1\r\nHost: h\r\n\r\n"); a.status() != 200 {
				t.Fatalf("%s: %q", coding, a.line)
			}
			answered <- struct{}{}
			<-late
			if a := c.ask(getRoot); a.status() != 200 || string(a.body) != "{}" {
				t.Fatalf("%s: the answer after it: %q %q", coding, a.line, a.body)
			}
		}
	}
}

func TestInterimAnswers(t *testing.T) {
	n := answering(t, func(*seen) string {
		return "HTTP/1.1 100 \r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + okAnswer
	})
	p := start(t, Deps{}, nil, n.url())
	c := dial(t, p.addr)
	c.write(getRoot)
	if a := c.read("GET"); a.line != "HTTP/1.1 103 Early Hints" || len(a.headers) != 1 {
		t.Fatalf("interim answer %q %q", a.line, a.headers)
	}
	if a := c.read("GET"); a.status() != 200 || string(a.body) != "{}" {
		t.Fatalf("answer %q %q", a.line, a.body)
	}
	if a := dial(t, p.addr).ask("GET / HTTP/1.0\r\nHost: h\r\n\r\n"); a.status() != 200 {
		t.Fatalf("a client of HTTP/1.0 got %q", a.line)
	}
}

func TestAnswerUntilClose(t *testing.T) {
	n := newNode(t, func(_ *node, c net.Conn, br *bufio.Reader) {
		if _, err := readSeen(br); err == nil {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nX: y\r\n\r\nabc")
		}
	})
	tap := newTap()
	p := start(t, Deps{Tap: tap}, nil, n.url())
	for i := range 3 {
		a := dial(t, p.addr).ask(getRoot)
		if string(a.body) != "abc" || a.err != nil || fmt.Sprint(a.get("connection")) != "[close]" {
			t.Fatalf("answer %q %q %q %v", a.line, a.headers, a.body, a.err)
		}
		if x := tap.wait(t, i+1)[i]; string(x.Answer) != "abc" {
			t.Errorf("exchange has %q", x.Answer)
		}
	}
}

func TestHTTP10Client(t *testing.T) {
	n := answering(t, func(*seen) string {
		return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
	})
	p := start(t, Deps{}, nil, n.url())
	a := dial(t, p.addr).ask("GET / HTTP/1.0\r\n\r\n")
	if string(a.body) != "abc" || a.get("transfer-encoding") != nil {
		t.Fatalf("answer %q %q", a.headers, a.body)
	}
	if got := n.requests()[0].get("host"); len(got) != 1 {
		t.Errorf("host %q", got)
	}

	n = recording(t)
	p = start(t, Deps{}, nil, n.url())
	c := dial(t, p.addr)
	for range 2 {
		a := c.ask("GET / HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n")
		if string(a.body) != "{}" || fmt.Sprint(a.get("connection")) != "[keep-alive]" {
			t.Fatalf("answer %q %q", a.headers, a.body)
		}
	}
}

func TestConnectionClose(t *testing.T) {
	n := recording(t)
	p := start(t, Deps{}, nil, n.url())
	c := dial(t, p.addr)
	a := c.ask("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
	if a.status() != 200 || fmt.Sprint(a.get("connection")) != "[close]" {
		t.Fatalf("answer %q", a.headers)
	}
	if _, err := c.br.ReadByte(); err != io.EOF {
		t.Errorf("the connection stays open: %v", err)
	}
}

// One attempt only, and yet no client sees that the node closes connections
// whenever it likes.
func TestStaleConnections(t *testing.T) {
	for name, pause := range map[string]time.Duration{"at once": 0, "after a while": 5 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, func(n *node, c net.Conn, br *bufio.Reader) {
				s, err := readSeen(br)
				if err != nil {
					return
				}
				n.note(s)
				_, _ = io.WriteString(c, okAnswer) // and closes without having said so
			})
			p := start(t, Deps{}, nil, n.url())
			c := dial(t, p.addr)
			for i := range 60 {
				<-time.After(pause + time.Millisecond)
				a := c.ask(fmt.Sprintf("PUT /_bulk?n=%d HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx", i))
				if a.status() != 200 {
					t.Fatalf("post %d: %q %q", i, a.line, a.body)
				}
			}
			if got := len(n.requests()); got != 60 {
				t.Errorf("the upstream ran %d requests, 60 were sent", got)
			}
		})
	}
}

// A request that may have been executed is not sent again, whatever its method.
func TestOneAttemptOnly(t *testing.T) {
	n := newNode(t, func(n *node, c net.Conn, br *bufio.Reader) {
		for i := 0; ; i++ {
			s, err := readSeen(br)
			if err != nil {
				return
			}
			n.note(s)
			if strings.Contains(s.line, "die") {
				return
			}
			_, _ = io.WriteString(c, okAnswer)
		}
	})
	other := recording(t)
	tap := newTap()
	p := start(t, Deps{Tap: tap}, nil, n.url())
	c := dial(t, p.addr)
	for i, method := range []string{"GET", "HEAD", "PUT", "DELETE", "POST"} {
		c.ask(getRoot) // so that the next goes out on a reused connection
		a := c.ask(method + " /die HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx")
		if method == "HEAD" {
			if a.status() != 502 {
				t.Fatalf("%s: %q", method, a.line)
			}
		} else {
			checkRefusal(t, a, 502, "proxy_upstream_unreachable")
		}
		if x := tap.wait(t, 2*i+2)[2*i+1]; x.Status != 0 || x.Err != "reset" {
			t.Errorf("exchange %d %q", x.Status, x.Err)
		}
	}
	if got := len(n.requests()); got != 10 {
		t.Errorf("the upstream saw %d requests, 10 were sent", got)
	}
	if len(other.requests()) != 0 {
		t.Error("a request went to another node")
	}
}

func TestUnreachable(t *testing.T) {
	dead, _ := testenv.DeadAddress(t)
	dead = "http://" + dead
	tap := newTap()
	p := start(t, Deps{Tap: tap}, nil, dead)
	c := dial(t, p.addr)
	for i := range 3 {
		a := c.ask("POST /secret HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nx")
		checkRefusal(t, a, 502, "proxy_upstream_unreachable")
		if strings.Contains(string(a.body), "secret") {
			t.Error("the answer quotes the request")
		}
		if x := tap.wait(t, i+1)[i]; x.Status != 0 || x.Err != "refused" || string(x.Body) != "x" {
			t.Errorf("exchange %d %q %q", x.Status, x.Err, x.Body)
		}
	}

	// With a node that works beside it nothing is noticed.
	n := recording(t)
	p = start(t, Deps{}, nil, dead, n.url())
	c = dial(t, p.addr)
	for range 10 {
		if a := c.ask(getRoot); a.status() != 200 {
			t.Fatalf("answer %q", a.line)
		}
	}
	if len(n.requests()) != 10 {
		t.Errorf("%d requests arrived", len(n.requests()))
	}
}

func TestNodesTakeTurns(t *testing.T) {
	a, b, c := recording(t), recording(t), recording(t)
	p := start(t, Deps{}, nil, a.url(), b.url(), c.url())
	conn := dial(t, p.addr)
	for range 30 {
		conn.ask(getRoot)
	}
	for _, n := range []*node{a, b, c} {
		if got := len(n.requests()); got != 10 {
			t.Errorf("a node got %d of 30 requests, want 10", got)
		}
	}
}

func TestFrozenUpstream(t *testing.T) {
	stop := make(chan struct{})
	n := newNode(t, func(n *node, _ net.Conn, br *bufio.Reader) {
		if s, err := readSeen(br); err == nil {
			n.note(s)
			<-stop
		}
	})
	defer close(stop)
	tap := newTap()
	p := start(t, Deps{Tap: tap}, func(c *Config) { c.UpstreamTimeout = 400 * time.Millisecond }, n.url())
	begin := time.Now()
	a := dial(t, p.addr).ask(getRoot)
	checkRefusal(t, a, 504, "proxy_upstream_timeout")
	if d := time.Since(begin); d < 400*time.Millisecond || d > 3*time.Second {
		t.Errorf("answered after %v", d)
	}
	if x := tap.wait(t, 1)[0]; x.Err != "timeout" {
		t.Errorf("exchange %q", x.Err)
	}
	if len(n.requests()) != 1 {
		t.Errorf("the upstream saw %d requests", len(n.requests()))
	}
}

func TestGarbageFromUpstream(t *testing.T) {
	for name, reply := range map[string]string{
		"not http":         "SSH-2.0-OpenSSH\r\n\r\n",
		"no status":        "HTTP/1.1 OK fine\r\n\r\n",
		"two lengths":      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
		"both framings":    "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"bare line feeds":  "HTTP/1.1 200 OK\nContent-Length: 0\n\n\r\n\r\n",
		"folded":           "HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 0\r\n\r\n",
		"switch protocols": "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
		"endless head":     "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", 64<<10) + "\r\n",
		"endless interims": strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 1000),
		"cut head":         "HTTP/1.1 200 OK\r\nContent-Le",
		"nothing":          "",
		"cut body":         "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
		"bad first chunk":  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, func(_ *node, c net.Conn, br *bufio.Reader) {
				if _, err := readSeen(br); err == nil {
					_, _ = io.WriteString(c, reply)
				}
			})
			p := start(t, Deps{}, nil, n.url())
			c := dial(t, p.addr)
			checkRefusal(t, c.ask(getRoot), 502, "proxy_upstream_unreachable")
			checkRefusal(t, c.ask(getRoot), 502, "proxy_upstream_unreachable")
		})
	}
}

// What breaks off must look broken off, never like a short answer.
func TestBrokenAnswersBreakVisibly(t *testing.T) {
	big := strings.Repeat("x", 2<<20)
	for name, reply := range map[string]string{
		"length":      fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", 3<<20, big),
		"chunked":     fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(big), big),
		"until close": "HTTP/1.1 200 OK\r\n\r\n" + big,
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, func(_ *node, c net.Conn, br *bufio.Reader) {
				if _, err := readSeen(br); err != nil {
					return
				}
				_, _ = io.WriteString(c, reply)
				<-time.After(50 * time.Millisecond)
				_ = c.(*net.TCPConn).SetLinger(0)
			})
			tap := newTap()
			p := start(t, Deps{Tap: tap}, nil, n.url())
			a := dial(t, p.addr).ask(getRoot)
			if a.err == nil {
				t.Errorf("the client takes %d bytes for a whole answer", len(a.body))
			}
			if x := tap.wait(t, 1)[0]; x.Status != 0 || x.Err != "reset" || x.Answer != nil {
				t.Errorf("exchange %d %q", x.Status, x.Err)
			}
		})
	}
}

// An answer that comes in pieces goes on in pieces.
func TestAnswerIsNotHeldBack(t *testing.T) {
	more := make(chan struct{})
	n := newNode(t, func(_ *node, c net.Conn, br *bufio.Reader) {
		if _, err := readSeen(br); err != nil {
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
		<-more
		_, _ = io.WriteString(c, "0\r\n\r\n")
	})
	p := start(t, Deps{}, nil, n.url())
	c := dial(t, p.addr)
	c.write(getRoot)
	got := make([]byte, len("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"))
	if _, err := io.ReadFull(c.br, got); err != nil || !strings.HasSuffix(string(got), "abc\r\n") {
		t.Fatalf("%q %v", got, err)
	}
	close(more)
	if rest, _ := c.br.ReadString('\n'); rest != "0\r\n" {
		t.Errorf("then %q", rest)
	}
}

// A node that wants no more of a request says so before it has it all. The
// client gets that, and not an error of ours, even if the node then hangs up.
func TestEarlyAnswer(t *testing.T) {
	const refusalHead = "HTTP/1.1 413 Request Entity Too Large\r\ncontent-length: 2\r\n\r\n{}"
	for name, body := range map[string]int{"small": 100 << 10, "streamed": 20 << 20} {
		for how, after := range map[string]func(net.Conn){
			"close": func(net.Conn) {},
			"stay": func(c net.Conn) {
				_, _ = io.Copy(io.Discard, c)
			},
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				n := newNode(t, func(_ *node, c net.Conn, br *bufio.Reader) {
					if _, err := br.ReadString('\n'); err != nil {
						return
					}
					_, _ = io.WriteString(c, refusalHead)
					after(c)
				})
				p := start(t, Deps{Tap: newTap()}, nil, n.url())
				c := dial(t, p.addr)
				go func() {
					_, _ = fmt.Fprintf(c, "POST /_bulk HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", body, strings.Repeat("x", body))
				}()
				a := c.read("POST")
				if how == "close" && a.status() == 502 && runtime.GOOS != "linux" {
					// The node closes with bytes unread, which makes its system send a
					// reset. Linux lets what came before one be read all the same.
					t.Skip("here a reset discards what had come before it")
				}
				if a.status() != 413 || string(a.body) != "{}" {
					t.Fatalf("answer %q %q %v", a.line, a.body, a.err)
				}
			})
		}
	}
}

// A client that leaves takes its search with it.
func TestClientLeaves(t *testing.T) {
	ended := make(chan error, 1)
	asked := make(chan struct{})
	n := newNode(t, func(_ *node, _ net.Conn, br *bufio.Reader) {
		if _, err := readSeen(br); err != nil {
			return
		}
		close(asked)
		_, err := br.ReadByte()
		ended <- err
	})
	tap := newTap()
	p := start(t, Deps{Tap: tap}, nil, n.url())
	c := dial(t, p.addr)
	c.write(getRoot)
	<-asked
	c.Close()
	select {
	case <-ended: //nolint:errcheck // the test is over
	case <-time.After(time.Second):
		t.Fatal("the upstream still works on it after a second")
	}
	if x := tap.wait(t, 1)[0]; x.Status != 0 || x.Err != "cancelled" {
		t.Errorf("exchange %d %q", x.Status, x.Err)
	}
}

// A client that leaves in the middle of its request leaves none behind that
// could be taken for whole.
func TestClientLeavesWithinRequest(t *testing.T) {
	for name, head := range map[string]string{
		"small":    "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nabc",
		"streamed": "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5000000\r\n\r\n" + strings.Repeat("x", 100<<10),
		"chunked":  "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			n := recording(t)
			p := start(t, Deps{}, nil, n.url())
			c := dial(t, p.addr)
			c.write(head)
			c.Close()
			p.stop()
			if err := <-p.done; err != nil {
				t.Error(err)
			}
			p.done <- nil
			if got := n.requests(); len(got) != 0 {
				t.Errorf("the upstream took %q for a whole request", got[0].line)
			}
		})
	}
}

// What a node says as soon as it is connected to, before it has seen a request, is its
// answer to the first one; on a kept connection it is nobody's.
func TestNodeSpeaksFirst(t *testing.T) {
	const early = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\n\r\nfull"
	var first atomic.Bool
	n := newNode(t, func(_ *node, c net.Conn, br *bufio.Reader) {
		if !first.Swap(true) {
			_, _ = io.WriteString(c, early)
		}
		for {
			if _, err := readSeen(br); err != nil {
				return
			}
			if _, err := io.WriteString(c, okAnswer+early); err != nil {
				return
			}
		}
	})
	p := start(t, Deps{}, nil, n.url())
	c := dial(t, p.addr)
	if a := c.ask(getRoot); a.status() != 503 || string(a.body) != "full" {
		t.Errorf("first %q %q", a.line, a.body)
	}
	for i := range 20 {
		if a := c.ask(getRoot); a.status() != 200 {
			t.Fatalf("request %d: %q %q", i, a.line, a.body)
		}
	}
}
