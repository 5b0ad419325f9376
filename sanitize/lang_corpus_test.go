package sanitize

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/capture"
)

// TestLanguageCoverage holds the share of the corpus's requests in the query
// languages that is captured.
func TestLanguageCoverage(t *testing.T) {
	for _, name := range []string{PresetStrict, PresetFidelity} {
		t.Run(name, func(t *testing.T) {
			w := newWorker(t, preset(name))
			all, ok, drops, fids := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
			for _, r := range corpus(t, "other_requests.ndjson") {
				kind, _, _ := strings.Cut(r.Kind, "_")
				if !slices.Contains([]string{"esql", "sql", "eql", "ppl"}, kind) {
					continue
				}
				all[kind]++
				var rec capture.Record
				drop := w.Sanitize(&rec, r.exchange(t))
				if drop != "" {
					drops[kind+" "+drop]++
					if testing.Verbose() {
						t.Logf("%s: %s %.400s", drop, r.Path, r.text(t))
					}
					continue
				}
				ok[kind]++
				fids[rec.Fidelity+" "+rec.FidWhy]++
				if len(r.text(t)) > 0 && !json.Valid(rec.Body) {
					t.Errorf("%s became %s", r.text(t), rec.Body)
				}
				if testing.Verbose() && name == PresetStrict {
					t.Logf("%s\n  %s\n  %s %s", r.text(t), rec.Body, rec.Fidelity, rec.FidWhy)
				}
			}
			for _, kind := range slices.Sorted(maps.Keys(all)) {
				t.Logf("%s %s: %d of %d captured", name, kind, ok[kind], all[kind])
				if float64(ok[kind]) < 0.9*float64(all[kind]) {
					t.Errorf("%s: captured %d of %d, want nine tenths", kind, ok[kind], all[kind])
				}
			}
			t.Logf("dropped %v, fidelity %v", drops, fids)
		})
	}
}
