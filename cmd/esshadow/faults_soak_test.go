//go:build faults && linux

package main

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	// soakDefault is how long the soak lasts where ESSHADOW_SOAK does not say
	// otherwise.
	soakDefault = 30 * time.Second
	// soakRate is the searches a second of the soak.
	soakRate = "5000"
)

// sample is what a proxy shows of itself at a moment.
type sample struct {
	at         float64 // seconds
	rss        float64 // MiB
	goroutines float64
}

// slope is the straight line through the samples, in y per hour, with the standard
// error of its estimate: what the collector's rhythm alone makes of it.
func slope(list []sample, y func(sample) float64) (perHour, err float64) {
	var n, sx, sy, sxx, sxy float64
	for _, s := range list {
		n, sx, sy, sxx, sxy = n+1, sx+s.at, sy+y(s), sxx+s.at*s.at, sxy+s.at*y(s)
	}
	d := n*sxx - sx*sx
	if n < 3 || d == 0 {
		return 0, math.Inf(1)
	}
	k := (n*sxy - sx*sy) / d
	var rest float64
	for _, s := range list {
		r := y(s) - sy/n - k*(s.at-sx/n)
		rest += r * r
	}
	return k * 3600, math.Sqrt(rest/(n-2)*n/d) * 3600
}

func TestFaultsSlope(t *testing.T) {
	var list []sample
	for i := range 100 {
		list = append(list, sample{at: float64(10 * i), rss: 50 + float64(i)/10 + float64(i%2)})
	}
	k, err := slope(list, func(s sample) float64 { return s.rss })
	if math.Abs(k-36) > 1 || math.Abs(err-0.6) > 0.2 { // 0.1 in 10 s; residuals of ±0.5
		t.Errorf("%v ± %v", k, err)
	}
}

// instruments builds the backend and the generator of the benchmarks, which are
// small beside any proxy: with them a machine of two cores carries the soak's rate.
func instruments(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bench")
	build := exec.Command("go", "build", "-o", path, "../../scripts/bench")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// cannedBackend starts the benchmarks' backend and returns its URL.
func cannedBackend(t *testing.T, bench string) string {
	t.Helper()
	c := exec.Command(bench, "backend")
	p := &process{t: t, cmd: c, lines: make(chan string, 16), exited: make(chan struct{})}
	errs, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.exited)
		p.read(errs)
		_ = c.Wait()
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		<-p.exited
	})
	return "http://" + p.find(`^listening on (\S+)$`)[1]
}

// loadResult is what the generator tells at its end.
type loadResult struct {
	RPS        float64 `json:"rps"`
	P50        float64 `json:"p50_us"`
	P99        float64 `json:"p99_us"`
	Late       float64 `json:"late_p99_us"`
	Errors     int     `json:"errors"`
	Refused    int     `json:"refused"`
	Reconnects int     `json:"reconnects"`
}

// A soak at 5 000 searches a second with capture, sanitising and a mirror to a black
// hole: no request fails, all are captured or counted, goroutines stay as many and
// memory does not grow.
func TestFaultsSoak(t *testing.T) {
	length := soakDefault
	if v := os.Getenv("ESSHADOW_SOAK"); v != "" {
		d, err := time.ParseDuration(v)
		if err != nil {
			t.Fatalf("ESSHADOW_SOAK: %v", err)
		}
		length = d
	}
	bench := instruments(t)
	hole := newShadow(t, blackHole)
	p := start(t, proxyArgs(t, cannedBackend(t, bench), t.TempDir()+"/c", "--rotate-age", "10s", "--keep-size", "256MiB",
		"--mirror", "http://"+hole.Addr().String(), "--mirror-out", t.TempDir()+"/run", "--mirror-timeout", "3s")...)
	url, admin := p.listening()
	load := exec.Command(bench, "load", "-addr", strings.TrimPrefix(url, "http://"), "-rate", soakRate, "-duration", length.String())
	var out, errs bytes.Buffer
	load.Stdout, load.Stderr = &out, &errs
	if err := load.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- load.Wait() }()
	t.Cleanup(func() { _ = load.Process.Kill() })
	list := watch(t, admin, length, ended)
	var res loadResult
	if err := json.Unmarshal(out.Bytes(), &res); err != nil {
		t.Fatalf("%v: %s%s", err, out.Bytes(), errs.Bytes())
	}
	t.Logf("%.0f requests a second for %s: p50 %.0f µs, p99 %.0f µs (the generator was late by p99 %.0f µs)", res.RPS, length, res.P50, res.P99, res.Late)
	if res.Errors+res.Refused+res.Reconnects > 0 {
		t.Errorf("%d errors, %d refused, %d connections lost", res.Errors, res.Refused, res.Reconnects)
	}
	flat(t, list, length)
	esshadow(t, nil, "ctl", "status", "--admin", admin).want(t, exitDone)
	_, text := get(t, admin+"/metrics")
	if n := metric(text, "esshadow_proxy_panics_total"); n != 0 {
		t.Errorf("%v panics", n)
	}
	offered, shed := metric(text, "esshadow_mirror_offered_total"), metric(text, `esshadow_mirror_shed_total{reason="breaker_open"}`)
	t.Logf("mirror: offered %.0f, sent %.0f, shed %.0f by the breaker and %.0f in flight", offered, metric(text, "esshadow_mirror_sent_total"),
		shed, metric(text, `esshadow_mirror_shed_total{reason="in_flight"}`))
	if offered < res.RPS*length.Seconds() || shed == 0 {
		t.Errorf("the mirror was offered %.0f requests of %.0f and more, and shed %.0f", offered, res.RPS*length.Seconds(), shed)
	}
	ends(t, p)
	for line := range strings.SplitSeq(p.err(), "\n") {
		if strings.HasPrefix(line, "esshadow capture:") {
			t.Log(line)
		}
	}
}

// watch takes samples until the load has ended, but for the time in which pools and
// caches are filled.
func watch(t *testing.T, admin string, length time.Duration, ended <-chan error) (list []sample) {
	t.Helper()
	begin := time.Now()
	tick := time.NewTicker(length / 60)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("load: %v", err)
			}
			return list
		case now := <-tick.C:
			if now.Sub(begin) < length/4 {
				continue
			}
			_, text := get(t, admin+"/metrics")
			list = append(list, sample{now.Sub(begin).Seconds(), metric(text, "process_resident_memory_bytes") / (1 << 20), metric(text, "go_goroutines")})
		}
	}
}

// flat tells that neither memory nor goroutines grow.
func flat(t *testing.T, list []sample, length time.Duration) {
	t.Helper()
	if len(list) < 10 {
		t.Fatalf("%d samples", len(list))
	}
	first, last := list[0], list[len(list)-1]
	rss, rssErr := slope(list, func(s sample) float64 { return s.rss })
	routines, routinesErr := slope(list, func(s sample) float64 { return s.goroutines })
	t.Logf("memory %.0f to %.0f MiB (%+.0f ± %.0f MiB an hour), goroutines %.0f to %.0f (%+.0f ± %.0f an hour)",
		first.rss, last.rss, rss, rssErr, first.goroutines, last.goroutines, routines, routinesErr)
	// Over a short time the collector's own rhythm is all that a slope shows.
	if last.rss > first.rss*1.25+16 {
		t.Errorf("memory grew from %.0f to %.0f MiB", first.rss, last.rss)
	}
	if length >= 10*time.Minute && rss > 30 {
		t.Errorf("memory grows by %.0f ± %.0f MiB an hour", rss, rssErr)
	}
	if last.goroutines > first.goroutines+16 {
		t.Errorf("goroutines grew from %.0f to %.0f", first.goroutines, last.goroutines)
	}
}
