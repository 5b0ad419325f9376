package proxy

import (
	"bufio"
	"context"
	"io"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// watchers are the goroutines that look after nodes while the proxy serves.
type watchers struct {
	mu   sync.Mutex
	ctx  context.Context // nil: not serving
	all  map[*upstream]context.CancelFunc
	done sync.WaitGroup
}

// begin allows watching until end is called.
func (w *watchers) begin(ctx context.Context, nodes []*upstream) (end func()) {
	w.mu.Lock()
	ctx, stop := context.WithCancel(ctx)
	w.ctx, w.all = ctx, map[*upstream]context.CancelFunc{}
	w.mu.Unlock()
	for _, n := range nodes {
		w.watch(n)
	}
	return func() {
		w.mu.Lock()
		w.ctx = nil
		w.mu.Unlock()
		stop()
		w.done.Wait()
	}
}

// watch looks after a node, unless that is done already or there is nothing to
// look after.
func (w *watchers) watch(n *upstream) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ctx == nil || w.all[n] != nil || n.key.health == 0 && n.fixed() {
		return
	}
	ctx, stop := context.WithCancel(w.ctx)
	w.all[n] = stop
	w.done.Go(func() { n.watch(ctx) })
}

// leave ends looking after a node.
func (w *watchers) leave(n *upstream) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if stop := w.all[n]; stop != nil {
		stop()
		delete(w.all, n)
	}
}

// fixed reports whether the node is given by address.
func (n *upstream) fixed() bool {
	_, err := netip.ParseAddr(n.places.host)
	return err == nil
}

// watch resolves the node's name anew and asks the node whether it lives, each
// in its interval, until ctx ends.
func (n *upstream) watch(ctx context.Context) {
	resolve, check := time.NewTicker(n.key.ttl), time.NewTicker(max(n.key.health, time.Millisecond))
	defer resolve.Stop()
	defer check.Stop()
	if n.key.health == 0 {
		check.Stop()
	}
	for {
		select {
		case <-resolve.C:
			limit, stop := context.WithTimeout(ctx, n.key.dial)
			_ = n.places.refresh(limit)
			stop()
		case <-check.C:
			n.check(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// check asks the node for "/". Whatever it answers in HTTP says that it lives: a
// secured one says 401.
func (n *upstream) check(ctx context.Context) {
	limit, stop := context.WithTimeout(ctx, max(n.key.health, n.key.dial))
	defer stop()
	switch alive := n.alive(limit); {
	case ctx.Err() != nil:
	case alive:
		n.answered()
	default:
		n.failed()
		// No request is spent on trying what the next check will tell.
		n.leaveOut(2 * n.key.health)
	}
}

func (n *upstream) alive(ctx context.Context) bool {
	c, _, err := n.connect(ctx)
	if err != nil {
		return false
	}
	defer func() { _ = c.Close() }()
	end, _ := ctx.Deadline()
	if err := c.SetDeadline(end); err != nil {
		return false
	}
	unhook := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	defer unhook()
	if _, err := io.WriteString(c, "GET "+n.prefix+"/ HTTP/1.1\r\nHost: "+n.authority+"\r\nConnection: close\r\n\r\n"); err != nil {
		return false
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	return err == nil && strings.HasPrefix(line, "HTTP/1.")
}

// reachable makes a connection and drops it.
func (n *upstream) reachable(ctx context.Context) bool {
	ctx, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	c, _, err := n.places.dial(ctx)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}
