package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"

	"github.com/esshadow/esshadow/internal/netio"
)

// upstream is one node of the source cluster. Its fasthttp.HostClient is used
// for its pool of connections only: Do rewrites heads and repeats requests.
type upstream struct {
	key    nodeKey
	secure *tlsFiles // nil: plain HTTP

	name      string // host:port and prefix as configured, for metrics
	authority string // host:port
	host      string // Host header to send, "": the client's
	prefix    string // goes before every target, "": none
	places    *places
	pool      fasthttp.HostClient
	buffers   *buffers
	up        prometheus.Gauge

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
	ttl, health         time.Duration
	tls                 UpstreamTLS
}

func keyOf(cfg *Config, address string) nodeKey {
	return nodeKey{
		address: address, hostHeader: cfg.HostHeader, connections: cfg.UpstreamConnections,
		dial: cfg.UpstreamDial, wait: cfg.UpstreamWait, idle: cfg.UpstreamIdle, ttl: cfg.DNSTTL, health: cfg.HealthInterval, tls: cfg.UpstreamTLS,
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
	n := &upstream{key: keyOf(cfg, address), authority: net.JoinHostPort(u.Hostname(), port), prefix: strings.TrimRight(u.EscapedPath(), "/")}
	n.name = n.authority + n.prefix
	if n.places, err = newPlaces(u.Hostname(), port, cfg.DNSTTL, p.lookup, p.log); err != nil {
		return nil, err
	}
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
	n.pool = fasthttp.HostClient{
		Addr:                n.authority,
		Dial:                n.dial,
		MaxConns:            cfg.UpstreamConnections,
		MaxConnWaitTimeout:  cfg.UpstreamWait,
		MaxIdleConnDuration: cfg.UpstreamIdle,
		ReadBufferSize:      answerHead,
		ConnPoolStrategy:    fasthttp.LIFO,
	}
	n.buffers = p.buffers
	n.up = p.metrics.up.WithLabelValues(n.name)
	n.up.Set(1)
	return n, nil
}

// answerHead is the room for the status line and headers of an answer, longHead
// what they may have at most: longer ones than the room are copied.
const (
	answerHead = 64 << 10
	longHead   = 256 << 10
)

// dial makes a connection for the pool.
func (n *upstream) dial(string) (net.Conn, error) {
	ctx, stop := context.WithTimeout(context.Background(), n.key.dial)
	defer stop()
	generation := n.places.generation.Load()
	c, at, err := n.connect(ctx)
	if err != nil {
		return nil, err
	}
	u := &upConn{Conn: c, places: n.places, at: at, generation: generation}
	if f, ok := c.(asker); ok {
		u.ahead = ahead{from: f, buffers: n.buffers}
	}
	if t, ok := c.(*tls.Conn); ok {
		u.tls = true
		c = t.NetConn()
	}
	if b, ok := c.(*below); ok {
		u.below, c = b, b.Conn
	}
	u.peer.init(c)
	return u, nil
}

// connect makes a connection, TLS included.
func (n *upstream) connect(ctx context.Context) (net.Conn, netip.AddrPort, error) {
	c, at, err := n.places.dial(ctx)
	if err != nil {
		return nil, at, err
	}
	c = netio.Quick(c)
	secure := n.secure.get()
	if secure == nil {
		return c, at, nil
	}
	b := &below{Conn: c}
	t := tls.Client(b, secure)
	b.over = t
	if err := t.HandshakeContext(ctx); err != nil {
		_ = c.Close()
		return nil, at, fmt.Errorf("tls: %w", err)
	}
	return t, at, nil
}

// failed takes the node out of turn for a while.
func (n *upstream) failed() {
	pause := firstPause << min(n.failures.Add(1)-1, 5)
	n.leaveOut(min(pause, lastPause))
	n.up.Set(0)
}

// leaveOut lets other nodes go first for d at least.
func (n *upstream) leaveOut(d time.Duration) {
	until := time.Now().Add(d).UnixNano()
	for {
		old := n.retryAt.Load()
		if old >= until || n.retryAt.CompareAndSwap(old, until) {
			return
		}
	}
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
				conn.client, conn.answer = nil, nil
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
			conn.answer = br
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
