package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"
)

// upstream is one node of the source cluster. Its fasthttp.HostClient is used
// for its pool of connections only: Do rewrites heads and repeats requests.
type upstream struct {
	key    nodeKey
	secure *tlsFiles // nil: plain HTTP

	name string // host:port as configured, for metrics
	host string // Host header to send, "": the client's
	pool fasthttp.HostClient
	up   prometheus.Gauge

	active   atomic.Int64 // requests on their way
	failures atomic.Int32
	retryAt  atomic.Int64 // Unix ns until which other nodes go first, 0: healthy
}

// How long a failing node is left alone: doubled with each failure in a row.
const (
	firstPause = time.Second
	lastPause  = 30 * time.Second
)

// nodeKey is all that makes a node what it is: one with another key is another
// node, with connections and a state of its own.
type nodeKey struct {
	address, hostHeader string
	connections         int
	dial, wait, idle    time.Duration
	tls                 UpstreamTLS
}

func keyOf(cfg *Config, address string) nodeKey {
	return nodeKey{
		address: address, hostHeader: cfg.HostHeader, connections: cfg.UpstreamConnections,
		dial: cfg.UpstreamDial, wait: cfg.UpstreamWait, idle: cfg.UpstreamIdle, tls: cfg.UpstreamTLS,
	}
}

func (p *Proxy) newUpstream(cfg *Config, address string) (*upstream, error) {
	u, err := parseUpstream(address)
	if err != nil {
		return nil, err
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	n := &upstream{key: keyOf(cfg, address), name: net.JoinHostPort(u.Hostname(), port)}
	if u.Scheme == "https" {
		trust, host := cfg.UpstreamTLS, u.Hostname()
		n.secure, err = newTLSFiles(p.log, func() (*tls.Config, error) { return trust.config(host) },
			trust.CACert, trust.ClientCert, trust.ClientKey)
		if err != nil {
			return nil, err
		}
	}
	_, ipErr := netip.ParseAddr(u.Hostname())
	if cfg.HostHeader == "upstream" || cfg.HostHeader == "auto" && n.secure != nil && ipErr != nil {
		n.host = u.Host
	}
	d := &dialer{limit: cfg.UpstreamDial, addr: n.name, secure: n.secure}
	n.pool = fasthttp.HostClient{
		Addr:                n.name,
		Dial:                d.dial,
		MaxConns:            cfg.UpstreamConnections,
		MaxConnWaitTimeout:  cfg.UpstreamWait,
		MaxIdleConnDuration: cfg.UpstreamIdle,
		ReadBufferSize:      answerHead,
		ConnPoolStrategy:    fasthttp.LIFO,
	}
	n.up = p.metrics.up.WithLabelValues(n.name)
	n.up.Set(1)
	return n, nil
}

// answerHead bounds the status line and headers of an answer.
const answerHead = 64 << 10

type dialer struct {
	limit  time.Duration
	addr   string
	secure *tlsFiles
}

// dial resolves the name anew each time, so a node may move.
func (d *dialer) dial(string) (net.Conn, error) {
	ctx, stop := context.WithTimeout(context.Background(), d.limit)
	defer stop()
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", d.addr)
	if err != nil {
		return nil, err
	}
	u := &upConn{Conn: c}
	u.peer.init(c)
	if secure := d.secure.get(); secure != nil {
		t := tls.Client(c, secure)
		if err := t.HandshakeContext(ctx); err != nil {
			_ = c.Close()
			return nil, fmt.Errorf("tls: %w", err)
		}
		u.Conn, u.tls = t, true
	}
	return u, nil
}

// failed takes the node out of turn for a while.
func (n *upstream) failed() {
	pause := firstPause << min(n.failures.Add(1)-1, 5)
	n.retryAt.Store(time.Now().Add(min(pause, lastPause)).UnixNano())
	n.up.Set(0)
}

// answered takes the node into turn again.
func (n *upstream) answered() {
	if n.retryAt.Load() != 0 {
		n.failures.Store(0)
		n.retryAt.Store(0)
		n.up.Set(1)
	}
}

// errNothingSent marks failures after which another node may be tried, since
// no byte of the request has left.
var errNothingSent = errors.New("nothing sent")

// attempt runs the job on a connection of the node. A connection that the node
// closed meanwhile is thrown away before anything is sent on it.
func (n *upstream) attempt(j *job) error {
	n.active.Add(1)
	defer n.active.Add(-1)
	for {
		lease, err := n.pool.AcquireConn(0, false)
		if err != nil {
			return errors.Join(errNothingSent, err)
		}
		conn, reused := lease.Conn().(*upConn), false
		keep := false
		func() {
			defer func() {
				conn.client = nil
				if keep {
					n.pool.ReleaseConn(lease)
				} else {
					n.pool.CloseConn(lease)
				}
			}()
			reused = conn.used
			if !conn.begin(j.client, j.set.cfg.UpstreamTimeout) {
				err = errNothingSent
				return
			}
			br := n.pool.AcquireReader(conn)
			defer n.pool.ReleaseReader(br)
			keep, err = j.exchange(n, conn, br)
		}()
		// A reused connection may die before the first byte goes out; a new one
		// that does is a failing node.
		if err != nil && reused && conn.sent == 0 && !errors.Is(err, errGone) && j.stage < stageAnswer {
			continue
		}
		return err
	}
}

// maxNodes is the number of bits that remember which nodes were tried.
const maxNodes = 64

// nodes are the upstreams in their turns.
type nodes struct {
	all  []*upstream
	next atomic.Uint32
}

// pick is the node whose turn it is among those not tried yet: the next healthy
// one, else the one whose pause ends first.
func (s *nodes) pick(tried uint64) *upstream {
	now := time.Now().UnixNano()
	start := int(s.next.Add(1) - 1)
	var last *upstream
	for i := range s.all {
		k := (start + i) % len(s.all)
		if tried&(1<<k) != 0 {
			continue
		}
		n := s.all[k]
		at := n.retryAt.Load()
		if at <= now {
			return n
		}
		if last == nil || at < last.retryAt.Load() {
			last = n
		}
	}
	return last
}

func (s *nodes) mark(tried uint64, n *upstream) uint64 {
	for k, o := range s.all {
		if o == n {
			return tried | 1<<k
		}
	}
	return tried
}

// believedUp is the number of nodes that last answered, or were never used.
func (s *nodes) believedUp() (up int) {
	for _, n := range s.all {
		if n.retryAt.Load() == 0 {
			up++
		}
	}
	return up
}
