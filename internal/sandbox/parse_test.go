package sandbox

import (
	"encoding/json"
	"testing"
	"time"
)

func TestGlob(t *testing.T) {
	for _, tc := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true},
		{"*", "", true},
		{"*", "abc", true},
		{"a*c", "abbc", true},
		{"a*c", "abcd", false},
		{"a?c", "abc", true},
		{"a?c", "ac", false},
		{"**a", "bba", true},
		{"*a*b*", "xxaxxbxx", true},
		{"ä?", "äö", true},
		{`a\*`, "a*", true},
		{`a\*`, "ab", false},
		{"a", "ab", false},
	} {
		if got := glob(tc.pattern, tc.text); got != tc.want {
			t.Errorf("glob(%q, %q) = %v", tc.pattern, tc.text, got)
		}
	}
}

func TestDateMath(t *testing.T) {
	for _, tc := range []struct {
		in   string
		up   bool
		want string // "" for an error
	}{
		{"now", false, "2024-03-15T12:00:00.000Z"},
		{"now/d", false, "2024-03-15T00:00:00.000Z"},
		{"now/d", true, "2024-03-15T23:59:59.999Z"},
		{"now-1M/M", false, "2024-02-01T00:00:00.000Z"},
		{"now+2w", false, "2024-03-29T12:00:00.000Z"},
		{"now/w", false, "2024-03-11T00:00:00.000Z"},
		{"now-13h+30m-5s", false, "2024-03-14T23:29:55.000Z"},
		{"2024", true, "2024-12-31T23:59:59.999Z"},
		{"2024-02", true, "2024-02-29T23:59:59.999Z"},
		{"2024-01-31||+1M", false, "2024-02-29T00:00:00.000Z"},
		{"2024-01-31||/y", false, "2024-01-01T00:00:00.000Z"},
		{"1700000000000", true, "2023-11-14T22:13:20.000Z"},
		{"2024-01-01T10:00", true, "2024-01-01T10:00:59.999Z"},
		{"2024-01-01T10:00:00.5+02:00", true, "2024-01-01T08:00:00.500Z"},
		{"2024/01/02 03:04:05", false, "2024-01-02T03:04:05.000Z"},
		{"now~1d", false, ""},
		{"now-1", false, ""},
		{"now-1x", false, ""},
		{"yesterday", false, ""},
		{"2024-13-01", false, ""},
		{"", false, ""},
		{"now-99999999999d", false, ""},
	} {
		got, err := dateMath(tc.in, noon(), tc.up, false)
		switch {
		case tc.want == "" && err == nil:
			t.Errorf("%q is taken as %v", tc.in, got)
		case tc.want != "" && (err != nil || dateText(got.UnixMilli()) != tc.want):
			t.Errorf("%q = %v (%v), want %s", tc.in, dateText(got.UnixMilli()), err, tc.want)
		}
	}
	if got, err := dateMath("1700000000", time.Time{}, false, true); err != nil || got.Unix() != 1700000000 {
		t.Error(got, err)
	}
}

func TestLeastOf(t *testing.T) {
	for _, tc := range []struct {
		in      string
		of, out int
	}{{"2", 5, 2}, {"-1", 5, 4}, {"75%", 4, 3}, {"75%", 5, 3}, {"-25%", 4, 3}, {"-25%", 5, 4}, {"-9", 2, 0}} {
		if got, err := leastOf(tc.in, tc.of); err != nil || got != tc.out {
			t.Errorf("%s of %d = %d, %v", tc.in, tc.of, got, err)
		}
	}
	if _, err := leastOf("3<90%", 5); err == nil {
		t.Error("a combination is taken")
	}
}

func TestWholeBound(t *testing.T) {
	for _, tc := range []struct {
		in        string
		low, open bool
		want      int64
	}{
		{"5", true, false, 5},
		{"5", true, true, 6},
		{"5", false, true, 4},
		{"5.5", true, true, 6},
		{"5.5", true, false, 6},
		{"5.5", false, true, 5},
		{"-5.5", false, false, -6},
		{"9007199254740993", true, false, 9007199254740993},
		{"1e30", false, false, 1<<63 - 1},
		{"-1e30", true, true, -1<<63 + 1},
		{"5.0", false, true, 4},
	} {
		if got := wholeBound(tc.in, tc.low, tc.open); got != tc.want {
			t.Errorf("%+v: %d", tc, got)
		}
	}
}

func FuzzSearch(f *testing.F) {
	for _, s := range []string{
		`{"query":{"bool":{"must":[{"match":{"title":{"query":"red shoe","operator":"and"}}}],"must_not":[{"range":{"price":{"gte":1}}}]}},"sort":[{"price":"desc"}]}`,
		`{"query":{"query_string":{"query":"title:(a OR \"b c\") AND price:[1 TO *} -_exists_:x +>5"}}}`, `{"aggs":{"a":{"date_histogram":{"field":"sold","calendar_interval":"1M"},"aggs":{"b":{"terms":{"field":"brand","order":{"c":"asc"}},"aggs":{"c":{"avg":{"field":"price"}}}}}}}}`,
		`{"aggs":{"a":{"histogram":{"field":"price","interval":0.5}},"b":{"range":{"field":"price","ranges":[{"to":1}]}},"c":{"filters":{"filters":[{"match_all":{}}]}}}}`,
		`{"query":{"range":{"sold":{"gte":"now-1d/d","lt":"2024||+1y"}}},"_source":{"includes":["m*"],"excludes":["*.c"]},"search_after":[1],"sort":["_score"]}`,
		`{"query":{"terms":{"stock":[1,"2",null]}},"post_filter":{"ids":{"values":"1"}},"min_score":1,"track_total_hits":5}`,
	} {
		f.Add(s)
	}
	e := shop(f, Options{})
	f.Fuzz(func(t *testing.T, body string) {
		w := call(e, "POST /shop/_search", body)
		if w.Code >= 500 || !json.Valid(w.Body.Bytes()) {
			t.Errorf("%q: %d %s", body, w.Code, w.Body)
		}
	})
}

func FuzzBulk(f *testing.F) {
	f.Add(shopBulk)
	f.Add("{\"update\":{\"_id\":\"1\"}}\n{\"doc\":{\"a\":{\"b\":1}},\"doc_as_upsert\":true}\n{\"delete\":{\"_id\":\"1\",\"if_seq_no\":1,\"if_primary_term\":1}}\n")
	f.Fuzz(func(t *testing.T, body string) {
		e := New(Options{Now: noon})
		defer e.Close()
		for _, s := range [][2]string{{"POST /shop/_bulk", body}, {"GET /_search?q=a", ""}, {"GET /_mapping", ""}} {
			if w := call(e, s[0], s[1]); w.Code >= 500 || !json.Valid(w.Body.Bytes()) {
				t.Errorf("%q: %d %s", body, w.Code, w.Body)
			}
		}
	})
}
