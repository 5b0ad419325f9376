package es

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/internal/testenv"
)

// corpusLine is one request of the corpus.
type corpusLine struct {
	Method string          `json:"method"`
	Path   string          `json:"path"`
	Body   json.RawMessage `json:"body"`
}

func readCorpus(t testing.TB, file string) []corpusLine {
	t.Helper()
	in, err := os.Open(testenv.Corpus(t, file))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var lines []corpusLine
	r := bufio.NewReader(in)
	for {
		b, err := r.ReadBytes('\n')
		if len(b) > 1 {
			var l corpusLine
			if err := json.Unmarshal(b, &l); err != nil {
				t.Fatal(err)
			}
			if len(l.Body) > 0 && l.Body[0] == '"' {
				var s string
				if err := json.Unmarshal(l.Body, &s); err != nil {
					t.Fatal(err)
				}
				l.Body = []byte(s)
			}
			if string(l.Body) == "null" {
				l.Body = nil
			}
			lines = append(lines, l)
		}
		if err != nil {
			return lines
		}
	}
}

func TestFingerprintCorpus(t *testing.T) {
	for _, file := range []string{"search_bodies.ndjson", "bulk_bodies.ndjson", "other_requests.ndjson"} {
		var f Fingerprinter
		fine, coarse, bare := map[string]string{}, map[string]int{}, map[string]bool{}
		other, bad, n := 0, 0, 0
		for _, l := range readCorpus(t, file) {
			r := Classify(l.Method, l.Path)
			s := f.Fingerprint(r.Op, r.Index, r.Query, l.Body)
			if again := Fingerprint(r.Op, r.Index, r.Query, l.Body); again != s {
				t.Fatalf("%+v and then %+v", s, again)
			}
			n++
			bare[f.Fingerprint(r.Op, "", r.Query, l.Body).ID] = true
			fine[s.ID] = s.Text
			coarse[s.Coarse]++
			if strings.Contains(s.Text, "other#") {
				other++
			}
			if strings.HasSuffix(s.Text, "unreadable") {
				bad++
			}
			if len(s.Text) > MaxShapeText {
				t.Errorf("text of %d bytes", len(s.Text))
			}
			if os.Getenv("ESSHADOW_SHOW") != "" {
				t.Log(s.Text)
			}
		}
		t.Logf("%s: %d requests, %d shapes (%d without the index), %d coarse, %d with a clause that is not known, %d unreadable", file, n, len(fine), len(bare), len(coarse), other, bad)
		if len(fine) < 10 || len(coarse) >= len(fine) || len(fine) > n*85/100 && file == "search_bodies.ndjson" {
			t.Errorf("%s: %d fine and %d coarse shapes of %d", file, len(fine), len(coarse), n)
		}
	}
}

// marked returns v with every string that is a value replaced by mark, and
// every number by 9876543. What names a field, and what is a unit of time, stays.
func marked(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			out[k] = marked(k, x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = marked(key, x)
		}
		return out
	case string:
		switch key {
		case "field", "fields", "path", "type", "sort", "default_field", "index", "_index", "child_type", "parent_type":
			return v
		}
		return mark
	case float64:
		return 9876543
	}
	return v
}

// Real bodies: with their members in another order they have the same shape,
// and with every value replaced by a mark the mark is not in it.
func TestFingerprintCorpusHoldsNoValue(t *testing.T) {
	for _, file := range []string{"search_bodies.ndjson", "other_requests.ndjson"} {
		var f Fingerprinter
		for _, l := range readCorpus(t, file) {
			r := Classify(l.Method, l.Path)
			var v any
			if json.Unmarshal(l.Body, &v) != nil {
				continue
			}
			sorted, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if r.Op == OpSearch {
				a, b := f.Fingerprint(r.Op, r.Index, r.Query, l.Body), f.Fingerprint(r.Op, r.Index, r.Query, sorted)
				if a != b {
					t.Errorf("%s\n%s\n%s", l.Body, a.Text, b.Text)
				}
			}
			if body, err := json.Marshal(marked("", v)); err != nil {
				t.Fatal(err)
			} else if f.Fingerprint(r.Op, r.Index, "", body); strings.Contains(string(f.out), mark) || strings.Contains(string(f.out), "987654") {
				t.Errorf("%s\n%s", body, f.out)
			}
		}
	}
}
