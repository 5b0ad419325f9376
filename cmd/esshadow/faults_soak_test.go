//go:build faults && linux

package main

import (
	"os"
	"runtime"
	"testing"
	"time"
)

// soakDefault is how long the soak lasts where ESSHADOW_SOAK does not say
// otherwise.
const soakDefault = 30 * time.Second

// sample is what a proxy shows of itself at a moment.
type sample struct {
	at         float64 // seconds
	rss        float64 // MiB
	goroutines float64
}

// slope is the straight line through the samples, in y per hour.
func slope(list []sample, y func(sample) float64) float64 {
	var n, sx, sy, sxx, sxy float64
	for _, s := range list {
		n, sx, sy, sxx, sxy = n+1, sx+s.at, sy+y(s), sxx+s.at*s.at, sxy+s.at*y(s)
	}
	if d := n*sxx - sx*sx; d != 0 {
		return (n*sxy - sx*sy) / d * 3600
	}
	return 0
}

// A soak with capture, and a mirror to a black hole: no request fails, nothing is dropped unseen, goroutines
// stay as many and memory does not grow.
func TestFaultsSoak(t *testing.T) {
	length := soakDefault
	if v := os.Getenv("ESSHADOW_SOAK"); v != "" {
		d, err := time.ParseDuration(v)
		if err != nil {
			t.Fatalf("ESSHADOW_SOAK: %v", err)
		}
		length = d
	}
	e := newEngine(t)
	send(t, "POST", e.url+"/_bulk", bulkBody("items", 0, 4))
	hole := newShadow(t, blackHole)
	p := start(t, proxyArgs(t, e.url, t.TempDir()+"/c", "--rotate-age", "10s", "--keep-size", "64MiB",
		"--mirror", "http://"+hole.Addr().String(), "--mirror-out", t.TempDir()+"/run", "--mirror-timeout", "3s")...)
	url, admin := p.listening()
	begin := time.Now()
	l := newLoad(url, 2*runtime.GOMAXPROCS(0), 1)
	var list []sample
	tick := time.NewTicker(length / 60)
	defer tick.Stop()
	for now := begin; now.Sub(begin) < length; now = <-tick.C {
		_, text := get(t, admin+"/metrics")
		if now.Sub(begin) < length/4 {
			continue // until pools and caches are filled
		}
		list = append(list, sample{now.Sub(begin).Seconds(), metric(text, "process_resident_memory_bytes") / (1 << 20), metric(text, "go_goroutines")})
	}
	took := time.Since(begin)
	l.stop(t)
	first, last := list[0], list[len(list)-1]
	rss, routines := slope(list, func(s sample) float64 { return s.rss }), slope(list, func(s sample) float64 { return s.goroutines })
	t.Logf("%.0f requests a second for %s: memory %.0f to %.0f MiB (%+.0f MiB an hour), goroutines %.0f to %.0f (%+.0f an hour)",
		float64(l.sent.Load())/took.Seconds(), took.Round(time.Second), first.rss, last.rss, rss, first.goroutines, last.goroutines, routines)
	// Over a short time the collector's own rhythm is all that a slope shows.
	if last.rss > first.rss*1.25+16 {
		t.Errorf("memory grew from %.0f to %.0f MiB", first.rss, last.rss)
	}
	if length >= 10*time.Minute && rss > 30 {
		t.Errorf("memory grows by %.0f MiB an hour", rss)
	}
	if last.goroutines > first.goroutines+16 {
		t.Errorf("goroutines grew from %.0f to %.0f", first.goroutines, last.goroutines)
	}
	esshadow(t, nil, "ctl", "status", "--admin", admin).want(t, exitDone)
	_, text := get(t, admin+"/metrics")
	if n := metric(text, "esshadow_proxy_panics_total"); n != 0 {
		t.Errorf("%v panics", n)
	}
	offered, shed := metric(text, "esshadow_mirror_offered_total"), metric(text, `esshadow_mirror_shed_total{reason="breaker_open"}`)
	t.Logf("mirror: offered %.0f, sent %.0f, shed %.0f by the breaker and %.0f in flight", offered, metric(text, "esshadow_mirror_sent_total"),
		shed, metric(text, `esshadow_mirror_shed_total{reason="in_flight"}`))
	if offered+64 < float64(l.sent.Load()) || shed == 0 { // the last ones may be on their way
		t.Errorf("the mirror was offered %.0f of %d requests, and shed %.0f", offered, l.sent.Load(), shed)
	}
	ends(t, p)
}
