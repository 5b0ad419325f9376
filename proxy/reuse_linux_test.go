package proxy

import (
	"net"
	"testing"
)

// While a process ends, the one that listens on the same port besides gets every new
// connection.
func TestSteerAway(t *testing.T) {
	cfg := Default()
	cfg.Listen, cfg.ReusePort = "127.0.0.1:0", true
	ending, err := Listen(t.Context(), &cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ending.Close() }()
	cfg.Listen = ending.Addr().String()
	next, err := Listen(t.Context(), &cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = next.Close() }()
	if err := steerAway(ending); err != nil {
		t.Fatal(err)
	}
	for range 64 {
		c, err := net.Dial("tcp", cfg.Listen)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		got, err := next.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = got.Close() }()
		if got.RemoteAddr().String() != c.LocalAddr().String() {
			t.Fatalf("accepted %s, %s has connected", got.RemoteAddr(), c.LocalAddr())
		}
	}
	if waiting(ending) {
		t.Error("the socket that closes has got a connection")
	}
}
