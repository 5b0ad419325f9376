package netio

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"runtime"
	"testing"
	"time"
)

// TestConnCutWhileItWaits: closing, or a deadline in the past, from another goroutine
// ends a read and a write that wait.
func TestConnCutWhileItWaits(t *testing.T) {
	for name, cut := range map[string]func(net.Conn){
		"close":    func(c net.Conn) { _ = c.Close() },
		"deadline": func(c net.Conn) { _ = c.SetDeadline(time.Unix(1, 0)) },
	} {
		t.Run(name, func(t *testing.T) {
			q, _ := twoEnds(t)
			failed := make(chan error, 2)
			wrote := make(chan struct{})
			go func() {
				_, err := q.Read(make([]byte, 8))
				failed <- err
			}()
			go func() {
				chunk := make([]byte, 1<<20)
				for i := 0; ; i++ {
					if i == 1 {
						close(wrote) // the peer reads nothing: what follows waits soon
					}
					if _, err := q.Write(chunk); err != nil {
						if i == 0 {
							close(wrote)
						}
						failed <- err
						return
					}
				}
			}()
			select {
			case <-wrote:
			case <-time.After(50 * time.Millisecond): // it waits in the first
			}
			cut(q)
			for range 2 {
				if err := <-failed; !errors.Is(err, net.ErrClosed) && !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("%v", err)
				}
			}
		})
	}
}

// TestConnKeepsBuffers: what a write or a read waits with stays where it is while the
// collector runs and stacks move.
func TestConnKeepsBuffers(t *testing.T) {
	q, other := twoEnds(t)
	const size, rounds = 1 << 16, 40
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	go func() {
		for i := range rounds {
			deep(20, func() { _, _ = writeBoth(q, bytes.Repeat([]byte{byte(i)}, size), bytes.Repeat([]byte{byte(^i)}, size)) })
		}
	}()
	got := make([]byte, 2*size)
	for i := range rounds {
		if _, err := io.ReadFull(other, got); err != nil {
			t.Fatal(err)
		}
		if n, m := bytes.Count(got[:size], []byte{byte(i)}), bytes.Count(got[size:], []byte{byte(^i)}); n != size || m != size {
			t.Fatalf("round %d: %d and %d of %d bytes are as they were written", i, n, m, size)
		}
	}
	close(stop)
	<-done
}

// deep calls f with a stack that has to grow.
func deep(n int, f func()) int {
	var room [1 << 10]byte
	if n == 0 {
		f()
		return int(room[0])
	}
	return deep(n-1, f) + int(room[n])
}

// TestConnBelowTLS: TLS in both directions, closed while the other side still reads.
func TestConnBelowTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	defer s.Close()
	q, other := twoEnds(t)
	server := tls.Server(q, &tls.Config{Certificates: s.TLS.Certificates, MinVersion: tls.VersionTLS12})
	client := tls.Client(other, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12})
	text := bytes.Repeat([]byte("x0y1z"), 1<<20)
	go func() {
		_, _ = client.Write(text)
		_ = client.CloseWrite()
	}()
	sent := make(chan error, 1)
	go func() {
		_, err := server.Write(text)
		_ = server.CloseWrite()
		sent <- err
	}()
	back := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(client)
		back <- b
	}()
	if got, err := io.ReadAll(server); err != nil || !bytes.Equal(got, text) {
		t.Errorf("%d of %d bytes, %v", len(got), len(text), err)
	}
	if got, err := <-back, <-sent; err != nil || !bytes.Equal(got, text) {
		t.Errorf("back: %d of %d bytes, %v", len(got), len(text), err)
	}
}

// TestConnOtherWays: what net.TCPConn brings along moves the same bytes: net.Buffers,
// io.Copy by splice, and sending a file.
func TestConnOtherWays(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	name := t.TempDir() + "/file"
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for way, send := range map[string]func(q net.Conn) error{
		"buffers": func(q net.Conn) error {
			b := net.Buffers{text[:5], text[5:9], text[9:]}
			_, err := b.WriteTo(q)
			return err
		},
		"splice": func(q net.Conn) error {
			from, to := twoEnds(t)
			go func() {
				_, _ = to.Write(text)
				_ = to.Close()
			}()
			_, err := io.Copy(q, from)
			return err
		},
		"file": func(q net.Conn) error {
			f, err := os.Open(name)
			if err != nil {
				return err
			}
			defer func() { _ = f.Close() }()
			_, err = io.Copy(q, f)
			return err
		},
	} {
		t.Run(way, func(t *testing.T) {
			q, other := twoEnds(t)
			go func() {
				if err := send(q); err != nil {
					t.Error(err)
				}
				_ = q.Close()
			}()
			if got, err := io.ReadAll(onlyReader{other}); err != nil || !bytes.Equal(got, text) {
				t.Errorf("%d of %d bytes, %v", len(got), len(text), err)
			}
		})
	}
}
