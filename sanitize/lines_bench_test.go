package sanitize

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/size"
)

// BenchmarkLines measures the whole way of a request on one core: from the
// Exchange to the line as it stands in a segment. The caches are warm: all of it
// has been sanitised once before. `make bench` makes a table of it, for which
// the names matter: texts/what is done with them.
func BenchmarkLines(b *testing.B) {
	b.Run("search bodies", func(b *testing.B) {
		var xs []*capture.Exchange
		for _, r := range corpus(b, "search_bodies.ndjson") {
			xs = append(xs, r.exchange(b))
		}
		benchmarkTexts(b, xs, len(xs), PresetFidelity, PresetStrict)
	})
	b.Run("generated searches", func(b *testing.B) {
		var xs []*capture.Exchange
		for _, body := range searchLog(2000) {
			xs = append(xs, exchange("POST", "/logs/_search", body, "Content-Type", "application/json"))
		}
		benchmarkTexts(b, xs, len(xs), PresetFidelity, PresetStrict)
	})
	b.Run("100 MB of bulks", func(b *testing.B) {
		xs, docs := bulkRequests(100_000_000, 1_000_000)
		benchmarkTexts(b, xs, docs, PresetFidelity, PresetStrict)
	})
}

// benchmarkTexts does with the requests, in which are that many documents, what
// the table has a row for, and lets the peers do what they do.
func benchmarkTexts(b *testing.B, xs []*capture.Exchange, documents int, presets ...string) {
	for _, name := range presets {
		cfg := preset(name)
		cfg.RequestCache = 0
		b.Run(name, func(b *testing.B) { benchmarkLines(b, cfg, xs, documents) })
		if len(xs) == documents { // requests that come again as they are: searches
			cfg := cfg
			cfg.RequestCache = 64 * size.MiB
			b.Run(name+", each remembered", func(b *testing.B) { benchmarkLines(b, cfg, xs, documents) })
		}
	}
	for _, name := range presets {
		off, cfg := false, preset(name)
		cfg.Postcheck, cfg.RequestCache = &off, 0
		b.Run(name+" without post-check", func(b *testing.B) { benchmarkLines(b, cfg, xs, documents) })
	}
	peers(b, texts(xs))
}

// texts are the bodies, and those of bulks line by line, without what is no JSON
// to a library: an empty body, or one that only Elasticsearch takes.
func texts(xs []*capture.Exchange) (out [][]byte) {
	for _, x := range xs {
		all := [][]byte{x.Body}
		if strings.HasSuffix(x.Target, "/_bulk") {
			all = bytes.Split(bytes.TrimSpace(x.Body), []byte("\n"))
		}
		for _, t := range all {
			if json.Valid(t) {
				out = append(out, t)
			}
		}
	}
	return out
}

// benchmarkLines sanitises and encodes. What the policy drops, it drops early:
// only what is captured counts.
func benchmarkLines(b *testing.B, cfg Config, xs []*capture.Exchange, documents int) {
	w := newWorker(b, cfg)
	var rec capture.Record
	var line []byte
	var size int64
	var captured []*capture.Exchange
	for _, x := range xs {
		switch drop := w.Sanitize(&rec, x); drop {
		case string(dropPanic):
			b.Fatal(drop)
		case "":
			captured = append(captured, x)
			size += int64(len(x.Body))
			line = capture.AppendRecord(line[:0], &rec)
		}
	}
	documents -= len(xs) - len(captured)
	if len(captured)*10 < len(xs)*9 {
		b.Fatalf("%d of %d requests are captured", len(captured), len(xs))
	}
	var before, after runtime.MemStats
	b.SetBytes(size)
	runtime.ReadMemStats(&before)
	cpu := newCPUClock()
	for b.Loop() {
		for _, x := range captured {
			if drop := w.Sanitize(&rec, x); drop != "" {
				b.Fatal(drop)
			}
			line = capture.AppendRecord(line[:0], &rec)
		}
	}
	cpu.report(b, size)
	runtime.ReadMemStats(&after)
	each := float64(b.N) * float64(documents)
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/each, "B/doc")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/each, "allocs/doc")
}
