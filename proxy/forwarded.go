package proxy

import (
	"net"
	"net/netip"
)

const forwardedFor = "x-forwarded-for"

// appendForwarded appends the lines that tell the node where the request came
// from. X-Forwarded-For holds what came in it, with the client's address at its
// end: a node may believe the last one, and of those before it as many as there
// are proxies that it knows. The other two stay as they came.
func (j *job) appendForwarded(dst []byte) []byte {
	var host []byte
	proto, hosted, begun := false, false, false
	block := j.req.block
	for len(block) > 0 {
		name, value, rest, err := nextLine(block)
		if err != nil {
			break // scan has seen the block already
		}
		block = rest
		switch {
		case is(name, "host"):
			host = value
		case is(name, "x-forwarded-proto"):
			proto = !j.req.hopByHop(name)
		case is(name, "x-forwarded-host"):
			hosted = !j.req.hopByHop(name)
		case is(name, forwardedFor) && len(value) > 0:
			dst = appendForwardedFor(dst, begun)
			dst, begun = append(dst, value...), true
		}
	}
	if client := j.client.address(); client.IsValid() {
		dst = appendForwardedFor(dst, begun)
		dst, begun = client.AppendTo(dst), true
	}
	if begun {
		dst = append(dst, "\r\n"...)
	}
	if !proto {
		scheme := "http"
		if j.client.tls {
			scheme = "https"
		}
		dst = append(append(append(dst, "X-Forwarded-Proto: "...), scheme...), "\r\n"...)
	}
	if !hosted && len(host) > 0 {
		dst = append(dst, "X-Forwarded-Host: "...)
		dst = append(dst, host...)
		dst = append(dst, "\r\n"...)
	}
	return dst
}

func appendForwardedFor(dst []byte, begun bool) []byte {
	if begun {
		return append(dst, ", "...)
	}
	return append(dst, "X-Forwarded-For: "...)
}

// address is the client's: what a load balancer's header says, or the other end
// of the connection.
func (c *clientConn) address() netip.Addr {
	if c.origin != nil && c.origin.client.IsValid() {
		return c.origin.client
	}
	return addressOf(c.tcp.RemoteAddr())
}

func addressOf(a net.Addr) netip.Addr {
	if t, ok := a.(*net.TCPAddr); ok {
		return t.AddrPort().Addr().Unmap().WithZone("")
	}
	return netip.Addr{}
}

// balanced reports whether connections from there begin with a PROXY header.
func (s *setup) balanced(from net.Addr) bool {
	if len(s.balancers) == 0 {
		return false
	}
	ip := addressOf(from)
	for _, p := range s.balancers {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}
