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
