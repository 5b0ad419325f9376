package audit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// all is what preset fidelity keeps.
func all() Kept { return Kept{Indices: true, Numbers: true, Guarded: true, Dates: true, Places: true} }

func lineOf(op, target, body string) []byte {
	text := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	return fmt.Appendf(nil, `{"seq":7,"t":1,"op":%s,"method":"POST","target":%s,"body":%s,"shape":"x"}`, text(op), text(target), text(body))
}

// finds looks for a word in a line without what is kept.
func finds(t testing.TB, k Kept, line []byte, word string) bool {
	t.Helper()
	s, err := New(Options{Words: []string{word}})
	if err != nil {
		t.Fatal(err)
	}
	s.Line("x", k.Without(line))
	r := s.Report()
	if r.Undecoded > 0 {
		t.Errorf("%s cannot be decoded", k.Without(line))
	}
	return r.Found > 0
}

func TestWithout(t *testing.T) {
	for _, x := range []struct {
		name, op, target, body, word string
		leaks                        bool
	}{
		{"index in the path", "search", "/orders-canary17/_search", "", "canary17", false},
		{"patterns, clusters, escapes", "search", "/logs-*,-canary17,far:canary17%2A/_search?size=1", "", "canary17", false},
		{"also a parameter", "search", "/orders-canary17/_search?routing=canary17", "", "canary17", true},
		{"also an id", "get", "/orders-canary17/_doc/canary17", "", "canary17", true},
		{"an id of typed paths", "get", "/orders/canary17/1", "", "canary17", true},
		{"an API", "cat", "/_cat/indices/canary17", "", "canary17", true},
		{"capitals", "search", "/Canary17/_search", "", "canary17", true},
		{"a space", "search", "/anna%20canary17/_search", "", "canary17", true},
		{"a broken escape", "search", "/canary17%zz/_search", "", "canary17", true},
		{"no path", "search", "canary17/_search", "", "canary17", true},
		{"two slashes", "search", "//canary17/_search", "", "canary17", true},
		{"bulk action", "bulk", "/_bulk", "{\"index\":{\"_index\":\"canary17\"}}\n{\"a\":1}\n", "canary17", false},
		{"bulk id", "bulk", "/_bulk", "{\"index\":{\"_index\":\"canary17\",\"_id\":\"canary17\"}}\n{\"a\":1}\n", "canary17", true},
		{"bulk document", "bulk", "/_bulk", "{\"index\":{\"_index\":\"a\"}}\n{\"index\":{\"_index\":\"canary17\"}}\n", "canary17", true},
		{"bulk after a delete", "bulk", "/_bulk", "{\"delete\":{\"_index\":\"a\",\"_id\":\"1\"}}\n{\"index\":{\"_index\":\"canary17\"}}\n{\"a\":1}\n", "canary17", false},
		{"bulk that is none", "bulk", "/_bulk", "{\"index\":{\"_index\":\"canary17\"},\"x\":1}\n{\"a\":1}\n", "canary17", true},
		{"msearch header", "msearch", "/_msearch", "{\"index\":[\"canary17\",\"b\"]}\n{\"query\":{\"match_all\":{}}}\n", "canary17", false},
		{"msearch body", "msearch", "/_msearch", "{}\n{\"index\":\"canary17\"}\n", "canary17", true},
		{"msearch preference", "msearch", "/_msearch", "{\"preference\":\"canary17\"}\n{}\n", "canary17", true},
		{"mget", "mget", "/_mget", `{"docs":[{"_index":"canary17","_id":"1"}]}`, "canary17", false},
		{"mget id", "mget", "/_mget", `{"docs":[{"_index":"a","_id":"canary17"}]}`, "canary17", true},
		{"a number", "search", "/x/_search", `{"query":{"term":{"account":9007199254740993}}}`, "9007199254740993", false},
		{"its digits as text", "search", "/x/_search", `{"query":{"term":{"account":"9007199254740993"}}}`, "9007199254740993", true},
		{"both", "search", "/x/_search", `{"query":{"terms":{"account":[9007199254740993,"9007199254740993"]}}}`, "9007199254740993", true},
		{"a name of digits", "search", "/x/_search", `{"aggs":{"9007199254740993":{"max":{"field":"a"}}}}`, "9007199254740993", true},
		{"a telephone number", "search", "/x/_search", `{"query":{"term":{"account":13800138000}}}`, "13800138000", true},
		{"a card number", "search", "/x/_search", `{"query":{"term":{"account":4111111111111111.0}}}`, "4111111111111111", true},
		{"ids", "search", "/x/_search", `{"query":{"ids":{"values":[9007199254740993]}}}`, "9007199254740993", true},
		{"a term on ids", "search", "/x/_search", `{"query":{"term":{"_id":9007199254740993}}}`, "9007199254740993", true},
		{"buckets of ids", "search", "/x/_search", `{"aggs":{"a":{"terms":{"field":"_id","include":[9007199254740993]}}}}`, "9007199254740993", true},
		{"a vector", "search", "/x/_search", `{"knn":{"field":"v","query_vector":[0.1234567,-0.7654321]}}`, "0.7654321", false},
		{"a date", "search", "/x/_search", `{"query":{"range":{"birth":{"gte":"1987-03-14||+1M/d"}}}}`, "1987-03-14", false},
		{"a date in a text", "search", "/x/_search", `{"query":{"match":{"birth":"born 1987-03-14"}}}`, "1987-03-14", true},
		{"a date and more", "search", "/x/_search", `{"query":{"match":{"birth":"1987-03-14||canary17"}}}`, "canary17", true},
		{"a date as an id", "search", "/x/_search", `{"query":{"ids":{"values":["1987-03-14"]}}}`, "1987-03-14", true},
		{"a place", "search", "/x/_search", `{"query":{"geo_distance":{"distance":"2km","home":"48.208176,16.373819"}}}`, "48.208176", false},
		{"a geohash", "search", "/x/_search", `{"query":{"geo_distance":{"distance":"2km","home":"u2edk8x"}}}`, "u2edk8x", false},
		{"a corner", "search", "/x/_search", `{"query":{"geo_bounding_box":{"home":{"top_left":"u2edk8x","bottom_right":[1,2]}}}}`, "u2edk8x", false},
		{"the name of a geo clause", "search", "/x/_search", `{"query":{"geo_distance":{"distance":"2km","_name":"u2edk8x","home":[1,2]}}}`, "u2edk8x", true},
		{"a place in a text", "search", "/x/_search", `{"query":{"match":{"home":"48.208176,16.373819"}}}`, "48.208176", true},
		{"a geohash elsewhere", "search", "/x/_search", `{"query":{"term":{"home":"u2edk8x"}}}`, "u2edk8x", true},
		{"text behind the JSON", "search", "/x/_search", `{"a":1}} canary17`, "canary17", true},
		{"no JSON", "search", "/x/_search", `canary17 9007199254740993`, "9007199254740993", true},
		{"half a surrogate pair", "search", "/x/_search", `{"account":9007199254740993,"x":"\ud800"}`, "9007199254740993", true},
		{"a member twice", "search", "/x/_search", `{"a":"canary17","a":1}`, "canary17", true},
	} {
		t.Run(x.name, func(t *testing.T) {
			line := lineOf(x.op, x.target, x.body)
			if !finds(t, Kept{}, line, x.word) {
				t.Fatal("the word is not in the line")
			}
			if got := finds(t, all(), line, x.word); got != x.leaks {
				t.Errorf("found %v in %s", got, all().Without(line))
			}
		})
	}
}

// Other members of a record than target and body are looked at as they are.
func TestWithoutElsewhere(t *testing.T) {
	for _, line := range []string{
		`{"seq":1,"op":"search","target":"/canary17/_search","index":"canary17"}`,
		`{"seq":1,"op":"search","target":"/x/_search","headers":{"X-Opaque-Id":"canary17"}}`,
		`{"seq":1,"op":"search","target":"/x/_search","target":"/x?canary17"}`,
		`{"seq":1,"op":"search","target":"/x/_search","body64":"Y2FuYXJ5MTc="}`,
	} {
		if !finds(t, all(), []byte(line), "canary17") {
			t.Errorf("not found in %s", all().Without([]byte(line)))
		}
	}
}

// Without adds nothing, and takes a string away only where the rules above say so:
// a random text in a random place of a search stays.
func TestWithoutKeepsTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := "mark" + rapid.StringMatching(`[A-Za-z0-9 ]{4,12}`).Draw(t, "word") + "z"
		quoted, _ := json.Marshal(word)
		body := rapid.SampledFrom([]string{
			`{"query":{"match":{"a":%s}}}`, `{"query":{"term":{"a":{"value":%s}}}}`, `{"aggs":{%s:{"max":{"field":"a"}}}}`,
			`{"query":{"bool":{"filter":[{"range":{"d":{"gte":%s}}}]}}}`, `{"sort":[{%s:"asc"}],"n":[1,2,{"b":3}]}`, `{"query":{"geo_distance":{"distance":%s,"p":[1,2]}}}`,
		}).Draw(t, "body")
		line := lineOf("search", "/x/_search", fmt.Sprintf(body, quoted))
		if !strings.Contains(string(all().Without(line)), word) {
			t.Fatalf("%s is gone from %s: %s", word, line, all().Without(line))
		}
	})
}

func TestClasses(t *testing.T) {
	names := ""
	for _, c := range all().Classes() {
		names += c.Name + ","
		if c.Rest == all() || !c.Rest.Guarded {
			t.Errorf("%s: %+v", c.Name, c.Rest)
		}
	}
	if names != "index name,number,date,place," || len(Kept{Guarded: true}.Classes()) > 0 {
		t.Error(names)
	}
}

func FuzzWithout(f *testing.F) {
	f.Add("search", "/orders-x/_search", `{"query":{"range":{"d":{"gte":"1987-03-14||/d"}}}}`)
	f.Add("bulk", "/_bulk", "{\"index\":{\"_index\":\"x\"}}\n{\"a\":[1,\"48.2,16.3\"]}\n")
	f.Add("msearch", "/_msearch", "{\"index\":\"x\"}\n{}\n")
	f.Fuzz(func(t *testing.T, op, target, body string) {
		line := lineOf(op, target, body)
		out := all().Without(line)
		if !json.Valid(out) {
			t.Errorf("%s of %s is no JSON", out, line)
		}
		if again := all().Without(out); string(again) != string(out) {
			t.Errorf("%s, again %s", out, again)
		}
	})
}
