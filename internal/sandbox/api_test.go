package sandbox

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// step is one request and what parts of its answer have to be.
type step struct {
	line, body string
	status     int
	want       []string // "path=json", pairs
}

func run(t *testing.T, e *Engine, steps []step) {
	t.Helper()
	for _, s := range steps {
		out := must(t, e, s.status, s.line, s.body)
		for _, w := range s.want {
			path, want, _ := strings.Cut(w, "=")
			if got := text1(out, path); got != want {
				t.Errorf("%s %s: %s = %s, want %s", s.line, s.body, path, got, want)
			}
		}
	}
}

func TestDocuments(t *testing.T) {
	run(t, newEngine(t, Options{UUID: "one"}), []step{
		{"PUT /i/_doc/a", `{"n":1}`, 201, []string{`result="created"`, `_version=1`, `_seq_no=0`, `_shards.successful=1`}},
		{"PUT /i/_doc/a?refresh=true", `{"n":2}`, 200, []string{`result="updated"`, `_version=2`, `_seq_no=1`, `forced_refresh=true`}},
		{"GET /i/_doc/a", "", 200, []string{`found=true`, `_source={"n":2}`, `_version=2`}},
		{"GET /i/_doc/a?_source=false", "", 200, []string{`_source=null`}},
		{"GET /i/_source/a", "", 200, []string{`n=2`}},
		{"HEAD /i/_doc/a", "", 200, nil},
		{"HEAD /i/_doc/zz", "", 404, nil},
		{"GET /i/_doc/zz", "", 404, []string{`found=false`, `_id="zz"`}},
		{"GET /i/_source/zz", "", 404, []string{`error.type="resource_not_found_exception"`}},
		{"GET /none/_doc/1", "", 404, []string{`error.type="index_not_found_exception"`, `error.index="none"`, `status=404`}},
		{"PUT /i/_create/a", `{}`, 409, []string{`error.type="version_conflict_engine_exception"`}},
		{"PUT /i/_doc/a?op_type=create", `{}`, 409, nil},
		{"PUT /i/_create/b", `{"n":5}`, 201, nil},
		{"PUT /i/_doc/a?if_seq_no=0&if_primary_term=1", `{}`, 409, nil},
		{"PUT /i/_doc/a?if_seq_no=1&if_primary_term=1", `{"n":3,"o":{"x":1,"y":2}}`, 200, []string{`_version=3`}},
		{"PUT /i/_doc/a?if_seq_no=1", `{}`, 400, []string{`error.type="action_request_validation_exception"`}},
		{"PUT /i/_doc/v?version=7&version_type=external", `{}`, 201, []string{`_version=7`}},
		{"PUT /i/_doc/v?version=7&version_type=external", `{}`, 409, nil},
		{"PUT /i/_doc/v?version=7&version_type=external_gte", `{}`, 200, []string{`_version=7`}},
		{"POST /i/_update/a", `{"doc":{"o":{"y":9},"z":[1]}}`, 200, []string{`result="updated"`}},
		{"GET /i/_source/a", "", 200, []string{`o={"x":1,"y":9}`, `z=[1]`, `n=3`}},
		{"POST /i/_update/a", `{"doc":{"n":3}}`, 200, []string{`result="noop"`}},
		{"POST /i/_update/q", `{"doc":{"n":3}}`, 404, []string{`error.type="document_missing_exception"`}},
		{"POST /i/_update/q", `{"doc":{"n":3},"doc_as_upsert":true}`, 201, []string{`result="created"`}},
		{"POST /i/_update/u", `{"doc":{"n":3},"upsert":{"n":8}}`, 201, nil},
		{"GET /i/_source/u", "", 200, []string{`n=8`}},
		{"POST /i/_update/a", `{"script":{"source":"1"}}`, 400, []string{`error.type="illegal_argument_exception"`}},
		{"POST /i/_mget", `{"ids":["a","nope"]}`, 200, []string{`docs.0.found=true`, `docs.1.found=false`}},
		{"POST /_mget", `{"docs":[{"_index":"i","_id":"b","_source":["n"]},{"_index":"gone","_id":"1"}]}`, 200, []string{`docs.0._source={"n":5}`, `docs.1.error.type="index_not_found_exception"`}},
		{"DELETE /i/_doc/a", "", 200, []string{`result="deleted"`}},
		{"DELETE /i/_doc/a", "", 404, []string{`result="not_found"`}},
		{"POST /i/_count", "", 200, []string{`count=4`, `_shards.total=1`}},
		{"PUT /i/_doc/bad", `{"n":`, 400, []string{`error.type="document_parsing_exception"`}},
		{"PUT /i/_doc/bad", `{"n":"word"}`, 400, []string{`error.type="document_parsing_exception"`}},
		{"PUT /i/_doc/bad", `{"n":{"x":1}}`, 400, []string{`error.type="document_parsing_exception"`}},
		{"PUT /i/_doc/bad", `{"o":1}`, 400, []string{`error.type="document_parsing_exception"`}},
		{"PUT /i/_doc/bad", `{"k":1,"k":2}`, 400, nil},
		{"PUT /i/_doc/bad", `[1]`, 400, nil},
		{"GET /i/_doc/bad", "", 404, nil},
		{"PUT /i/_doc/a%2Fb%20c", `{}`, 201, []string{`_id="a/b c"`}},
		{"GET /i/_doc/a%2Fb%20c", "", 200, nil},
	})
}

func TestIndices(t *testing.T) {
	run(t, newEngine(t, Options{UUID: "one"}), []step{
		{"GET /", "", 200, []string{`cluster_uuid="one"`, `version.build_flavor="sandbox"`, `version.distribution="esshadow-sandbox"`, `version.number="8.19.0"`}},
		{"PUT /logs-1", `{"settings":{"number_of_shards":3},"mappings":{"properties":{"a":{"type":"keyword","ignore_above":3},"b":{"properties":{"c":{"type":"integer"}}}}}}`, 200, []string{`acknowledged=true`, `index="logs-1"`}},
		{"PUT /logs-1", "", 400, []string{`error.type="resource_already_exists_exception"`}},
		{"PUT /UPPER", "", 400, []string{`error.type="invalid_index_name_exception"`}},
		{"PUT /x", `{"mappings":{"properties":{"a":{"type":"geo_shape"}}}}`, 400, []string{`error.type="mapper_parsing_exception"`}},
		{"HEAD /logs-1", "", 200, nil},
		{"HEAD /logs-2", "", 404, nil},
		{"PUT /logs-2", "", 200, nil},
		{"PUT /logs-2/_doc/1", `{"d":"2024-01-01","s":"x y","f":1.5,"t":true,"i":3}`, 201, nil},
		{"GET /logs-2/_mapping", "", 200, []string{
			`logs-2.mappings.properties.d={"type":"date"}`, `logs-2.mappings.properties.f={"type":"float"}`,
			`logs-2.mappings.properties.s={"fields":{"keyword":{"ignore_above":256,"type":"keyword"}},"type":"text"}`, `logs-2.mappings.properties.i.type="long"`,
		}},
		{"GET /logs-1", "", 200, []string{`logs-1.mappings.properties.b.properties.c.type="integer"`, `logs-1.settings.index.provided_name="logs-1"`}},
		{"PUT /logs-1/_mapping", `{"properties":{"new":{"type":"date"}}}`, 200, nil},
		{"PUT /logs-1/_mapping", `{"properties":{"a":{"type":"date"}}}`, 400, []string{`error.type="illegal_argument_exception"`}},
		{"PUT /logs-1/_doc/1", `{"a":"long text"}`, 201, nil},
		{"GET /logs-*/_search", "", 200, []string{`hits.total.value=2`, `_shards.total=2`}},
		{"GET /logs-*,-logs-1/_search", "", 200, []string{`hits.total.value=1`}},
		{"GET /logs-1,logs-2/_count", "", 200, []string{`count=2`}},
		{"GET /_search", "", 200, []string{`hits.total.value=2`}},
		{"GET /no*/_search", "", 200, []string{`hits.total.value=0`, `hits.hits=[]`, `_shards.total=0`}},
		{"GET /no/_search", "", 404, []string{`error.root_cause.0.type="index_not_found_exception"`}},
		{"GET /no,logs-1/_search?ignore_unavailable=true", "", 200, []string{`hits.total.value=1`}},
		{"GET /no*/_search?allow_no_indices=false", "", 404, nil},
		{"POST /logs-1/_search", `{"query":{"exists":{"field":"a"}}}`, 200, []string{`hits.total.value=0`}},
		{"POST /logs-1/_refresh", "", 200, []string{`_shards.failed=0`}},
		{"GET /_cluster/health", "", 200, []string{`status="green"`}},
		{"DELETE /logs-*", "", 400, nil},
		{"DELETE /logs-1", "", 200, []string{`acknowledged=true`}},
		{"DELETE /logs-1", "", 404, nil},
		{"GET /_search", "", 200, []string{`hits.total.value=1`}},
		{"PUT /strict", `{"mappings":{"dynamic":"strict","properties":{"a":{"type":"long"}}}}`, 200, nil},
		{"PUT /strict/_doc/1", `{"b":1}`, 400, []string{`error.type="strict_dynamic_mapping_exception"`}},
		{"PUT /quiet", `{"mappings":{"dynamic":false}}`, 200, nil},
		{"PUT /quiet/_doc/1", `{"b":1}`, 201, nil},
		{"GET /quiet/_search?q=b:1", "", 200, []string{`hits.total.value=0`}},
		{"GET /quiet/_mapping", "", 200, []string{`quiet.mappings={"dynamic":"false"}`}},
	})
}

func TestRefusals(t *testing.T) {
	run(t, shop(t, Options{}), []step{
		{"GET /shop/_nothing", "", 400, []string{`error="no handler found for uri [/shop/_nothing] and method [GET]"`}},
		{"GET /_nodes/stats", "", 400, nil},
		{"DELETE /shop/_search", "", 405, []string{`status=405`}},
		{"POST /shop/_search", `{"query":{"fuzzy":{"a":"b"}}}`, 400, []string{`error.type="parsing_exception"`, `error.reason="unknown query [fuzzy]"`, `error.root_cause.0.type="parsing_exception"`}},
		{"POST /shop/_search", `{"query":{"match":{"title":{"query":"a","fuzziness":"AUTO"}}}}`, 400, nil},
		{"POST /shop/_search", `{"query":`, 400, []string{`error.type="x_content_parse_exception"`}},
		{"POST /shop/_search", `[]`, 400, nil},
		{"POST /shop/_search", `{"query":{}}`, 400, nil},
		{"POST /shop/_search", `{"highlight":{}}`, 400, nil},
		{"POST /shop/_search?nonsense=1", ``, 400, []string{`error.reason="request [/shop/_search] contains unrecognized parameter: [nonsense]"`}},
		{"POST /shop/_search", `{"from":9999,"size":2}`, 400, []string{`error.type="illegal_argument_exception"`}},
		{"POST /shop/_search", `{"from":9999,"size":1}`, 200, nil},
		{"POST /shop/_search", `{"size":-1}`, 400, nil},
		{"POST /shop/_search", `{"sort":"nothing"}`, 400, []string{`error.type="search_phase_execution_exception"`, `error.root_cause.0.type="query_shard_exception"`}},
		{"POST /shop/_search", `{"sort":[{"nothing":{"unmapped_type":"long"}}]}`, 200, []string{`hits.total.value=5`}},
		{"POST /shop/_search", `{"sort":"title"}`, 400, []string{`error.root_cause.0.type="illegal_argument_exception"`}},
		{"POST /shop/_search", `{"query":{"term":{"stock":"many"}}}`, 400, []string{`error.root_cause.0.type="query_shard_exception"`, `error.failed_shards.0.index="shop"`}},
		{"POST /shop/_search", `{"query":{"range":{"sold":{"gte":"someday"}}}}`, 400, nil},
		{"POST /shop/_search", `{"query":{"term":{"a":1,"b":2}}}`, 400, nil},
		{"POST /shop/_search", `{"aggs":{"a":{"magic":{"field":"b"}}}}`, 400, []string{`error.reason="Unknown aggregation type [magic]"`}},
		{"POST /shop/_search", `{"aggs":{"a":{"avg":{"field":"brand"}}}}`, 400, nil},
		{"POST /shop/_search", `{"aggs":{"a":{"terms":{"field":"title"}}}}`, 400, nil},
		{"POST /shop/_search", `{"aggs":{"a":{"terms":{"field":"brand","script":"x"}}}}`, 400, nil},
		{"POST /shop/_search", `{"sort":["_id"],"search_after":["1","2"]}`, 400, nil},
		{"POST /shop/_search", `{"query":{"query_string":{"query":"a~2"}}}`, 400, nil},
		{"POST /shop/_search", `{"query":{"query_string":{"query":"(a"}}}`, 400, nil},
		{"POST /_search", `{"pit":{"id":"bm8="}}`, 404, []string{`error.root_cause.0.type="search_context_missing_exception"`}},
		{"POST /_search/scroll", `{"scroll_id":"bm8="}`, 404, []string{`error.root_cause.0.type="search_context_missing_exception"`}},
	})
}

func TestSearchAnswer(t *testing.T) {
	run(t, shop(t, Options{}), []step{
		{"POST /shop/_search", `{"query":{"term":{"_id":"1"}}}`, 200, []string{
			`timed_out=false`, `_shards={"failed":0,"skipped":0,"successful":1,"total":1}`,
			`hits.total={"relation":"eq","value":1}`, `hits.max_score=1`, `hits.hits.0._index="shop"`, `hits.hits.0._source.maker={"city":"Oslo"}`,
		}},
		{"POST /shop/_search?size=1&sort=price:desc", ``, 200, []string{`hits.max_score=null`, `hits.hits.0._score=null`, `hits.hits.0.sort=[99.9]`}},
		{"POST /shop/_search", `{"sort":["sold"],"size":1,"track_scores":true}`, 200, []string{`hits.hits.0.sort=[1704448800000]`, `hits.max_score=1`}},
		{"POST /shop/_search", `{"sort":[{"brand":"asc"},{"stock":"asc"}],"from":3,"size":1}`, 200, []string{`hits.hits.0.sort.0="bolt"`, `hits.hits.0._id="5"`}},
		{"POST /shop/_search", `{"track_total_hits":false}`, 200, []string{`hits.total=null`}},
		{"POST /shop/_search", `{"track_total_hits":2}`, 200, []string{`hits.total={"relation":"gte","value":2}`}},
		{"POST /shop/_search?rest_total_hits_as_int=true", ``, 200, []string{`hits.total=5`}},
		{"POST /shop/_search", `{"_source":false,"size":1}`, 200, []string{`hits.hits.0._source=null`}},
		{"POST /shop/_search", `{"_source":["title","maker.*"],"size":1}`, 200, []string{`hits.hits.0._source={"maker":{"city":"Oslo"},"title":"Red running shoe"}`}},
		{"POST /shop/_search", `{"_source":{"includes":["maker","stock"],"excludes":["*.city"]},"size":1}`, 200, []string{`hits.hits.0._source={"maker":{},"stock":3}`}},
		{"GET /shop/_search?_source_includes=brand&size=1", ``, 200, []string{`hits.hits.0._source={"brand":"acme"}`}},
		{"GET /shop/_search?q=brand:bolt", ``, 200, []string{`hits.total.value=2`}},
		{"GET /shop/_search?q=red+shoe&df=title&default_operator=AND", ``, 200, []string{`hits.total.value=2`}},
		{"GET /shop/_search?source=%7B%22size%22:0%7D&source_content_type=application/json", ``, 200, []string{`hits.hits=[]`}},
		{"GET /shop/_search?filter_path=hits.total.value,hits.hits._id&size=1", ``, 200, []string{`took=null`, `hits={"hits":[{"_id":"1"}],"total":{"value":5}}`}},
		{"GET /shop/_search?filter_path=-hits.hits,-took", ``, 200, []string{`took=null`, `hits.hits=null`, `hits.total.value=5`}},
		{"POST /shop/_search", `{"version":true,"seq_no_primary_term":true,"size":1}`, 200, []string{`hits.hits.0._version=1`, `hits.hits.0._seq_no=0`, `hits.hits.0._primary_term=1`}},
	})
}

func TestMissingSortValueIsTheLargestNumber(t *testing.T) {
	w := call(shop(t, Options{}), "POST /shop/_search", `{"sort":["stock"],"from":4}`)
	if !strings.Contains(w.Body.String(), `"sort":[9223372036854775807]`) {
		t.Error(w.Body)
	}
}

func TestTotalIsCappedByDefault(t *testing.T) {
	e := newEngine(t, Options{})
	var b strings.Builder
	for i := range 10001 {
		fmt.Fprintf(&b, "{\"index\":{\"_id\":\"%d\"}}\n{\"n\":%d}\n", i, i)
	}
	must(t, e, 200, "POST /big/_bulk", b.String())
	run(t, e, []step{
		{"GET /big/_search", "", 200, []string{`hits.total={"relation":"gte","value":10000}`}},
		{"GET /big/_search?track_total_hits=true", "", 200, []string{`hits.total={"relation":"eq","value":10001}`}},
		{"GET /big/_search?track_total_hits=10001", "", 200, []string{`hits.total={"relation":"eq","value":10001}`}},
		{"GET /big/_count", "", 200, []string{`count=10001`}},
		{"POST /big/_search", `{"sort":[{"n":"desc"}],"from":9999,"size":1}`, 200, []string{`hits.hits.0.sort=[1]`}},
	})
}

func TestBulk(t *testing.T) {
	e := newEngine(t, Options{})
	for _, tc := range []struct{ name, body, reason string }{
		{"no newline at the end", "{\"index\":{}}\n{}", "newline"},
		{"empty", "", "required"},
		{"not json", "nonsense\n", "offset"},
		{"unknown action", "{\"put\":{}}\n{}\n", "expected field"},
		{"array for an action", "[]\n", "START_OBJECT"},
		{"unknown metadata", "{\"index\":{\"_ix\":1}}\n{}\n", "unknown parameter"},
		{"id is missing", "{\"delete\":{\"_index\":\"a\"}}\n", "id is missing"},
		{"nothing but blank lines", "\n\n", "required"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := call(e, "POST /b/_bulk", tc.body)
			if w.Code != 400 || !strings.Contains(w.Body.String(), tc.reason) {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	run(t, e, []step{
		{"POST /b/_bulk", "{\"index\":{\"_id\":\"1\"}}\r\n{\"n\":1}\r\n\n{\"create\":{\"_id\":\"1\"}}\n{}\n{\"update\":{\"_id\":\"1\"}}\n{\"doc\":{\"n\":2}}\n{\"delete\":{\"_id\":\"9\"}}\n{\"index\":{\"_id\":2}}\n{\"n\":\"x\"}\n{\"index\":{}}\n{\"n\":3}\n{\"update\":{\"_id\":\"7\"}}\n{\"doc\":{}}\n{\"index\":{\"_index\":\"c\",\"_id\":\"3\"}}\n{bad\n", 200, []string{
			`errors=true`, `items.0.index.status=201`, `items.1.create.status=409`, `items.1.create.error.type="version_conflict_engine_exception"`,
			`items.2.update.status=200`, `items.2.update.result="updated"`, `items.3.delete.status=404`, `items.3.delete.result="not_found"`,
			`items.4.index.status=400`, `items.4.index._id="2"`, `items.4.index.error.type="document_parsing_exception"`,
			`items.5.index.status=201`, `items.6.update.status=404`, `items.7.index.status=400`,
		}},
		{"GET /b/_count", "", 200, []string{`count=2`}},
		{"PUT /_bulk", "{\"index\":{\"_index\":\"c\",\"_id\":\"3\"}}\n{\"a\":1}\n{\"delete\":{\"_index\":\"b\",\"_id\":\"1\"}}\n{\"index\":{\"_index\":\"c\"}}\n", 200, []string{`errors=false`, `items.1.delete.result="deleted"`, `items.2=null`}},
		{"POST /_bulk", "{\"index\":{}}\n{}\n", 400, []string{`error.reason="Validation Failed: 1: index is missing;"`}},
	})
}

func TestMsearch(t *testing.T) {
	e := shop(t, Options{})
	run(t, e, []step{
		{"POST /_msearch", "{\"index\":\"shop\"}\n{\"size\":0}\n{\"index\":[\"gone\"]}\n{}\n{\"index\":\"shop\"}\n{\"query\":{\"x\":{}}}\n{\"index\":\"shop\"}\n{\"query\":\n", 200, []string{
			`responses.0.status=200`, `responses.0.hits.total.value=5`, `responses.1.status=404`, `responses.1.error.type="index_not_found_exception"`,
			`responses.2.status=400`, `responses.3.status=400`, `responses.4=null`,
		}},
		{"POST /shop/_msearch", "{}\n{\"query\":{\"term\":{\"brand\":\"acme\"}}}\n\n{}\n", 200, []string{`responses.0.hits.total.value=2`, `responses.1.hits.total.value=5`}},
		{"POST /_msearch", "{}\n{}", 400, nil},
		{"POST /_msearch", "{\"bad\":1}\n{}\n", 400, nil},
	})
}

func TestCursors(t *testing.T) {
	now := noon()
	e := shop(t, Options{Now: func() time.Time { return now }})
	page := must(t, e, 200, "POST /shop/_search?scroll=1m&size=2", `{"sort":["_id"],"aggs":{"a":{"max":{"field":"price"}}}}`)
	id := at(page, "_scroll_id").(string)
	if ids(page) != "1 2" || text1(page, "aggregations.a.value") != "99.9" {
		t.Fatal(page)
	}
	must(t, e, 200, "DELETE /shop/_doc/3", "")
	body := fmt.Sprintf(`{"scroll":"1m","scroll_id":%q}`, id)
	for _, want := range []string{"3 4", "5", "", ""} {
		page = must(t, e, 200, "POST /_search/scroll", body)
		if got := ids(page); got != want || text1(page, "hits.total.value") != "5" {
			t.Fatalf("page %q, want %q: %v", got, want, page)
		}
	}
	run(t, e, []step{
		{"DELETE /_search/scroll", fmt.Sprintf(`{"scroll_id":[%q]}`, id), 200, []string{`num_freed=1`}},
		{"DELETE /_search/scroll", fmt.Sprintf(`{"scroll_id":%q}`, id), 404, []string{`num_freed=0`}},
		{"POST /_search/scroll", body, 404, nil},
	})
	pit := at(must(t, e, 200, "POST /shop/_pit?keep_alive=1m", ""), "id").(string)
	must(t, e, 200, "DELETE /shop/_doc/1", "")
	must(t, e, 201, "PUT /shop/_doc/6", `{"title":"red"}`)
	search := fmt.Sprintf(`{"pit":{"id":%q,"keep_alive":"2m"},"query":{"match":{"title":"red"}},"sort":[{"_id":"asc"}],"size":1}`, pit)
	page = must(t, e, 200, "POST /_search", search)
	if ids(page) != "1" || text1(page, "hits.total.value") != "2" || text1(page, "pit_id") != fmt.Sprintf("%q", pit) {
		t.Fatalf("point in time: %v", page)
	}
	after := text1(page, "hits.hits.0.sort")
	if got := ids(must(t, e, 200, "POST /_search", strings.Replace(search, `"size":1`, `"search_after":`+after, 1))); got != "4" {
		t.Fatalf("after %s: %q", after, got)
	}
	run(t, e, []step{{"POST /shop/_search", search, 400, nil}, {"POST /shop/_search", `{"query":{"match":{"title":"red"}}}`, 200, []string{`hits.total.value=2`}}})
	now = now.Add(3 * time.Minute)
	run(t, e, []step{{"POST /_search", search, 404, nil}, {"DELETE /_pit", fmt.Sprintf(`{"id":%q}`, pit), 200, []string{`num_freed=1`}}})
}

func TestTransport(t *testing.T) {
	e := shop(t, Options{MaxBody: 1000})
	var z bytes.Buffer
	zw := gzip.NewWriter(&z)
	_, _ = zw.Write([]byte(`{"query":{"term":{"brand":"acme"}}}`))
	_ = zw.Close()
	w := call(e, "POST /shop/_search", z.String(), "Content-Encoding", "gzip", "Accept-Encoding", "gzip", "X-Opaque-Id", "me/1",
		"Accept", "application/vnd.elasticsearch+json;compatible-with=8", "Content-Type", "application/vnd.elasticsearch+json;compatible-with=8")
	zr, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err, w.Code)
	}
	var out any
	if err := json.NewDecoder(zr).Decode(&out); err != nil || ids(out) != "1 2" {
		t.Fatal(err, out)
	}
	for k, want := range map[string]string{
		"X-Opaque-Id": "me/1", "X-Elastic-Product": "Elasticsearch", "Content-Encoding": "gzip",
		"Content-Type": "application/vnd.elasticsearch+json;compatible-with=8",
	} {
		if got := w.Header().Get(k); got != want {
			t.Errorf("%s: %q", k, got)
		}
	}
	for _, tc := range []struct {
		name, line, body string
		header           []string
		status           int
	}{
		{"too long", "POST /shop/_search", strings.Repeat(" ", 1001), nil, 413},
		{"media type", "POST /shop/_search", "{}", []string{"Content-Type", "text/plain"}, 406},
		{"not gzip", "POST /shop/_search", "{}", []string{"Content-Encoding", "gzip"}, 400},
		{"zstd", "POST /shop/_search", "{}", []string{"Content-Encoding", "zstd"}, 400},
		{"options", "OPTIONS /shop/_search", "", nil, 200},
	} {
		if w := call(e, tc.line, tc.body, tc.header...); w.Code != tc.status {
			t.Errorf("%s: %d %s", tc.name, w.Code, w.Body)
		}
	}
	if w := call(e, "GET /shop/_search?pretty", ""); !strings.Contains(w.Body.String(), "\n  \"timed_out\" : false") && !strings.Contains(w.Body.String(), "\n  \"timed_out\": false") {
		t.Error(w.Body)
	}
	if w := call(e, "GET /_cat/indices", ""); !strings.Contains(w.Body.String(), "open shop") {
		t.Error(w.Body)
	}
	if b, _ := io.ReadAll(call(e, "GET /_cat/indices/shop?format=json", "").Body); !strings.Contains(string(b), `"docs.count":"5"`) {
		t.Error(string(b))
	}
	if w := call(e, "PATCH /shop/_search", ""); w.Code != 405 || w.Header().Get("Allow") != "GET,HEAD,POST" {
		t.Error(w.Code, w.Header())
	}
}

func TestMaxDocs(t *testing.T) {
	e := newEngine(t, Options{MaxDocs: 2})
	run(t, e, []step{
		{"POST /m/_bulk", "{\"index\":{\"_id\":\"1\"}}\n{}\n{\"index\":{\"_id\":\"2\"}}\n{}\n{\"index\":{\"_id\":\"3\"}}\n{}\n{\"index\":{\"_id\":\"1\"}}\n{}\n", 200, []string{`items.2.index.status=429`, `items.3.index.status=200`}},
		{"DELETE /m/_doc/1", "", 200, nil},
		{"PUT /n/_doc/1", "{}", 201, nil},
		{"PUT /n/_doc/2", "{}", 429, nil},
		{"DELETE /m", "", 200, nil},
		{"PUT /n/_doc/2", "{}", 201, nil},
	})
	e.Close()
	must(t, e, 503, "GET /n/_search", "")
}
