package proxy

import (
	"io"
	"testing"
	"time"
)

// A connection that was opened in advance, and has sent no byte of a request, is one
// that rests, for as long as such a one may; what comes before a first request has
// the time of a head.
func TestOpenedInAdvance(t *testing.T) {
	a := newAuthority(t)
	a.leaf(t, "localhost")
	n := recording(t)
	const head, idle, long = 500 * time.Millisecond, 700 * time.Millisecond, 20 * time.Second
	for name, c := range map[string]struct {
		tls, balanced bool
		idle          time.Duration
		begin         string // that is sent at once
		waits         time.Duration
		open          bool
	}{
		"plain":                    {waits: 3 * head, open: true},
		"plain, idle for too long": {idle: idle, waits: long},
		"balanced":                 {balanced: true, begin: v2Local, waits: 3 * head, open: true},
		"balanced, no header":      {balanced: true, waits: long},
		"TLS":                      {tls: true, waits: 3 * head, open: true},
		"TLS, idle for too long":   {tls: true, idle: idle, waits: long},
		"TLS, no handshake":        {tls: true, begin: "\x16\x03\x01", waits: long},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, Deps{}, func(cfg *Config) {
				cfg.HeaderTimeout, cfg.IdleTimeout = head, c.idle
				if c.tls {
					cfg.TLS.Cert, cfg.TLS.Key = a.file("localhost.pem"), a.file("localhost.key")
				}
				if c.balanced {
					cfg.ProxyProtocol = []string{"127.0.0.1"}
				}
			}, n.url())
			var conn *client
			if c.tls && c.begin == "" {
				var err error
				if conn, err = dialTLS(t, p.addr, a); err != nil {
					t.Fatal(err)
				}
			} else {
				conn = dial(t, p.addr)
				conn.write(c.begin)
			}
			_ = conn.SetReadDeadline(time.Now().Add(c.waits))
			if _, err := conn.br.ReadByte(); isTimeout(err) != c.open {
				t.Fatalf("after %s: %v", c.waits, err)
			}
			if !c.open {
				return
			}
			_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
			conn.br.Reset(conn)
			if got := conn.ask(getRoot); got.status() != 200 {
				t.Errorf("then %q %v", got.line, got.err)
			}
			if _, err := io.WriteString(conn, "GET / HT"); err != nil {
				t.Fatal(err)
			}
			if got := conn.read("GET"); got.status() != 408 {
				t.Errorf("half a head: %q %v", got.line, got.err)
			}
		})
	}
}
