package es

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const jsonType = "application/json"

// summaryJSON is how a Summary stands in a capture.
func summaryJSON(t rapid.TB, s *Summary) string {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestSummarize(t *testing.T) {
	type row struct {
		name   string
		op     Op
		status int
		body   string
		want   string
	}
	for _, c := range []row{
		{
			"es8 search", OpSearch, 200,
			`{"took":3,"timed_out":false,"_shards":{"total":5,"successful":4,"skipped":1,"failed":1,"failures":[{"reason":{"type":"x"}}]},
			"hits":{"total":{"value":10000,"relation":"gte"},"max_score":1.5,"hits":[{"_index":"a","_id":"1","_score":1.5,"_source":{"_id":"no","a":[1,{"b":"}"}]}},{"_index":"a","_id":"2","_score":1.0}]}}`,
			`{"took":3,"timed_out":false,"shards":{"total":5,"ok":4,"skipped":1,"failed":1},"total":{"value":10000,"relation":"gte"},"hits":2,"ids":["` + Digest([]byte("1")) + `","` + Digest([]byte("2")) + `"]}`,
		},
		{
			"es6 total", OpSearch, 200, `{"took":1,"timed_out":false,"terminated_early":true,"hits":{"total":7,"max_score":null,"hits":[]}}`,
			`{"took":1,"timed_out":false,"early":true,"total":{"value":7,"relation":"eq"},"hits":0}`,
		},
		{"total not tracked", OpSearch, 200, `{"took":1,"hits":{"max_score":null,"hits":[]}}`, `{"took":1,"hits":0}`},
		{"total -1 of old versions", OpSearch, 200, `{"hits":{"total":-1,"hits":[]}}`, `{"hits":0}`},
		{"total without a value", OpSearch, 200, `{"hits":{"total":{"relation":"eq"}}}`, `{}`},
		{"filter_path left the ids", OpSearch, 200, `{"hits":{"hits":[{"_id":"1"}]}}`, `{"hits":1,"ids":["` + Digest([]byte("1")) + `"]}`},
		{"filter_path left nothing", OpSearch, 200, `{}`, `{}`},
		{"filter_path took the ids", OpSearch, 200, `{"hits":{"hits":[{"_source":{"a":1}},{}]}}`, `{"hits":2}`},
		{
			"scroll page, empty", OpScroll, 200, `{"_scroll_id":"abc","took":1,"timed_out":true,"hits":{"total":{"value":3,"relation":"eq"},"hits":[]}}`,
			`{"took":1,"timed_out":true,"total":{"value":3,"relation":"eq"},"hits":0}`,
		},
		{
			"es async", OpAsyncSearch, 200, `{"id":"Fm","is_partial":true,"is_running":true,"start_time_in_millis":1,"response":{"took":9,"timed_out":false,"_shards":{"total":2,"successful":1,"skipped":0,"failed":0},"hits":{"total":{"value":1,"relation":"eq"},"hits":[]}}}`,
			`{"took":9,"timed_out":false,"partial":true,"running":true,"shards":{"total":2,"ok":1},"total":{"value":1,"relation":"eq"},"hits":0}`,
		},
		{
			"opensearch async", OpAsyncGet, 200, `{"id":"F","state":"STORE_RESIDENT","response":{"took":2,"hits":{"total":{"value":1,"relation":"eq"},"hits":[]}}}`,
			`{"took":2,"running":false,"total":{"value":1,"relation":"eq"},"hits":0}`,
		},
		{
			"error object", OpSearch, 400, `{"error":{"root_cause":[{"type":"parsing_exception","reason":"unknown query [ann@x]"}],"type":"search_phase_execution_exception","reason":"all","caused_by":{"type":"z"}},"status":400}`,
			`{"error":"search_phase_execution_exception","root":"parsing_exception"}`,
		},
		{"same root", OpSearch, 404, `{"error":{"root_cause":[{"type":"a_exception"}],"type":"a_exception"},"status":404}`, `{"error":"a_exception"}`},
		{"error text", OpSearch, 405, `{"error":"Incorrect HTTP method for uri [/ann]","status":405}`, `{"error":"text"}`},
		{"error that is no type", OpSearch, 400, `{"error":{"type":"ann smith <ann@x>"}}`, `{"error":"other"}`},
		{
			"msearch", OpMsearch, 200, `{"took":4,"responses":[{"took":1,"hits":{"total":{"value":2,"relation":"eq"},"hits":[{"_id":"x"}]},"status":200},{"error":{"root_cause":[],"type":"index_not_found_exception","reason":"no such index [a]"},"status":404}]}`,
			`{"took":4,"hits":2,"items":[{"status":200,"took":1,"total":{"value":2,"relation":"eq"},"hits":1,"ids":["` + Digest([]byte("x")) + `"]},{"status":404,"error":"index_not_found_exception"}]}`,
		},
		{"count", OpCount, 200, `{"count":42,"_shards":{"total":1,"successful":1,"skipped":0,"failed":0}}`, `{"shards":{"total":1,"ok":1},"count":42}`},
		{"get", OpGet, 200, `{"_index":"a","_id":"1","found":true,"_source":{"found":false}}`, `{"found":1}`},
		{"get, missed", OpGet, 404, `{"_index":"a","_id":"1","found":false}`, `{"found":0}`},
		{"get, no index", OpGet, 404, `{"error":{"type":"index_not_found_exception"},"status":404}`, `{"error":"index_not_found_exception"}`},
		{"bare source", OpGet, 200, `{"error":{"type":"card 4111"},"took":12,"timed_out":true}`, `{"found":1}`},
		{"exists", OpExists, 200, ``, `{"found":1}`},
		{"exists not", OpExists, 404, ``, `{"found":0}`},
		{"mget", OpMget, 200, `{"docs":[{"_id":"1","found":true},{"_id":"2","found":false},{"_id":"3","error":{"type":"x"}},{"_id":"4","found":true}]}`, `{"found":2,"missed":1,"failed":1}`},
		{
			"bulk", OpBulk, 200, `{"took":30,"errors":true,"items":[
			{"index":{"_index":"a","_id":"1","result":"created","_shards":{"total":2},"status":201}},
			{"create":{"_index":"a","_id":null,"status":409,"error":{"type":"version_conflict_engine_exception","reason":"[1]: ann"}}},
			{"index":{"_index":"a","_id":"2","status":201}},
			{"index":{"_index":"a","_id":"3","status":201,"failure_store":"used"}},
			{"delete":{"_index":"a","_id":"2","result":"not_found","status":404}}]}`,
			`{"took":30,"bulk":[{"op":"create","status":409,"error":"version_conflict_engine_exception","n":1},{"op":"delete","status":404,"n":1},{"op":"index","status":201,"n":2},{"op":"index","status":201,"error":"failure_store_used","n":1}]}`,
		},
		{"index", OpIndex, 201, `{"_index":"a","_id":"1","_version":1,"result":"created","_shards":{"total":2,"successful":1,"failed":0},"_seq_no":0}`, `{"shards":{"total":2,"ok":1},"result":"created"}`},
		{"update, noop", OpUpdate, 200, `{"result":"noop"}`, `{"result":"noop"}`},
		{"delete, unknown result", OpDelete, 200, `{"result":"ann"}`, `{"result":"other"}`},
		{
			"update by query", OpUpdateByQuery, 200, `{"took":5,"timed_out":false,"total":9,"updated":7,"deleted":0,"batches":1,"version_conflicts":2,"noops":0,"retries":{"bulk":0},"failures":[{"id":"ann"}]}`,
			`{"took":5,"timed_out":false,"failed":1,"work":{"total":9,"updated":7,"conflicts":2}}`,
		},
		{"reindex as a task", OpReindex, 200, `{"task":"n:1"}`, `{}`},
		{"esql rows", OpESQL, 200, `{"took":2,"is_partial":false,"columns":[{"name":"a","type":"long"},{"name":"b","type":"long"}],"values":[[1,2],[3,4],[5,6]]}`, `{"took":2,"partial":false,"hits":3}`},
		{"esql columnar", OpESQL, 200, `{"columns":[{"name":"a"},{"name":"b"}],"values":[[1,2,3],[3,4,5]]}`, `{"hits":3}`},
		{"esql columnar, no rows", OpESQL, 200, `{"columns":[{"name":"a"},{"name":"b"}],"values":[[],[]]}`, `{"hits":0}`},
		{"sql", OpSQL, 200, `{"columns":[{"name":"a"}],"rows":[[1],["x"]],"cursor":"abc"}`, `{"hits":2}`},
		{"opensearch sql", OpSQL, 200, `{"schema":[{"name":"a"}],"datarows":[[1],[2]],"total":2,"size":2,"status":200}`, `{"hits":2}`},
		{
			"eql events", OpEQL, 200, `{"is_partial":false,"is_running":false,"took":1,"timed_out":false,"hits":{"total":{"value":1,"relation":"eq"},"events":[{"_id":"e"}]}}`,
			`{"took":1,"timed_out":false,"partial":false,"running":false,"total":{"value":1,"relation":"eq"},"hits":1,"ids":["` + Digest([]byte("e")) + `"]}`,
		},
		{
			"eql sequences", OpEQL, 200, `{"hits":{"sequences":[{"join_keys":[1],"events":[{"_id":"e"},{"_id":"f"}]}]}}`,
			`{"hits":1,"ids":["` + Digest([]byte("e")) + `","` + Digest([]byte("f")) + `"]}`,
		},
		{"field caps", OpFieldCaps, 200, `{"indices":["a"],"fields":{"x":{"long":{}},"y":{}},"failures":[{}]}`, `{"count":2,"failed":1}`},
		{"terms enum", OpTermsEnum, 200, `{"_shards":{"total":1,"successful":1,"failed":0},"terms":["a","b"],"complete":false}`, `{"partial":true,"shards":{"total":1,"ok":1},"hits":2}`},
		{"validate", OpValidate, 200, `{"valid":false}`, `{"found":0}`},
		{"explain", OpExplain, 200, `{"matched":true,"explanation":{}}`, `{"found":1}`},
		{"admin, array", OpAdmin, 200, `[{"health":"green"}]`, `{}`},
		{"wrong types everywhere", OpSearch, 200, `{"took":"3","timed_out":[1],"_shards":5,"hits":{"total":{"value":{"a":1}},"hits":{"a":[1]}},"aggregations":[{"a":{"buckets":[]}}],"error":7}`, `{}`},
		{"hits null", OpSearch, 200, `{"hits":null,"took":1.0}`, `{"took":1}`},
		{"malformed", OpSearch, 200, `{"took":1,}`, `{"unreadable":"json"}`},
		{"two values", OpSearch, 200, `{"took":1}{"took":2}`, `{"unreadable":"json"}`},
		{"cut in a number", OpSearch, 200, `{"took":1`, `{"unreadable":"cut"}`},
		{"cut in a string", OpSearch, 200, `{"took":1,"hits":{"hits":[{"_id":"ab`, `{"unreadable":"cut"}`},
		{"cut in what is passed over", OpSearch, 200, `{"took":1,"profile":{"a":[{"b":"ab`, `{"unreadable":"cut"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Summarize(c.op, c.status, jsonType, "", []byte(c.body), Mapper{})
			if diff := cmp.Diff(c.want, summaryJSON(t, got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			var pretty bytes.Buffer // as ?pretty has it
			if json.Indent(&pretty, []byte(c.body), "", "  ") != nil {
				return
			}
			again := Summarize(c.op, c.status, jsonType, "", pretty.Bytes(), Mapper{})
			if diff := cmp.Diff(got, again); diff != "" {
				t.Errorf("pretty: (-want +got)\n%s", diff)
			}
		})
	}
}

func TestSummarizeMediaTypes(t *testing.T) {
	const search = `{"took":1}`
	for _, c := range []struct {
		name, mediaType string
		op              Op
		status          int
		body, want      string
	}{
		{"compatible", "application/vnd.elasticsearch+json;compatible-with=8", OpSearch, 200, search, `{"took":1}`},
		{"charset, upper case", "Application/JSON; charset=UTF-8", OpSearch, 200, search, `{"took":1}`},
		{"none", "", OpSearch, 200, "  " + search, `{"took":1}`},
		{"json called text", "text/plain; charset=UTF-8", OpSQL, 200, `{"datarows":[[1]]}`, `{"hits":1}`},
		{"cbor", "application/cbor", OpSearch, 200, "\xbf", `{"unreadable":"media"}`},
		{"smile", "application/smile", OpSearch, 200, ":)\n", `{"unreadable":"media"}`},
		{"yaml", "application/yaml", OpSearch, 200, "---\ntook: 1\n", `{"unreadable":"media"}`},
		{"html error of something between", "text/html", OpSearch, 502, "<html>", `{"error":"text"}`},
		{"html for a search", "text/html", OpSearch, 200, "<html>", `{"unreadable":"media"}`},
		{"cat", "text/plain", OpAdmin, 200, "green open a\n", `{}`},
		{"vector tile", "application/vnd.mapbox-vector-tile", OpMVT, 200, "\x1a", `{}`},
		{"csv", "text/csv; charset=utf-8; header=present", OpSQL, 200, "a,b\r\n1,2\r\n\"x\ny\",3\r\n", `{"hits":2}`},
		{"csv without heading", "text/csv; header=absent", OpESQL, 200, "1,2\r\n3,4", `{"hits":2}`},
		{"tsv", "text/tab-separated-values", OpESQL, 200, "a\n1\n2\n", `{"hits":2}`},
		{"txt", "text/plain", OpSQL, 200, " a \n---\n1\n", `{"hits":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Summarize(c.op, c.status, c.mediaType, "", []byte(c.body), Mapper{})
			if diff := cmp.Diff(c.want, summaryJSON(t, got)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func gzipped(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zlibbed(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestSummarizeCompressed(t *testing.T) {
	plain := []byte(`{"took":7,"hits":{"hits":[` + strings.Repeat(`{"_id":"a"},`, 3000) + `{"_id":"b"}]}}`)
	gz, zl := gzipped(t, plain), zlibbed(t, plain)
	raw := zl[2 : len(zl)-4] // RFC 1950: two bytes before, a checksum behind
	z := Summarizer{MaxDecoded: 1 << 20}
	want := summaryJSON(t, z.Summarize(OpSearch, 200, jsonType, "", plain, Mapper{}))
	if !strings.Contains(want, `"hits":3001`) {
		t.Fatalf("plain: %s", want)
	}
	for round := range 2 {
		for _, c := range []struct {
			coding string
			body   []byte
			want   string
		}{
			{"gzip", gz, want},
			{"X-GZIP", gz, want},
			{"identity", plain, want},
			{"deflate", zl, want},
			{"deflate", raw, want},
			{"gzip, identity", gz, want},
			{"gzip,gzip", gzipped(t, gz), want},
			{"deflate, gzip", gzipped(t, zl), want},
			{"gzip", gz[:len(gz)-9], `{"unreadable":"cut"}`},
			{"gzip", gz[:5], `{"unreadable":"cut"}`},
			{"gzip", plain, `{"unreadable":"packed"}`},
			{"deflate", []byte("\xff\xff\xff"), `{"unreadable":"packed"}`},
			{"zstd", plain, `{"unreadable":"coding"}`},
			{"br", plain, `{"unreadable":"coding"}`},
			{"identity,identity,identity,gzip", gz, `{"unreadable":"coding"}`},
			{"gzip", gzipped(t, bytes.Repeat(plain, 40)), `{"unreadable":"too_large"}`},
			{"gzip", nil, `{}`},
		} {
			got := summaryJSON(t, z.Summarize(OpSearch, 200, jsonType, c.coding, c.body, Mapper{}))
			if got != c.want {
				t.Errorf("round %d: %s of %d bytes: %s; want %s", round, c.coding, len(c.body), got, c.want)
			}
		}
	}
}

// A cut at any place of a compressed or plain answer is seen.
func TestSummarizeEveryCut(t *testing.T) {
	plain := []byte(`{"took":12,"timed_out":false,"hits":{"total":{"value":3,"relation":"eq"},"hits":[{"_id":"ä\u00e4","_source":{"a":["x\"",null]}}]},"aggregations":{"a":{"buckets":[{"doc_count":1.5e3}]}}}`)
	var z Summarizer
	for i := 1; i < len(plain); i++ {
		if got := z.Summarize(OpSearch, 200, jsonType, "", plain[:i], Mapper{}); got.Unreadable != UnreadableCut {
			t.Errorf("%q: %q", plain[:i], got.Unreadable)
		}
	}
	packed := gzipped(t, plain)
	for i := 1; i < len(packed); i++ {
		if got := z.Summarize(OpSearch, 200, jsonType, "gzip", packed[:i], Mapper{}); got.Unreadable != UnreadableCut {
			t.Errorf("gzip cut at %d: %q", i, got.Unreadable)
		}
	}
}

func TestSummarizeMapper(t *testing.T) {
	m := Mapper{
		ID:   func(dst, id []byte) []byte { return append(append(dst, "id:"...), id...) },
		Name: func(dst, name []byte) []byte { return append(append(dst, "n:"...), name...) },
	}
	body := []byte(`{"hits":{"hits":[{"_id":"a\u0062"}]},"aggregations":{"sterms#x y":{"buckets":[{"key":"k","doc_count":2,"avg#z":{"value":1},"filter#f":{"doc_count":1}}]}}}`)
	got := Summarize(OpSearch, 200, jsonType, "", body, m)
	if want := []string{Digest([]byte("id:ab"))}; !cmp.Equal(got.IDs, want) {
		t.Errorf("IDs = %v, want %v", got.IDs, want)
	}
	paths := map[string]bool{}
	for _, a := range got.Aggs {
		paths[a.Path] = true
	}
	want := map[string]bool{Digest([]byte("n:x y")): true, Digest([]byte("n:x y>n:f")): true}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// The digest's formula is known to readers of reports: sha256sum, 16 digits.
func TestDigest(t *testing.T) {
	if got := Digest([]byte("abc")); got != "ba7816bf8f01cfea" {
		t.Errorf("Digest(abc) = %s", got)
	}
}

func TestSummarizeBounds(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"hits":{"hits":[`)
	for i := range 25 {
		fmt.Fprintf(&b, `{"_id":"%d"},`, i)
	}
	b.WriteString(`{}]},"aggregations":{`)
	for i := range 100 {
		fmt.Fprintf(&b, `"a%d":{"buckets":[%s{"doc_count":1}]},`, i, strings.Repeat(`{"doc_count":5},`, 200))
	}
	b.WriteString(`"z":{}}}`)
	got := Summarize(OpSearch, 200, jsonType, "", []byte(b.String()), Mapper{})
	if len(got.IDs) != MaxTopIDs || *got.Hits != 26 || len(got.Aggs) != MaxAggs || !cmp.Equal(got.Cut, []string{CutAggs}) {
		t.Errorf("%d ids, %d hits, %d aggs, cut %v", len(got.IDs), *got.Hits, len(got.Aggs), got.Cut)
	}
	for _, a := range got.Aggs {
		if a.Buckets != 201 || len(a.Counts) != MaxBuckets {
			t.Fatalf("%d buckets, %d counts", a.Buckets, len(a.Counts))
		}
	}
	items := Summarize(OpMsearch, 200, jsonType, "", []byte(`{"responses":[`+strings.Repeat(`{"status":200},`, 300)+`{}]}`), Mapper{})
	if len(items.Items) != MaxItems || *items.Hits != 301 || !cmp.Equal(items.Cut, []string{CutItems}) {
		t.Errorf("%d items of %d, cut %v", len(items.Items), *items.Hits, items.Cut)
	}
	b.Reset()
	b.WriteString(`{"items":[{"index":{"status":200}}`)
	for i := range 2 * MaxBulk {
		fmt.Fprintf(&b, `,{"index":{"status":%d}}`, i)
	}
	bulk := Summarize(OpBulk, 200, jsonType, "", []byte(b.String()+`]}`), Mapper{})
	if len(bulk.Bulk) != MaxBulk || !cmp.Equal(bulk.Cut, []string{CutBulk}) {
		t.Errorf("%d kinds of items, cut %v", len(bulk.Bulk), bulk.Cut)
	}
	deep := Summarize(OpSearch, 200, jsonType, "", []byte(`{"aggregations":`+strings.Repeat(`{"a":`, 500)+`{"buckets":[]}`+strings.Repeat(`}`, 501)), Mapper{})
	if deep.Unreadable != "" || !cmp.Equal(deep.Cut, []string{CutAggs}) {
		t.Errorf("deep aggregations: %s", summaryJSON(t, deep))
	}
	if got := Summarize(OpSearch, 200, jsonType, "", []byte(strings.Repeat(`{"aggregations":{"a":`, 1)+strings.Repeat(`[`, 3000)+strings.Repeat(`]`, 3000)+`}}`), Mapper{}); got.Unreadable != "" {
		t.Errorf("deep values that nobody reads: %q", got.Unreadable)
	}
}

// Items of a bulk's answer count the same whether they are read or known by their form.
func TestBulkItemsByTheirForm(t *testing.T) {
	items := rapid.SampledFrom([]string{
		`{"index":{"_index":"a","_id":"%","_version":1,"result":"created","_shards":{"total":2,"successful":1,"failed":0},"_seq_no":7,"_primary_term":1,"status":201}}`,
		`{"index":{"_index":"b","_id":"x\"}","_version":12,"result":"updated","_shards":{"total":2,"successful":1,"failed":0},"_seq_no":99,"_primary_term":1,"status":200}}`,
		`{"create":{"_index":"a","_id":"%","status":409,"error":{"type":"version_conflict_engine_exception","reason":"%","_id":"%"}}}`,
		`{"create":{"_index":"a","_id":"%","status":409,"\u0065rror":{"type":"version_conflict_engine_exception","_id":"%"}}}`,
		`{"delete":{"_id":"%","status":404,"result":"not_found"}}`, `{"delete":{"_id":null,"status":404}}`, `{"delete": {"_id" : "%", "status" : 404}}`,
		`{"update":{"_id":"%","status":-1.5e3}}`, `{"index":{"status":201,"failure_store":"used","_id":"%"}}`, `{"index":{"_id":"%","status":201},"create":{"status":201}}`,
		`{"index":{"_id":"%","_id":"status","status":201,"status":200}}`, `{"index":"_id"}`, `{}`, `[]`, `7`, `{"index":{"_id":{"a":"%"},"status":201}}`,
		`{"index":{"_id":"%","status":201}`, `{"index":{"_id":"%,"status":201}}`, `{"index":{"_id":-,"status":201}}`,
	})
	followed := 0
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.SliceOfN(items, 1, 3).Draw(t, "forms")
		var known, read Summarizer
		var alike, spaced []string
		for i := range rapid.IntRange(1, 40).Draw(t, "items") {
			item := strings.ReplaceAll(rapid.SampledFrom(some).Draw(t, "item"), "%", fmt.Sprint("id-", i%7))
			alike, spaced = append(alike, item), append(spaced, strings.Replace(item, "{", "{"+strings.Repeat(" ", i), 1))
		}
		summary := func(z *Summarizer, items []string) string {
			answer := `{"took":1,"errors":false,"items":[` + strings.Join(items, ",") + `]}`
			return summaryJSON(t, z.Summarize(OpBulk, 200, jsonType, "", []byte(answer), Mapper{}))
		}
		got, want := summary(&known, alike), summary(&read, spaced)
		followed += known.like.followed
		if read.like.followed > 0 {
			t.Fatal("no two items have one form")
		}
		if got != want {
			t.Fatalf("%q\n%s\nwant %s", alike, got, want)
		}
	})
	if followed == 0 {
		t.Error("no item was known by its form")
	}
}
