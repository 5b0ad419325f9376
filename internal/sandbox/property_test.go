package sandbox

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The documents of the property test, and a second, slow and simple reading of
// the queries over them.
type plainDoc struct {
	ID    string   `json:"-"`
	Words []string `json:"-"`
	Title string   `json:"title"`
	Brand string   `json:"brand"`
	Tags  []string `json:"tags"`
	N     *int     `json:"n,omitempty"`
	Price float64  `json:"price"`
	On    bool     `json:"on"`
	At    string   `json:"at"`
}

const plainMapping = `{"mappings":{"properties":{"title":{"type":"text"},"brand":{"type":"keyword"},"tags":{"type":"keyword"},"n":{"type":"long"},"price":{"type":"double"},"on":{"type":"boolean"},"at":{"type":"date"}}}}`

func vocabulary() []string { return []string{"red", "blue", "shoe", "wine", "fast", "coat"} }
func brands() []string     { return []string{"acme", "bolt", "core"} }

func drawDoc(t *rapid.T, id string) plainDoc {
	d := plainDoc{
		ID:    id,
		Words: rapid.SliceOfN(rapid.SampledFrom(vocabulary()), 0, 6).Draw(t, "words"),
		Brand: rapid.SampledFrom(brands()).Draw(t, "brand"),
		Tags:  rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 3).Draw(t, "tags"),
		Price: float64(rapid.IntRange(0, 40).Draw(t, "price")) / 4,
		On:    rapid.Bool().Draw(t, "on"),
		At:    time.Date(2024, 1, 1+rapid.IntRange(0, 90).Draw(t, "day"), rapid.IntRange(0, 23).Draw(t, "hour"), 0, 0, 0, time.UTC).Format(time.RFC3339),
	}
	d.Title = strings.Join(d.Words, " ")
	if rapid.Bool().Draw(t, "has n") {
		n := rapid.IntRange(-3, 12).Draw(t, "n")
		d.N = &n
	}
	return d
}

// plainQuery is a query with what it means.
type plainQuery struct {
	body map[string]any
	ok   func(plainDoc) bool
}

func q(kind string, body any, ok func(plainDoc) bool) plainQuery {
	return plainQuery{map[string]any{kind: body}, ok}
}

type object = map[string]any

func drawQuery(t *rapid.T, depth int) plainQuery {
	kinds := 14
	if depth == 0 {
		kinds = 13
	}
	word := rapid.SampledFrom(vocabulary()).Draw(t, "word")
	other := rapid.SampledFrom(vocabulary()).Draw(t, "other")
	brand := rapid.SampledFrom(brands()).Draw(t, "brand")
	lo := rapid.IntRange(-3, 12).Draw(t, "lo")
	hi := rapid.IntRange(-3, 12).Draw(t, "hi")
	has := func(d plainDoc, w string) bool { return slices.Contains(d.Words, w) }
	switch rapid.IntRange(0, kinds).Draw(t, "kind") {
	case 0:
		return q("match_all", object{}, func(plainDoc) bool { return true })
	case 1:
		return q("match", object{"title": word + " " + other}, func(d plainDoc) bool { return has(d, word) || has(d, other) })
	case 2:
		return q("match", object{"title": object{"query": strings.ToUpper(word) + ", " + other, "operator": "and"}}, func(d plainDoc) bool { return has(d, word) && has(d, other) })
	case 3:
		return q("match_phrase", object{"title": word + " " + other}, func(d plainDoc) bool {
			return strings.Contains(" "+d.Title+" ", " "+word+" "+other+" ")
		})
	case 4:
		return q("term", object{"brand": brand}, func(d plainDoc) bool { return d.Brand == brand })
	case 5:
		return q("terms", object{"n": []int{lo, hi}}, func(d plainDoc) bool { return d.N != nil && (*d.N == lo || *d.N == hi) })
	case 6:
		return q("range", object{"n": object{"gte": lo, "lt": hi}}, func(d plainDoc) bool { return d.N != nil && *d.N >= lo && *d.N < hi })
	case 7:
		return q("range", object{"price": object{"gt": float64(lo) / 2, "lte": float64(hi) / 2}}, func(d plainDoc) bool { return d.Price > float64(lo)/2 && d.Price <= float64(hi)/2 })
	case 8:
		day := time.Date(2024, 1, 1+lo*5, 0, 0, 0, 0, time.UTC)
		return q("range", object{"at": object{"gt": day.Format("2006-01-02"), "lt": "now"}}, func(d plainDoc) bool {
			at, _ := time.Parse(time.RFC3339, d.At)
			return !at.Before(day.AddDate(0, 0, 1)) && at.Before(noon())
		})
	case 9:
		return q("exists", object{"field": "n"}, func(d plainDoc) bool { return d.N != nil })
	case 10:
		return q("prefix", object{"title": object{"value": word[:2]}}, func(d plainDoc) bool {
			return slices.ContainsFunc(d.Words, func(w string) bool { return strings.HasPrefix(w, word[:2]) })
		})
	case 11:
		return q("wildcard", object{"brand": "*" + brand[1:2] + "*"}, func(d plainDoc) bool { return strings.Contains(d.Brand, brand[1:2]) })
	case 12:
		return q("ids", object{"values": []string{fmt.Sprint(lo), fmt.Sprint(hi)}}, func(d plainDoc) bool { return d.ID == fmt.Sprint(lo) || d.ID == fmt.Sprint(hi) })
	case 13:
		return q("multi_match", object{"query": word + " " + brand, "fields": []string{"title", "tags", "brand"}}, func(d plainDoc) bool { return has(d, word) })
	}
	return drawBool(t, depth)
}

func drawBool(t *rapid.T, depth int) plainQuery {
	parts := map[string][]plainQuery{}
	body := object{}
	for _, k := range []string{"must", "filter", "should", "must_not"} {
		var bodies []object
		for range rapid.IntRange(0, 2).Draw(t, k) {
			sub := drawQuery(t, depth-1)
			parts[k] = append(parts[k], sub)
			bodies = append(bodies, sub.body)
		}
		if len(bodies) > 0 {
			body[k] = bodies
		}
	}
	least := 0
	if len(parts["should"]) > 0 && len(parts["must"])+len(parts["filter"]) == 0 {
		least = 1
	}
	if len(parts["should"]) > 0 && rapid.Bool().Draw(t, "minimum") {
		least = rapid.IntRange(0, len(parts["should"])).Draw(t, "least")
		body["minimum_should_match"] = least
	}
	return q("bool", body, func(d plainDoc) bool {
		n := 0
		for _, s := range parts["should"] {
			if s.ok(d) {
				n++
			}
		}
		all := n >= least
		for _, s := range append(slices.Clone(parts["must"]), parts["filter"]...) {
			all = all && s.ok(d)
		}
		for _, s := range parts["must_not"] {
			all = all && !s.ok(d)
		}
		return all
	})
}

// TestAgainstBruteForce writes, overwrites and deletes documents, with searches
// in between so that bleve holds them in several parts, and compares every
// answer with a plain reading of the documents.
func TestAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := New(Options{Now: noon})
		defer e.Close()
		ask(t, e, "PUT /p", plainMapping)
		have := map[string]plainDoc{}
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			var bulk strings.Builder
			for range rapid.IntRange(1, 12).Draw(t, "writes") {
				id := fmt.Sprint(rapid.IntRange(0, 15).Draw(t, "id"))
				if rapid.IntRange(0, 4).Draw(t, "delete") == 0 {
					fmt.Fprintf(&bulk, "{\"delete\":{\"_id\":%q}}\n", id)
					delete(have, id)
					continue
				}
				d := drawDoc(t, id)
				src, _ := json.Marshal(d)
				fmt.Fprintf(&bulk, "{\"index\":{\"_id\":%q}}\n%s\n", id, src)
				have[id] = d
			}
			ask(t, e, "POST /p/_bulk", bulk.String())
			for range 3 {
				compare(t, e, have, drawQuery(t, 2))
			}
		}
	})
}

func ask(t *rapid.T, e *Engine, line, body string) map[string]any {
	w := call(e, line, body)
	var out map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil || w.Code != 200 {
		t.Fatalf("%s %s: %d %s", line, body, w.Code, w.Body)
	}
	return out
}

func compare(t *rapid.T, e *Engine, have map[string]plainDoc, query plainQuery) {
	want, sum, byBrand := []string{}, 0.0, map[string]float64{}
	months := map[string]float64{}
	for id, d := range have {
		if query.ok(d) {
			want = append(want, id)
			sum += d.Price
			byBrand[d.Brand]++
			months[d.At[:7]]++
		}
	}
	body, _ := json.Marshal(object{
		"query": query.body, "size": 100, "sort": []any{object{"price": "desc"}},
		"aggs": object{
			"sum": object{"sum": object{"field": "price"}}, "brand": object{"terms": object{"field": "brand"}},
			"month": object{"date_histogram": object{"field": "at", "calendar_interval": "month", "min_doc_count": 1, "format": "yyyy-MM"}},
		},
	})
	out := ask(t, e, "POST /p/_search", string(body))
	got := strings.Fields(ids(out))
	sort.Slice(want, func(i, j int) bool {
		a, b := have[want[i]], have[want[j]]
		return a.Price > b.Price || a.Price == b.Price && a.ID < b.ID
	})
	if !slices.Equal(got, want) || at(out, "hits.total.value") != float64(len(want)) {
		t.Fatalf("%s\n got %v\nwant %v", body, got, want)
	}
	if s := at(out, "aggregations.sum.value").(float64); math.Abs(s-sum) > 1e-9 {
		t.Fatalf("%s: sum %v, want %v", body, s, sum)
	}
	for _, g := range []struct {
		path, key string
		want      map[string]float64
	}{{"aggregations.brand.buckets", "key", byBrand}, {"aggregations.month.buckets", "key_as_string", months}} {
		buckets := at(out, g.path).([]any)
		for _, b := range buckets {
			if at(b, "doc_count") != g.want[at(b, g.key).(string)] {
				t.Fatalf("%s: bucket %v, want %v", body, b, g.want)
			}
		}
		if len(buckets) != len(g.want) {
			t.Fatalf("%s: %d buckets, want %d", body, len(buckets), len(g.want))
		}
	}
	count, _ := json.Marshal(object{"query": query.body})
	if n := ask(t, e, "POST /p/_count", string(count))["count"]; n != float64(len(want)) {
		t.Fatalf("%s: count %v, want %d", count, n, len(want))
	}
	same := ask(t, e, "POST /p/_search", string(count))
	again := ask(t, e, "POST /p/_search", string(count))
	if text1(same, "hits") != text1(again, "hits") {
		t.Fatal("two searches of the same answer differently")
	}
}

// TestHistoryDoesNotMatter: scores and order come from the living documents
// alone, however they got there.
func TestHistoryDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		docs := make([]string, rapid.IntRange(1, 30).Draw(t, "docs"))
		for i := range docs {
			src, _ := json.Marshal(drawDoc(t, fmt.Sprint(i)))
			docs[i] = fmt.Sprintf("{\"index\":{\"_id\":\"%d\"}}\n%s\n", i, src)
		}
		atOnce, oneByOne := New(Options{Now: noon}), New(Options{Now: noon})
		defer atOnce.Close()
		defer oneByOne.Close()
		for _, e := range []*Engine{atOnce, oneByOne} {
			ask(t, e, "PUT /p", plainMapping)
		}
		ask(t, atOnce, "POST /p/_bulk", strings.Join(docs, ""))
		for i, d := range docs {
			if i%3 == 0 {
				ask(t, oneByOne, "POST /p/_bulk", fmt.Sprintf("{\"index\":{\"_id\":\"%d\"}}\n{\"title\":\"red wine wine\"}\n", i))
				ask(t, oneByOne, "GET /p/_search?q=title:red", "")
			}
			ask(t, oneByOne, "POST /p/_bulk", d)
			ask(t, oneByOne, "GET /p/_search?q=title:red", "")
		}
		for range 3 {
			body, _ := json.Marshal(object{"query": drawQuery(t, 2).body, "size": 50})
			a, b := ask(t, atOnce, "POST /p/_search", string(body)), ask(t, oneByOne, "POST /p/_search", string(body))
			if x, y := text1(a, "hits"), text1(b, "hits"); x != y {
				t.Fatalf("%s\n%s\n%s", body, x, y)
			}
		}
	})
}
