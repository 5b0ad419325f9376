package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/esshadow/esshadow/internal/testenv"
)

// until asks again and again until it is so.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); <-tick.C {
		if so() {
			return
		}
	}
	t.Fatalf("waited in vain: %s", what)
}

func TestPrefix(t *testing.T) {
	n := recording(t)
	for _, c := range []struct{ prefix, line, want string }{
		{"/es", "GET /_search?q=a%2Fb HTTP/1.1", "GET /es/_search?q=a%2Fb HTTP/1.1"},
		{"/es/", "GET / HTTP/1.1", "GET /es/ HTTP/1.1"},
		{"/a/b%20c", "POST //x HTTP/1.1", "POST /a/b%20c//x HTTP/1.1"},
		{"/es", "GET http://h/i?x HTTP/1.1", "GET /es/i?x HTTP/1.1"},
		{"/es", "OPTIONS * HTTP/1.1", "OPTIONS * HTTP/1.1"},
		{"/", "GET /a HTTP/1.1", "GET /a HTTP/1.1"},
	} {
		tap := newTap()
		p := start(t, Deps{Tap: tap}, nil, n.url()+c.prefix)
		dial(t, p.addr).ask(c.line + "\r\nHost: h\r\n\r\n")
		all := n.requests()
		if got := all[len(all)-1].line; got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.prefix, c.line, got, c.want)
		}
		if x := tap.wait(t, 1)[0]; strings.HasPrefix(x.Target, "/es/") {
			t.Errorf("the capture holds the prefix: %q", x.Target)
		}
	}
}

func TestPick(t *testing.T) {
	later := time.Now().Add(time.Hour).UnixNano()
	for name, c := range map[string]struct {
		active  [3]int64
		retryAt [3]int64
		tried   uint64
		least   bool
		want    string // of the nodes that three picks in a row give
	}{
		"in turn":                {want: "abc"},
		"in turn, one out":       {retryAt: [3]int64{1: later}, want: "acc"},
		"in turn, whatever load": {active: [3]int64{5, 0, 9}, want: "abc"},
		"in turn, one tried":     {tried: 1, want: "bbc"},
		"all out":                {retryAt: [3]int64{later + 2, later, later + 1}, want: "bbb"},
		"least":                  {active: [3]int64{5, 3, 9}, least: true, want: "bbb"},
		"least, equals in turn":  {least: true, want: "abc"},
		"least, two equal":       {active: [3]int64{1, 2, 1}, least: true, want: "acc"},
		"least is out":           {active: [3]int64{5, 0, 9}, retryAt: [3]int64{1: later}, least: true, want: "aaa"},
		"least was tried":        {active: [3]int64{5, 0, 9}, tried: 2, least: true, want: "aaa"},
		"least, all out":         {active: [3]int64{5, 0, 9}, retryAt: [3]int64{later + 2, later + 1, later}, least: true, want: "ccc"},
	} {
		s := nodes{}
		for i, name := range []string{"a", "b", "c"} {
			n := &upstream{name: name}
			n.active.Store(c.active[i])
			n.retryAt.Store(c.retryAt[i])
			s.all = append(s.all, n)
		}
		got := ""
		for range 3 {
			got += s.pick(c.tried, c.least).name
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// Requests of a slow node are counted while they last.
func TestInFlightOfANode(t *testing.T) {
	slow, asked, release := holding(t)
	p := start(t, Deps{}, func(c *Config) { c.Balance = "least_loaded" }, slow.url())
	c := dial(t, p.addr)
	c.write("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
	<-asked
	if got := p.Upstreams()[0].InFlight; got != 1 {
		t.Errorf("%d in flight, want 1", got)
	}
	close(release)
	c.read("GET")
	until(t, "it is over", func() bool { return p.Upstreams()[0].InFlight == 0 })
}

func TestActiveHealth(t *testing.T) {
	secured := answering(t, func(s *seen) string {
		if s.line != "GET /es/ HTTP/1.1" {
			t.Errorf("asked %q", s.line)
		}
		return "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"
	})
	addr, free := testenv.DeadAddress(t)
	p := start(t, Deps{}, func(c *Config) { c.HealthInterval = 10 * time.Millisecond }, secured.url()+"/es", "http://"+addr)
	up := func(i int) bool { return p.Upstreams()[i].Up }
	until(t, "the dead node is out", func() bool { return !up(1) })
	until(t, "the secured one was asked", func() bool { return len(secured.requests()) > 2 })
	if !up(0) {
		t.Error("401 does not count as alive")
	}
	free()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Skip("the port was taken meanwhile")
	}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
			_ = c.(*net.TCPConn).CloseWrite()
			_, _ = io.Copy(io.Discard, c)
			_ = c.Close()
		}
	}()
	until(t, "it is back", func() bool { return up(1) })
	ln.Close()
	until(t, "it is out again", func() bool { return !up(1) })
}

// A node that answers clients but hangs on nothing keeps being asked after a
// reload, and one that is gone from the configuration is not.
func TestHealthFollowsReload(t *testing.T) {
	one, two := recording(t), recording(t)
	p := start(t, Deps{}, func(c *Config) { c.HealthInterval = 5 * time.Millisecond }, one.url())
	until(t, "the first is asked", func() bool { return len(one.requests()) > 1 })
	cfg := p.Config()
	cfg.Upstreams = []string{two.url()}
	if err := p.Reload(cfg); err != nil {
		t.Fatal(err)
	}
	until(t, "the second is asked", func() bool { return len(two.requests()) > 1 })
	seen := len(one.requests())
	before := len(two.requests())
	until(t, "the second is asked on", func() bool { return len(two.requests()) > before+5 })
	if got := len(one.requests()); got > seen+1 {
		t.Errorf("the first is still asked: %d, then %d", seen, got)
	}
}

// names answers lookups with what it holds.
type names struct {
	list  atomic.Pointer[[]netip.Addr] // nil: fails
	asked atomic.Int32
}

func (s *names) set(ips ...string) {
	list := []netip.Addr{}
	for _, ip := range ips {
		list = append(list, netip.MustParseAddr(ip))
	}
	s.list.Store(&list)
}

func (s *names) lookup(context.Context, string) ([]netip.Addr, error) {
	s.asked.Add(1)
	list := s.list.Load()
	if list == nil {
		return nil, errors.New("no such host")
	}
	return *list, nil
}

// twins are two nodes on one port of two addresses.
func twins(t *testing.T) (a, b *node, port string) {
	for range 20 {
		a = recording(t)
		_, port, _ = net.SplitHostPort(a.ln.Addr().String())
		ln, err := net.Listen("tcp", "127.0.0.2:"+port)
		if err != nil {
			continue
		}
		b = recordingOn(t, ln)
		return a, b, port
	}
	t.Skip("no port is free on both 127.0.0.1 and 127.0.0.2")
	return nil, nil, ""
}

func TestAllAddressesAreUsed(t *testing.T) {
	a, b, port := twins(t)
	dns := &names{}
	dns.set("127.0.0.1", "127.0.0.2", "127.0.0.3") // nobody listens on the third
	p := start(t, Deps{lookup: dns.lookup}, func(c *Config) { c.DNSTTL = 10 * time.Millisecond; c.UpstreamIdle = time.Minute }, "http://es.example:"+port)
	conns := make([]*client, 8)
	for i := range conns {
		conns[i] = dial(t, p.addr)
		go conns[i].write(getRoot)
	}
	for _, c := range conns {
		if r := c.read("GET"); r.status() != 200 {
			t.Errorf("answer %q", r.line)
		}
	}
	ask := func() {
		t.Helper()
		if r := dial(t, p.addr).ask(getRoot); r.status() != 200 {
			t.Errorf("answer %q %s", r.line, r.body)
		}
	}
	until(t, "both were used", func() bool {
		for _, n := range p.now.Load().nodes.all {
			n.pool.CloseIdleConnections()
		}
		ask()
		return len(a.requests()) > 0 && len(b.requests()) > 0
	})

	// The name moves: kept connections to the old address are not used again.
	dns.set("127.0.0.2")
	until(t, "the move is known", func() bool { return len(p.Upstreams()[0].Addresses) == 1 })
	before := len(a.requests())
	for range 10 {
		ask()
	}
	if got := len(a.requests()); got != before {
		t.Errorf("%d requests went to an address that the name has left", got-before)
	}

	// The name service fails: what was known holds.
	dns.list.Store(nil)
	asked := dns.asked.Load()
	until(t, "it was asked in vain", func() bool { return dns.asked.Load() > asked+2 })
	ask()
	dns.set("127.0.0.1")
	until(t, "it is back", func() bool {
		l := p.Upstreams()[0].Addresses
		return len(l) == 1 && strings.HasPrefix(l[0], "127.0.0.1")
	})
	ask()
	if got := len(a.requests()); got == before {
		t.Error("the new address is not used")
	}
}

func TestNameWithoutAddress(t *testing.T) {
	dns := &names{}
	p := start(t, Deps{lookup: dns.lookup}, nil, "http://es.example:9200")
	checkRefusal(t, dial(t, p.addr).ask(getRoot), 502, "proxy_upstream_unreachable")
	dns.set()
	checkRefusal(t, dial(t, p.addr).ask(getRoot), 502, "proxy_upstream_unreachable")
}
