//go:build !unix

package proxy

import "net"

// socket knows nothing on this system: a client that leaves is noticed when it
// is written to, and a connection that the upstream closed when it is used.
type socket struct{}

func (*socket) init(net.Conn) {}

func (*socket) hungUp() bool { return false }

func (*socket) stirred() bool { return false }
