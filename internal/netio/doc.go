// Package netio moves the bytes of TCP connections with little ado. Both ends of the
// product use it: the proxy on either side, and the replayer.
package netio
