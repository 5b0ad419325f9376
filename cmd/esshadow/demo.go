package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/esshadow/esshadow/configs"
	"github.com/esshadow/esshadow/internal/sandbox"
	"github.com/esshadow/esshadow/replay"
	"github.com/esshadow/esshadow/replay/report"
)

func newDemoCmd(s *streams) *cobra.Command {
	var d demo
	c := &cobra.Command{
		Use:   "demo",
		Short: "The whole path on the embedded engine: capture, replay, report",
		Long: `demo starts an embedded search engine as the source, a proxy before it, and sends
a mixed load through the proxy, which captures it sanitised. It then loads a
target from the captured bulks, replays the searches at the original speed and at
four times that, and draws the reports. At last it replays against a second
target that is slow for one query shape and lacks some documents, to show how the
report names both. Nothing else is needed, and nothing leaves the machine.`,
		Example: "  esshadow demo\n  esshadow demo --dir /tmp/demo",
		Args:    noArgs,
	}
	set := newSettings(c, s)
	cfg := &set.cfg.Demo
	c.PreRunE = func(c *cobra.Command, _ []string) error { return set.load(c) }
	c.RunE = graceful(func(ctx context.Context, _ []string) error {
		if err := cfg.Validate(); err != nil {
			return &codeError{exitUsage, configs.Under("demo", err)}
		}
		d.s, d.dir, d.length, d.rate = s, cfg.Dir, cfg.Length, cfg.Rate
		return d.run(ctx)
	})
	c.Flags().StringVar(&cfg.Dir, "dir", cfg.Dir, "keep capture and runs in this new `directory`; absent: a temporary one, removed at the end")
	c.Flags().DurationVar(&cfg.Length, "length", cfg.Length, "how long the load lasts")
	c.Flags().IntVar(&cfg.Rate, "rate", cfg.Rate, "searches per second")
	return c
}

// demo is one demonstration.
type demo struct {
	s      *streams
	dir    string
	length time.Duration
	rate   int
	seeded time.Time // between the loading of documents and the searches
}

func (d *demo) run(ctx context.Context) error {
	if d.dir == "" {
		dir, err := os.MkdirTemp("", "esshadow-demo-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		d.dir = dir
	} else if err := os.Mkdir(d.dir, 0o700); err != nil {
		return fmt.Errorf("demo.dir: %w", err)
	}
	if err := d.capture(ctx); err != nil {
		return err
	}
	if err := d.sameTarget(ctx); err != nil {
		return err
	}
	return d.worseTarget(ctx)
}

func (d *demo) say(format string, args ...any) {
	_, _ = fmt.Fprintf(d.s.out, format+"\n", args...)
}

func (d *demo) path(name string) string { return filepath.Join(d.dir, name) }

// engine serves a sandbox until stop is called.
func (d *demo) engine(ctx context.Context, name string, f sandbox.Faults) (url string, stop func() error, err error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	e := sandbox.New(sandbox.Options{Name: name, Ties: sandbox.TiesByArrival, Faults: f})
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan error, 1)
	go func() { done <- e.Serve(ctx, ln) }()
	return "http://" + ln.Addr().String(), func() error {
		cancel()
		err := <-done
		e.Close()
		return err
	}, nil
}

// capture sends the load through a proxy that captures it.
func (d *demo) capture(ctx context.Context) (err error) {
	source, stopSource, err := d.engine(ctx, "source", sandbox.Faults{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopSource()) }()
	key, err := d.newKey()
	if err != nil {
		return err
	}
	set := &settings{cfg: configs.Default(), s: d.s}
	set.cfg.Proxy.Upstreams, set.cfg.Proxy.Listen, set.cfg.Proxy.Admin = []string{source}, "127.0.0.1:0", "off"
	set.cfg.Capture.Files.Dir, set.cfg.Capture.Files.MinFree = d.path("capture"), 0
	set.cfg.Sanitize.Key, set.cfg.Sanitize.Preset = key, "fidelity"
	set.cfg.Log.Level = "warn"
	ready := make(chan net.Addr, 1)
	set.listening = func(a net.Addr) { ready <- a }
	d.say("== 1. capture: a source, a proxy before it, and %d documents, then %d searches/s for %s with bulk writes among them", demoDocs, d.rate, d.length)
	proxyCtx, stopProxy := context.WithCancel(ctx)
	defer stopProxy()
	ended := make(chan error, 1)
	go func() { ended <- runProxy(proxyCtx, d.s, set) }()
	var loadErr error
	select {
	case a := <-ready:
		loadErr = d.load(ctx, "http://"+a.String())
	case err := <-ended:
		return err
	}
	stopProxy()
	return errors.Join(loadErr, <-ended, ctx.Err())
}

func (d *demo) newKey() (string, error) {
	var b [32]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	path := d.path("key")
	return path, os.WriteFile(path, []byte(hex.EncodeToString(b[:])+"\n"), 0o600)
}

// replay is one replay of the capture; change sets what is special about it.
func (d *demo) replay(ctx context.Context, name, target string, change func(*replayCmd)) (*report.Report, error) {
	r := &replayCmd{s: d.s, set: &settings{cfg: configs.Default(), s: d.s}}
	cfg := &r.set.cfg.Replay
	cfg.Target.URL, cfg.Writes, cfg.SameIndex, cfg.Out = target, true, true, d.path(name)
	r.set.cfg.Log.Level = "warn"
	change(r)
	if err := r.complete(); err != nil {
		return nil, err
	}
	return r.run(ctx, []string{d.path("capture")})
}

// seedTarget loads a target from the captured bulks.
func (d *demo) seedTarget(ctx context.Context, name, target string) error {
	rep, err := d.replay(ctx, name, target, func(r *replayCmd) {
		r.set.cfg.Replay.To = d.seeded.UTC().Format(time.RFC3339Nano)
		r.set.cfg.Replay.Speed = replay.Max
		r.set.cfg.Replay.InFlight = 1
	})
	if err != nil {
		return err
	}
	d.say("   loaded from the capture: %d requests sent, %d answered", rep.Counts.Sent, rep.Counts.Answered)
	// A refresh is not replayed. Without one the first search would pay for it, as
	// it did not on the source.
	c := newDemoClient(target)
	defer c.http.CloseIdleConnections()
	return c.send(ctx, "/products/_refresh", "", nil)
}

// searches replays what came after the loading.
func (d *demo) searches(ctx context.Context, name, target string, speed replay.Speed) (*report.Report, error) {
	return d.replay(ctx, name, target, func(r *replayCmd) {
		r.set.cfg.Replay.From = d.seeded.UTC().Format(time.RFC3339Nano)
		r.set.cfg.Replay.Speed = speed
	})
}

func (d *demo) sameTarget(ctx context.Context) (err error) {
	d.say("\n== 2. a target of the same kind, loaded from the captured bulks; the searches at 1x and at 4x")
	target, stop, err := d.engine(ctx, "target", sandbox.Faults{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := d.seedTarget(ctx, "run-load", target); err != nil {
		return err
	}
	for _, speed := range []replay.Speed{1, 4} {
		rep, err := d.searches(ctx, fmt.Sprintf("run-%sx", speed), target, speed)
		if err != nil {
			return err
		}
		d.brief(rep)
		if rep.Counts.Different > 0 {
			return fmt.Errorf("demo: %d answers of an equal target differ (%v)", rep.Counts.Different, rep.Differences)
		}
	}
	return nil
}

// brief draws the part of a report that matters when all is well.
func (d *demo) brief(r *report.Report) {
	l := r.Latency
	d.say("   %sx: %s. sent %d in %.1f s, answered %d, same %d, different %d; response p50 %s p99 %s ms, source p50 %s p99 %s ms; send lag p99 %s ms",
		r.Run.Speed, strings.ToUpper(r.Verdict.State), r.Counts.Sent, r.Sender.SpanActual, r.Counts.Answered, r.Counts.Same, r.Counts.Different,
		figure(l.Response.P50), figure(l.Response.P99), figure(l.Source.P50), figure(l.Source.P99), figure(r.Sender.Lag.P99))
	for _, why := range r.Verdict.Reasons {
		d.say("      %s", why)
	}
}

func figure(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", *v)
}

// worseTarget replays against a target with two faults and sees whether the
// report names both.
func (d *demo) worseTarget(ctx context.Context) (err error) {
	d.say("\n== 3. a target that answers match queries on title 30 ms later and has lost every 50th document")
	slow := sandbox.SlowShape{Kind: "match", Field: "title", Delay: 30 * time.Millisecond}
	target, stop, err := d.engine(ctx, "worse", sandbox.Faults{Slow: []sandbox.SlowShape{slow}, DropEvery: 50})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := d.seedTarget(ctx, "run-load-worse", target); err != nil {
		return err
	}
	rep, err := d.measured(ctx, target)
	if err != nil {
		return err
	}
	d.say("")
	if err := rep.Text(d.s.out); err != nil {
		return err
	}
	return d.named(rep)
}

// worseTries is how often times are taken on a machine that is too busy for those of
// a millisecond. What the report gets wrong by itself, it gets wrong each time.
const worseTries = 3

// measured replays against the worse target, again where more than one shape looks slower.
func (d *demo) measured(ctx context.Context, target string) (*report.Report, error) {
	name := "run-worse"
	for try := 1; ; try++ {
		rep, err := d.searches(ctx, name, target, 1)
		if err != nil {
			return nil, err
		}
		n := len(slower(rep))
		if n <= 1 || try == worseTries {
			return rep, nil
		}
		d.say("   %d shapes look slower, not one: this machine is busy with something else. Once more", n)
		name = fmt.Sprintf("run-worse-%d", try+1)
	}
}

// named says whether the report found what was wrong, and nothing else.
func (d *demo) named(rep *report.Report) error {
	d.say("")
	if rep.Differences["total"] == 0 {
		return fmt.Errorf("demo: the target lacks documents, the report says %s with differences %v", rep.Verdict.State, rep.Differences)
	}
	slow := slower(rep)
	if len(slow) != 1 || !strings.Contains(slow[0], "match(title)") || rep.Verdict.State != report.Worse {
		return fmt.Errorf("demo: the one slow shape is match(title), the report says %s and names %d: %s\n"+
			"On a machine that is busy with something else more shapes look slower: try again on a quiet one", rep.Verdict.State, len(slow), strings.Join(slow, "; "))
	}
	d.say("The report names the one slow shape, %s, and the answers that lack documents.", slow[0])
	return nil
}

// slower are the shapes that a report calls slower.
func slower(rep *report.Report) (shapes []string) {
	for _, s := range rep.Shapes {
		if s.Change.State == "slower" {
			shapes = append(shapes, s.Shape)
		}
	}
	return shapes
}
