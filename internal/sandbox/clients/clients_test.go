package clients

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"

	elasticsearch "github.com/elastic/go-elasticsearch/v8"
	"github.com/elastic/go-elasticsearch/v8/esapi"
	"github.com/elastic/go-elasticsearch/v8/typedapi/types"
	"go.uber.org/goleak"

	"github.com/esshadow/esshadow/internal/sandbox"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const bulk = `{"index":{"_id":"1"}}
{"title":"Red running shoe","brand":"acme"}
{"index":{"_id":"2"}}
{"title":"Blue jacket","brand":"acme"}
{"index":{"_id":"3"}}
{"title":"Red red wine","brand":"bolt"}
`

const mapping = `{"mappings":{"properties":{"title":{"type":"text"},"brand":{"type":"keyword"}}}}`

// listen serves an engine on a port of the kernel's choice until the test ends.
func listen(t *testing.T, e *sandbox.Engine) string {
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
		e.Close()
	})
	return "http://" + ln.Addr().String()
}

func TestOfficialClient(t *testing.T) {
	url := listen(t, sandbox.New(sandbox.Options{}))
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	es, err := elasticsearch.NewClient(elasticsearch.Config{Addresses: []string{url}, DisableRetry: true, Transport: tr})
	if err != nil {
		t.Fatal(err)
	}
	type out struct {
		Tagline string
		Errors  bool
		Count   int
		Hits    struct {
			Hits []struct {
				ID string `json:"_id"`
			}
		}
		Source struct{ Title string } `json:"_source"`
	}
	check := func(what string, res *esapi.Response, err error) (o out) {
		t.Helper()
		if err != nil || res.IsError() {
			t.Fatal(what, err, res)
		}
		defer res.Body.Close()
		if err := json.NewDecoder(res.Body).Decode(&o); err != nil {
			t.Fatal(what, err)
		}
		return o
	}
	res, err := es.Info()
	if o := check("info", res, err); !strings.Contains(o.Tagline, "testing only") {
		t.Error(o)
	}
	res, err = es.Indices.Create("shop", es.Indices.Create.WithBody(strings.NewReader(mapping)))
	check("create", res, err)
	res, err = es.Bulk(strings.NewReader(bulk), es.Bulk.WithIndex("shop"), es.Bulk.WithRefresh("wait_for"))
	if o := check("bulk", res, err); o.Errors {
		t.Error(o)
	}
	res, err = es.Index("shop", strings.NewReader(`{"title":"Green hat"}`), es.Index.WithDocumentID("6"))
	check("index", res, err)
	res, err = es.Search(es.Search.WithIndex("shop"), es.Search.WithBody(strings.NewReader(`{"query":{"match":{"title":"red hat"}}}`)), es.Search.WithTrackTotalHits(true))
	if o := check("search", res, err); len(o.Hits.Hits) != 3 || o.Hits.Hits[0].ID != "6" || o.Hits.Hits[1].ID != "3" {
		t.Error(o)
	}
	res, err = es.Get("shop", "6")
	if o := check("get", res, err); o.Source.Title != "Green hat" {
		t.Error(o)
	}
	res, err = es.Delete("shop", "6")
	check("delete", res, err)
	res, err = es.Count(es.Count.WithIndex("shop"))
	if o := check("count", res, err); o.Count != 3 {
		t.Error(o)
	}
}

func TestOfficialTypedClient(t *testing.T) {
	url := listen(t, sandbox.New(sandbox.Options{}))
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	es, err := elasticsearch.NewTypedClient(elasticsearch.Config{Addresses: []string{url}, DisableRetry: true, Transport: tr})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range [][3]string{{http.MethodPut, "/shop", mapping}, {http.MethodPost, "/shop/_bulk", bulk}} {
		req, err := http.NewRequest(step[0], url+step[1], strings.NewReader(step[2]))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := es.Perform(req)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatal(step, res, err)
		}
		_ = res.Body.Close()
	}
	brand := "brand"
	out, err := es.Search().Index("shop").Query(&types.Query{Match: map[string]types.MatchQuery{"title": {Query: "red"}}}).
		Aggregations(map[string]types.Aggregations{"by": {Terms: &types.TermsAggregation{Field: &brand}}}).Do(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	by, ok := out.Aggregations["by"].(*types.StringTermsAggregate)
	if !ok || out.Hits.Total.Value != 2 || len(by.Buckets.([]types.StringTermsBucket)) != 2 {
		t.Errorf("%+v", out)
	}
	_, err = es.Search().Index("gone").Do(context.Background())
	var esErr *types.ElasticsearchError
	if !errors.As(err, &esErr) || esErr.Status != 404 || esErr.ErrorCause.Type != "index_not_found_exception" {
		t.Errorf("%T %v", err, err)
	}
}
