package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// deafNode takes a request's first line and then nothing any more.
func deafNode(t *testing.T) *node {
	stop := make(chan struct{})
	n := newNode(t, func(_ *node, c net.Conn, _ *bufio.Reader) {
		b := make([]byte, 16)
		if _, err := io.ReadFull(c, b); err == nil {
			<-stop
		}
	})
	t.Cleanup(func() { close(stop) }) // runs before the node's own
	return n
}

func TestUpstreamStopsReading(t *testing.T) {
	n := deafNode(t)
	p := start(t, Deps{Tap: newTap()}, func(c *Config) { c.UpstreamTimeout = 400 * time.Millisecond }, n.url())
	c := dial(t, p.addr)
	go func() {
		const size = 40 << 20
		_, _ = fmt.Fprintf(c, "POST /_bulk HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", size, strings.Repeat("x", size))
	}()
	checkRefusal(t, c.read("POST"), 504, "proxy_upstream_timeout")
}

func TestClientLeavesDeafUpstream(t *testing.T) {
	n := deafNode(t)
	tap := newTap()
	p := start(t, Deps{Tap: tap}, func(c *Config) { c.StreamAbove = 64 << 20 }, n.url())
	c := dial(t, p.addr)
	const size = 40 << 20
	c.write(fmt.Sprintf("POST /_bulk HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", size, strings.Repeat("x", size)))
	c.Close()
	if x := tap.wait(t, 1)[0]; x.Err != "cancelled" {
		t.Errorf("exchange %q", x.Err)
	}
}

func TestNoRoomAtTheUpstream(t *testing.T) {
	n, asked, release := holding(t)
	tap := newTap()
	p := start(t, Deps{Tap: tap}, func(c *Config) {
		c.UpstreamConnections, c.UpstreamWait = 1, 50*time.Millisecond
	}, n.url())
	first, second := dial(t, p.addr), dial(t, p.addr)
	first.write("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
	<-asked
	checkRefusal(t, second.ask(getRoot), 502, "proxy_upstream_unreachable")
	if got := p.now.Load().nodes.believedUp(); got != 1 {
		t.Error("a busy node was taken for a failing one")
	}
	close(release)
	if a := first.read("GET"); a.status() != 200 {
		t.Errorf("the first got %q", a.line)
	}
	if a := second.ask(getRoot); a.status() != 200 {
		t.Errorf("then the second got %q", a.line)
	}
}

// A request that waits for a connection gets the one that becomes free.
func TestWaitForRoom(t *testing.T) {
	n, asked, release := holding(t)
	p := start(t, Deps{}, func(c *Config) { c.UpstreamConnections = 1 }, n.url())
	first, second := dial(t, p.addr), dial(t, p.addr)
	first.write("GET /slow HTTP/1.1\r\nHost: h\r\n\r\n")
	<-asked
	second.write(getRoot)
	close(release)
	if a := second.read("GET"); a.status() != 200 {
		t.Errorf("answer %q", a.line)
	}
	if n.opened() != 1 {
		t.Errorf("%d connections", n.opened())
	}
}

// A body whose length nobody said is refused where it exceeds the limit.
func TestStreamedBodyAboveTheLimit(t *testing.T) {
	n := recording(t)
	tap := newTap()
	p := start(t, Deps{Tap: tap}, func(c *Config) { c.StreamAbove, c.MaxRequestBody = 16<<10, 100<<10 }, n.url())
	c := dial(t, p.addr)
	chunk := "4000\r\n" + strings.Repeat("x", 0x4000) + "\r\n"
	c.write("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat(chunk, 8) + "0\r\n\r\n")
	checkRefusal(t, c.read("POST"), 413, "proxy_too_large")
	if len(n.requests()) != 0 || len(tap.list) != 0 {
		t.Error("it passes for a request")
	}
}

// A malformed chunk in a body that streams already ends the request at the node
// too, so that it cannot pass for whole there.
func TestStreamedBodyTurnsBad(t *testing.T) {
	n := recording(t)
	p := start(t, Deps{}, func(c *Config) { c.StreamAbove = 16 << 10 }, n.url())
	c := dial(t, p.addr)
	chunk := "4000\r\n" + strings.Repeat("x", 0x4000) + "\r\n"
	c.write("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat(chunk, 8) + "zz\r\n")
	checkRefusal(t, c.read("POST"), 400, "proxy_bad_request")
	if len(n.requests()) != 0 {
		t.Error("it passes for a request")
	}
}

// failing is a listener that fails a few times first.
type failing struct {
	net.Listener
	errs []error
}

func (f *failing) Accept() (net.Conn, error) {
	if len(f.errs) > 0 {
		err := f.errs[0]
		f.errs = f.errs[1:]
		return nil, err
	}
	return f.Listener.Accept()
}

func TestAcceptErrors(t *testing.T) {
	n := recording(t)
	cfg := Default()
	cfg.Upstreams = []string{n.url()}
	for name, c := range map[string]struct {
		errs  []error
		fatal bool
	}{
		"passing": {[]error{syscall.EMFILE, syscall.ECONNABORTED, &net.OpError{Op: "accept", Err: syscall.ENFILE}}, false},
		"lasting": {[]error{errors.New("broken")}, true},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := New(cfg, Deps{})
			if err != nil {
				t.Fatal(err)
			}
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer ln.Close()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			done := make(chan error, 1)
			go func() { done <- p.Serve(ctx, &failing{ln, c.errs}) }()
			if !c.fatal {
				if a := dial(t, ln.Addr().String()).ask(getRoot); a.status() != 200 {
					t.Errorf("answer %q", a.line)
				}
				stop()
			}
			if err := <-done; (err != nil) != c.fatal {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

// A shortage is told once a while with what lacks, not at each try, by the clients'
// address and by the admin one; other faults of the latter each.
func TestShortageIsToldOnce(t *testing.T) {
	core, seen := observer.New(zap.WarnLevel)
	log := zap.New(core)
	var s shortage
	for range 10 {
		s.tell(log, syscall.EMFILE)
	}
	admin := adminLog(log)
	for range 10 {
		admin.Printf("http: Accept error: %v; retrying in %v", syscall.EMFILE, time.Second)
	}
	all := seen.TakeAll()
	if len(all) != 2 {
		t.Fatalf("%d lines: %v", len(all), all)
	}
	for i, address := range []any{nil, "admin"} {
		if fields := all[i].ContextMap(); fields["error"] != syscall.EMFILE.Error() || fields["address"] != address {
			t.Errorf("%v", fields)
		}
	}
	s.told = s.told.Add(-time.Minute)
	s.tell(log, syscall.EMFILE)
	admin.Print("http: panic serving")
	admin.Print("http: panic serving")
	if n := seen.Len(); n != 3 {
		t.Errorf("%d lines, want 3", n)
	}
}
