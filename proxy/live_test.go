package proxy

import (
	"strings"
	"testing"
	"time"
)

func TestReloadSwitchesUpstreams(t *testing.T) {
	one, two := recording(t), recording(t)
	p := start(t, Deps{}, nil, one.url())
	c := dial(t, p.addr)
	c.ask(getRoot)
	cfg := p.Config()
	cfg.Upstreams = []string{two.url()}
	if err := p.Reload(cfg); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		c.ask(getRoot)
	}
	if a, b := len(one.requests()), len(two.requests()); a != 1 || b != 3 {
		t.Errorf("%d and %d requests, want 1 and 3", a, b)
	}
	state, code := p.readiness(t.Context())
	if code != 200 || len(state.Upstreams) != 1 || state.Upstreams[0].Upstream != two.ln.Addr().String() {
		t.Errorf("readiness %d %+v", code, state)
	}
}

// A node that the new configuration leaves the same keeps its connections, and
// one with other bounds is made anew.
func TestReloadKeepsConnections(t *testing.T) {
	n := recording(t)
	p := start(t, Deps{}, nil, n.url())
	c := dial(t, p.addr)
	c.ask(getRoot)
	cfg := p.Config()
	cfg.UpstreamTimeout, cfg.StreamAbove, cfg.Drain = time.Minute, 8<<10, time.Second
	for i, want := range []int{1, 2} {
		if i == 1 {
			cfg.UpstreamConnections = 7
		}
		if err := p.Reload(cfg); err != nil {
			t.Fatal(err)
		}
		c.ask(getRoot)
		if got := n.opened(); got != want {
			t.Errorf("%d connections to the node, want %d", got, want)
		}
	}
}

// A request in flight ends where it began, and what the node sent is passed on.
func TestReloadLeavesRequestsInFlight(t *testing.T) {
	n, asked, release := holding(t)
	other := recording(t)
	p := start(t, Deps{}, nil, n.url())
	c := dial(t, p.addr)
	c.write("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
	<-asked
	cfg := p.Config()
	cfg.Upstreams = []string{other.url()}
	if err := p.Reload(cfg); err != nil {
		t.Fatal(err)
	}
	close(release)
	if a := c.read("GET"); a.status() != 200 || len(other.requests()) != 0 {
		t.Errorf("answer %q, %d requests elsewhere", a.line, len(other.requests()))
	}
}

func TestReloadRefusals(t *testing.T) {
	n := recording(t)
	p := start(t, Deps{}, nil, n.url())
	for name, c := range map[string]struct {
		change func(*Config)
		says   string
	}{
		"invalid":         {func(c *Config) { c.Drain = -1 }, "drain"},
		"no upstream":     {func(c *Config) { c.Upstreams = nil }, "upstreams"},
		"missing CA file": {func(c *Config) { c.Upstreams, c.UpstreamTLS.CACert = []string{"https://h"}, "/nowhere/ca.pem" }, "ca_cert"},
		"TLS on":          {func(c *Config) { c.TLS = TLS{Cert: "a", Key: "b"} }, "without a restart"},
	} {
		cfg := p.Config()
		c.change(&cfg)
		if err := p.Reload(cfg); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if a := dial(t, p.addr).ask(getRoot); a.status() != 200 {
		t.Errorf("afterwards: %q", a.line)
	}
	cfg := p.Config()
	cfg.Listen, cfg.MaxHeader = "127.0.0.1:1", 16<<10
	if err := p.Reload(cfg); err != nil || p.Config().Listen != Default().Listen || p.Config().MaxHeader != Default().MaxHeader {
		t.Errorf("what is bound: %v, %+v", err, p.Config())
	}
}
