package main

import (
	"context"
	"io"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/replay"
	"github.com/esshadow/esshadow/replay/mirror"
)

// few is a source of a few searches.
type few struct{ left int }

func (f *few) Next() (*capture.Record, error) {
	if f.left--; f.left < 0 {
		return nil, io.EOF
	}
	return &capture.Record{Time: 1, Conn: uint64(f.left), Op: "search", Method: "POST", Target: "/i/_search", Status: 200, Body: []byte(`{}`), Took: 5}, nil
}

// promptly answers at once.
type promptly struct{}

func (promptly) Send(_ *replay.Shot, ans *replay.Answer) {
	now := time.Now()
	ans.Sent, ans.First, ans.Done = now, now, now
	ans.Status, ans.Type = 200, "application/json"
	ans.Body = []byte(`{"took":1,"timed_out":false,"_shards":{"total":1,"successful":1,"skipped":0,"failed":0},"hits":{"total":{"value":0,"relation":"eq"},"hits":[]}}`)
}
func (promptly) Release(*replay.Answer) {}
func (promptly) Abort()                 {}

// shown is what /metrics says of a collector.
func shown(t *testing.T, c prometheus.Collector) string {
	t.Helper()
	reg := prometheus.NewRegistry()
	if err := reg.Register(c); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	promhttp.HandlerFor(reg, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

// A scrape shows no request as answered, timed or compared that it does not count as
// sent, whenever it comes: between judging and counting an outcome, after it, and
// where an outcome comes while the counts are being asked for.
func TestNothingIsTimedBeforeItIsSent(t *testing.T) {
	r, m := newReplayMetrics(), newMirrorMetrics()
	for name, x := range map[string]struct {
		prometheus.Collector
		judge  func(*replay.Outcome) []string
		count  func(*replay.Outcome)
		follow func(func() replay.Stats)
	}{
		"esshadow_replay_": {r, r.judge, r.count, r.follow},
		"esshadow_mirror_": {m, m.judge, m.count, func(stats func() replay.Stats) {
			m.stats = func() mirror.Stats { return mirror.Stats{Sent: stats().Sent} }
		}},
	} {
		look := func(when string) {
			text := shown(t, x)
			sent := metric(text, name+"sent_total")
			for _, timed := range []string{"lag_seconds_count", "response_seconds_count", "source_seconds_count", "compared_total"} {
				if n := metricSum(text, name+timed); n > sent {
					t.Errorf("%s: %s%s is %v, sent are %v", when, name, timed, n, sent)
				}
			}
		}
		e := replay.New(replay.Default(), replay.Deps{
			Source: &few{left: 3}, Target: promptly{},
			Judge: func(o *replay.Outcome) []string {
				kinds := x.judge(o)
				look("judged")
				return kinds
			},
			Counted: func(o *replay.Outcome) { x.count(o); look("counted") },
		})
		x.follow(e.Stats)
		ctx, stop := context.WithTimeout(t.Context(), patience)
		defer stop()
		if err := e.Run(ctx); err != nil {
			t.Fatal(err)
		}
		x.follow(func() replay.Stats {
			s := e.Stats()
			x.judge(&replay.Outcome{Sent: 1, Done: int64(time.Second)})
			x.count(&replay.Outcome{Sent: 1, Done: int64(time.Second)})
			return s
		})
		look("meanwhile")
		x.follow(e.Stats)
		if text := shown(t, x); metric(text, name+"sent_total") != 3 || metric(text, name+"response_seconds_count") != 4 ||
			metric(text, name+`response_seconds_bucket{le="65.536"}`) != 4 || metric(text, name+`response_seconds_bucket{le="0.512"}`) != 3 {
			t.Errorf("in the end:\n%s", text)
		}
	}
}
