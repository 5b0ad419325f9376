package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
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

// The ReverseProxy passes on what the generator sends, and ends when told to.
func TestReverseProxyPasses(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	b, err := newBackend("uuid")
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	served := make(chan error, 2)
	go func() {
		runtime.LockOSThread()
		served <- b.serve(ctx)
	}()
	said, end := io.Pipe()
	go func() { served <- runReverse(ctx, []string{"-upstream", b.addr.String()}, end) }()
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	word, err := wordAfter(strings.TrimSpace(line), "listening on ")
	if err != nil {
		t.Fatal(err)
	}
	res, err := plan{addr: netip.MustParseAddrPort(word), requests: searches(8), conns: 4, dur: 200 * time.Millisecond}.run(t.Context())
	if err != nil || res.done == 0 || res.errors+res.refused+res.reconnects > 0 {
		t.Errorf("%v: %+v", err, res)
	}
	stop()
	for range 2 {
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}

func TestTableHasWhatALoadAsks(t *testing.T) {
	m := func(rate uint64, p50, p99, cpu time.Duration) []measure {
		return []measure{{loadResult: loadResult{done: rate, elapsed: time.Second, p50: p50, p99: p99}, cpu: cpu, peak: 20e6}}
	}
	results := map[string][]measure{
		direct: m(5000, 50e3, 100e3, 0), nginx: m(5000, 100e3, 200e3, 20e3), reverse: m(5000, 250e3, 900e3, 100e3),
		captureOff: m(5000, 125e3, 250e3, 40e3), captureOn: m(5000, 200e3, 500e3, 60e3),
	}
	var out bytes.Buffer
	r := pairedRun{out: &out, results: map[string]map[string][]measure{"at a rate": results, "most": results}}
	r.table(load{name: "at a rate", kind: searchRate, rate: 5000})
	r.table(load{name: "most", kind: hugeMost, requests: bulks(1, 2048)})
	for _, want := range []string{
		"| added p50 µs | × nginx's |", "| 150 | 3.00 |", // 200-50 µs, of which nginx adds 50
		"| × nginx | × ReverseProxy | × off |", "| CPU ms/MB |", "| 0.06 |",
	} {
		if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), haproxy) {
		t.Error("a row of what did not run")
	}
}

func TestBudgets(t *testing.T) {
	for in, want := range map[string]float64{"64MiB": 67.108864, "1GiB": 1073.741824, "5s": 0, "": 0} {
		if got, _ := parseSize(in); got != want {
			t.Errorf("%q: %v, want %v", in, got, want)
		}
	}
	b := budgets{queue: 10, sanitising: 20, pooled: 30, bodies: 500, inFlight: 7}
	if b.sum() != 67 {
		t.Errorf("%v", b.sum())
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
