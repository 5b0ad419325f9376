package proxy

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// However short the silence is that a node may keep, it ends with an error.
func TestShortUpstreamTimeout(t *testing.T) {
	a := newAuthority(t)
	cert := a.leaf(t, "localhost")
	mute := func(_ *node, c net.Conn, _ *bufio.Reader) { _, _ = io.Copy(io.Discard, c) }
	plain := newNode(t, mute)
	secure := newNode(t, func(n *node, c net.Conn, _ *bufio.Reader) {
		mute(n, tls.Server(c, &tls.Config{Certificates: []tls.Certificate{cert}}), nil)
	})
	for _, timeout := range []time.Duration{time.Millisecond, 100 * time.Millisecond, watchEvery, watchEvery * 10 / 9, 2 * watchEvery} {
		for url, n := range map[string]*node{plain.url(): plain, strings.Replace(secure.url(), "http:", "https:", 1): secure} {
			for _, size := range []int{0, 100, 100 << 10, 2 << 20} {
				t.Run(fmt.Sprint(timeout, n == secure, size), func(t *testing.T) {
					t.Parallel()
					p := start(t, Deps{}, func(c *Config) {
						c.UpstreamTimeout, c.UpstreamTLS.CACert = timeout, a.file("authority.pem")
					}, url)
					c := dial(t, p.addr)
					_ = c.SetDeadline(time.Now().Add(10 * time.Second))
					begun := time.Now()
					c.write(fmt.Sprintf("POST /_bulk HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", size, strings.Repeat("x", size)))
					checkRefusal(t, c.read("POST"), 504, "proxy_upstream_timeout")
					if took := time.Since(begun); took < timeout {
						t.Errorf("after %s", took)
					}
				})
			}
		}
	}
}

// together sends at once what is written up to a flush.
type together struct {
	net.Conn
	kept bytes.Buffer
	keep bool
}

func (c *together) Write(p []byte) (int, error) {
	if c.keep {
		return c.kept.Write(p)
	}
	return c.Conn.Write(p)
}

// flush sends all but the last n bytes.
func (c *together) flush(n int) {
	c.keep = false
	_ = c.SetWriteDeadline(time.Time{}) // CloseWrite has set one
	_, _ = c.Conn.Write(c.kept.Next(c.kept.Len() - n))
}

// What a TLS node sent behind an answer lies in the TLS connection, where the kernel does
// not see it: neither is it another request's answer, nor does a node's end that came so
// break one.
func TestBehindAnAnswerOverTLS(t *testing.T) {
	a := newAuthority(t)
	cert := a.leaf(t, "localhost")
	stray := strings.Replace(okAnswer, "{}", "!!", 1)
	for name, c := range map[string]struct {
		behind func(s *tls.Conn)
		cut    int // bytes that come later
		conns  int
	}{
		"nothing":                 {func(*tls.Conn) {}, 0, 1},
		"an answer":               {func(s *tls.Conn) { _, _ = io.WriteString(s, stray) }, 0, 3},
		"most of one":             {func(s *tls.Conn) { _, _ = io.WriteString(s, stray) }, 10, 3},
		"the beginning of one":    {func(s *tls.Conn) { _, _ = io.WriteString(s, stray) }, len(stray) + 18, 3},
		"the end":                 {func(s *tls.Conn) { _ = s.CloseWrite() }, 0, 3},
		"the beginning of an end": {func(s *tls.Conn) { _ = s.CloseWrite() }, 7, 3},
	} {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			t.Run(name+tls.VersionName(version), func(t *testing.T) {
				n := newNode(t, func(n *node, c0 net.Conn, _ *bufio.Reader) {
					w := &together{Conn: c0}
					s := tls.Server(w, &tls.Config{Certificates: []tls.Certificate{cert}, MaxVersion: version})
					br := bufio.NewReader(s)
					for {
						r, err := readSeen(br)
						if err != nil {
							return
						}
						n.note(r)
						w.flush(0) // what was cut
						w.keep = true
						_, _ = io.WriteString(s, okAnswer)
						c.behind(s)
						w.flush(min(c.cut, w.kept.Len()))
					}
				})
				p := start(t, Deps{}, func(c *Config) { c.UpstreamTLS.CACert = a.file("authority.pem") }, strings.Replace(n.url(), "http:", "https:", 1))
				conn := dial(t, p.addr)
				for i := range 3 {
					if got := conn.ask(getRoot); got.status() != 200 || string(got.body) != "{}" {
						t.Fatalf("answer %d: %q %s %v", i, got.line, got.body, got.err)
					}
				}
				if got := n.opened(); got != c.conns || len(n.requests()) != 3 {
					t.Errorf("%d connections for %d requests, want %d", got, len(n.requests()), c.conns)
				}
			})
		}
	}
}
