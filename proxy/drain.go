package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"go.uber.org/zap"
)

// Listen opens Config.Listen.
func Listen(ctx context.Context, cfg *Config) (net.Listener, error) {
	lc := net.ListenConfig{}
	// Of a socket for multipath TCP, which Go would make, the kernel refuses what
	// steerAway asks.
	lc.SetMultipathTCP(false)
	if cfg.ReusePort {
		lc.Control = func(_, _ string, c syscall.RawConn) error {
			var failed error
			err := c.Control(func(fd uintptr) { failed = sharePort(fd) })
			return errors.Join(err, failed)
		}
	}
	return lc.Listen(ctx, "tcp", cfg.Listen)
}

const (
	// handOver is how long connections are still taken when another process may
	// listen on the port: those whose handshake began before it was their turn.
	handOver = 250 * time.Millisecond
	// lastCall is how long idle connections stay while the proxy ends. A request
	// may be on its way on each of them; it is told so, or answered where another
	// process goes on, and with that the connection ends.
	lastCall = time.Second
	// emptyQueue is how long the kernel's backlog may be without a connection
	// before it counts as empty.
	emptyQueue = 10 * time.Millisecond
	// lastWait is how long connections that were cut may take to end.
	lastWait = 2 * time.Second
)

// drain ends serving step by step, so that no client notices: the listening
// socket, kept connections, idle ones, and what is still in flight when
// Config.Drain is over.
func (p *Proxy) drain(ln *listener, served <-chan error) error {
	cfg := p.now.Load().cfg
	if !cfg.ReusePort && !p.outlived.Load() {
		p.lateFrom.Store(time.Now().UnixNano())
	}
	p.draining.Store(true)
	p.log.Info("draining", zap.Int64("in_flight", p.inFlight.Load()))
	limit, stop := context.WithTimeout(p.killed, cfg.Drain)
	defer stop()
	if cfg.ReusePort {
		if err := steerAway(ln.Listener); err != nil {
			p.log.Warn("new connections cannot be kept from this process while it ends: some may be reset", zap.Error(err))
		}
		pause(limit, min(handOver, cfg.Drain/4))
	}
	ln.finish(limit)
	calls, hush := context.WithTimeout(limit, min(lastCall, cfg.Drain/4))
	p.conns.wait(calls)
	hush()
	p.refusing.Store(true)
	p.conns.closeUnused()
	err := p.server.ShutdownWithContext(limit)
	left := p.inFlight.Load()
	p.conns.closeAll()
	<-served //nolint:errcheck // what ended it is told by Shutdown
	last, done := context.WithTimeout(context.Background(), lastWait)
	defer done()
	p.conns.wait(last)
	p.closeIdle()
	if err != nil && left > 0 {
		return fmt.Errorf("proxy: %d requests were cut off at the end", left)
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

func (p *Proxy) closeIdle() {
	for _, n := range p.now.Load().nodes.all {
		n.pool.CloseIdleConnections()
	}
}
