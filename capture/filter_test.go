package capture

import (
	"math"
	"testing"

	"github.com/esshadow/esshadow/internal/es"
)

func TestFilter(t *testing.T) {
	for _, c := range []struct{ method, target, reason string }{
		{"GET", "/", FilteredInfo},
		{"HEAD", "/?human", FilteredInfo},
		{"POST", "/logs/_search", ""},
		{"GET", "/_search/scroll", ""},
		{"POST", "/logs/_pit?keep_alive=1m", ""},
		{"POST", "/_bulk", ""},
		{"PUT", "/logs/_doc/1", ""},
		{"POST", "/logs/_delete_by_query", ""},
		{"POST", "/_reindex", ""},
		{"GET", "/_cat/indices", FilteredAdminRead},
		{"GET", "/_cluster/health", FilteredAdminRead},
		{"POST", "/logs/_flush", FilteredAdminWrite},
		{"DELETE", "/logs", FilteredDestructive},
		{"POST", "/_no_such_api", ""},
	} {
		if got := filterReason(es.Classify(c.method, c.target)); got != c.reason {
			t.Errorf("%s %s: %q, want %q", c.method, c.target, got, c.reason)
		}
	}
}

func TestSampling(t *testing.T) {
	const conns = 100_000
	for _, ratio := range []float64{0, 0.001, 0.01, 0.25, 0.5, 0.99, 1} {
		n := 0
		for conn := range uint64(conns) {
			in := Sampled(conn, ratio)
			if in {
				n++
			}
			if in != Sampled(conn, ratio) || in && !Sampled(conn, math.Min(1, ratio*1.5)) {
				t.Fatalf("connection %d, ratio %v", conn, ratio)
			}
		}
		// Four standard deviations of a binomial sample.
		if dev := 4 * math.Sqrt(conns*ratio*(1-ratio)); math.Abs(float64(n)-conns*ratio) > dev {
			t.Errorf("ratio %v takes %d of %d", ratio, n, conns)
		}
	}
}
