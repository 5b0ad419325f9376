package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A backend and a generator in one process: nothing is lost, and a rate is kept.
func TestLoad(t *testing.T) {
	for _, tc := range []struct {
		name     string
		rate     float64
		requests [][]byte
	}{
		{"as many as fit", 0, searches(8)},
		{"at a rate", 1000, searches(8)},
		{"large", 0, bulks(2, 2048)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			b, err := newBackend("uuid")
			if err != nil {
				t.Fatal(err)
			}
			defer b.close()
			served := make(chan error, 1)
			go func() {
				runtime.LockOSThread()
				served <- b.serve(ctx)
			}()
			began := false
			res, err := plan{
				addr: b.addr, requests: tc.requests, rate: tc.rate, conns: 8,
				warm: 50 * time.Millisecond, dur: 400 * time.Millisecond, begin: func() { began = true },
			}.run(ctx)
			stop()
			if err := <-served; err != nil {
				t.Fatal(err)
			}
			if err != nil || !began || res.errors+res.refused+res.reconnects > 0 {
				t.Fatalf("%v: %+v", err, res)
			}
			if res.done == 0 || res.done > b.served || res.p50 == 0 || res.p99 < res.p50 {
				t.Errorf("%d served: %+v", b.served, res)
			}
			if tc.rate > 0 && (res.perSecond() < tc.rate*0.7 || res.perSecond() > tc.rate*1.3) {
				t.Errorf("%.0f/s, want %.0f/s", res.perSecond(), tc.rate)
			}
		})
	}
}

func TestLoadStopsWithItsContext(t *testing.T) {
	b, err := newBackend("uuid")
	if err != nil {
		t.Fatal(err)
	}
	defer b.close() // which never answers: it is not served
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := (plan{addr: b.addr, requests: searches(1), conns: 4, dur: time.Hour}).run(ctx); err == nil {
		t.Fatal("no error")
	}
}

func TestProcessSpeaksAndEnds(t *testing.T) {
	p, err := startProcess("", "sh", "-c", `echo "listening on 127.0.0.1:7, admin on off" >&2; exec sleep 60`)
	if err != nil {
		t.Fatal(err)
	}
	line, err := p.awaitLine("listening on ")
	if err != nil {
		t.Fatal(err, p.stop())
	}
	if w, err := wordAfter(line, "listening on "); err != nil || w != "127.0.0.1:7" {
		t.Errorf("%q, %v", w, err)
	}
	if _, err := wordAfter(line, "nothing like it "); err == nil {
		t.Error("no error")
	}
	if err := p.stop(); err != nil {
		t.Error(err)
	}
	if _, err := p.awaitLine("never said"); err == nil {
		t.Error("an ended process is waited for")
	}
}

func TestUsageOfAProcess(t *testing.T) {
	p := &process{pids: []int{os.Getpid()}}
	before := p.cpu()
	sum := byte(0)
	for i := range 20_000_000 {
		sum ^= byte(i)
	}
	if used := p.cpu() - before; before <= 0 || used <= 0 || used > time.Minute {
		t.Errorf("%s, then %s more (%d)", before, used, sum)
	}
	if peak := p.peakBytes(); peak < 1<<20 || peak > 16<<30 {
		t.Errorf("peak %d", peak)
	}
	if parent, ok := parentOf(os.Getpid()); !ok || parent != os.Getppid() {
		t.Errorf("parent %d, %t", parent, ok)
	}
}

func TestCountersOfACapture(t *testing.T) {
	page := "# HELP x y\nesshadow_capture_queue_bytes 0\nesshadow_capture_state{state=\"off\"} 0\nesshadow_capture_state{state=\"on\"} 1\n" +
		"esshadow_capture_records_total{reason=\"\",result=\"captured\"} 5\nesshadow_capture_records_total{reason=\"queue_full\",result=\"dropped\"} 3\n"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(page)) }))
	defer s.Close()
	v := &variant{metrics: s.URL}
	got, err := v.settle(t.Context())
	if err != nil || len(got) != 1 || got["queue_full"] != 3 {
		t.Fatalf("%v, %v", got, err)
	}
	if got, err = v.settle(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("again: %v, %v", got, err)
	}
	page = strings.Replace(page, "} 1", "} 0", 1)
	if _, err = v.settle(t.Context()); err == nil {
		t.Error("a capture that is not on is measured")
	}
}
