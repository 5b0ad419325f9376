package proxy

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"
	"go.uber.org/zap"
)

// Deps are what the proxy gets from outside. All may be missing.
type Deps struct {
	Tap      Tap                   // nil: passes through only, without a copy
	Log      *zap.Logger           // nil: silent
	Registry prometheus.Registerer // nil: metrics of its own, not readable
	Version  string                // told to a probe
	Instance string                // told to a probe; "": random

	lookup lookup // nil: the system's
}

// Proxy passes requests to the nodes of a cluster.
type Proxy struct {
	now      atomic.Pointer[setup]
	tap      Tap
	log      *zap.Logger
	version  string
	instance string

	server    fasthttp.Server
	metrics   *metrics
	buffers   *buffers
	exchanges exchanges
	conns     connSet
	watchers  watchers
	lookup    lookup

	draining atomic.Bool  // answers say Connection: close
	lateFrom atomic.Int64 // Unix ns since when requests on kept connections are refused; 0: they are not
	refusing atomic.Bool  // all requests are refused
	outlived atomic.Bool  // see Outlived
	serving  atomic.Bool
	// reloading is held while the setup changes.
	reloading sync.Mutex
	killed    context.Context // ends with Close
	kill      context.CancelFunc

	bodies atomic.Int64 // bytes of bodies that jobs hold

	inFlight, requests, own, offered, serverErrors atomic.Int64
}

// Stats are the sums since the start.
type Stats struct {
	Connections  int64 // accepted
	Requests     int64 // read, malformed ones among them
	Own          int64 // answered by the proxy without asking a node
	Offered      int64 // exchanges given to the Tap
	ServerErrors int64 // connections that ended in an error of the server's own
	InFlight     int64
}

// New checks cfg and reads the TLS files. It opens no connection.
func New(cfg Config, deps Deps) (*Proxy, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	p := &Proxy{
		tap: deps.Tap, log: deps.Log, version: deps.Version, instance: deps.Instance,
		buffers: newBuffers(int64(cfg.PooledBytes)),
	}
	p.killed, p.kill = context.WithCancel(context.Background())
	p.exchanges.buffers = p.buffers
	if p.lookup = deps.lookup; p.lookup == nil {
		p.lookup = systemLookup
	}
	if p.log == nil {
		p.log = zap.NewNop()
	}
	if p.instance == "" {
		var id [8]byte
		if _, err := rand.Read(id[:]); err != nil {
			return nil, fmt.Errorf("proxy: instance id: %w", err)
		}
		p.instance = hex.EncodeToString(id[:])
	}
	reg := deps.Registry
	if reg == nil {
		reg = prometheus.NewRegistry()
	}
	var err error
	if p.metrics, err = newMetrics(reg, func() float64 { return float64(p.inFlight.Load()) }); err != nil {
		return nil, fmt.Errorf("proxy: metrics: %w", err)
	}
	first, err := p.newSetup(cfg, nil)
	if err != nil {
		return nil, err
	}
	p.now.Store(first)
	p.setServer(&cfg)
	return p, nil
}

// setServer makes fasthttp keep its hands off: it reads heads and frames
// bodies, and adds, renames, parses, repeats and logs nothing.
func (p *Proxy) setServer(cfg *Config) {
	s := &p.server
	s.Handler = p.serve
	s.ErrorHandler = p.refuse
	s.HeaderReceived = setAside
	s.Logger = quietLogger{p}
	s.ConnState = func(c net.Conn, state fasthttp.ConnState) {
		cc, ok := c.(*clientConn)
		switch {
		case !ok:
		case state == fasthttp.StateActive:
			cc.heading = true
		case state == fasthttp.StateIdle:
			cc.idle()
		}
	}
	s.Concurrency = cfg.MaxConnections + 1
	s.ReadBufferSize = int(cfg.MaxHeader)
	// No timeouts: clientConn has its own.
	s.StreamRequestBody = true
	s.DisablePreParseMultipartForm = true
	s.DisableHeaderNamesNormalizing = true
	s.NoDefaultServerHeader = true
	s.NoDefaultContentType = true
	s.NoDefaultDate = true
	s.SecureErrorLogMessage = true
	s.CloseOnShutdown = true
	// A connection that has sent nothing yet costs no buffer, and each answer is
	// flushed before the next request is looked at, on which clientConn.mute
	// relies.
	s.ReduceMemoryUsage = true
}

// setAside hides target and host from the server's URI parser, which refuses
// some that Elasticsearch takes, such as "//a://b". The target goes where the
// server would keep User-Agent: the proxy reads headers from the raw lines only,
// so the field is free.
//
// It also undoes what the server concludes from headers, which it knows in one
// spelling only: whether the connection ends is for the job to say, and Expect is
// given to it as it likes it.
func setAside(h *fasthttp.RequestHeader) (c fasthttp.RequestConfig) {
	h.SetUserAgentBytes(h.RequestURI())
	h.SetRequestURI("/")
	h.SetHost("h")
	h.ResetConnectionClose()
	if n := h.ContentLength(); n > 0 || n == chunkedLength {
		if expects(h.RawHeaders()) {
			h.SetBytesV("Expect", []byte("100-continue"))
		}
		c.ReadTimeout = 1 // of any length: see clientConn.SetReadDeadline
	}
	return c
}

// chunkedLength is what the server calls the length of a chunked body.
const chunkedLength = -1

// Outlived says, before Serve, that another process goes on with the listening
// socket. The end of this one is then no news for clients: requests on kept
// connections are answered while it drains, as with Config.ReusePort.
func (p *Proxy) Outlived() { p.outlived.Store(true) }

// Serve accepts on ln until ctx ends, then drains: no new connection, requests
// in flight end within Config.Drain, requests that come later on kept connections
// are refused (proxy_draining) or, where another process goes on, answered, and
// end their connection; those that stay idle end after a moment. It returns nil
// when everything ended in order. It is called once.
func (p *Proxy) Serve(ctx context.Context, ln net.Listener) error {
	if p.serving.Swap(true) {
		return errors.New("proxy: serves already")
	}
	p.reloading.Lock()
	endWatch := p.watchers.begin(p.killed, p.now.Load().nodes.all)
	p.reloading.Unlock()
	defer endWatch()
	wrapped := p.conns.listen(p, ln)
	served := make(chan error, 1)
	go func() { served <- p.server.Serve(wrapped) }()
	select {
	case err := <-served:
		p.draining.Store(true)
		p.conns.closeAll()
		p.closeIdle()
		if err != nil {
			return fmt.Errorf("proxy: accept: %w", err)
		}
		return nil
	case <-ctx.Done():
	case <-p.killed.Done():
	}
	return p.drain(wrapped, served)
}

// Close ends Serve at once, with whatever is in flight.
func (p *Proxy) Close() { p.kill() }

// Stats are the sums so far.
func (p *Proxy) Stats() Stats {
	return Stats{
		Connections: p.conns.accepted.Load(), Requests: p.requests.Load(), Own: p.own.Load(),
		Offered: p.offered.Load(), ServerErrors: p.serverErrors.Load(), InFlight: p.inFlight.Load(),
	}
}

// BodiesHeld is how many bytes of bodies requests on their way hold, of
// Config.BodyMemory.
func (p *Proxy) BodiesHeld() int64 { return p.bodies.Load() }

// Instance is what the proxy tells a probe.
func (p *Proxy) Instance() string { return p.instance }

// ready reports whether the proxy takes requests and some node is believed to
// answer. Where none is, they are asked: without traffic nothing else would.
func (p *Proxy) ready(ctx context.Context) (ready bool, up int) {
	nodes := &p.now.Load().nodes
	up = nodes.believedUp()
	if up == 0 {
		for _, n := range nodes.all {
			if n.reachable(ctx) {
				n.answered()
				up++
			}
		}
	}
	return p.serving.Load() && !p.draining.Load() && up > 0, up
}
