package testenv

import (
	"net"
	"testing"
)

// DeadAddress is an address of this machine at which nobody listens until the test ends
// or calls free. A port that a listener has given back would be another test's at any
// moment; this one is in use, as an end of a connection.
func DeadAddress(t testing.TB) (address string, free func()) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	here, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	there, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	free = func() {
		_ = here.(*net.TCPConn).SetLinger(0) // the port is free at once
		_ = here.Close()
		_ = there.Close()
	}
	t.Cleanup(free)
	return here.LocalAddr().String(), free
}
