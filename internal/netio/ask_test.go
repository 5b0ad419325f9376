//go:build linux && !race

package netio

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
)

func asking(t *testing.T) (q *Conn, other net.Conn) {
	t.Helper()
	c, other := twoEnds(t)
	q, ok := c.(*Conn)
	if !ok {
		t.Fatalf("%T", c)
	}
	return q, other
}

// settled waits until what the other end did has come.
func settled(t *testing.T, q *Conn, other net.Conn, do func(c *net.TCPConn) error) {
	t.Helper()
	if err := do(other.(*net.TCPConn)); err != nil {
		t.Fatal(err)
	}
	err := q.raw.Read(func(fd uintptr) bool {
		n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		return n >= 0 && err == nil || err != nil && !errors.Is(err, syscall.EAGAIN)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAsk(t *testing.T) {
	q, other := asking(t)
	go func() {
		b := make([]byte, 5)
		_, _ = io.ReadFull(other, b)
		_, _ = other.Write(bytes.ToUpper(b))
	}()
	answer := make([]byte, 64)
	sent, n, err := q.Ask([]byte("hello"), answer)
	if sent != 5 || string(answer[:n]) != "HELLO" || err != nil {
		t.Errorf("sent %d, %q, %v", sent, answer[:n], err)
	}
}

// Where the peer has spoken or gone already, it gets nothing.
func TestAskSpoken(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(c *net.TCPConn) error
		said string
	}{
		"spoken": {func(c *net.TCPConn) error { _, err := c.Write([]byte("408")); return err }, "408"},
		"closed": {func(c *net.TCPConn) error { return c.CloseWrite() }, ""},
		"reset":  {func(c *net.TCPConn) error { _ = c.SetLinger(0); return c.Close() }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			q, other := asking(t)
			settled(t, q, other, c.do)
			answer := make([]byte, 64)
			sent, n, err := q.Ask([]byte("hello"), answer)
			if sent != 0 || string(answer[:n]) != c.said || !errors.Is(err, ErrSpoke) {
				t.Errorf("sent %d, %q, %v", sent, answer[:n], err)
			}
			_ = q.Close()
			if b, _ := io.ReadAll(other); len(b) > 0 {
				t.Errorf("the peer got %q", b)
			}
		})
	}
}

// A deadline ends the wait with the request sent, and the answer is there for the next
// read; one that is over already lets nothing be sent.
func TestAskDeadline(t *testing.T) {
	q, other := asking(t)
	answer := make([]byte, 64)
	_ = q.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
	if sent, n, err := q.Ask([]byte("hello"), answer); sent != 5 || n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("sent %d, %d bytes, %v", sent, n, err)
	}
	if sent, n, err := q.Ask([]byte("again"), answer); sent != 0 || n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after it: sent %d, %d bytes, %v", sent, n, err)
	}
	_ = q.SetReadDeadline(time.Time{})
	if _, err := other.Write([]byte("late")); err != nil {
		t.Fatal(err)
	}
	if n, err := q.Read(answer); string(answer[:n]) != "late" || err != nil {
		t.Errorf("then %q, %v", answer[:n], err)
	}
	_ = q.Close()
	if b, _ := io.ReadAll(other); string(b) != "hello" {
		t.Errorf("the peer got %q", b)
	}
}

// A request that the socket does not take at once is gone on with.
func TestAskLarge(t *testing.T) {
	q, other := asking(t)
	request := bytes.Repeat([]byte("0123456789"), 3<<20)
	sent, n, err := q.Ask(request, make([]byte, 64))
	if sent == 0 || sent == len(request) || n != 0 || err != nil {
		t.Fatalf("sent %d, %d bytes, %v", sent, n, err)
	}
	got := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(other)
		got <- b
	}()
	if _, err := q.Write(request[sent:]); err != nil {
		t.Fatal(err)
	}
	_ = q.Close()
	if b := <-got; !bytes.Equal(b, request) {
		t.Errorf("%d bytes of %d, or others", len(b), len(request))
	}
}

// A peer that leaves, or an end from another goroutine, ends the wait.
func TestAskCut(t *testing.T) {
	for name, c := range map[string]struct {
		cut  func(q *Conn, other net.Conn)
		want error
	}{
		"closed by the peer": {func(_ *Conn, other net.Conn) { _ = other.Close() }, io.EOF},
		"reset by the peer": {func(_ *Conn, other net.Conn) {
			_ = other.(*net.TCPConn).SetLinger(0)
			_ = other.Close()
		}, syscall.ECONNRESET},
		"closed here": {func(q *Conn, _ net.Conn) { _ = q.Close() }, net.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			q, other := asking(t)
			go func() {
				_, _ = io.ReadFull(other, make([]byte, 5))
				c.cut(q, other)
			}()
			if sent, n, err := q.Ask([]byte("hello"), make([]byte, 64)); sent != 5 || n != 0 || !errors.Is(err, c.want) {
				t.Errorf("sent %d, %d bytes, %v", sent, n, err)
			}
		})
	}
}

// However the peer's answer falls together with the beginning of the wait, none is
// missed, while the collector runs.
func TestAskMissesNothing(t *testing.T) {
	q, other := asking(t)
	const rounds = 20_000
	go func() {
		r := rand.New(rand.NewPCG(1, 2))
		b := make([]byte, 4)
		for range rounds {
			if _, err := io.ReadFull(other, b); err != nil {
				return
			}
			for range r.IntN(50) {
				runtime.Gosched()
			}
			if _, err := other.Write(b); err != nil {
				return
			}
		}
	}()
	answer := make([]byte, 16)
	_ = q.SetReadDeadline(time.Now().Add(time.Minute))
	for i := range rounds {
		request := []byte{byte(i), byte(i >> 8), 'x', 'y'}
		for n := 0; n < 4; {
			var err error
			k := 0
			if n == 0 {
				_, k, err = q.Ask(request, answer)
			} else {
				k, err = q.Read(answer[n:])
			}
			if n += k; err != nil {
				t.Fatalf("round %d: %v", i, err)
			}
		}
		if !bytes.Equal(answer[:4], request) {
			t.Fatalf("round %d: %x", i, answer[:4])
		}
		if i%1000 == 0 {
			runtime.GC()
		}
	}
}
