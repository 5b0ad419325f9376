package main

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/esshadow/esshadow/proxy"
	"github.com/esshadow/esshadow/replay"
	"github.com/esshadow/esshadow/replay/diff"
)

// replayMetrics shows an Engine's Stats, and judges and times its outcomes as they
// come.
type replayMetrics struct {
	stats atomic.Pointer[func() replay.Stats] // nil before the run

	mu            sync.Mutex // guards what is timed
	lag, response seconds

	sending           sending
	planned, inFlight *prometheus.Desc
}

func newReplayMetrics() *replayMetrics {
	const f family = "esshadow_replay_"
	return &replayMetrics{
		sending:  f.sending("Records that a guard did not let pass.", "Requests that were due and not sent."),
		lag:      f.seconds("lag_seconds", "From when a request was due to its sending."),
		response: f.seconds("response_seconds", "From when a request was due to the last byte of its answer."),
		planned:  f.desc("planned_total", "Requests that were due."),
		inFlight: f.desc("in_flight", "Requests that are due and not done."),
	}
}

// follow shows the counts of a run.
func (m *replayMetrics) follow(stats func() replay.Stats) { m.stats.Store(&stats) }

// judge is the engine's Judge: it names the kinds of difference of an outcome. One
// goroutine at a time calls it.
func (m *replayMetrics) judge(o *replay.Outcome) []string {
	if o.Sent == 0 || o.Refused != "" || o.Shed != "" || o.Err != "" {
		return nil
	}
	return kindsOf(compare(o))
}

// count is the engine's Counted.
func (m *replayMetrics) count(o *replay.Outcome) {
	if o.Sent == 0 || o.Refused != "" || o.Shed != "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lag.observe(o.Sent - o.Planned)
	if o.Err == "" {
		m.response.observe(o.Done - o.Planned)
	}
}

// putTimes puts what is timed so far.
func (m *replayMetrics) putTimes(to scraped) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lag.put(to)
	m.response.put(to)
}

// kindsOf are the kinds of difference, each once.
func kindsOf(v diff.Verdict) (kinds []string) {
	for _, f := range v.Findings {
		if !slices.Contains(kinds, string(f.Kind)) {
			kinds = append(kinds, string(f.Kind))
		}
	}
	return kinds
}

// Describe implements prometheus.Collector.
func (m *replayMetrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range append(m.sending.all(), m.planned, m.inFlight, m.lag.desc, m.response.desc) {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (m *replayMetrics) Collect(ch chan<- prometheus.Metric) {
	to := scraped(ch)
	m.putTimes(to) // before the counts, which are ahead of the times
	s := replay.Stats{}
	if stats := m.stats.Load(); stats != nil {
		s = (*stats)()
	}
	to.count(m.planned, s.Planned)
	m.sending.collect(to, &s.Counts)
	to.gauge(m.inFlight, float64(s.InFlight))
}

// serveReplay serves /metrics and /healthz on ln until end is called.
func serveReplay(ctx context.Context, ln net.Listener, m *replayMetrics) (end func() error, err error) {
	reg := newRegistry(readBuild())
	if err := reg.Register(m); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	proxy.HandleAlive(mux, reg)
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go func() { served <- proxy.ServeAdmin(ctx, ln, mux, nil) }()
	return func() error {
		stop()
		return <-served
	}, nil
}
