package proxy

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// A client that leaves takes its request with it within a second: before an answer, in
// its head, in its body, on a connection that is kept as on a new one, over TLS or not.
func TestClientLeavesAnywhere(t *testing.T) {
	a := newAuthority(t)
	cert := a.leaf(t, "localhost")
	for state, said := range map[string]string{
		"before":    "",
		"in a head": "HTTP/1.1 200 OK\r\ncontent-le",
		"in a body": "HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nabc",
		"in chunks": "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n",
	} {
		for _, secure := range []bool{false, true} {
			for _, size := range []int{0, 100 << 10, 2 << 20} {
				t.Run(fmt.Sprint(state, secure, size), func(t *testing.T) {
					asked, ended := make(chan struct{}), make(chan struct{})
					n := newNode(t, func(_ *node, c net.Conn, br *bufio.Reader) {
						if secure {
							c = tls.Server(c, &tls.Config{Certificates: []tls.Certificate{cert}})
							br = bufio.NewReader(c)
						}
						for {
							s, err := readSeen(br)
							if err != nil {
								return
							}
							if strings.HasPrefix(s.line, "GET") {
								_, _ = io.WriteString(c, okAnswer)
								continue
							}
							_, _ = io.WriteString(c, said)
							close(asked)
							_, _ = br.ReadByte()
							close(ended)
							return
						}
					})
					url := n.url()
					if secure {
						url = strings.Replace(url, "http:", "https:", 1)
					}
					p := start(t, Deps{}, func(c *Config) {
						c.UpstreamTLS.CACert = a.file("authority.pem")
						if secure {
							c.TLS.Cert, c.TLS.Key = a.file("localhost.pem"), a.file("localhost.key")
						}
					}, url)
					var c *client
					if secure {
						var err error
						if c, err = dialTLS(t, p.addr, a); err != nil {
							t.Fatal(err)
						}
					} else {
						c = dial(t, p.addr)
					}
					if got := c.ask(getRoot); got.status() != 200 {
						t.Fatalf("the first: %q %v", got.line, got.err)
					}
					c.write(fmt.Sprintf("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", size, strings.Repeat("x", size)))
					<-asked
					left := time.Now()
					_ = c.Close()
					<-ended
					if took := time.Since(left); took > time.Second {
						t.Errorf("the node knew after %s", took)
					}
					until(t, "an end", func() bool { return p.bodies.Load() == 0 && len(p.conns.all()) == 0 })
				})
			}
		}
	}
}
