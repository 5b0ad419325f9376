//go:build faults

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/esshadow/esshadow/internal/testenv"
)

// brokenNode is an upstream that reads each request and then does what act says.
// act reports whether the connection stays.
type brokenNode struct {
	net.Listener
	conns atomic.Int64
}

func newBrokenNode(t *testing.T, act func(c *net.TCPConn, r *http.Request) bool) *brokenNode {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &brokenNode{Listener: ln}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			n.conns.Add(1)
			go n.serve(c.(*net.TCPConn), act)
		}
	}()
	return n
}

func (n *brokenNode) serve(c *net.TCPConn, act func(c *net.TCPConn, r *http.Request) bool) {
	defer func() { _ = c.Close() }()
	br := bufio.NewReader(c)
	for {
		r, err := http.ReadRequest(br)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		if !act(c, r) {
			return
		}
	}
}

const wholeAnswer = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"

// Each way in which a node can break a request, and what the client may see of
// it: an error that names the proxy, or a connection that breaks off; never a
// whole answer that is none, and never a wait without end.
func TestFaultsUpstream(t *testing.T) {
	reset := func(c *net.TCPConn) { _ = c.SetLinger(0) }
	for name, x := range map[string]struct {
		act  func(c *net.TCPConn, r *http.Request) bool
		code int    // 0: breaks off
		kind string // of the proxy's error
	}{
		"resets before a byte": {func(c *net.TCPConn, _ *http.Request) bool { reset(c); return false }, 502, "proxy_upstream_unreachable"},
		"closes before a byte": {func(*net.TCPConn, *http.Request) bool { return false }, 502, "proxy_upstream_unreachable"},
		"freezes":              {func(c *net.TCPConn, _ *http.Request) bool { _, _ = io.Copy(io.Discard, c); return false }, 504, "proxy_upstream_timeout"},
		"answers garbage": {func(c *net.TCPConn, _ *http.Request) bool {
			_, _ = io.WriteString(c, "\x16\x03\x01 garbage\r\n\r\n")
			return false
		}, 502, "proxy_upstream_unreachable"},
		"answers half a head": {func(c *net.TCPConn, _ *http.Request) bool {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\ncont")
			return false
		}, 502, "proxy_upstream_unreachable"},
		"resets mid-body": {func(c *net.TCPConn, _ *http.Request) bool {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\ncontent-length: 3000000\r\n\r\n"+strings.Repeat("x", 2_000_000))
			reset(c)
			return false
		}, 0, ""},
		"closes mid-chunk": {func(c *net.TCPConn, _ *http.Request) bool {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabcde\r\nff\r\nabc")
			return false
		}, 0, ""},
		"freezes mid-body": {func(c *net.TCPConn, _ *http.Request) bool {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabcde\r\n")
			_, _ = io.Copy(io.Discard, c)
			return false
		}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			n := newBrokenNode(t, x.act)
			p := start(t, proxyArgs(t, "http://"+n.Addr().String(), t.TempDir()+"/c", "--upstream-timeout", "1s")...)
			url, _ := p.listening()
			c := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
			for range 3 {
				res, err := c.Post(url+"/items/_search", "application/json", strings.NewReader(searchBody(1)))
				if err != nil {
					if x.code != 0 {
						t.Errorf("no answer: %v", err)
					}
					continue
				}
				text, err := io.ReadAll(res.Body)
				_ = res.Body.Close()
				switch {
				case x.code == 0 && err == nil:
					t.Errorf("a whole answer of %d bytes: %d", len(text), res.StatusCode)
				case x.code != 0 && (res.StatusCode != x.code || !strings.Contains(string(text), x.kind)):
					t.Errorf("%d %.200s, want %d %s", res.StatusCode, text, x.code, x.kind)
				}
			}
			ends(t, p)
		})
	}
}

func TestFaultsUpstreamRefuses(t *testing.T) {
	dead, _ := testenv.DeadAddress(t)
	e := newEngine(t)
	p := start(t, "proxy", "--upstream", "http://"+dead+","+e.url, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	url, admin := p.listening()
	send(t, "POST", e.url+"/_bulk", bulkBody("items", 0, 4))
	l := newLoad(url, 2, 2)
	l.after(t, 500)
	l.stop(t)
	_, text := get(t, admin+"/metrics")
	if up := metric(text, fmt.Sprintf("esshadow_proxy_upstream_up{upstream=%q}", dead)); up != 0 {
		t.Errorf("the dead node is up: %v", up)
	}
	if n := metric(text, `esshadow_proxy_requests_total{code="502",op="search"}`); n > 0 {
		t.Errorf("%v requests failed though one node lives", n)
	}
	ends(t, p)
}

// A node closes kept connections in their idle time, without a word: no client
// sees that, and no request is sent twice. (One that is closed at the very moment
// at which a request leaves is the client's to see: the node may have run it.)
func TestFaultsSilentIdleClose(t *testing.T) {
	var asked atomic.Int64
	n := newBrokenNode(t, func(c *net.TCPConn, _ *http.Request) bool {
		_, _ = io.WriteString(c, wholeAnswer)
		return asked.Add(1)%3 != 0
	})
	p := start(t, "proxy", "--upstream", "http://"+n.Addr().String(), "--listen", "127.0.0.1:0", "--admin", "off")
	url := "http://" + p.find(`listening on (\S+),`)[1]
	const count = 200
	for range count {
		send(t, "POST", url+"/_bulk", bulkBody("items", 0, 1))
		pause(t.Context(), 10*time.Millisecond)
	}
	if asked.Load() != count || n.conns.Load() < count/3 {
		t.Errorf("the node got %d requests on %d connections, the clients sent %d", asked.Load(), n.conns.Load(), count)
	}
	ends(t, p)
}

// Some Elasticsearch versions send the last chunk of a body after an answer to
// HEAD, which has none: it must not become the beginning of the next answer.
func TestFaultsLateChunkAfterHead(t *testing.T) {
	n := newBrokenNode(t, func(c *net.TCPConn, r *http.Request) bool {
		if r.Method != http.MethodHead {
			_, _ = io.WriteString(c, wholeAnswer)
			return true
		}
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
		go func() {
			late := time.NewTimer(5 * time.Millisecond)
			<-late.C
			_, _ = io.WriteString(c, "0\r\n\r\n")
		}()
		return true
	})
	p := start(t, proxyArgs(t, "http://"+n.Addr().String(), t.TempDir()+"/c")...)
	url, _ := p.listening()
	for i := range 100 {
		for _, method := range []string{http.MethodHead, http.MethodGet} {
			q, err := http.NewRequest(method, url+"/items/_doc/1", nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := http.DefaultClient.Do(q)
			if err != nil {
				t.Fatalf("%s number %d: %v", method, i, err)
			}
			text, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if err != nil || res.StatusCode != 200 || method == http.MethodGet && string(text) != "{}" {
				t.Fatalf("%s number %d: %d %q %v", method, i, res.StatusCode, text, err)
			}
		}
	}
	ends(t, p)
}
