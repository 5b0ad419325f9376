package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"
)

// load is what variants are put under in turn.
type load struct {
	name      string
	kind      kind
	requests  [][]byte
	rate      float64
	conns     int
	warm, dur time.Duration
	without   []string // variants that it has no question for
}

// kind is what a load is there to show.
type kind int

const (
	searchRate kind = iota
	searchMost
	searchLoss // at a rate at which nothing may be lost
	bulkMost
	hugeRate // bulks of 1 MB
	hugeMost
)

func loads(scale float64) []load {
	d := func(t time.Duration) time.Duration { return time.Duration(float64(t) * scale) }
	search := searches(4096)
	large, huge := bulks(64, 200), bulks(16, 2048)
	half := d(500 * time.Millisecond)
	anew := []string{captureNew} // bulks of this size are looked at in full at any rate
	peers := append([]string{haproxy, reverse}, anew...)
	return []load{
		{"searches, 5 000 a second (Poisson)", searchRate, search, 5000, 64, d(time.Second), d(4 * time.Second), nil},
		{"searches, as many as fit, 64 connections", searchMost, search, 0, 64, d(time.Second), d(3 * time.Second), nil},
		{"searches, 20 000 a second (Poisson)", searchLoss, search, 20_000, 64, half, d(3 * time.Second), []string{direct, haproxy, reverse}},
		{"bulks of 100 KB, as many as fit, 16 connections", bulkMost, large, 0, 16, half, d(2 * time.Second), peers},
		{"bulks of 1 MB, 100 a second (Poisson)", hugeRate, huge, 100, 64, half, d(3 * time.Second), anew},
		{"bulks of 1 MB, as many as fit, 8 connections", hugeMost, huge, 0, 8, half, d(2 * time.Second), anew},
	}
}

// megabytes is the size of the load's bodies, which all have one.
func (l load) megabytes() float64 {
	_, body, _ := bytes.Cut(l.requests[0], []byte("\r\n\r\n"))
	return float64(len(body)) / 1e6
}

// measure is one load on one variant in one round.
type measure struct {
	loadResult
	cpu     time.Duration // of the proxy, per request
	peak    int64         // bytes
	dropped map[string]uint64
}

// pairedRun alternates the variants within each load and each round, so that
// what else the machine does falls on all of them alike.
type pairedRun struct {
	out, progress io.Writer
	esshadow, dir string
	nginx         string // empty: without
	haproxy       string // empty: without
	rounds        int
	scale         float64
	backend       netip.AddrPort
	results       map[string]map[string][]measure // by load, by variant, one a round
	sums          string                          // of the capture, of the last round
}

func (r *pairedRun) run(ctx context.Context) error {
	b, err := startBackend("bench-source")
	if err != nil {
		return err
	}
	r.backend = b.addr
	r.results = map[string]map[string][]measure{}
	all := loads(r.scale)
	if r.nginx == "" {
		_, _ = fmt.Fprintln(r.out, "\nThere is no nginx: its figures and the ratios to it are absent (Debian: apt-get install nginx-light).")
	}
	if r.haproxy == "" {
		_, _ = fmt.Fprintln(r.out, "\nThere is no haproxy: its figures are absent (Debian: apt-get install haproxy).")
	}
	for round := range r.rounds {
		if err := r.round(ctx, round, all); err != nil {
			return errors.Join(fmt.Errorf("round %d: %w", round+1, err), b.process.stop())
		}
	}
	for _, l := range all {
		r.table(l)
	}
	if err := r.goals(ctx, all); err != nil {
		return errors.Join(err, b.process.stop())
	}
	_, _ = fmt.Fprintf(r.out, "\nThe last round's sums: %s\n", r.sums)
	return b.process.stop()
}

func (r *pairedRun) round(ctx context.Context, round int, all []load) (err error) {
	dir := filepath.Join(r.dir, fmt.Sprintf("round-%d", round))
	variants, err := r.start(ctx, dir)
	defer func() {
		for _, v := range variants {
			if v.process != nil {
				err = errors.Join(err, v.process.stop())
			}
			if v.name == captureOn {
				r.sums, _ = v.process.lines.find("esshadow capture: received")
			}
		}
		err = errors.Join(err, os.RemoveAll(dir))
	}()
	if err != nil {
		return err
	}
	for _, l := range all {
		for i := range variants {
			// Each round begins with another one.
			v := variants[(i+round)%len(variants)]
			if slices.Contains(l.without, v.name) {
				continue
			}
			m, err := r.measure(ctx, l, v)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", l.name, v.name, err)
			}
			if r.results[l.name] == nil {
				r.results[l.name] = map[string][]measure{}
			}
			r.results[l.name][v.name] = append(r.results[l.name][v.name], m)
			_, _ = fmt.Fprintf(r.progress, "round %d/%d: %s: %s: %.0f/s, p50 %s, p99 %s, %s a request\n",
				round+1, r.rounds, l.name, v.name, m.perSecond(), m.p50, m.p99, m.cpu)
		}
	}
	return nil
}

// start starts the variants; those that run are returned even with an error.
func (r *pairedRun) start(ctx context.Context, dir string) (variants []*variant, err error) {
	variants = append(variants, &variant{name: direct, addr: r.backend})
	for _, start := range []func() (*variant, error){
		func() (*variant, error) {
			if r.nginx == "" {
				return nil, nil
			}
			return startNginx(ctx, r.nginx, filepath.Join(dir, nginx), r.backend)
		},
		func() (*variant, error) {
			if r.haproxy == "" {
				return nil, nil
			}
			return startHaproxy(ctx, r.haproxy, filepath.Join(dir, haproxy), r.backend)
		},
		func() (*variant, error) { return startReverse(ctx, r.backend) },
		func() (*variant, error) { return startEsshadow(r.esshadow, "", r.backend) },
		func() (*variant, error) { return startEsshadow(r.esshadow, filepath.Join(dir, "capture"), r.backend) },
		func() (*variant, error) { return startAnew(r.esshadow, dir, r.backend) },
	} {
		v, err := start()
		if err != nil {
			return variants, err
		}
		if v != nil {
			variants = append(variants, v)
		}
	}
	return variants, nil
}

func (r *pairedRun) measure(ctx context.Context, l load, v *variant) (measure, error) {
	var m measure
	if _, err := v.settle(ctx); err != nil {
		return m, err
	}
	var before time.Duration
	begin := func() {}
	if v.process != nil {
		v.process.forgetPeak()
		begin = func() { before = v.process.cpu() }
	}
	var err error
	m.loadResult, err = quiet(ctx, plan{v.addr, l.requests, l.rate, l.conns, l.warm, l.dur, begin})
	if err != nil {
		return m, err
	}
	if v.process != nil {
		m.cpu = (v.process.cpu() - before) / time.Duration(max(m.done, 1))
		m.peak = v.process.peakBytes()
	}
	m.dropped, err = v.settle(ctx)
	return m, err
}

// quiet runs a plan while nothing collects garbage in this process.
func quiet(ctx context.Context, p plan) (loadResult, error) {
	gc := debug.SetGCPercent(-1)
	defer debug.SetGCPercent(gc)
	return p.run(ctx)
}

// started is a server that this program is in another process.
type started struct {
	process *process
	addr    netip.AddrPort
}

func startBackend(uuid string) (*started, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return startListening(self, "backend", "-uuid", uuid)
}

// startListening starts a server that says where it listens.
func startListening(bin string, args ...string) (*started, error) {
	p, err := startProcess("", bin, args...)
	if err != nil {
		return nil, err
	}
	line, err := p.awaitLine("listening on ")
	if err == nil {
		var word string
		var addr netip.AddrPort
		if word, err = wordAfter(line, "listening on "); err == nil {
			if addr, err = netip.ParseAddrPort(word); err == nil {
				return &started{p, addr}, nil
			}
		}
	}
	return nil, errors.Join(err, p.stop())
}
