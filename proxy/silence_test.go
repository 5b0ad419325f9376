package proxy

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A head and a body have their own times, over TLS or not, for a first request, a later
// one, and one that began together with the one before.
func TestSilenceWithinRequests(t *testing.T) {
	a := newAuthority(t)
	a.leaf(t, "localhost")
	n := recording(t)
	const short, long = 300 * time.Millisecond, time.Minute
	streamed := 2 << 20
	for name, c := range map[string]struct {
		head, client time.Duration
		begun        string
	}{
		"a head":         {short, long, "GET / HT"},
		"a small body":   {long, short, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc"},
		"no byte of it":  {long, short, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n"},
		"a chunk":        {long, short, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"},
		"a held body":    {long, short, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n" + strings.Repeat("x", 50000)},
		"a stream":       {long, short, fmt.Sprintf("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", streamed, strings.Repeat("x", streamed/2))},
		"a chunk stream": {long, short, "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1e8480\r\n" + strings.Repeat("x", 1500000)},
	} {
		for before, first := range map[string]string{"first": "", "later": getRoot, "together": getRoot} {
			for _, secure := range []bool{false, true} {
				t.Run(fmt.Sprint(name, ", ", before, ", ", secure), func(t *testing.T) {
					t.Parallel()
					p := start(t, Deps{}, func(cfg *Config) {
						cfg.HeaderTimeout, cfg.ClientTimeout = c.head, c.client
						if secure {
							cfg.TLS.Cert, cfg.TLS.Key = a.file("localhost.pem"), a.file("localhost.key")
						}
					}, n.url())
					conn := dial(t, p.addr)
					if secure {
						var err error
						if conn, err = dialTLS(t, p.addr, a); err != nil {
							t.Fatal(err)
						}
					}
					rest := c.begun
					switch before {
					case "later":
						conn.write(first)
					case "together":
						conn.write(first + c.begun)
						rest = ""
					}
					if first != "" {
						if got := conn.read("GET"); got.status() != 200 {
							t.Fatalf("the first: %q %v", got.line, got.err)
						}
					}
					begun := time.Now()
					conn.write(rest)
					checkRefusal(t, conn.read("POST"), 408, "proxy_bad_request")
					if took := time.Since(begun); rest != "" && took < short {
						t.Errorf("after %s", took)
					}
					until(t, "no memory of bodies", func() bool { return p.bodies.Load() == 0 })
				})
			}
		}
	}
}
