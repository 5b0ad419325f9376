package proxy

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// lookup asks for the addresses of a name.
type lookup func(ctx context.Context, host string) ([]netip.Addr, error)

func systemLookup(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// avoidPlace is how long an address that took no connection goes last.
const avoidPlace = 30 * time.Second

// places are the addresses that a node's name stands for. All of them are used,
// in turn; they are asked for anew when the last answer is older than ttl.
type places struct {
	host string
	port uint16
	ttl  time.Duration
	ask  lookup
	log  *zap.Logger

	generation atomic.Uint32 // counts changes of list

	mu     sync.Mutex
	asking sync.Mutex
	list   []place
	asked  time.Time
	next   int
	failed bool // the last question; logged once
}

type place struct {
	at    netip.AddrPort
	avoid time.Time // goes last until then
}

var errNoPlace = errors.New("the upstream's name has no address")

// refresh asks for the addresses if they are too old. When the name cannot be
// resolved the old ones hold.
func (p *places) refresh(ctx context.Context) error {
	p.asking.Lock()
	defer p.asking.Unlock()
	p.mu.Lock()
	known, fresh := len(p.list) > 0, time.Since(p.asked) < p.ttl
	p.mu.Unlock()
	if known && fresh {
		return nil
	}
	found, err := p.resolve(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		if !p.failed {
			p.failed = true
			p.log.Warn("an upstream's name cannot be resolved", zap.Bool("old_addresses_hold", known))
		}
		if known {
			p.asked = time.Now()
			return nil
		}
		return err
	}
	p.failed, p.asked = false, time.Now()
	p.take(found)
	return nil
}

func (p *places) resolve(ctx context.Context) ([]netip.AddrPort, error) {
	if ip, err := netip.ParseAddr(p.host); err == nil {
		return []netip.AddrPort{netip.AddrPortFrom(ip, p.port)}, nil
	}
	ips, err := p.ask(ctx, p.host)
	if err != nil {
		return nil, err
	}
	var out []netip.AddrPort
	for _, ip := range ips {
		if at := netip.AddrPortFrom(ip.Unmap(), p.port); !slices.Contains(out, at) {
			out = append(out, at)
		}
	}
	if len(out) == 0 {
		return nil, errNoPlace
	}
	return out, nil
}

// take replaces the list, whose places keep what is known of them.
func (p *places) take(found []netip.AddrPort) {
	changed := len(found) != len(p.list)
	list := make([]place, len(found))
	for i, at := range found {
		list[i].at = at
		k := slices.IndexFunc(p.list, func(o place) bool { return o.at == at })
		if k >= 0 {
			list[i] = p.list[k]
		}
		changed = changed || k < 0
	}
	p.list = list
	if changed {
		p.generation.Add(1)
	}
}

// order is the addresses as they are to be tried: in turn, those that failed
// lately last.
func (p *places) order() []netip.AddrPort {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	out := make([]netip.AddrPort, 0, len(p.list))
	for _, late := range []bool{false, true} {
		for i := range p.list {
			x := p.list[(p.next+i)%len(p.list)]
			if x.avoid.After(now) == late {
				out = append(out, x.at)
			}
		}
	}
	p.next++
	return out
}

func (p *places) note(at netip.AddrPort, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.list {
		if p.list[i].at != at {
			continue
		}
		p.list[i].avoid = time.Time{}
		if !ok {
			p.list[i].avoid = time.Now().Add(avoidPlace)
		}
	}
}

// has reports whether the name still stands for that address.
func (p *places) has(at netip.AddrPort) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.list, func(o place) bool { return o.at == at })
}

// addresses are the ones known now.
func (p *places) addresses() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]string, len(p.list))
	for i, x := range p.list {
		out[i] = x.at.String()
	}
	return out
}

// dial connects to one of the addresses within ctx, whose time is shared out
// among those that are left.
func (p *places) dial(ctx context.Context) (net.Conn, netip.AddrPort, error) {
	if err := p.refresh(ctx); err != nil {
		return nil, netip.AddrPort{}, err
	}
	all := p.order()
	var err error = errNoPlace
	for i, at := range all {
		var c net.Conn
		if c, err = p.dialOne(ctx, at, len(all)-i); err == nil {
			p.note(at, true)
			return c, at, nil
		}
		if ctx.Err() != nil && i > 0 {
			break
		}
		p.note(at, false)
	}
	return nil, netip.AddrPort{}, err
}

func (p *places) dialOne(ctx context.Context, at netip.AddrPort, left int) (net.Conn, error) {
	if end, ok := ctx.Deadline(); ok && left > 1 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, time.Until(end)/time.Duration(left))
		defer stop()
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", at.String())
}

// newPlaces knows no address yet.
func newPlaces(host, port string, ttl time.Duration, ask lookup, log *zap.Logger) (*places, error) {
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, errors.New("proxy: upstreams: want a port from 0 to 65535")
	}
	return &places{host: host, port: uint16(n), ttl: ttl, ask: ask, log: log}, nil
}
