package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	elasticsearch "github.com/elastic/go-elasticsearch/v8"
	"github.com/elastic/go-elasticsearch/v8/esapi"
	"github.com/elastic/go-elasticsearch/v8/typedapi/types"
)

// listen serves an engine on a port of the kernel's choice until the test ends.
func listen(t *testing.T, e *Engine) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + ln.Addr().String()
}

func TestOfficialClient(t *testing.T) {
	url := listen(t, newEngine(t, Options{}))
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	es, err := elasticsearch.NewClient(elasticsearch.Config{Addresses: []string{url}, DisableRetry: true, Transport: tr})
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, res *esapi.Response, err error) map[string]any {
		t.Helper()
		if err != nil || res.IsError() {
			t.Fatal(what, err, res)
		}
		defer res.Body.Close()
		var out map[string]any
		if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
			t.Fatal(what, err)
		}
		return out
	}
	res, err := es.Info()
	if out := check("info", res, err); !strings.Contains(text1(out, "tagline"), "testing only") {
		t.Error(out)
	}
	res, err = es.Indices.Create("shop", es.Indices.Create.WithBody(strings.NewReader(shopMapping)))
	check("create", res, err)
	res, err = es.Bulk(strings.NewReader(shopBulk), es.Bulk.WithIndex("shop"), es.Bulk.WithRefresh("wait_for"))
	if out := check("bulk", res, err); out["errors"] != false {
		t.Error(out)
	}
	res, err = es.Index("shop", strings.NewReader(`{"title":"Green hat"}`), es.Index.WithDocumentID("6"))
	check("index", res, err)
	res, err = es.Search(es.Search.WithIndex("shop"), es.Search.WithBody(strings.NewReader(`{"query":{"match":{"title":"red hat"}}}`)), es.Search.WithTrackTotalHits(true))
	if out := check("search", res, err); ids(out) != "6 3 1 4" {
		t.Error(ids(out), out)
	}
	res, err = es.Get("shop", "6")
	if out := check("get", res, err); text1(out, "_source.title") != `"Green hat"` {
		t.Error(out)
	}
	res, err = es.Delete("shop", "6")
	check("delete", res, err)
	res, err = es.Count(es.Count.WithIndex("shop"))
	if out := check("count", res, err); out["count"] != 5.0 {
		t.Error(out)
	}
}

func TestOfficialTypedClient(t *testing.T) {
	url := listen(t, shop(t, Options{}))
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	es, err := elasticsearch.NewTypedClient(elasticsearch.Config{Addresses: []string{url}, DisableRetry: true, Transport: tr})
	if err != nil {
		t.Fatal(err)
	}
	brand := "brand"
	out, err := es.Search().Index("shop").Query(&types.Query{Match: map[string]types.MatchQuery{"title": {Query: "red"}}}).
		Aggregations(map[string]types.Aggregations{"by": {Terms: &types.TermsAggregation{Field: &brand}}}).Do(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	by, ok := out.Aggregations["by"].(*types.StringTermsAggregate)
	if !ok || out.Hits.Total.Value != 3 || len(by.Buckets.([]types.StringTermsBucket)) != 3 {
		t.Errorf("%+v", out)
	}
	_, err = es.Search().Index("gone").Do(context.Background())
	var esErr *types.ElasticsearchError
	if !errors.As(err, &esErr) || esErr.Status != 404 || esErr.ErrorCause.Type != "index_not_found_exception" {
		t.Errorf("%T %v", err, err)
	}
}

func TestConcurrentUse(t *testing.T) {
	e := newEngine(t, Options{})
	must(t, e, 200, "PUT /c", plainMapping)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 40 {
				id := fmt.Sprint(i % 7)
				for _, s := range [][2]string{
					{"POST /c/_bulk", fmt.Sprintf("{\"index\":{\"_id\":%q}}\n{\"title\":\"red %d\",\"new%d\":%d}\n{\"delete\":{\"_id\":\"%d\"}}\n", id, i, w, i, w)},
					{"POST /c/_search", `{"query":{"match":{"title":"red"}},"aggs":{"a":{"terms":{"field":"brand"}}}}`},
					{"POST /c/_search?scroll=1m", `{"size":1}`},
					{"GET /c/_mapping", ""}, {"GET /c/_doc/3", ""}, {"DELETE /_search/scroll/_all", ""},
				} {
					if rec := call(e, s[0], s[1]); rec.Code != 200 && rec.Code != 404 {
						t.Errorf("%s: %d %s", s[0], rec.Code, rec.Body)
					}
				}
				e.SetFaults(Faults{})
			}
		})
	}
	for range 20 {
		pit := text1(must(t, e, 200, "POST /c/_pit?keep_alive=1m", ""), "id")
		must(t, e, 200, "POST /_search", `{"pit":{"id":`+pit+`},"query":{"match":{"title":"red"}},"sort":["_id"]}`)
		must(t, e, 200, "DELETE /_pit", `{"id":`+pit+`}`)
	}
	wg.Wait()
}

func TestManyUpdatesAreCompacted(t *testing.T) {
	e := newEngine(t, Options{})
	for i := range 1500 {
		must(t, e, []int{200, 201}[map[bool]int{true: 1}[i < 3]], fmt.Sprintf("PUT /u/_doc/%d", i%3), fmt.Sprintf(`{"t":"word%d same"}`, i))
		if i%50 == 0 {
			must(t, e, 200, "GET /u/_search?q=same", "")
		}
	}
	if out := must(t, e, 200, "GET /u/_search?q=t:same", ""); text1(out, "hits.total.value") != "3" {
		t.Error(out)
	}
	if n := len(e.indices["u"].docs); n > 1200 {
		t.Errorf("%d slots for 3 documents", n)
	}
	if n := len(e.indices["u"].text.parts); n > 2*fanIn {
		t.Errorf("%d parts", n)
	}
}

func TestFaults(t *testing.T) {
	t.Run("every third document is lost", func(t *testing.T) {
		e := shop(t, Options{Faults: Faults{DropEvery: 3}})
		run(t, e, []step{{"POST /shop/_search", `{"sort":["_id"]}`, 200, []string{`hits.total.value=4`}}, {"HEAD /shop/_doc/3", "", 404, nil}})
	})
	t.Run("chosen documents are lost", func(t *testing.T) {
		e := shop(t, Options{Faults: Faults{Drop: func(id string) bool { return id == "2" || id == "5" }}})
		if got := ids(must(t, e, 200, "POST /shop/_search", "")); got != "1 3 4" {
			t.Error(got)
		}
	})
	t.Run("every second request is rejected", func(t *testing.T) {
		e := shop(t, Options{})
		e.SetFaults(Faults{RejectEvery: 2})
		for i := range 6 {
			must(t, e, 200, "GET /", "")
			must(t, e, []int{200, 429}[i%2], "GET /shop/_count", "")
		}
	})
}

// took is how long a request takes on the bubble's clock.
func took(t *testing.T, e *Engine, line, body string) time.Duration {
	start := time.Now()
	must(t, e, 200, line, body)
	return time.Since(start)
}

func TestSlowness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := shop(t, Options{})
		e.SetFaults(Faults{Latency: time.Second, Slow: []SlowShape{
			{Kind: "match", Field: "title", Delay: 10 * time.Second}, {Agg: true, Kind: "terms", Field: "brand", Delay: 100 * time.Second}}})
		for _, tc := range []struct {
			line, body string
			want       time.Duration
		}{
			{"GET /", "", 1},
			{"POST /shop/_search", `{"query":{"term":{"title":"a"}}}`, 1},
			{"POST /shop/_search", `{"query":{"match":{"brand":"a"}}}`, 1},
			{"POST /shop/_search", `{"query":{"terms":{"brand":["a"]}}}`, 1},
			{"POST /shop/_search", `{"query":{"bool":{"must":[{"match":{"title":"a"}}]}}}`, 11},
			{"POST /shop/_count", `{"query":{"match":{"title":{"query":"a"}}}}`, 11},
			{"POST /shop/_search", `{"aggs":{"x":{"terms":{"field":"brand"}}}}`, 101},
			{"POST /shop/_search", `{"query":{"match":{"title":"a"}},"aggs":{"x":{"terms":{"field":"brand"}}}}`, 111},
			{"POST /shop/_msearch", "{}\n{\"query\":{\"match\":{\"title\":\"a\"}}}\n{}\n{}\n", 11},
		} {
			if got := took(t, e, tc.line, tc.body); got != tc.want*time.Second {
				t.Errorf("%s %s took %v, want %v s", tc.line, tc.body, got, int(tc.want))
			}
		}
		e.SetFaults(Faults{})
		e.Freeze(5 * time.Second)
		e.Freeze(time.Second)
		if got := took(t, e, "GET /shop/_count", ""); got != 5*time.Second {
			t.Errorf("frozen for %v", got)
		}
		if got := took(t, e, "GET /shop/_count", ""); got != 0 {
			t.Errorf("still frozen for %v", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		e.Freeze(time.Hour)
		e.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil).WithContext(ctx)) // a client that gives up does not wait
		if ctx.Err() == nil {
			t.Error("answered while frozen")
		}
	})
}

func TestParseSlowShape(t *testing.T) {
	for in, want := range map[string]SlowShape{
		"match:title=50ms":    {Kind: "match", Field: "title", Delay: 50 * time.Millisecond},
		"agg:terms:brand=1s":  {Agg: true, Kind: "terms", Field: "brand", Delay: time.Second},
		"range=2ms":           {Kind: "range", Delay: 2 * time.Millisecond},
		"match:maker.city=1s": {Kind: "match", Field: "maker.city", Delay: time.Second},
	} {
		if got, err := ParseSlowShape(in); err != nil || got != want {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "match:title", "=5ms", "match:title=5", "match:title=-1s"} {
		if _, err := ParseSlowShape(in); err == nil {
			t.Errorf("%q is taken", in)
		}
	}
}
