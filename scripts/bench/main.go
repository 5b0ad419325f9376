package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// maxRun bounds a whole run, whatever hangs.
const maxRun = 15 * time.Minute

func main() {
	// The children's parent is this thread (see startProcess), and the load is
	// sent from it.
	runtime.LockOSThread()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	interrupted := ctx.Err() != nil
	stop()
	switch {
	case interrupted && err != nil:
		fmt.Fprintln(os.Stderr, "bench: interrupted")
		os.Exit(130)
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case "backend":
			return runBackend(ctx, args[1:], progress)
		case "load":
			return runLoad(ctx, args[1:], out)
		case "reverse":
			return runReverse(ctx, args[1:], progress)
		}
	}
	o, err := parseOptions(args, progress)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, maxRun)
	defer cancel()
	return o.measure(ctx, out, progress)
}

// options are the flags of a whole run.
type options struct {
	esshadow, nginx, haproxy, only string
	rounds                         int
	scale                          float64
}

func parseOptions(args []string, progress io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(progress)
	f.StringVar(&o.esshadow, "esshadow", filepath.Join("bin", "esshadow"), "`program` to measure")
	f.StringVar(&o.nginx, "nginx", "", "`program` to compare the proxy with, or off (default: nginx, where it is found)")
	f.StringVar(&o.haproxy, "haproxy", "", "`program` to compare the proxy with, or off (default: haproxy, where it is found)")
	f.StringVar(&o.only, "only", "packages,lines,proxy,replay", "`parts` to run, by comma")
	f.IntVar(&o.rounds, "rounds", 3, "rounds of each measurement; the figures are medians")
	f.Float64Var(&o.scale, "scale", 1, "`factor` of all durations: 0.1 to see that it works")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 || o.rounds < 1 || o.scale <= 0 || o.scale > 100 {
		return o, errors.New("wrong arguments: -h lists them")
	}
	for part := range strings.SplitSeq(o.only, ",") {
		if !slices.Contains([]string{"packages", "lines", "proxy", "replay"}, part) {
			return o, fmt.Errorf("-only: no part %q", part)
		}
	}
	return o, nil
}

func (o options) measure(ctx context.Context, out, progress io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "esshadow-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	bin, err := filepath.Abs(o.esshadow)
	if err != nil {
		return err
	}
	if _, err := os.Stat(bin); err != nil {
		return fmt.Errorf("%w: `make build` makes it", err)
	}
	began := time.Now()
	_, _ = fmt.Fprintf(out, "## esshadow bench\n")
	machine(out)
	p := packageRun{out: out, progress: progress, dir: dir, count: o.rounds + 2, benchtime: time.Duration(o.scale * float64(200*time.Millisecond))}
	if strings.Contains(o.only, "packages") {
		if err := p.run(ctx); err != nil {
			return err
		}
	}
	if strings.Contains(o.only, "lines") {
		if err := p.lines(ctx, o.rounds); err != nil {
			return err
		}
	}
	if err := o.live(ctx, bin, dir, out, progress); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "\nMeasured in %s.\n", time.Since(began).Round(time.Second))
	return ctx.Err()
}
