package netio

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// twoEnds is a connection that was made quick, and its other end as it is.
func twoEnds(t *testing.T) (q, other net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	other, err = net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	q = Quick(c)
	t.Cleanup(func() { _, _ = q.Close(), other.Close() })
	return q, other
}

func writeBoth(c net.Conn, a, b []byte) (int, error) {
	if q, ok := c.(interface {
		WriteBoth(a, b []byte) (int, error)
	}); ok {
		return q.WriteBoth(a, b)
	}
	v := net.Buffers{a, b}
	n, err := v.WriteTo(c)
	return int(n), err
}

// Much more than a socket takes at once goes through whole, in both directions at
// the same time.
func TestConnLarge(t *testing.T) {
	q, other := twoEnds(t)
	text := bytes.Repeat([]byte("0123456789abcdefghijklmnopqrstuvw"), 1<<18) // 8.6 MB
	want := sha256.Sum256(text)
	failed := make(chan error, 4)
	send := func(c net.Conn) {
		n, err := writeBoth(c, text[:17], text[17:])
		if err == nil && n != len(text) {
			err = errors.New("short write")
		}
		failed <- err
	}
	receive := func(c net.Conn) {
		h := sha256.New()
		_, err := io.CopyN(h, onlyReader{c}, int64(len(text)))
		if err == nil && !bytes.Equal(h.Sum(nil), want[:]) {
			err = errors.New("other bytes")
		}
		failed <- err
	}
	go send(q)
	go receive(q)
	go send(other)
	go receive(other)
	for range 4 {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
}

// onlyReader hides what io.Copy would use instead of Read.
type onlyReader struct{ io.Reader }

func TestConnEnds(t *testing.T) {
	q, other := twoEnds(t)
	var b [8]byte
	if n, err := q.Read(nil); n != 0 || err != nil {
		t.Errorf("nothing asked for: %d, %v", n, err)
	}
	if n, err := q.Write(nil); n != 0 || err != nil {
		t.Errorf("nothing written: %d, %v", n, err)
	}
	if err := q.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Read(b[:]); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("deadline: %v", err)
	}
	if err := q.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	_, _ = other.Write([]byte("abc"))
	if n, err := q.Read(b[:]); string(b[:n]) != "abc" || err != nil {
		t.Errorf("%q, %v", b[:n], err)
	}
	_ = other.Close()
	if n, err := q.Read(b[:]); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("closed by the other side: %d, %v", n, err)
	}
	_ = q.Close()
	if _, err := q.Read(b[:]); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	if _, err := q.Write(b[:]); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// A write that waits for a slow reader keeps what was taken when its time is over,
// and goes on from there.
func TestConnGoesOn(t *testing.T) {
	q, other := twoEnds(t)
	text := bytes.Repeat([]byte("x0y1z"), 4<<20)
	sum := 0
	for range 20 { // a busy machine may be over the time before anything is written
		if err := q.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		n, err := writeBoth(q, text[:3], text[3:])
		if sum += n; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("%d of %d bytes, %v", n, len(text), err)
		}
		if n > 0 {
			break
		}
	}
	if sum == 0 || sum == len(text) {
		t.Fatalf("%d of %d bytes in time", sum, len(text))
	}
	got := make(chan []byte)
	go func() {
		b, _ := io.ReadAll(onlyReader{other})
		got <- b
	}()
	if err := q.SetWriteDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	n, err := q.Write(text[sum:])
	if sum += n; err != nil {
		t.Fatal(err)
	}
	_ = q.Close()
	if b := <-got; sum != len(text) || !bytes.Equal(b, text) {
		t.Errorf("%d of %d bytes written, %d received", sum, len(text), len(b))
	}
}

func TestConnReset(t *testing.T) {
	q, other := twoEnds(t)
	if err := other.(*net.TCPConn).SetLinger(0); err != nil {
		t.Fatal(err)
	}
	_ = other.Close()
	var b [1]byte
	if _, err := q.Read(b[:]); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read: %v", err)
	}
	if _, err := q.Write([]byte("abc")); !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("write: %v", err)
	}
}
