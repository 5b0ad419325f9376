package sanitize

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/sandbox"
)

func recorded() time.Time { return time.Date(2024, 3, 15, 12, 34, 56, 789e6, time.UTC) }

// at is what a worker makes of a request of a moment.
func at(t testing.TB, w *Worker, when time.Time, target, body string) capture.Record {
	t.Helper()
	x := exchange("POST", target, body)
	if !when.IsZero() {
		x.Time = when.UnixNano()
	}
	var rec capture.Record
	if drop := w.Sanitize(&rec, x); drop != "" {
		t.Fatalf("%s %s: %s", target, body, drop)
	}
	return rec
}

func TestNowIsAnchored(t *testing.T) {
	rules := "version: 1\npreset: strict\nfields:\n - {match: kept, action: keep, why: time}\n - {match: born, action: date-shift, domain: people, unit: day}\ndomains: {people: {}}\n"
	w := configured(t, rules)
	moved := func(d *domain) string {
		return recorded().AddDate(0, 0, d.days).Format(anchorLayout)
	}
	now, born := moved(w.text), moved(w.planFor([]byte("born")).d)
	lucene := strings.ReplaceAll(now, ":", `\\:`)
	form := `,"format":"strict_date_optional_time"`
	for _, c := range []struct{ name, in, out, fid, why string }{
		{"range", `{"query":{"range":{"d":{"gte":"now-15m","lt":"now"}}}}`, `{"query":{"range":{"d":{"gte":"` + now + `||-15m"` + form + `,"lt":"` + now + `"}}}}`, "approx", "now"},
		{"rounded", `{"query":{"range":{"d":{"gte":"now-1d/d","lt":"now/h"}}}}`, `{"query":{"range":{"d":{"gte":"` + now + `||-1d/d"` + form + `,"lt":"` + now + `||/h"}}}}`, "exact", ""},
		{"to the second is as good as the clock", `{"query":{"range":{"d":{"lt":"now/s"}}}}`, `{"query":{"range":{"d":{"lt":"` + now + `||/s"` + form + `}}}}`, "approx", "now"},
		{"months", `{"query":{"range":{"d":{"gte":"now-1M/M"}}}}`, `{"query":{"range":{"d":{"gte":"` + now + `||-1M/M"` + form + `}}}}`, "approx", "interval"},
		{"format behind", `{"query":{"range":{"d":{"gte":"now/d","format":"epoch_millis"}}}}`, `{"query":{"range":{"d":{"gte":"` + now + `||/d","format":"epoch_millis||strict_date_optional_time"}}}}`, "exact", ""},
		{"format before", `{"query":{"range":{"d":{"format":"yyyy-MM-dd","gte":"now/d","lt":"now/m"}}}}`, `{"query":{"range":{"d":{"format":"yyyy-MM-dd||strict_date_optional_time","gte":"` + now + `||/d","lt":"` + now + `||/m"}}}}`, "exact", ""},
		{"format that reads it", `{"query":{"range":{"d":{"gte":"now/d","format":"strict_date_optional_time||epoch_millis"}}}}`, `{"query":{"range":{"d":{"gte":"` + now + `||/d","format":"strict_date_optional_time||epoch_millis"}}}}`, "exact", ""},
		{"a format without now stays", `{"query":{"range":{"d":{"gte":"2024-05-01","format":"yyyy-MM-dd"}}}}`, "", "exact", ""},
		{"beside a bound in another format", `{"query":{"range":{"d":{"lt":"now/d","gte":"01/01/2020"}}}}`, "", "approx", "now"},
		{
			"aggregation", `{"aggs":{"a":{"date_range":{"field":"d","format":"MM-yyyy","ranges":[{"to":"now-1d/d"},{"from":"now-1d/d"}]}}}}`,
			`{"aggs":{"a":{"date_range":{"field":"d","format":"MM-yyyy||strict_date_optional_time","ranges":[{"to":"` + now + `||-1d/d"},{"from":"` + now + `||-1d/d"}]}}}}`, "exact", "",
		},
		{
			"bounds of a histogram", `{"aggs":{"a":{"date_histogram":{"field":"d","fixed_interval":"1d","extended_bounds":{"min":"now-1d/d","max":"now/d"}}}}}`,
			`{"aggs":{"a":{"date_histogram":{"field":"d","fixed_interval":"1d","extended_bounds":{"min":"` + now + `||-1d/d","max":"` + now + `||/d"}}}}}`, "exact", "",
		},
		{"decay", `{"query":{"function_score":{"gauss":{"d":{"origin":"now/h","scale":"10d"}}}}}`, `{"query":{"function_score":{"gauss":{"d":{"origin":"` + now + `||/h","scale":"10d"}}}}}`, "exact", ""},
		{"decay from now by itself", `{"query":{"function_score":{"gauss":{"d":{"scale":"10d"}}}}}`, `{"query":{"function_score":{"gauss":{"d":{"scale":"10d"}}}}}`, "approx", "now"},
		{"distance", `{"query":{"distance_feature":{"field":"d","origin":"now/d","pivot":"7d"}}}`, `{"query":{"distance_feature":{"field":"d","origin":"` + now + `||/d","pivot":"7d"}}}`, "exact", ""},
		{
			"query string", `{"query":{"query_string":{"query":"d:[now-1d/d TO now/m] AND d:>=now/h"}}}`,
			`{"query":{"query_string":{"query":"d:[` + lucene + `||-1d\\/d TO ` + lucene + `||\\/m] AND d:>=` + lucene + `||\\/h"}}}`, "exact", "",
		},
		{"quoted in a query string", `{"query":{"query_string":{"query":"d:{* TO \"now/d\"}"}}}`, `{"query":{"query_string":{"query":"d:{* TO \"` + now + `||/d\"}"}}}`, "exact", ""},
		{"kept field", `{"query":{"range":{"kept":{"gte":"now-15m","format":"epoch_millis"}}}}`, `{"query":{"range":{"kept":{"gte":"now-15m","format":"epoch_millis"}}}}`, "exact", ""},
		{"kept field of a query string", `{"query":{"query_string":{"query":"kept:[now-15m TO now]"}}}`, `{"query":{"query_string":{"query":"kept:[now-15m TO now]"}}}`, "exact", ""},
		{"field of another domain, by days", `{"query":{"range":{"born":{"lt":"now-18y/d"}}}}`, `{"query":{"range":{"born":{"lt":"` + born + `||-18y/d"` + form + `}}}}`, "approx", "interval"},
		{"week of days", `{"query":{"range":{"born":{"lt":"now/w"}}}}`, `{"query":{"range":{"born":{"lt":"` + born + `||/w"` + form + `}}}}`, "approx", "interval"},
		{"that field in a query string", `{"query":{"query_string":{"query":"born:[* TO now/d]"}}}`, `{"query":{"query_string":{"query":"born:[* TO ` + strings.ReplaceAll(born, ":", `\\:`) + `||\\/d]"}}}`, "exact", ""},
		{"a zone with summer time", `{"query":{"range":{"d":{"gte":"now/d","format":"date_time","time_zone":"Europe/Berlin"}}}}`, "", "approx", "time_zone"},
		{
			"parameter of a script", `{"query":{"script_score":{"query":{"match_all":{}},"script":{"source":"doc['d'].size() * params.k","params":{"k":"now-1d/d"}}}}}`,
			`{"query":{"script_score":{"query":{"match_all":{}},"script":{"source":"doc['d'].size() * params.k","params":{"k":"` + now + `||-1d/d"}}}}}`, "approx", "many_fields",
		},
		{"a parameter that may be a word", `{"query":{"script_score":{"query":{"match_all":{}},"script":{"source":"params.k","params":{"k":"now"}}}}}`, "", "broken", "now"},
		{"months behind a date", `{"query":{"range":{"d":{"gte":"2024-05-01||+1M/d"}}}}`, "", "approx", "interval"},
	} {
		rec := at(t, w, recorded(), "/i/_search", c.in)
		if got := string(rec.Body); c.out != "" && got != c.out {
			t.Errorf("%s:\n%s became\n%s, want\n%s", c.name, c.in, got, c.out)
		}
		if rec.Fidelity != c.fid || rec.FidWhy != c.why {
			t.Errorf("%s: %s (%s), want %s (%s)\n%s", c.name, rec.Fidelity, rec.FidWhy, c.fid, c.why, rec.Body)
		}
	}
}

// Where the moment is not known, or rules say so, now stays and the record says
// that nothing can be compared. Where dates stay, now stays.
func TestNowStays(t *testing.T) {
	const body = `{"query":{"range":{"d":{"gte":"now-1d/d","format":"epoch_millis"}}}}`
	keeps := preset(PresetStrict)
	keeps.Now = "keep"
	for name, c := range map[string]struct {
		cfg  Config
		when time.Time
		fid  string
	}{
		"no moment":  {preset(PresetStrict), time.Time{}, capture.Broken},
		"by rules":   {keeps, recorded(), capture.Broken},
		"dates stay": {preset(PresetFidelity), recorded(), capture.Exact},
	} {
		rec := at(t, newWorker(t, c.cfg), c.when, "/i/_search", body)
		if !strings.Contains(string(rec.Body), `"now-1d/d"`) || rec.Fidelity != c.fid {
			t.Errorf("%s: %s, %s (%s)", name, rec.Body, rec.Fidelity, rec.FidWhy)
		}
	}
}

// A template's bound may come as a parameter.
func TestNowInTemplates(t *testing.T) {
	const body = `{"source":{"query":{"range":{"d":{"gte":"{{from}}","lt":"now/d"}}}},"params":{"from":"now-1d/d"}}`
	rec := at(t, newWorker(t, preset(PresetFidelity)), recorded(), "/i/_search/template", body)
	if string(rec.Body) != body || rec.Fidelity != capture.Exact {
		t.Errorf("%s: %s", rec.Body, rec.Fidelity)
	}
	w := newWorker(t, preset(PresetStrict))
	rec = at(t, w, recorded(), "/i/_search/template", body)
	now := recorded().AddDate(0, 0, w.text.days).Format(anchorLayout)
	if !strings.Contains(string(rec.Body), `"params":{"from":"`+now+`||-1d/d"}`) || !strings.Contains(string(rec.Body), `"lt":"`+now+`||/d"`) || rec.Fidelity == capture.Broken {
		t.Errorf("%s: %s", rec.Body, rec.Fidelity)
	}
}

// TestNowFindsTheSame: a search relative to now finds in sanitised documents, a
// year later, what it found in the originals; but for months and years, which the
// record says.
func TestNowFindsTheSame(t *testing.T) {
	w := newWorker(t, preset(PresetStrict))
	source, target := newSandbox(t, recorded()), newSandbox(t, recorded().AddDate(1, 0, 3))
	var docs strings.Builder
	for i := range 400 { // from minutes to weeks around the moment
		by := time.Duration(i-200) * time.Duration(1+abs(i-200)) * 29 * time.Second
		fmt.Fprintf(&docs, "{\"index\":{\"_id\":\"%d\"}}\n{\"d\":%q}\n", i, recorded().Add(by).Format(anchorLayout))
	}
	rec := at(t, w, recorded(), "/i/_bulk", docs.String())
	index := strings.Split(rec.Target, "/")[1]
	total(t, source, "/i/_bulk?refresh=true", docs.String())
	total(t, target, rec.Target+"?refresh=true", string(rec.Body))
	bound := rapid.Custom(func(t *rapid.T) string {
		s := "now"
		for range rapid.IntRange(0, 2).Draw(t, "steps") {
			s += rapid.SampledFrom([]string{"+", "-"}).Draw(t, "sign") + fmt.Sprint(rapid.IntRange(1, 40).Draw(t, "n")) + rapid.SampledFrom([]string{"m", "h", "H", "d", "w", "M", "y", "s"}).Draw(t, "unit")
		}
		if rapid.Bool().Draw(t, "rounded") {
			s += "/" + rapid.SampledFrom([]string{"m", "h", "d", "w", "M", "y"}).Draw(t, "round")
		}
		return s
	})
	compared := 0
	rapid.Check(t, func(rt *rapid.T) {
		low, high := bound.Draw(rt, "low"), bound.Draw(rt, "high")
		ask := fmt.Sprintf(`{"track_total_hits":true,"query":{"range":{"d":{%q:%q,%q:%q}}}}`,
			rapid.SampledFrom([]string{"gt", "gte"}).Draw(rt, "from"), low, rapid.SampledFrom([]string{"lt", "lte"}).Draw(rt, "to"), high)
		rec := at(t, w, recorded(), "/i/_search", ask)
		if strings.ContainsAny(low+high, "My") {
			if rec.Fidelity != capture.Approx {
				rt.Fatalf("%s: %s", ask, rec.Fidelity)
			}
			return
		}
		compared++
		a, b := total(t, source, "/i/_search", ask), total(t, target, "/"+index+"/_search", string(rec.Body))
		if a != b {
			rt.Fatalf("%s found %d; %s found %d (%s %s)", ask, a, rec.Body, b, rec.Fidelity, rec.FidWhy)
		}
	})
	if compared < 20 {
		t.Errorf("%d searches compared", compared)
	}
}

func abs(n int) int { return max(n, -n) }

func newSandbox(t *testing.T, now time.Time) *sandbox.Engine {
	e := sandbox.New(sandbox.Options{Now: func() time.Time { return now }})
	t.Cleanup(e.Close)
	return e
}

// total sends a request and reads the number of hits, 0 where there are none.
func total(t *testing.T, e *sandbox.Engine, target, body string) int {
	t.Helper()
	r := httptest.NewRequest("POST", target, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	e.Handler().ServeHTTP(answer, r)
	var out struct {
		Errors bool
		Hits   struct{ Total struct{ Value int } }
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &out); err != nil || answer.Code != 200 || out.Errors {
		t.Fatalf("%s: status %d, %v: %.300s", target, answer.Code, err, answer.Body)
	}
	return out.Hits.Total.Value
}
