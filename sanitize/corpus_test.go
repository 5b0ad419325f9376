package sanitize

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/capture"
)

// TestCoverage sanitises every request of the corpus and holds the share that
// is captured.
func TestCoverage(t *testing.T) {
	for _, c := range []struct {
		file, preset string
		share        float64
	}{
		{"search_bodies.ndjson", PresetFidelity, 0.97},
		{"search_bodies.ndjson", PresetStrict, 0.90},
		{"bulk_bodies.ndjson", PresetFidelity, 0.995}, // one has an action that does not exist,
		{"bulk_bodies.ndjson", PresetStrict, 0.98},
		{"other_requests.ndjson", PresetFidelity, 0.96},
		{"other_requests.ndjson", PresetStrict, 0.95},
	} {
		t.Run(c.file+" "+c.preset, func(t *testing.T) {
			w := newWorker(t, preset(c.preset))
			drops, fids := map[string]int{}, map[string]int{}
			kinds := map[string]int{}
			n, ok := 0, 0
			for _, r := range corpus(t, c.file) {
				n++
				var rec capture.Record
				drop := w.Sanitize(&rec, r.exchange(t))
				if drop != "" {
					drops[drop]++
					kinds[r.Kind+" "+drop]++
					if testing.Verbose() && !strings.Contains(drop, "query_language") {
						t.Logf("%s: %s %s %.300s", drop, r.Method, r.Path, r.text(t))
					}
					continue
				}
				ok++
				fids[rec.Fidelity+" "+rec.FidWhy]++
				sameFrame(t, r.text(t), &rec)
			}
			got := float64(ok) / float64(n)
			t.Logf("%s %s: %d of %d captured (%.1f %%), dropped %v, fidelity %v", c.file, c.preset, ok, n, 100*got, drops, fids)
			if c.file == "other_requests.ndjson" {
				for _, k := range slices.Sorted(maps.Keys(kinds)) {
					t.Logf("  %s: %d", k, kinds[k])
				}
			}
			if got < c.share {
				t.Errorf("captured %.3f, want at least %.3f", got, c.share)
			}
		})
	}
}

// sameFrame checks that what came out is JSON where JSON came in, line by line.
func sameFrame(t *testing.T, in string, rec *capture.Record) {
	t.Helper()
	out := string(rec.Body)
	if strings.Count(out, "\n") != strings.Count(in, "\n") && (rec.Op == "bulk" || rec.Op == "msearch") {
		t.Errorf("%s: %d lines became %d", rec.Target, strings.Count(in, "\n"), strings.Count(out, "\n"))
	}
	inLines, outLines := strings.Split(in, "\n"), strings.Split(out, "\n")
	if len(inLines) != len(outLines) {
		inLines, outLines = []string{in}, []string{out}
	}
	for i := range inLines {
		if json.Valid([]byte(inLines[i])) && !json.Valid([]byte(outLines[i])) {
			t.Errorf("%s: line %d is no JSON any more: %s", rec.Target, i+1, outLines[i])
		}
	}
}

// keptByDesign are the cases in which preset fidelity keeps what the case marks:
// numbers, dates, places, vectors and index names.
var keptByDesign = map[string]bool{
	"num-bigint": true, "q-range-birthdate": true, "geo-forms": true, "q-knn-vector": true,
	"url-index-name": true, "url-index-list": true, "bulk-action-line": true,
}

// TestCanaries passes every canary case through the sanitiser and looks for the
// marks in the record, decoded in all ways.
func TestCanaries(t *testing.T) {
	for _, name := range []string{PresetStrict, PresetFidelity} {
		t.Run(name, func(t *testing.T) {
			w := newWorker(t, preset(name))
			leaks, dropped, absent := 0, []string{}, 0
			for _, r := range corpus(t, "canary_cases.ndjson") {
				x := r.exchange(t)
				if r.Direction == "response" {
					x.Status, x.Answer, x.AnswerSize = r.Status, x.Body, x.BodySize
					x.AnswerType, x.AnswerCoding = r.Headers["Content-Type"], r.Headers["Content-Encoding"]
					x.Body, x.BodySize, x.Header = nil, 0, nil
				}
				var rec capture.Record
				drop := w.Sanitize(&rec, x)
				if drop != "" {
					dropped = append(dropped, r.Name+":"+drop)
					if !slices.Contains(Reasons(), drop) {
						t.Errorf("%s: reason %q is not listed", r.Name, drop)
					}
					continue
				}
				if r.Expect == "dropped" {
					t.Errorf("%s: must be dropped", r.Name)
				}
				absent++
				if mark := findMark(t, &rec, r.Canaries); mark != "" && !(name == PresetFidelity && keptByDesign[r.Name]) {
					leaks++
					t.Errorf("%s (%s): %q is in %s %s %s %v", r.Name, r.Position, mark, rec.Method, rec.Target, rec.Body, rec.Header)
				}
			}
			t.Logf("%s: %d absent, %d dropped, %d leaks; dropped: %s", name, absent, len(dropped), leaks, strings.Join(dropped, " "))
		})
	}
}

// findMark looks for a mark in everything that the record holds.
func findMark(t *testing.T, rec *capture.Record, marks []string) string {
	all, err := json.Marshal(rec)
	if err != nil {
		t.Fatal(err)
	}
	all = append(append(append(all, ' '), rec.Target...), rec.Body...)
	texts := decodings(string(all), 3)
	for _, m := range marks {
		for _, s := range texts {
			if strings.Contains(strings.ToLower(s), strings.ToLower(m)) {
				return m
			}
		}
	}
	return ""
}

// decodings gives s, and what is in it in JSON strings, percent-encoding and
// base64, to a depth.
func decodings(s string, depth int) []string {
	out := []string{s}
	if depth == 0 {
		return out
	}
	if p, err := url.QueryUnescape(s); err == nil && p != s {
		out = append(out, decodings(p, depth-1)...)
	}
	if p, err := url.PathUnescape(s); err == nil && p != s {
		out = append(out, decodings(p, depth-1)...)
	}
	var joined []byte
	dec := json.NewDecoder(strings.NewReader(s))
	for {
		tok, err := dec.Token()
		if err != nil {
			break
		}
		if str, ok := tok.(string); ok {
			joined = append(append(joined, str...), ' ')
		}
	}
	if len(joined) > 0 && !bytes.Equal(joined, []byte(s)) && depth > 1 {
		out = append(out, decodings(string(joined), depth-1)...)
	}
	for _, word := range strings.FieldsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("+/-_", r))
	}) {
		if len(word) < 8 {
			continue
		}
		for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			for off := range 4 {
				if off < len(word) {
					b, _ := enc.DecodeString(word[off:][:len(word[off:])/4*4])
					if len(b) > 4 {
						out = append(out, string(b))
					}
				}
			}
		}
	}
	return out
}

// TestEdgeCases passes the requests that broke others: nothing panics, what is
// captured is framed as it came.
func TestEdgeCases(t *testing.T) {
	for _, name := range []string{PresetStrict, PresetFidelity} {
		w := newWorker(t, preset(name))
		for _, r := range corpus(t, "edge_cases.jsonl") {
			var rec capture.Record
			drop := w.Sanitize(&rec, r.exchange(t))
			t.Logf("%s %s: %q %s %.200s", name, r.ID, drop, rec.Target, rec.Body)
			if drop == string(dropPanic) {
				t.Errorf("%s: panic", r.ID)
			}
			if drop == "" {
				sameFrame(t, r.text(t), &rec)
			}
		}
	}
}
