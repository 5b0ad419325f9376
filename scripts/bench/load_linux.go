package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

var errClosed = errors.New("connection closed")

// maxWait bounds a wait that has nothing due, so that the end is seen.
const maxWait = 50 * time.Millisecond

// maxSamples bounds the latencies that are kept of one measurement; what comes
// after is counted as done, and its latency forgotten.
const maxSamples = 4 << 20

// plan is one measurement.
type plan struct {
	addr     netip.AddrPort
	requests [][]byte      // sent in turn
	rate     float64       // requests a second, at Poisson times; 0: as many as the connections take
	conns    int           // that are kept
	warm     time.Duration // before the figures count
	dur      time.Duration
	begin    func() // called where the figures begin to count; may be nil
}

// loadResult is what a measurement saw. Times are of requests that were sent
// after the warm-up and answered before the end.
type loadResult struct {
	done, errors, refused, reconnects uint64 // refused: answers other than 2xx
	all                               uint64 // done, those of the warm-up too
	elapsed                           time.Duration
	p50, p99                          time.Duration // from the intended time to the last byte
	late99                            time.Duration // from the intended time to the send: the generator's own part
}

func (r loadResult) perSecond() float64 { return float64(r.done) / max(r.elapsed.Seconds(), 1e-9) }

// generator sends from one thread. At a rate, each request has an intended time
// from which its latency counts, whether or not a connection was free then: an
// answer that comes late makes no later request invisible.
type generator struct {
	plan
	poll   *poller
	conns  []client
	free   []int32
	buf    []byte
	next   int // request
	counts bool
	res    loadResult
	took   []uint32 // ns
	late   []uint32 // ns
}

// client is a connection.
type client struct {
	fd       int
	out      []byte
	intended time.Time
	counts   bool
	busy     bool
	waits    bool // for room to write
	ans      message
}

// run measures. It must be called with the thread locked, and without garbage
// collection in its way (see poller.wait).
func (p plan) run(ctx context.Context) (loadResult, error) {
	poll, err := newPoller()
	if err != nil {
		return loadResult{}, err
	}
	defer poll.close()
	g := &generator{
		plan: p, poll: poll, conns: make([]client, p.conns), buf: make([]byte, 256<<10),
		took: make([]uint32, 0, maxSamples), late: make([]uint32, 0, maxSamples),
	}
	defer g.close()
	for i := range g.conns {
		if err := g.open(int32(i)); err != nil {
			return loadResult{}, err
		}
	}
	if err := g.loop(ctx); err != nil {
		return g.res, err
	}
	g.res.p50, g.res.p99 = quantile(g.took, 0.50), quantile(g.took, 0.99)
	g.res.late99 = quantile(g.late, 0.99)
	return g.res, nil
}

func quantile(ns []uint32, q float64) time.Duration {
	if len(ns) == 0 {
		return 0
	}
	slices.Sort(ns)
	return time.Duration(ns[min(len(ns)-1, int(q*float64(len(ns))))])
}

func (g *generator) open(i int32) error {
	fd, err := dial(g.addr)
	if err != nil {
		return err
	}
	if err := g.poll.add(fd, i); err != nil {
		_ = unix.Close(fd)
		return fmt.Errorf("watch a socket: %w", err)
	}
	c := &g.conns[i]
	*c = client{fd: fd, ans: message{answer: true, head: c.ans.head[:0]}}
	g.free = append(g.free, i)
	return nil
}

func (g *generator) close() {
	for i := range g.conns {
		if g.conns[i].fd > 0 {
			_ = unix.Close(g.conns[i].fd)
		}
	}
}

func (g *generator) loop(ctx context.Context) error {
	r := rand.New(rand.NewPCG(7, 11))
	start := time.Now()
	next, counted, end := start, start.Add(g.warm), start.Add(g.warm+g.dur)
	for {
		now := time.Now()
		if !g.counts && !now.Before(counted) {
			g.counts, counted = true, now
			if g.begin != nil {
				g.begin()
			}
		}
		if !now.Before(end) {
			g.res.elapsed = now.Sub(counted)
			return ctx.Err()
		}
		wait := maxWait
		if g.rate > 0 {
			for ; !next.After(now) && len(g.free) > 0; next = next.Add(time.Duration(r.ExpFloat64() * 1e9 / g.rate)) {
				if err := g.start(next, now); err != nil {
					return err
				}
			}
			if len(g.free) > 0 {
				wait = time.Until(next)
			}
		} else {
			for len(g.free) > 0 {
				if err := g.start(now, now); err != nil {
					return err
				}
			}
		}
		if err := g.turn(min(wait, time.Until(end))); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// turn waits for the sockets and does what they are ready for.
func (g *generator) turn(wait time.Duration) error {
	events, err := g.poll.wait(wait)
	if err != nil {
		return err
	}
	for _, e := range events {
		c := &g.conns[e.Fd]
		if c.waits {
			err = g.send(e.Fd, c)
		} else {
			err = g.receive(e.Fd, c)
		}
		if err != nil {
			if err = g.fail(e.Fd); err != nil {
				return err
			}
		}
	}
	return nil
}

// start sends the next request by a free connection.
func (g *generator) start(intended, now time.Time) error {
	i := g.free[len(g.free)-1]
	g.free = g.free[:len(g.free)-1]
	c := &g.conns[i]
	c.intended, c.counts, c.busy = intended, g.counts, true
	c.out = g.requests[g.next%len(g.requests)]
	g.next++
	if c.counts && len(g.late) < maxSamples {
		g.late = append(g.late, nanos(now.Sub(intended)))
	}
	if g.send(i, c) != nil {
		return g.fail(i)
	}
	return nil
}

func nanos(d time.Duration) uint32 { return uint32(max(0, min(d, 1<<32-1))) }

func (g *generator) send(i int32, c *client) error {
	for len(c.out) > 0 {
		n, err := write(c.fd, c.out)
		if errors.Is(err, unix.EAGAIN) {
			if c.waits {
				return nil
			}
			c.waits = true
			return g.poll.want(c.fd, i, true)
		}
		if err != nil {
			return err
		}
		c.out = c.out[n:]
	}
	if !c.waits {
		return nil
	}
	c.waits = false
	return g.poll.want(c.fd, i, false)
}

func (g *generator) receive(i int32, c *client) error {
	for {
		n, err := read(c.fd, g.buf)
		if errors.Is(err, unix.EAGAIN) {
			return nil
		}
		if err != nil || n == 0 || !c.busy {
			return errClosed
		}
		took, done, err := c.ans.feed(g.buf[:n])
		if err != nil {
			return err
		}
		if !done {
			continue
		}
		if took != n {
			return errHead
		}
		return g.finish(i, c)
	}
}

func (g *generator) finish(i int32, c *client) error {
	g.res.all++
	if c.counts {
		g.res.done++
		if len(g.took) < maxSamples {
			g.took = append(g.took, nanos(time.Since(c.intended)))
		}
		if s := c.ans.status(); s < 200 || s > 299 {
			g.res.refused++
		}
	}
	v, _ := c.ans.field("connection")
	c.busy = false
	c.ans.reset()
	if string(v) == "close" {
		return errClosed
	}
	g.free = append(g.free, i)
	return nil
}

// fail counts a request that had no answer, and connects anew. It is an error
// only where that is not possible.
func (g *generator) fail(i int32) error {
	c := &g.conns[i]
	if c.busy && c.counts {
		g.res.errors++
	}
	g.res.reconnects++
	_ = unix.Close(c.fd)
	c.fd = 0
	g.free = slices.DeleteFunc(g.free, func(f int32) bool { return f == i })
	return g.open(i)
}
