package proxy

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// parseNetworks reads CIDRs, and addresses as networks of one.
func parseNetworks(list []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	var errs []error
	for _, s := range list {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			ip, ipErr := netip.ParseAddr(s)
			if ipErr != nil {
				errs = append(errs, fmt.Errorf("%q: want a network such as 10.0.0.0/8", s))
				continue
			}
			p = netip.PrefixFrom(ip, ip.BitLen())
		}
		out = append(out, p.Masked())
	}
	return out, errors.Join(errs...)
}

// origin is a load balancer's connection. Its first bytes are a header of the
// PROXY protocol, which Read takes off; it says who the client is.
type origin struct {
	net.Conn
	br     *bufio.Reader // nil: the header is read and nothing is left of what came with it
	read   bool          // the header
	err    error
	client netip.Addr // invalid: the header names none, as for health checks
	broken func()     // told of a header that is none
}

// maxOriginHeader bounds a header of version 2 with all that it may hold.
const maxOriginHeader = 4 << 10

func newOrigin(c net.Conn, broken func()) *origin {
	return &origin{Conn: c, br: bufio.NewReaderSize(c, maxOriginHeader), broken: broken}
}

// Read reads what comes after the header.
func (o *origin) Read(p []byte) (int, error) {
	if o.br == nil {
		return o.Conn.Read(p)
	}
	if err := o.header(); err != nil {
		return 0, err
	}
	if o.br.Buffered() > 0 {
		return o.br.Read(p)
	}
	o.br = nil
	return o.Conn.Read(p)
}

// header reads the header, the first time.
func (o *origin) header() error {
	if o.read {
		return o.err
	}
	o.read = true
	if o.client, o.err = readOrigin(o.br); o.err != nil {
		o.broken()
	}
	return o.err
}

// The beginnings of both versions, and the longest line of version 1.
const (
	originV1     = "PROXY "
	originV2     = "\r\n\r\n\x00\r\nQUIT\n"
	maxOriginOne = 107
)

var errOrigin = errors.New("no header of the PROXY protocol")

// readOrigin reads a header of either version and not a byte more.
func readOrigin(br *bufio.Reader) (client netip.Addr, err error) {
	begin, err := br.Peek(len(originV1))
	switch {
	case err != nil:
		return client, err
	case string(begin) == originV1:
		return readOriginLine(br)
	case string(begin) != originV2[:len(originV1)]:
		return client, errOrigin
	}
	head, err := br.Peek(len(originV2) + 4)
	if err != nil {
		return client, err
	}
	if string(head[:len(originV2)]) != originV2 {
		return client, errOrigin
	}
	n := len(head) + int(binary.BigEndian.Uint16(head[14:]))
	if n > maxOriginHeader {
		return client, errOrigin
	}
	if head, err = br.Peek(n); err != nil {
		return client, err
	}
	client, err = parseOriginTwo(head[12], head[13], head[16:])
	_, _ = br.Discard(n)
	return client, err
}

// readOriginLine reads version 1: PROXY TCP4|TCP6 source destination ports, or
// PROXY UNKNOWN and anything.
func readOriginLine(br *bufio.Reader) (client netip.Addr, err error) {
	for n := len(originV1); n <= maxOriginOne; n++ {
		b, err := br.Peek(n)
		if err != nil {
			return client, err
		}
		if b[n-1] != '\n' {
			continue
		}
		client, err = parseOriginOne(string(b))
		_, _ = br.Discard(n)
		return client, err
	}
	return client, errOrigin
}

func parseOriginOne(line string) (client netip.Addr, err error) {
	line, ok := strings.CutSuffix(line, "\r\n")
	if !ok {
		return client, errOrigin
	}
	part := strings.Split(line, " ")
	if len(part) >= 2 && part[1] == "UNKNOWN" {
		return client, nil
	}
	if len(part) != 6 {
		return client, errOrigin
	}
	from, err1 := netip.ParseAddrPort(net.JoinHostPort(part[2], part[4]))
	to, err2 := netip.ParseAddrPort(net.JoinHostPort(part[3], part[5]))
	is4 := part[1] == "TCP4"
	if err1 != nil || err2 != nil || !is4 && part[1] != "TCP6" || from.Addr().Is4() != is4 || to.Addr().Is4() != is4 || from.Addr().Zone() != "" {
		return client, errOrigin
	}
	return from.Addr(), nil
}

// parseOriginTwo reads what follows the signature of version 2: the command, the
// family and the addresses. What comes after them (TLVs) is read over.
func parseOriginTwo(command, family byte, rest []byte) (client netip.Addr, err error) {
	switch {
	case command == 0x20: // LOCAL: the balancer's own
		return client, nil
	case command != 0x21:
		return client, errOrigin
	}
	switch family {
	case 0x11: // TCP over IPv4
		if len(rest) < 12 {
			return client, errOrigin
		}
		return netip.AddrFrom4([4]byte(rest)), nil
	case 0x21: // TCP over IPv6
		if len(rest) < 36 {
			return client, errOrigin
		}
		return netip.AddrFrom16([16]byte(rest)).Unmap(), nil
	}
	return client, nil // of a kind that has no address for us
}
