package sanitize

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
)

// bulkLog makes a _bulk body of n log-like documents with words of a vocabulary
// of the size of a natural one.
func bulkLog(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 4000)
	for i := range words {
		b := make([]byte, 2+r.IntN(8))
		for j := range b {
			b[j] = 'a' + byte(r.IntN(26))
		}
		words[i] = string(b)
	}
	zipf := rand.NewZipf(r, 1.2, 4, uint64(len(words)-1))
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "{\"index\":{\"_index\":\"logs-app-2024.05.01\",\"_id\":\"doc-%d\"}}\n", i)
		out.WriteString(`{"@timestamp":"2024-05-01T12:00:00.123Z","level":"info","message":"`)
		for j := range 12 + r.IntN(20) {
			if j > 0 {
				out.WriteByte(' ')
			}
			out.WriteString(words[zipf.Uint64()])
		}
		fmt.Fprintf(&out, "\",\"host\":{\"name\":\"web%d.example.test\",\"ip\":\"10.1.%d.%d\"},\"status\":%d,\"took\":%d.%03d,\"user\":\"u%d\"}\n",
			r.IntN(40), r.IntN(4), r.IntN(255), 200+r.IntN(4)*100, r.IntN(900), r.IntN(1000), r.IntN(100000))
	}
	return out.String()
}

func benchmark(b *testing.B, cfg Config, xs []*capture.Exchange) {
	cfg.RequestCache = 0 // else the second round would look at headers and answers alone
	w := newWorker(b, cfg)
	var rec capture.Record
	var size int64
	for _, x := range xs {
		if drop := w.Sanitize(&rec, x); drop == string(dropPanic) {
			b.Fatal(drop)
		}
		size += int64(len(x.Body) + len(x.Target))
	}
	b.SetBytes(size)
	b.ReportAllocs()
	cpu := newCPUClock()
	for b.Loop() {
		for _, x := range xs {
			w.Sanitize(&rec, x)
		}
	}
	cpu.report(b, size)
}

// cpuClock measures what this process uses of the processors, which a busy
// machine disturbs less than it does the wall clock.
type cpuClock time.Duration

func newCPUClock() cpuClock { return cpuClock(cpuTime()) }

func (c cpuClock) report(b *testing.B, size int64) {
	if used := cpuTime() - time.Duration(c); used > 0 {
		b.ReportMetric(float64(size)*float64(b.N)/1e6/used.Seconds(), "MB/cpu-s")
	}
}

func BenchmarkBulk(b *testing.B) {
	xs := []*capture.Exchange{exchange("POST", "/_bulk", bulkLog(2000), "Content-Type", "application/x-ndjson")}
	off := false
	for _, name := range []string{PresetFidelity, PresetStrict, PresetECSLogs} {
		b.Run(name, func(b *testing.B) { benchmark(b, preset(name), xs) })
	}
	cfg := preset(PresetFidelity)
	cfg.Postcheck = &off
	b.Run("without post-check", func(b *testing.B) { benchmark(b, cfg, xs) })
	b.Run("fidelity with schema", func(b *testing.B) { benchmark(b, withLogSchema(b), xs) })
}

// withLogSchema is preset fidelity with the fields of bulkLog's documents.
func withLogSchema(b testing.TB) Config {
	s, err := es.ParseSchema([]byte(`{"logs-app-2024.05.01":{"mappings":{"properties":{"@timestamp":{"type":"date"},"level":{"type":"keyword"},
		"message":{"type":"text"},"host":{"properties":{"name":{"type":"keyword"},"ip":{"type":"ip"}}},"status":{"type":"short"},"took":{"type":"float"},
		"user":{"type":"text","fields":{"keyword":{"type":"keyword","ignore_above":256}}}}}}}`), nil)
	if err != nil {
		b.Fatal(err)
	}
	c := preset(PresetFidelity)
	c.Snapshot = &s
	return c
}

func BenchmarkSearch(b *testing.B) {
	var xs []*capture.Exchange
	for _, r := range corpus(b, "search_bodies.ndjson") {
		xs = append(xs, r.exchange(b))
	}
	for _, name := range []string{PresetFidelity, PresetStrict} {
		b.Run(name, func(b *testing.B) { benchmark(b, preset(name), xs) })
	}
}
