package proxy

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// holding is a node that answers when told to.
func holding(t *testing.T) (n *node, asked chan struct{}, release chan struct{}) {
	asked, release = make(chan struct{}, 16), make(chan struct{})
	n = newNode(t, func(n *node, c net.Conn, br *bufio.Reader) {
		for {
			s, err := readSeen(br)
			if err != nil {
				return
			}
			n.note(s)
			if strings.Contains(s.line, "/slow") {
				asked <- struct{}{}
				<-release
			}
			_, _ = io.WriteString(c, okAnswer)
		}
	})
	return n, asked, release
}

func TestDrain(t *testing.T) {
	n, asked, release := holding(t)
	p := start(t, Deps{}, func(c *Config) { c.Drain = 10 * time.Second }, n.url())
	unused, kept, busy := dial(t, p.addr), dial(t, p.addr), dial(t, p.addr)
	kept.ask(getRoot)
	busy.write("GET /slow HTTP/1.1\r\nHost: h\r\n\r\nGET /next HTTP/1.1\r\nHost: h\r\n\r\n")
	<-asked

	p.stop()
	for name, c := range map[string]*client{"unused": unused, "kept": kept} {
		if _, err := c.br.ReadByte(); err != io.EOF {
			t.Errorf("%s connection: %v, want its end", name, err)
		}
	}
	if c, err := net.Dial("tcp", p.addr); err == nil {
		c.Close()
		t.Error("it still accepts")
	}
	if state, code := p.readiness(t.Context()); code != 503 || state.Status != "draining" {
		t.Errorf("readiness %+v %d", state, code)
	}
	select {
	case err := <-p.done:
		t.Fatalf("ended with a request in flight: %v", err)
	case <-time.After(50 * time.Millisecond):
	}

	close(release)
	a := busy.read("GET")
	if a.status() != 200 || string(a.body) != "{}" || a.get("connection") == nil {
		t.Errorf("the request in flight got %q %q %q", a.line, a.headers, a.body)
	}
	if _, err := busy.br.ReadByte(); err != io.EOF {
		t.Errorf("then %v", err)
	}
	if err := <-p.done; err != nil {
		t.Error(err)
	}
	p.done <- nil
	if s := p.Stats(); s.Requests != 2 || s.InFlight != 0 || s.Connections != 3 {
		t.Errorf("sums %+v", s)
	}
}

func TestDrainingRefusesNewRequests(t *testing.T) {
	n := recording(t)
	p := start(t, Deps{}, nil, n.url())
	c := dial(t, p.addr)
	c.ask(getRoot)
	p.draining.Store(true)
	p.refusing.Store(true)
	a := c.ask(getRoot)
	checkRefusal(t, a, 503, "proxy_draining")
	if a.get("connection") == nil {
		t.Error("the connection stays")
	}
	if len(n.requests()) != 1 {
		t.Error("it was forwarded")
	}
}

func TestDrainEndsAtItsLimit(t *testing.T) {
	n, asked, release := holding(t)
	defer close(release)
	p := start(t, Deps{}, func(c *Config) { c.Drain = 200 * time.Millisecond }, n.url())
	c := dial(t, p.addr)
	c.write("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
	<-asked
	p.stop()
	if err := <-p.done; err == nil || !strings.Contains(err.Error(), "1 requests were cut off") {
		t.Errorf("ended with %v", err)
	}
	p.done <- nil
	if a := c.read("GET"); a.err == nil {
		t.Errorf("the client got %q", a.line)
	}
}

func TestCloseEndsAtOnce(t *testing.T) {
	n, asked, release := holding(t)
	defer close(release)
	p := start(t, Deps{}, func(c *Config) { c.Drain = time.Hour }, n.url())
	c := dial(t, p.addr)
	c.write("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
	<-asked
	begin := time.Now()
	p.stop()
	p.Close()
	p.Close()
	<-p.done //nolint:errcheck // told by what follows
	p.done <- nil
	if d := time.Since(begin); d > 3*time.Second {
		t.Errorf("it took %v", d)
	}
}

func TestServeTwice(t *testing.T) {
	n := recording(t)
	p := start(t, Deps{}, nil, n.url())
	dial(t, p.addr).ask(getRoot)
	if err := p.Serve(t.Context(), nil); err == nil {
		t.Error("it served again")
	}
}

func TestConnectionLimit(t *testing.T) {
	n := recording(t)
	p := start(t, Deps{}, func(c *Config) { c.MaxConnections = 1 }, n.url())
	first, second := dial(t, p.addr), dial(t, p.addr)
	first.ask(getRoot)
	second.write(getRoot)
	_ = second.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if _, err := second.br.ReadByte(); !isTimeout(err) {
		t.Fatalf("the second connection is served beside the first: %v", err)
	}
	first.Close()
	_ = second.SetReadDeadline(time.Now().Add(10 * time.Second))
	if a := second.read("GET"); a.status() != 200 {
		t.Errorf("then %q", a.line)
	}
}

func TestSilentClients(t *testing.T) {
	n := recording(t)
	p := start(t, Deps{}, func(c *Config) {
		c.HeaderTimeout, c.ClientTimeout, c.IdleTimeout = 100*time.Millisecond, 100*time.Millisecond, 100*time.Millisecond
	}, n.url())
	for name, c := range map[string]struct {
		sent   string
		status int // 0: closed without a word
	}{
		"says nothing":     {"", 0},
		"half a line":      {"GET / HT", 408},
		"half a body":      {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc", 408},
		"half a long body": {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 20000\r\n\r\n" + strings.Repeat("x", 10000), 408},
		"half a chunk":     {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", 408},
		"no second line":   {getRoot, 200},
	} {
		t.Run(name, func(t *testing.T) {
			conn := dial(t, p.addr)
			conn.write(c.sent)
			a := conn.read("GET")
			if a.status() != c.status {
				t.Errorf("answer %q %q, want %d", a.line, a.body, c.status)
			}
			if _, err := conn.br.ReadByte(); err == nil {
				t.Error("the connection stays open")
			}
		})
	}
}

// Whoever asks on a kept connection after the proxy began to end is told so, and
// only where another process goes on is answered. The connection ends with it. A
// request in flight, and one that came with it, are answered all the same.
func TestDrainAndKeptConnections(t *testing.T) {
	for name, tc := range map[string]struct {
		change   func(*Config)
		outlived bool
		status   int
	}{
		"nobody goes on":    {func(*Config) {}, false, 503},
		"the port is given": {func(c *Config) { c.ReusePort = true }, false, 200},
		"the socket stays":  {func(*Config) {}, true, 200},
	} {
		t.Run(name, func(t *testing.T) {
			n, asked, release := holding(t)
			p := start(t, Deps{}, func(c *Config) { c.Drain = 10 * time.Second; tc.change(c) }, n.url())
			if tc.outlived {
				p.Outlived()
			}
			kept, busy := dial(t, p.addr), dial(t, p.addr)
			kept.ask(getRoot)
			busy.write("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
			<-asked
			p.stop()
			until(t, "it drains", p.draining.Load)
			a := kept.ask(getRoot)
			if tc.status == 503 {
				checkRefusal(t, a, 503, "proxy_draining")
			}
			if a.status() != tc.status || a.get("connection") == nil {
				t.Errorf("answer %q %q", a.line, a.headers)
			}
			if _, err := kept.br.ReadByte(); err != io.EOF {
				t.Errorf("then %v", err)
			}
			close(release)
			if a := busy.read("GET"); a.status() != 200 || a.get("connection") == nil {
				t.Errorf("the request in flight got %q %q", a.line, a.headers)
			}
			if err := <-p.done; err != nil {
				t.Error(err)
			}
			p.done <- nil
			if got, want := len(n.requests()), map[int]int{200: 3, 503: 2}[tc.status]; got != want {
				t.Errorf("the node got %d requests, want %d", got, want)
			}
		})
	}
}

// Connections that wait in the kernel's backlog are served before the socket
// closes.
func TestDrainServesTheBacklog(t *testing.T) {
	n := recording(t)
	for range 20 {
		p := start(t, Deps{}, func(c *Config) { c.Drain = 10 * time.Second }, n.url())
		first := dial(t, p.addr)
		first.ask(getRoot)
		first.Close()
		var all []*client
		for range 50 {
			all = append(all, dial(t, p.addr))
		}
		p.stop()
		for _, c := range all {
			if a := c.ask(getRoot); a.status() != 200 {
				t.Fatalf("answer %q %v", a.line, a.err)
			}
		}
		if err := <-p.done; err != nil {
			t.Error(err)
		}
		p.done <- nil
	}
}

func TestListen(t *testing.T) {
	cfg := Default()
	cfg.Listen = "127.0.0.1:0"
	one, err := Listen(t.Context(), &cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	cfg.Listen = one.Addr().String()
	if ln, err := Listen(t.Context(), &cfg); err == nil {
		ln.Close()
		t.Error("two sockets on one port without reuse_port")
	}
	cfg.Listen, cfg.ReusePort = "127.0.0.1:0", true
	one, err = Listen(t.Context(), &cfg)
	if err != nil {
		t.Skip("no SO_REUSEPORT:", err)
	}
	defer one.Close()
	cfg.Listen = one.Addr().String()
	two, err := Listen(t.Context(), &cfg)
	if err != nil {
		t.Fatal(err)
	}
	two.Close()
}
