package proxy

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/esshadow/esshadow/capture"
)

// seen is one request as bytes on the wire.
type seen struct {
	line    string
	headers []string // lines as they came
	body    []byte   // without framing
	raw     []byte   // head and body with framing
}

// get is the values of a header, in any spelling.
func (s *seen) get(name string) (values []string) {
	for _, h := range s.headers {
		if k, v, _ := strings.Cut(h, ":"); strings.EqualFold(k, name) {
			values = append(values, strings.TrimSpace(v))
		}
	}
	return values
}

// readSeen reads one request. It knows as little HTTP as it can.
func readSeen(br *bufio.Reader) (*seen, error) {
	s := &seen{}
	length, chunked := 0, false
	for {
		line, err := br.ReadString('\n')
		if err != nil {
			return nil, err
		}
		s.raw = append(s.raw, line...)
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		switch {
		case s.line == "":
			s.line = line
			continue
		case line != "":
			s.headers = append(s.headers, line)
			k, v, _ := strings.Cut(line, ":")
			if strings.EqualFold(k, "content-length") {
				length, _ = strconv.Atoi(strings.TrimSpace(v))
			}
			if strings.EqualFold(k, "transfer-encoding") {
				chunked = true
			}
			continue
		}
		break
	}
	if !chunked {
		s.body = make([]byte, length)
		_, err := io.ReadFull(br, s.body)
		s.raw = append(s.raw, s.body...)
		return s, err
	}
	for {
		line, err := br.ReadString('\n')
		if err != nil {
			return nil, err
		}
		s.raw = append(s.raw, line...)
		n, err := strconv.ParseInt(strings.TrimSpace(line), 16, 64)
		if err != nil {
			return nil, err
		}
		chunk := make([]byte, n+2)
		if _, err := io.ReadFull(br, chunk); err != nil {
			return nil, err
		}
		s.raw = append(s.raw, chunk...)
		s.body = append(s.body, chunk[:n]...)
		if n == 0 {
			return s, nil
		}
	}
}

// node is an upstream that speaks raw bytes.
type node struct {
	t  testing.TB
	ln net.Listener

	mu    sync.Mutex
	seen  []*seen
	conns []net.Conn
	wg    sync.WaitGroup
}

// okAnswer is what a node says by default, in Elasticsearch's spelling.
const okAnswer = "HTTP/1.1 200 OK\r\nX-elastic-product: Elasticsearch\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"

// newNode serves each connection by conn.
func newNode(t testing.TB, conn func(n *node, c net.Conn, br *bufio.Reader)) *node {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return newNodeOn(t, ln, conn)
}

func newNodeOn(t testing.TB, ln net.Listener, conn func(n *node, c net.Conn, br *bufio.Reader)) *node {
	n := &node{t: t, ln: ln}
	n.wg.Add(1)
	go func() {
		defer n.wg.Done()
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			n.mu.Lock()
			n.conns = append(n.conns, c)
			n.mu.Unlock()
			n.wg.Add(1)
			go func() {
				defer n.wg.Done()
				defer c.Close()
				conn(n, c, bufio.NewReaderSize(c, 64<<10))
			}()
		}
	}()
	t.Cleanup(n.close)
	return n
}

func (n *node) close() {
	n.ln.Close()
	n.mu.Lock()
	for _, c := range n.conns {
		c.Close()
	}
	n.mu.Unlock()
	n.wg.Wait()
}

// answering is a node that gives every request the answer that reply returns.
func answering(t testing.TB, reply func(s *seen) string) *node {
	return newNode(t, answers(reply))
}

func answers(reply func(s *seen) string) func(n *node, c net.Conn, br *bufio.Reader) {
	return func(n *node, c net.Conn, br *bufio.Reader) {
		for {
			s, err := readSeen(br)
			if err != nil {
				return
			}
			n.note(s)
			if _, err := io.WriteString(c, reply(s)); err != nil {
				return
			}
		}
	}
}

func recording(t testing.TB) *node {
	return answering(t, okReply)
}

func recordingOn(t testing.TB, ln net.Listener) *node { return newNodeOn(t, ln, answers(okReply)) }

func okReply(s *seen) string {
	if strings.HasPrefix(s.line, "HEAD ") {
		return strings.TrimSuffix(okAnswer, "{}")
	}
	return okAnswer
}

func (n *node) note(s *seen) {
	n.mu.Lock()
	n.seen = append(n.seen, s)
	n.mu.Unlock()
}

func (n *node) requests() []*seen {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]*seen(nil), n.seen...)
}

func (n *node) opened() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.conns)
}

func (n *node) url() string { return "http://" + n.ln.Addr().String() }

// keepTap keeps what it is offered.
type keepTap struct {
	full atomic.Bool // it says that it has no room
	mu   sync.Mutex
	list []*capture.Exchange
	came chan struct{}
}

func newTap() *keepTap { return &keepTap{came: make(chan struct{}, 1<<16)} }

func (k *keepTap) Room(int64) bool { return !k.full.Load() }

func (k *keepTap) Offer(x *capture.Exchange) {
	k.mu.Lock()
	k.list = append(k.list, x)
	k.mu.Unlock()
	k.came <- struct{}{}
}

// wait returns the first n exchanges once they have come.
func (k *keepTap) wait(t testing.TB, n int) []*capture.Exchange {
	t.Helper()
	for {
		k.mu.Lock()
		if len(k.list) >= n {
			defer k.mu.Unlock()
			return k.list[:n]
		}
		k.mu.Unlock()
		select {
		case <-k.came:
		case <-time.After(10 * time.Second):
			t.Fatalf("no %d exchanges were offered", n)
		}
	}
}

// started is a proxy that serves.
type started struct {
	*Proxy
	addr string
	stop context.CancelFunc
	done chan error
}

func start(t testing.TB, deps Deps, change func(*Config), upstreams ...string) *started {
	t.Helper()
	cfg := Default()
	cfg.Upstreams = upstreams
	cfg.Drain = 2 * time.Second
	cfg.UpstreamIdle = time.Second
	if change != nil {
		change(&cfg)
	}
	p, err := New(cfg, deps)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &started{Proxy: p, addr: ln.Addr().String(), stop: stop, done: make(chan error, 1)}
	go func() { s.done <- p.Serve(ctx, ln) }()
	t.Cleanup(func() {
		p.Close()
		<-s.done //nolint:errcheck // the test is over
		s.done <- nil
	})
	return s
}

// client speaks raw bytes to the proxy.
type client struct {
	t testing.TB
	net.Conn
	br *bufio.Reader
}

func dial(t testing.TB, addr string) *client {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	return &client{t: t, Conn: c, br: bufio.NewReaderSize(c, 64<<10)}
}

func (c *client) write(s string) {
	c.t.Helper()
	if _, err := io.WriteString(c, s); err != nil {
		c.t.Fatalf("write: %v", err)
	}
}

// answer is one answer as bytes.
type answer struct {
	line    string
	headers []string
	body    []byte
	err     error // of the body
}

func (a *answer) status() int {
	n, _ := strconv.Atoi(strings.Fields(a.line + " 0 0")[1])
	return n
}

func (a *answer) get(name string) []string { return (&seen{headers: a.headers}).get(name) }

// read reads an answer to a request with the method.
func (c *client) read(method string) *answer {
	a := &answer{}
	for {
		line, err := c.br.ReadString('\n')
		if err != nil {
			a.err = err
			return a
		}
		line = strings.TrimSuffix(line, "\r\n")
		if line == "" {
			break
		}
		if a.line == "" {
			a.line = line
			continue
		}
		a.headers = append(a.headers, line)
	}
	if method == "HEAD" || a.status() == 204 || a.status() == 304 || a.status() < 200 {
		return a
	}
	switch length := a.get("content-length"); {
	case a.get("transfer-encoding") != nil:
		var b bytes.Buffer
		_, a.err = io.Copy(&b, &chunkReader{br: c.br})
		a.body = b.Bytes()
	case length != nil:
		n, _ := strconv.Atoi(length[0])
		a.body = make([]byte, n)
		var got int
		got, a.err = io.ReadFull(c.br, a.body)
		a.body = a.body[:got]
	default:
		a.body, a.err = io.ReadAll(c.br)
	}
	return a
}

// ask sends a request as it stands and reads the answer.
func (c *client) ask(request string) *answer {
	c.t.Helper()
	c.write(request)
	method, _, _ := strings.Cut(request, " ")
	return c.read(method)
}

func newReader(s string) *bufio.Reader { return bufio.NewReader(strings.NewReader(s)) }

// parseAnswer reads an answer from memory.
func parseAnswer(s string) *answer {
	c := client{br: bufio.NewReaderSize(strings.NewReader(s), 64<<10)}
	return c.read("GET")
}
