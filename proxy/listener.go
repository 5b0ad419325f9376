package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/esshadow/esshadow/internal/netio"
)

// connSet knows the clients' connections that are open.
type connSet struct {
	accepted atomic.Int64

	mu   sync.Mutex
	open map[*clientConn]struct{}
	less chan struct{} // told when a connection has closed
}

// listener gives the server connections that write past it, as many at a time
// as the configuration allows.
type listener struct {
	net.Listener
	p     *Proxy
	slots chan struct{}
	ended chan struct{}
	empty chan struct{} // closed when the backlog was found empty at the end
	once  sync.Once
	id    uint64
	short shortage
}

func (s *connSet) listen(p *Proxy, ln net.Listener) *listener {
	s.mu.Lock()
	s.open = make(map[*clientConn]struct{})
	s.less = make(chan struct{}, 1)
	s.mu.Unlock()
	return &listener{
		Listener: ln, p: p,
		slots: make(chan struct{}, p.now.Load().cfg.MaxConnections), ended: make(chan struct{}), empty: make(chan struct{}),
	}
}

// Accept waits for room, then for a client. A machine short of descriptors is
// no reason to end: it is waited for.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.ended:
		return nil, io.EOF
	}
	for pause := 5 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		c, err := l.Listener.Accept()
		if err == nil {
			return l.wrap(c), nil
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			// See finish. A busy machine may be here only after the deadline.
			if waiting(l.Listener) && l.expire() == nil {
				continue
			}
			close(l.empty) // the server does not ask again
			return nil, io.EOF
		}
		if errors.Is(err, net.ErrClosed) {
			return nil, io.EOF
		}
		if !passing(err) {
			return nil, err
		}
		l.short.tell(l.p.log, err)
		select {
		case <-time.After(pause):
		case <-l.ended:
			return nil, io.EOF
		}
	}
}

// shortage tells of connections that cannot be taken for now, once a while.
type shortage struct{ told time.Time }

func (s *shortage) tell(log *zap.Logger, err error) {
	if now := time.Now(); s.told.IsZero() || now.Sub(s.told) >= time.Minute {
		s.told = now
		log.Warn("cannot accept connections for now", zap.Error(err))
	}
}

// passing reports whether accepting may work again later.
func passing(err error) bool {
	for _, e := range []error{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM,
		syscall.ECONNABORTED, syscall.ECONNRESET, syscall.EINTR,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func (l *listener) wrap(c net.Conn) *clientConn {
	l.id++
	set := l.p.now.Load()
	c = netio.Quick(c)
	cc := &clientConn{Conn: c, tcp: c, id: l.id, timeout: set.cfg.ClientTimeout, rest: set.cfg.IdleTimeout, head: set.cfg.HeaderTimeout}
	cc.peer.init(c)
	if set.balanced(c.RemoteAddr()) {
		cc.origin = newOrigin(c, l.p.metrics.badOrigin.Inc)
		cc.Conn = cc.origin
	}
	if t := set.tls.get(); t != nil {
		cc.Conn, cc.tls = tls.Server(cc.Conn, t), true
	}
	s := &l.p.conns
	cc.onClose = func(cc *clientConn) {
		s.mu.Lock()
		delete(s.open, cc)
		s.mu.Unlock()
		<-l.slots
		select {
		case s.less <- struct{}{}:
		default:
		}
	}
	s.accepted.Add(1)
	s.mu.Lock()
	s.open[cc] = struct{}{}
	s.mu.Unlock()
	return cc
}

// finish takes the connections that wait in the kernel's backlog, which closing
// would reset, and closes.
func (l *listener) finish(limit context.Context) {
	if l.expire() == nil {
		late := time.NewTimer(lastCall)
		defer late.Stop()
		select {
		case <-l.empty:
		case <-late.C: // as many connections as may be, or ever more of them
		case <-limit.Done():
		}
	}
	_ = l.Close()
}

// expire ends the wait for a connection in a moment.
func (l *listener) expire() error {
	d, ok := l.Listener.(interface{ SetDeadline(time.Time) error })
	if !ok {
		return errors.ErrUnsupported
	}
	return d.SetDeadline(time.Now().Add(emptyQueue))
}

// Close may be called more than once.
func (l *listener) Close() (err error) {
	l.once.Do(func() {
		close(l.ended)
		err = l.Listener.Close()
	})
	return err
}

func (s *connSet) all() []*clientConn {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*clientConn, 0, len(s.open))
	for c := range s.open {
		list = append(list, c)
	}
	return list
}

// closeUnused closes connections that never sent a byte; the server counts them
// as idle only after some seconds.
func (s *connSet) closeUnused() {
	for _, c := range s.all() {
		if !c.started.Load() {
			_ = c.Close()
		}
	}
}

func (s *connSet) closeAll() {
	for _, c := range s.all() {
		c.cut()
	}
}

// wait returns when no connection is open any more, or when limit ends: one may
// be held by a node that takes no connection.
func (s *connSet) wait(limit context.Context) {
	for len(s.all()) > 0 {
		select {
		case <-s.less:
		case <-limit.Done():
			return
		}
	}
}
