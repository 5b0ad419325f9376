package proxy

import (
	"bufio"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/esshadow/esshadow/internal/size"
)

// echoSum is a node that answers with n bytes, and tells the checksum of what it
// got, without keeping either.
func echoSum(t testing.TB, n int) (*node, func() uint32) {
	var last atomic.Uint32
	return newNode(t, func(_ *node, c net.Conn, br *bufio.Reader) {
		for {
			length := 0
			for {
				line, err := br.ReadString('\n')
				if err != nil {
					return
				}
				_, _ = fmt.Sscanf(line, "Content-Length: %d", &length)
				if line == "\r\n" {
					break
				}
			}
			h := crc32.NewIEEE()
			if _, err := io.CopyN(h, br, int64(length)); err != nil {
				return
			}
			last.Store(h.Sum32())
			_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", n)
			_, _ = io.CopyN(c, rand.NewChaCha8([32]byte{2}), int64(n))
		}
	}), last.Load
}

// 100 MB each way, through a proxy that keeps none of it.
func TestLargeBodiesPassInBoundedMemory(t *testing.T) {
	const n = 100_000_000
	node, sum := echoSum(t, n)
	tap := newTap()
	p := start(t, Deps{Tap: tap}, nil, node.url())
	c := dial(t, p.addr)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	sent := crc32.NewIEEE()
	go func() {
		_, _ = fmt.Fprintf(c, "POST /_bulk HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n", n)
		_, _ = io.CopyN(c, io.TeeReader(rand.NewChaCha8([32]byte{1}), sent), n)
	}()
	for {
		line, err := c.br.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line == "\r\n" {
			break
		}
	}
	if sum() != sent.Sum32() {
		t.Error("the upstream got another body")
	}
	got, want := crc32.NewIEEE(), crc32.NewIEEE()
	if _, err := io.CopyN(got, c.br, n); err != nil {
		t.Fatal(err)
	}
	_, _ = io.CopyN(want, rand.NewChaCha8([32]byte{2}), n)
	if got.Sum32() != want.Sum32() {
		t.Error("the client got another body")
	}
	runtime.ReadMemStats(&after)
	// Nothing is copied of what is known to be too large to be captured.
	if used := size.Size(after.HeapSys - before.HeapSys); used > 32*size.MiB {
		t.Errorf("the heap grew by %v", used)
	}
	x := tap.wait(t, 1)[0]
	if x.Body != nil || x.BodySize != n || x.Answer != nil || x.AnswerSize != n {
		t.Errorf("exchange has %d of %d and %d of %d bytes", len(x.Body), x.BodySize, len(x.Answer), x.AnswerSize)
	}
}

func TestSlowClientGetsItsAnswer(t *testing.T) {
	const n = 8 << 20
	node, _ := echoSum(t, n)
	p := start(t, Deps{Tap: newTap()}, func(c *Config) { c.ClientTimeout = 2 * time.Second }, node.url())
	c := dial(t, p.addr)
	_ = c.Conn.(*net.TCPConn).SetReadBuffer(64 << 10)
	c.write(getRoot)
	// Longer in all than the proxy waits for a client that takes nothing.
	for total, pauses := 0, 0; total < n; {
		if pauses < 10 {
			pauses++
			<-time.After(250 * time.Millisecond)
		}
		k, err := c.br.Discard(min(n-total, 1<<20))
		if total += k; err != nil {
			t.Fatalf("%d bytes, then %v", total, err)
		}
	}
}

// A client that does not take its answer is given up.
func TestStuckClientIsGivenUp(t *testing.T) {
	node, _ := echoSum(t, 64<<20)
	tap := newTap()
	p := start(t, Deps{Tap: tap}, func(c *Config) { c.ClientTimeout = 100 * time.Millisecond }, node.url())
	c := dial(t, p.addr)
	c.write(getRoot)
	if x := tap.wait(t, 1)[0]; x.Err != "cancelled" {
		t.Errorf("exchange %q", x.Err)
	}
}

func TestManyClients(t *testing.T) {
	n := answering(t, func(s *seen) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(s.body), s.body)
	})
	tap := newTap()
	p := start(t, Deps{Tap: tap}, func(c *Config) { c.UpstreamConnections = 4 }, n.url())
	const clients, each = 32, 30
	ended := make(chan error, clients)
	for i := range clients {
		c := dial(t, p.addr)
		go func() {
			for k := range each {
				body := strings.Repeat(fmt.Sprintf("%d.%d;", i, k), k*k)
				fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
				if a := c.read("POST"); string(a.body) != body {
					ended <- fmt.Errorf("client %d, request %d: %q, %d bytes of %d, %w", i, k, a.line, len(a.body), len(body), a.err)
					return
				}
			}
			ended <- nil
		}()
	}
	for range clients {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	for p.Stats().InFlight > 0 {
		<-time.After(time.Millisecond)
	}
	if held := p.bodies.Load(); held != 0 {
		t.Errorf("%d bytes of bodies stay reserved", held)
	}
	if n.opened() > 4 {
		t.Errorf("%d connections to the upstream, 4 are allowed", n.opened())
	}
	per := map[uint64]uint64{}
	for _, x := range tap.wait(t, clients*each) {
		if per[x.Conn]++; x.Request != per[x.Conn] {
			t.Errorf("connection %d: request %d came as number %d", x.Conn, x.Request, per[x.Conn])
		}
		x.Release()
	}
}

// A fault of the proxy's own is answered, counted, and stays within its request.
func TestPanicStaysWithinItsRequest(t *testing.T) {
	n := recording(t)
	p := start(t, Deps{}, nil, n.url())
	dial(t, p.addr).ask(getRoot)
	good := p.now.Load()
	p.now.Store(&setup{cfg: good.cfg, nodes: nodes{all: []*upstream{nil}}})
	checkRefusal(t, dial(t, p.addr).ask(getRoot), 500, "proxy_internal")
	p.now.Store(good)
	if a := dial(t, p.addr).ask(getRoot); a.status() != 200 {
		t.Errorf("then %q", a.line)
	}
}
