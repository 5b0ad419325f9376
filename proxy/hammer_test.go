package proxy

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// wild is a node that answers with what it was sent, and ends connections, says what
// nobody asked for and sends in odd pieces as it likes.
type wild struct {
	seen [1 << 17]atomic.Int32 // by the number of a request: how often it came
	cert *tls.Certificate
}

const (
	sizeOfMany = 100 << 10
	sizeOfMost = 2 << 20
)

// wildBody is the body of request i; its answer is the same.
func wildBody(i int) string {
	n := i % 200
	switch i % 50 {
	case 7:
		n = i * 31 % sizeOfMany
	case 9:
		n = i * 1037 % sizeOfMost
	}
	return fmt.Sprintf("%d;%s", i, strings.Repeat(strconv.Itoa(i%10), n))
}

func (w *wild) serve(_ *node, c net.Conn, br *bufio.Reader) {
	out := &together{Conn: c}
	var s net.Conn = out
	if w.cert != nil {
		s = tls.Server(out, &tls.Config{Certificates: []tls.Certificate{*w.cert}})
		br = bufio.NewReader(s)
	}
	for {
		r, err := readSeen(br)
		if err != nil {
			return
		}
		number, _, _ := strings.Cut(string(r.body), ";")
		i, err := strconv.Atoi(number)
		if err != nil {
			return
		}
		w.seen[i].Add(1)
		reply := fmt.Sprintf("HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s", len(r.body), r.body)
		if rand.IntN(2) == 0 {
			half := len(r.body) / 2
			reply = fmt.Sprintf("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n", half, r.body[:half], len(r.body)-half, r.body[half:])
			if half == 0 {
				return
			}
		}
		if !w.say(s, out, reply) {
			return
		}
	}
}

// say sends the reply. It is false where the connection has ended.
func (w *wild) say(s net.Conn, out *together, reply string) bool {
	const stray = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nstray"
	write := func(p string) bool { _, err := io.WriteString(s, p); return err == nil }
	switch rand.IntN(24) {
	case 0: // and the end
		write(reply)
		return false
	case 1: // reset once it is read
		write(reply)
		if rand.IntN(2) == 0 {
			time.AfterFunc(rand.N(3*time.Millisecond), func() { reset(out.Conn) })
		}
	case 2: // half an end
		write(reply)
		if t, ok := out.Conn.(*net.TCPConn); ok {
			_ = t.CloseWrite()
		}
	case 3, 4: // more than the answer, so that it comes with it
		if len(reply) > 8<<10 {
			return write(reply)
		}
		out.keep = true
		write(reply)
		write(stray[:1+rand.IntN(len(stray))])
		out.flush(0)
	case 5: // in pieces
		for len(reply) > 0 {
			n := 1 + rand.IntN(min(len(reply), 1+rand.IntN(1<<12)))
			if !write(reply[:n]) {
				return false
			}
			reply = reply[n:]
		}
	case 6: // cut
		write(reply[:rand.IntN(len(reply))])
		if rand.IntN(2) == 0 {
			reset(out.Conn)
		}
		return false
	case 7: // late
		<-time.After(rand.N(2 * watchEvery / 10))
		return write(reply)
	case 8: // an end of an idle connection, some time
		time.AfterFunc(rand.N(3*time.Millisecond), func() { _ = out.Close() })
		return write(reply)
	default:
		return write(reply)
	}
	return true
}

func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}

// Whatever nodes do between answers and in them: no request is sent twice, and a client
// gets the answer to its own request, or an error, or what can be seen to be cut.
func TestWildNodes(t *testing.T) {
	a := newAuthority(t)
	cert := a.leaf(t, "localhost")
	for name, w := range map[string]*wild{"plain": {}, "TLS": {cert: &cert}} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, w.serve)
			url := n.url()
			if w.cert != nil {
				url = strings.Replace(url, "http:", "https:", 1)
			}
			p := start(t, Deps{}, func(c *Config) { c.UpstreamTLS.CACert = a.file("authority.pem") }, url)
			var next, good, failed atomic.Int64
			var clients sync.WaitGroup
			for range 32 {
				clients.Go(func() {
					for conn := dialWild(p.addr); ; {
						i := int(next.Add(1))
						if i >= wildRequests {
							_ = conn.Close()
							return
						}
						ok, err := conn.ask(i)
						switch {
						case err != nil:
							t.Errorf("request %d: %v", i, err)
						case ok:
							good.Add(1)
							if k := w.seen[i].Load(); k != 1 {
								t.Errorf("the node saw request %d, which was answered, %d times", i, k)
							}
							continue
						}
						failed.Add(1)
						_ = conn.Close()
						conn = dialWild(p.addr)
					}
				})
			}
			clients.Wait()
			for i := range w.seen {
				if k := w.seen[i].Load(); k > 1 {
					t.Errorf("request %d was sent %d times", i, k)
				}
			}
			t.Logf("%d answers, %d failures", good.Load(), failed.Load())
			if good.Load() < wildRequests/2 {
				t.Error("most failed")
			}
			until(t, "no memory of bodies", func() bool { return p.bodies.Load() == 0 && len(p.conns.all()) == 0 })
		})
	}
}

const wildRequests = 6000

type wildClient struct{ client }

func dialWild(addr string) *wildClient {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		c, _ = net.Pipe()
		_ = c.Close()
	}
	return &wildClient{client{Conn: c, br: bufio.NewReader(c)}}
}

// ask sends request i. It is not ok where that has failed as it may, and err says how it
// may not.
func (c *wildClient) ask(i int) (ok bool, err error) {
	body := wildBody(i)
	_ = c.SetDeadline(time.Now().Add(30 * time.Second))
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		_, _ = fmt.Fprintf(c, "POST /_bulk HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	}()
	if i%61 == 0 { // it leaves
		<-time.After(rand.N(time.Millisecond))
		_ = c.Close()
		<-sent
		return false, nil
	}
	got := c.read("POST")
	if got.err != nil {
		_ = c.Close()
	}
	<-sent
	switch {
	case isTimeout(got.err):
		return false, got.err
	case got.err != nil, got.status() == 502:
		return false, nil
	case got.status() != 200 || string(got.body) != body:
		return false, fmt.Errorf("another answer: %q, %d bytes of %d", got.line, len(got.body), len(body))
	}
	return got.get("connection") == nil, nil
}
