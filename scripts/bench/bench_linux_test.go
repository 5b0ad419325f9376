package main

import (
	"context"
	"runtime"
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
