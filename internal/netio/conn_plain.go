//go:build !linux || race

package netio

import "net"

// Quick is c: only Linux has a quicker form. Under the race detector there is none either,
// which takes what two ends of a connection tell each other for an order of events
// only where the system calls are those of package syscall.
func Quick(c net.Conn) net.Conn { return c }
