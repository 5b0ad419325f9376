package es

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// handleTexts are "kind value" of each.
func handleTexts(hs []Handle) (all []string) {
	for _, h := range hs {
		all = append(all, h.Kind+" "+string(h.Value))
	}
	return all
}

func TestRequestHandles(t *testing.T) {
	for _, c := range []struct {
		method, target, body string
		want                 []string
	}{
		{"POST", "/_search/scroll", `{"scroll":"1m","scroll_id":"abc=="}`, []string{"scroll abc=="}},
		{"POST", "/_search/scroll", `{/* c */"scroll_\u0069d":"a\u0062c"}`, []string{"scroll abc"}},
		{"GET", "/_search/scroll/abc%3D%3D?scroll=1m", ``, []string{"scroll abc=="}},
		{"GET", "/_search/scroll?scroll_id=abc%3D", ``, []string{"scroll abc="}},
		{"GET", "/_search/scroll?scroll=1m", `abc==`, []string{"scroll abc=="}},
		{"DELETE", "/_search/scroll", `{"scroll_id":["a","b",7,["c"]]}`, []string{"scroll a", "scroll b"}},
		{"DELETE", "/_search/scroll", `a,b`, []string{"scroll a", "scroll b"}},
		{"DELETE", "/_search/scroll/_all", ``, nil},
		{"POST", "/_search", `{"query":{"match":{"pit":"x"}},"pit":{"keep_alive":"1m","x":{"id":"no"},"id":"P="}}`, []string{"pit P="}},
		{"POST", "/_search", `{"query":{"term":{"scroll_id":"x"}}}`, nil},
		{"POST", "/_msearch", "{}\n{\"pit\":{\"id\":\"P1\"}}\n{}\n{}\n{}\n{\"pit\":{\"id\":\"P2\"}}\n", []string{"pit P1", "pit P2"}},
		{"DELETE", "/_pit", `{"id":"P"}`, []string{"pit P"}},
		{"DELETE", "/_search/point_in_time", `{"pit_id":["P","Q"]}`, []string{"pit P", "pit Q"}},
		{"DELETE", "/_search/point_in_time/_all", ``, nil},
		{"POST", "/_sql", `{"cursor":"C"}`, []string{"cursor C"}},
		{"POST", "/_sql/close", `{"cursor":"C"}`, []string{"cursor C"}},
		{"GET", "/_async_search/Fm%3D", ``, []string{"async Fm="}},
		{"GET", "/_query/async/Fm", ``, []string{"async Fm"}},
		{"DELETE", "/_eql/search/Fm", ``, []string{"async Fm"}},
		{"GET", "/_tasks/node-1%3A42", ``, []string{"task node-1:42"}},
		{"POST", "/_reindex/n:1/_rethrottle", ``, []string{"task n:1"}},
		{"GET", "/_cluster/health/logs", ``, nil},
		{"GET", "/a/_doc/x%2Fy,z", ``, []string{"id x/y,z"}},
		{"GET", "/a/_doc/_all", ``, []string{"id _all"}},
		{"POST", "/a/_doc", `{"id":"x"}`, nil},
		{"POST", "/_search/scroll", `{"scroll_id":"a"`, nil},
		{"POST", "/_search/scroll", `{"scroll_id":{"id":"a"}`, nil},
		{"POST", "/_search/scroll", `{"scroll_id":null}`, nil},
	} {
		r := Classify(c.method, c.target)
		if diff := cmp.Diff(c.want, handleTexts(RequestHandles(nil, r, []byte(c.body)))); diff != "" {
			t.Errorf("%s %s %s (-want +got)\n%s", c.method, c.target, c.body, diff)
		}
	}
}

func TestAnswerHandles(t *testing.T) {
	const pit = `{"pit":{"id":"P"}}`
	for _, c := range []struct {
		method, target, request, answer string
		want                            []string
	}{
		{"POST", "/a/_search?scroll=1m", ``, `{"_scroll_id":"S\u0031","hits":{"hits":[{"_id":"x"}]}}`, []string{"scroll S1"}},
		{"POST", "/a/_search", ``, `{"_scroll_id":"S1","hits":{}}`, nil},
		{"POST", "/_search/scroll", ``, `{"_scroll_id":"S2"}`, []string{"scroll S2"}},
		{"POST", "/_search", pit, `{"pit_id":"P2","hits":{}}`, []string{"pit P2"}},
		{"POST", "/_msearch", "{}\n" + pit + "\n", `{"responses":[{"pit_id":"P2"},{"error":{}},null]}`, []string{"pit P2"}},
		{"POST", "/a/_pit?keep_alive=1m", ``, `{"id":"P","_shards":{}}`, []string{"pit P"}},
		{"POST", "/a/_search/point_in_time?keep_alive=1m", ``, `{"pit_id":"P","_shards":{},"creation_time":1}`, []string{"pit P"}},
		{"POST", "/a/_async_search", ``, `{"id":"A","is_running":true,"response":{"id":"no"}}`, []string{"async A"}},
		{"POST", "/a/_async_search", ``, `{"is_running":false}`, nil},
		{"POST", "/_query/async", `{}`, `{"id":"A","is_running":true}`, []string{"async A"}},
		{"POST", "/_sql", `{}`, `{"columns":[],"rows":[],"cursor":"C"}`, []string{"cursor C"}},
		{"POST", "/_reindex?wait_for_completion=false", `{}`, `{"task":"n:1"}`, []string{"task n:1"}},
		{"POST", "/a/_doc", `{}`, `{"_index":"a","_id":"auto","result":"created"}`, []string{"id auto"}},
		{"PUT", "/a/_doc/1", `{}`, `{"_index":"a","_id":"1","result":"created"}`, nil},
		{
			"POST", "/_bulk", "{\"index\":{\"_id\":\"1\"}}\n{}\n{\"create\":{\"_id\":null}}\n{}\n\n{\"index\":{\"_index\":\"_id\"}}\n{}\n{\"delete\":{\"_id\":\"2\"}}\n{\"update\":{}}\n{}\n{\"index\":{}}\n{}\n{\"index\":{}}",
			`{"items":[{"index":{"_id":"1"}},{"create":{"_id":"c","status":201}},{"index":{"_shards":{"_id":"no"},"_id":"i"}},{"delete":{"_id":"2"}},{"update":{"_id":"u"}},{"index":{"_id":null,"error":{}}}]}`,
			[]string{"id c", "id i"},
		},
		{"POST", "/_bulk", "{\"index\":{\"_id\":\"1\"}}\n{}\n", `{"items":[{"index":{"_id":"1"}}]}`, nil},
		{"POST", "/a/_doc", `{}`, `{"_id":"auto"`, nil},
		{"POST", "/a/_doc", `{}`, `["_id"]`, nil},
		{"POST", "/a/_doc", `{}`, ``, nil},
	} {
		r := Classify(c.method, c.target)
		got := AnswerHandles(nil, r, []byte(c.request), jsonType, "", []byte(c.answer))
		if diff := cmp.Diff(c.want, handleTexts(got)); diff != "" {
			t.Errorf("%s %s %s (-want +got)\n%s", c.method, c.target, c.answer, diff)
		}
		if c.answer == "" {
			continue
		}
		got = AnswerHandles(nil, r, []byte(c.request), jsonType, "gzip", gzipped(t, []byte(c.answer)))
		if diff := cmp.Diff(c.want, handleTexts(got)); diff != "" {
			t.Errorf("%s %s, gzip (-want +got)\n%s", c.method, c.target, diff)
		}
	}
	if got := AnswerHandles(nil, Classify("POST", "/a/_doc"), nil, "application/cbor", "", []byte("\xbf")); got != nil {
		t.Errorf("cbor: %v", got)
	}
}

func TestHandlesAreBounded(t *testing.T) {
	request := []byte(strings.Repeat("{\"index\":{}}\n{}\n", 1000))
	var b strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&b, `,{"index":{"_id":"%d"}}`, i)
	}
	got := AnswerHandles(nil, Classify("POST", "/_bulk"), request, jsonType, "", []byte(`{"items":[`+b.String()[1:]+`]}`))
	if len(got) != MaxHandles || string(got[MaxHandles-1].Value) != fmt.Sprint(MaxHandles-1) {
		t.Errorf("%d handles, last %s", len(got), got[len(got)-1].Value)
	}
	if got := RequestHandles(nil, Classify("DELETE", "/_search/scroll"), []byte(strings.Repeat("a,", 1000))); len(got) != MaxHandles {
		t.Errorf("%d scroll ids", len(got))
	}
}

// FuzzHandles holds that nothing makes the reader panic and that it does not
// depend on what it read before.
func FuzzHandles(f *testing.F) {
	f.Add("POST", "/_search/scroll", `{"scroll_id":["a"]}`, `{"_scroll_id":"b"}`)
	f.Add("POST", "/_bulk", "{\"index\":{}}\n{}\n", `{"items":[{"index":{"_id":"b"}}]}`)
	f.Add("POST", "/_msearch", "{}\n{\"pit\":{\"id\":\"\\ud800\"}}\n", `{"responses":[{"pit_id":"b"}]}`)
	f.Add("GET", "/_tasks/%", ``, `{`)
	f.Add("POST", "/_sql", `{"cursor":"x"}`, `{"cursor":"\"","id":""}`)
	var used HandleReader
	f.Fuzz(func(t *testing.T, method, target, request, answer string) {
		r := Classify(method, target)
		var fresh HandleReader
		a := handleTexts(fresh.Request(nil, r, []byte(request)))
		b := handleTexts(used.Request(nil, r, []byte(request)))
		a = append(a, handleTexts(fresh.Answer(nil, r, []byte(request), jsonType, "", []byte(answer)))...)
		b = append(b, handleTexts(used.Answer(nil, r, []byte(request), jsonType, "", []byte(answer)))...)
		if diff := cmp.Diff(a, b); diff != "" || len(a) > 2*MaxHandles {
			t.Fatalf("%d handles (-fresh +used)\n%s", len(a), diff)
		}
	})
}
