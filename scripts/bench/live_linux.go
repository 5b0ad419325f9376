package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/netip"
	"os"
	"runtime/debug"
	"strings"
	"time"
)

// live measures running programs.
func (o options) live(ctx context.Context, bin, dir string, out, progress io.Writer) error {
	if strings.Contains(o.only, "proxy") {
		r := pairedRun{out: out, progress: progress, esshadow: bin, nginx: programPath(o.nginx, nginx), haproxy: programPath(o.haproxy, haproxy), dir: dir, rounds: o.rounds, scale: o.scale}
		if err := r.run(ctx); err != nil {
			return err
		}
	}
	if strings.Contains(o.only, "replay") {
		r := replayRun{out: out, progress: progress, esshadow: bin, dir: dir, rounds: o.rounds, scale: o.scale}
		return r.run(ctx)
	}
	return nil
}

// runBackend answers until it is told to end.
func runBackend(ctx context.Context, args []string, progress io.Writer) error {
	f := flag.NewFlagSet("bench backend", flag.ContinueOnError)
	f.SetOutput(progress)
	uuid := f.String("uuid", "bench", "the cluster's `uuid`")
	if err := f.Parse(args); err != nil {
		return err
	}
	b, err := newBackend(*uuid)
	if err != nil {
		return err
	}
	defer b.close()
	debug.SetGCPercent(-1) // see poller.wait; answers are made once
	_, _ = fmt.Fprintf(progress, "listening on %s\n", b.addr)
	return b.serve(ctx)
}

// runLoad puts one load on any server and prints a line of JSON, to compare
// this generator with another.
func runLoad(ctx context.Context, args []string, out io.Writer) error {
	f := flag.NewFlagSet("bench load", flag.ContinueOnError)
	f.SetOutput(out)
	addr := f.String("addr", "", "`IP:PORT` to send to")
	kind := f.String("kind", "search", "search, bulk100KB or bulk1MB")
	bodies := f.String("bodies", "", "`file` to write the search bodies to, one a line, instead of sending")
	rate := f.Float64("rate", 0, "requests a second; 0: as many as fit")
	conns := f.Int("conns", 64, "connections")
	dur := f.Duration("duration", 4*time.Second, "measured time")
	pid := f.Int("pid", 0, "process whose processor time is counted")
	if err := f.Parse(args); err != nil {
		return err
	}
	p := plan{rate: *rate, conns: *conns, warm: time.Second, dur: *dur}
	switch *kind {
	case "search":
		p.requests = searches(4096)
	case "bulk100KB":
		p.requests = bulks(64, 200)
	case "bulk1MB":
		p.requests = bulks(16, 2048)
	default:
		return fmt.Errorf("-kind: no load %q", *kind)
	}
	if *bodies != "" {
		return writeBodies(*bodies, p.requests)
	}
	var err error
	if p.addr, err = netip.ParseAddrPort(*addr); err != nil {
		return fmt.Errorf("-addr: %w", err)
	}
	watched := &process{}
	if *pid > 0 {
		watched.pids = []int{*pid}
	}
	var before time.Duration
	p.begin = func() { before = watched.cpu() }
	res, err := quiet(ctx, p)
	if err != nil {
		return err
	}
	cpu := watched.cpu() - before
	return json.NewEncoder(out).Encode(map[string]any{
		"rps": res.perSecond(), "p50_us": float64(res.p50) / 1e3, "p99_us": float64(res.p99) / 1e3, "late_p99_us": float64(res.late99) / 1e3,
		"errors": res.errors, "refused": res.refused, "reconnects": res.reconnects, "cpu_us": float64(cpu) / 1e3 / float64(max(res.done, 1)),
	})
}

func writeBodies(path string, requests [][]byte) error {
	var b strings.Builder
	for _, r := range requests {
		_, body, _ := strings.Cut(string(r), "\r\n\r\n")
		b.WriteString(strings.TrimSuffix(body, "\n") + "\n")
	}
	return os.WriteFile(path, []byte(b.String()), 0o600)
}
