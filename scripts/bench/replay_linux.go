package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// replayRun captures searches, then replays them to a backend that is another
// cluster by name.
type replayRun struct {
	out, progress io.Writer
	esshadow, dir string
	rounds        int
	scale         float64
}

// replayed is what one replay said, in a report, and what it cost.
type replayed struct {
	sent, failed, shed, different uint64
	perSecond, cpuUs, reportUs    float64 // the latter two a request
	lag50, lag99                  float64 // ms
	spanPlanned, spanActual       float64 // s
	peakMB                        float64
}

func (r *replayRun) run(ctx context.Context) (err error) {
	source, err := startBackend("bench-source")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.process.stop()) }()
	target, err := startBackend("bench-target")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.process.stop()) }()

	// By the key, the ids that the target answers agree with those of the capture.
	if err := os.WriteFile(r.key(), []byte(strings.Repeat("5e", 32)), 0o600); err != nil {
		return err
	}
	d := func(t time.Duration) time.Duration { return time.Duration(float64(t) * r.scale) }
	paced, dense := filepath.Join(r.dir, "paced"), filepath.Join(r.dir, "dense")
	if err := r.capture(ctx, source, paced, 2000, d(6*time.Second)); err != nil {
		return err
	}
	if err := r.capture(ctx, source, dense, 0, d(2*time.Second)); err != nil {
		return err
	}
	var timed, fast []replayed
	var floor []float64
	search := searches(4096)
	for round := range r.rounds {
		f, err := quiet(ctx, plan{addr: target.addr, requests: search, conns: 64, warm: d(500 * time.Millisecond), dur: d(2 * time.Second)})
		if err != nil {
			return err
		}
		floor = append(floor, f.perSecond())
		for _, one := range []struct {
			dir   string
			speed string
			into  *[]replayed
		}{{paced, "1", &timed}, {dense, "max", &fast}} {
			got, err := r.replay(ctx, one.dir, target, one.speed, strconv.Itoa(round))
			if err != nil {
				return fmt.Errorf("replay at speed %s: %w", one.speed, err)
			}
			*one.into = append(*one.into, got)
			_, _ = fmt.Fprintf(r.progress, "round %d/%d: replay at speed %s: %+v\n", round+1, r.rounds, one.speed, got)
		}
	}
	r.table(timed, fast, floor)
	return nil
}

func (r *replayRun) key() string { return filepath.Join(r.dir, "key") }

// capture puts searches through a proxy that captures them.
func (r *replayRun) capture(ctx context.Context, source *started, dir string, rate float64, dur time.Duration) error {
	v, err := startEsshadow(r.esshadow, dir, source.addr, "--key", r.key())
	if err != nil {
		return err
	}
	_, err = quiet(ctx, plan{addr: v.addr, requests: searches(4096), rate: rate, conns: 64, dur: dur})
	if err = errors.Join(err, v.process.stop()); err != nil {
		return fmt.Errorf("capture for the replay: %w", err)
	}
	sums, _ := v.process.lines.find("esshadow capture: received")
	_, _ = fmt.Fprintf(r.progress, "for the replay: %s\n", sums)
	return nil
}

func (r *replayRun) replay(ctx context.Context, dir string, target *started, speed, round string) (replayed, error) {
	run := filepath.Join(r.dir, "run-"+speed+"-"+round)
	cmd := r.command(ctx, "replay", dir, "--target", "http://"+target.addr.String(), "--speed", speed, "--key", r.key(), "--out", run)
	var said bytes.Buffer
	cmd.Stderr = &said
	if speed == "max" {
		cmd.Args = append(cmd.Args, "--in-flight", "64")
	}
	if err := cmd.Run(); err != nil {
		return replayed{}, fmt.Errorf("%w: %s", err, tail(said.Bytes()))
	}
	used := cmd.ProcessState
	got, err := r.report(ctx, run)
	if err != nil {
		return got, err
	}
	got.cpuUs = float64((used.UserTime() + used.SystemTime()).Microseconds()) / float64(max(got.sent, 1))
	if u, ok := used.SysUsage().(*syscall.Rusage); ok {
		got.peakMB = float64(u.Maxrss) * 1024 / 1e6
	}
	return got, os.RemoveAll(run)
}

// command is asked to end, and then killed, when ctx ends.
func (r *replayRun) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, r.esshadow, args...)
	cmd.Env = environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = stopWait
	return cmd
}

func tail(b []byte) string { return string(b[max(0, len(b)-500):]) }

func (r *replayRun) report(ctx context.Context, run string) (replayed, error) {
	cmd := r.command(ctx, "report", "--format", "json", run)
	out, err := cmd.Output()
	if err != nil {
		return replayed{}, fmt.Errorf("report: %w", err)
	}
	var in struct {
		Counts struct {
			Sent, Different uint64
			Errors, Shed    map[string]uint64
		}
		Sender struct {
			LagMS struct {
				P50 float64
				P99 *float64
			} `json:"lag_ms"`
			Planned float64 `json:"span_planned_s"`
			Actual  float64 `json:"span_actual_s"`
		}
	}
	if err := json.Unmarshal(out, &in); err != nil {
		return replayed{}, fmt.Errorf("report: %w", err)
	}
	used := cmd.ProcessState
	got := replayed{
		reportUs: float64((used.UserTime() + used.SystemTime()).Microseconds()) / float64(max(in.Counts.Sent, 1)),
		sent:     in.Counts.Sent, different: in.Counts.Different, spanPlanned: in.Sender.Planned, spanActual: in.Sender.Actual,
		perSecond: float64(in.Counts.Sent) / max(in.Sender.Actual, 1e-9), lag50: in.Sender.LagMS.P50,
	}
	if in.Sender.LagMS.P99 != nil {
		got.lag99 = *in.Sender.LagMS.P99
	}
	for _, n := range in.Counts.Errors {
		got.failed += n
	}
	for _, n := range in.Counts.Shed {
		got.shed += n
	}
	return got, nil
}

func (r *replayRun) table(timed, fast []replayed, floor []float64) {
	of := func(rs []replayed, f func(replayed) float64) []float64 {
		var out []float64
		for _, x := range rs {
			out = append(out, f(x))
		}
		return out
	}
	row := func(name string, rs []replayed) []string {
		var failed, shed, different uint64
		for _, x := range rs {
			failed, shed, different = failed+x.failed, shed+x.shed, different+x.different
		}
		rate := of(rs, func(x replayed) float64 { return x.perSecond })
		span := of(rs, func(x replayed) float64 { return 100 * (x.spanActual/max(x.spanPlanned, 1e-9) - 1) })
		late := []string{"–", "–", "–"}
		if name == "speed 1" {
			late = []string{
				fmt.Sprintf("%.0f", 1000*median(of(rs, func(x replayed) float64 { return x.lag50 }))),
				fmt.Sprintf("%.0f", 1000*median(of(rs, func(x replayed) float64 { return x.lag99 }))),
				fmt.Sprintf("%+.2f", median(span)),
			}
		}
		return append([]string{
			name, fmt.Sprintf("%.0f", median(rate)), ratio(rate, floor),
			fmt.Sprintf("%.1f", median(of(rs, func(x replayed) float64 { return x.cpuUs }))),
			fmt.Sprintf("%.1f", median(of(rs, func(x replayed) float64 { return x.reportUs }))),
			fmt.Sprintf("%.0f", median(of(rs, func(x replayed) float64 { return x.peakMB }))),
			late[0], late[1], late[2],
		}, fmt.Sprint(failed), fmt.Sprint(shed), fmt.Sprint(different))
	}
	t := grid{title: "replay of searches, captured at 2 000 a second and as fast as they came", head: []string{
		"", "requests/s", "× bare load", "CPU µs/request", "of it the report", "peak RSS MB", "lag p50 µs", "lag p99 µs", "span %", "failed", "shed", "different",
	}}
	t.rows = append(t.rows, row("speed 1", timed), row("speed max", fast))
	t.print(r.out)
	_, _ = fmt.Fprintf(r.out, "The bare load is this program's own, which reads no file and no answer: %.0f/s.\n", median(floor))
}
