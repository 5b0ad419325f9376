package sanitize

import (
	"bufio"
	"encoding/json"
	"net/netip"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/testenv"
)

// TestConsistencyCases: where the corpus says that tokens change a query's hits,
// the record is not called exact, and where they do not, it is not called
// broken. Fields whose analyser the sanitiser cannot see are left out.
func TestConsistencyCases(t *testing.T) {
	f, err := os.Open(testenv.Corpus(t, "consistency_cases.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	w := newWorker(t, preset(PresetFidelity))
	n, cautious := 0, 0
	for in := bufio.NewScanner(f); in.Scan(); {
		var c struct {
			Name  string
			Field struct {
				IndexAs string `json:"index_as"`
			}
			Query map[string]any
			Same  []string `json:"same_hits_with"`
		}
		if err := json.Unmarshal(in.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(c.Field.IndexAs, "ngram") || strings.HasPrefix(c.Name, "zh-std") {
			continue
		}
		n++
		body, err := json.Marshal(map[string]any{"query": elastic(c.Query)})
		if err != nil {
			t.Fatal(err)
		}
		var rec capture.Record
		if drop := w.Sanitize(&rec, exchange("POST", "/i/_search", string(body))); drop != "" {
			t.Errorf("%s: %s", c.Name, drop)
			continue
		}
		switch same := slices.Contains(c.Same, "tokens"); {
		case !same && rec.Fidelity != capture.Broken:
			t.Errorf("%s: %s: called %s (%s)", c.Name, body, rec.Fidelity, rec.FidWhy)
		case same && rec.Fidelity == capture.Broken:
			// "*Berg" keeps its hits on these documents, but not on "Hanberg".
			if cautious++; c.Name != "kw-wild-suffix" {
				t.Errorf("%s: %s: called broken (%s)", c.Name, body, rec.FidWhy)
			}
		}
	}
	t.Logf("%d cases, %d more cautious than need be", n, cautious)
	if n < 15 {
		t.Errorf("%d cases looked at", n)
	}
}

// elastic is a query of the cases as the engine takes it.
func elastic(q map[string]any) map[string]any {
	for kind, v := range q {
		switch kind {
		case "match_and":
			return map[string]any{"match": map[string]any{"f": map[string]any{"query": v, "operator": "and"}}}
		case "range":
			b := v.([]any)
			return map[string]any{"range": map[string]any{"f": map[string]any{"gte": b[0], "lte": b[1]}}}
		case "exists":
			return map[string]any{"exists": map[string]any{"field": "f"}}
		default:
			return map[string]any{kind: map[string]any{"f": v}}
		}
	}
	return nil
}

// TestExactIsExact: on keyword fields, a query that is called exact finds in
// the sanitised documents as many as it found in the originals. Random
// documents and queries of fragments that are hard on purpose.
func TestExactIsExact(t *testing.T) {
	part := rapid.SampledFrom([]string{
		"anna", "Anna", "ANN", "a", "berg", "7", "42", "2024-05-01", "2024-05-02", "10.0.0.1", "10.0.0.2", "10.0", "北京", "北京市", "the",
		"@", "-", ".", " ", "/", ":", "x1", "8f14e45f-ceea-467f-9a0c-0123456789ab", "8f14e45f", "2001:db8::1", "2001", "é",
	})
	text := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(part, 1, 5).Draw(t, "parts"), "") })
	for _, name := range []string{PresetFidelity, PresetStrict} {
		w := newWorker(t, preset(name))
		exactOnes := 0
		rapid.Check(t, func(t *rapid.T) {
			docs := rapid.SliceOfN(text, 1, 8).Draw(t, "docs")
			kind := rapid.SampledFrom([]string{"term", "prefix", "wildcard"}).Draw(t, "kind")
			lit := text.Draw(t, "literal")
			if rapid.Bool().Draw(t, "of a document") {
				lit = docs[0]
			}
			switch n := len([]rune(lit)); kind {
			case "prefix":
				lit = string([]rune(lit)[:rapid.IntRange(1, n).Draw(t, "cut")])
			case "wildcard":
				i := rapid.IntRange(0, n).Draw(t, "from")
				j := rapid.IntRange(i, n).Draw(t, "to")
				lit = string([]rune(lit)[:i]) + "*" + string([]rune(lit)[j:])
			}
			body, _ := json.Marshal(map[string]any{"query": map[string]any{kind: map[string]any{"f": lit}}})
			var rec capture.Record
			if drop := w.Sanitize(&rec, exchange("POST", "/i/_search", string(body))); drop != "" {
				t.Fatalf("%s: %s", body, drop)
			}
			if rec.Fidelity != capture.Exact {
				return
			}
			exactOnes++
			var out struct {
				Query map[string]map[string]string
			}
			if err := json.Unmarshal(rec.Body, &out); err != nil {
				t.Fatal(err)
			}
			became := out.Query[kind]["f"]
			for _, d := range docs {
				s := string(w.text.text(nil, []byte(d)))
				if matches(kind, lit, d) != matches(kind, became, s) {
					t.Fatalf("%s %q on %q: %v; sanitised %q on %q: %v", kind, lit, d, matches(kind, lit, d), became, s, matches(kind, became, s))
				}
			}
		})
		if exactOnes < 20 {
			t.Errorf("%s: only %d queries were exact", name, exactOnes)
		}
	}
}

func matches(kind, query, value string) bool {
	switch kind {
	case "term":
		return query == value
	case "prefix":
		return strings.HasPrefix(value, query)
	}
	r := strings.NewReplacer(`[`, `\[`, `/`, "\x00")
	ok, err := path.Match(r.Replace(query), strings.ReplaceAll(value, "/", "\x00"))
	return err == nil && ok
}

// TestNetworksStayNetworks: an address is in a block exactly if their
// pseudonyms are.
func TestNetworksStayNetworks(t *testing.T) {
	d := newWorker(t, preset(PresetFidelity)).text
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "address")
		a := netip.AddrFrom4([4]byte(b))
		bits := rapid.IntRange(1, 32).Draw(t, "bits")
		p, _ := netip.AddrFrom4([4]byte{b[0] ^ byte(rapid.IntRange(0, 1).Draw(t, "other")), b[1], b[2], b[3]}).Prefix(bits)
		q, err := netip.ParsePrefix(string(d.text(nil, []byte(p.String()))))
		if err != nil {
			t.Fatal(err)
		}
		if p.Contains(a) != q.Contains(d.mapAddr(a)) {
			t.Fatalf("%s in %s, %s in %s", a, p, d.mapAddr(a), q)
		}
	})
}
