//go:build engine

package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	elasticsearch "github.com/elastic/go-elasticsearch/v8"
	"github.com/elastic/go-elasticsearch/v8/esapi"
	"github.com/elastic/go-elasticsearch/v8/esutil"
)

// recorder keeps every answer that passes, as it came.
type recorder struct {
	next http.RoundTripper
	to   *[]heard
}

// RoundTrip implements http.RoundTripper.
func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := r.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	head := map[string]string{}
	for name, values := range resp.Header {
		head[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	*r.to = append(*r.to, heard{req.Method, req.URL.RequestURI(), resp.StatusCode, head, body})
	return resp, nil
}

// asElasticsearch lets the client of Elasticsearch talk to OpenSearch: that knows
// no vendor's media types, and does not say that it is the product.
type asElasticsearch struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (a asElasticsearch) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	for _, name := range []string{"Accept", "Content-Type"} {
		if v := req.Header.Get(name); v != "" {
			media, _, _ := strings.Cut(strings.Replace(v, "vnd.elasticsearch+", "", 1), ";")
			req.Header.Set(name, media)
		}
	}
	resp, err := a.next.RoundTrip(req)
	if err == nil {
		resp.Header.Set("X-Elastic-Product", "Elasticsearch")
	}
	return resp, err
}

// goClient is one session of the official Go client.
type goClient struct {
	t     *testing.T
	es    *elasticsearch.Client
	index string
}

// goSession indexes, changes and reads with the official Go client.
func goSession(t *testing.T, e engine, url, index string) []heard {
	t.Helper()
	var all []heard
	pool := &http.Transport{MaxConnsPerHost: 1}
	t.Cleanup(pool.CloseIdleConnections)
	var next http.RoundTripper = &recorder{next: pool, to: &all}
	if e.flavor == "opensearch" {
		next = asElasticsearch{next}
	}
	es, err := elasticsearch.NewClient(elasticsearch.Config{Addresses: []string{url}, Transport: next, DisableRetry: true})
	if err != nil {
		t.Fatal(err)
	}
	c := &goClient{t, es, index}
	c.write()
	c.read()
	c.pages(e)
	c.got(200)(es.Indices.Delete([]string{index}))
	return all
}

// got returns what takes the outcome of a call and wants this status.
func (c *goClient) got(status int) func(*esapi.Response, error) m {
	return func(r *esapi.Response, err error) m {
		c.t.Helper()
		if err != nil {
			c.t.Fatal(err)
		}
		defer func() { _ = r.Body.Close() }()
		text, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != status {
			c.t.Fatalf("status %d, want %d, %v: %s", r.StatusCode, status, err, text)
		}
		var v m
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		_ = d.Decode(&v) // an answer to HEAD has no body
		return v
	}
}

func (c *goClient) write() {
	c.t.Helper()
	es, index := c.es, c.index
	c.got(200)(es.Indices.Create(index, es.Indices.Create.WithBody(strings.NewReader(mapping))))
	c.got(201)(es.Index(index, esutil.NewJSONReader(document(0)), es.Index.WithDocumentID(id(0))))
	bulk, err := esutil.NewBulkIndexer(esutil.BulkIndexerConfig{Client: es, Index: index, NumWorkers: 1, FlushBytes: 60_000})
	if err != nil {
		c.t.Fatal(err)
	}
	for n := 1; n < 400; n++ {
		err := bulk.Add(c.t.Context(), esutil.BulkIndexerItem{Action: "index", DocumentID: id(n), Body: bytes.NewReader(lines(document(n)))})
		if err != nil {
			c.t.Fatal(err)
		}
	}
	if err := bulk.Close(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
	if s := bulk.Stats(); s.NumIndexed != 399 || s.NumFailed != 0 {
		c.t.Fatalf("the bulk indexer says %+v", s)
	}
	c.got(200)(es.Indices.Refresh(es.Indices.Refresh.WithIndex(index)))
	c.got(200)(es.Update(index, id(3), esutil.NewJSONReader(m{"doc": m{"stock": 1}})))
	c.got(200)(es.Delete(index, id(4)))
	c.got(200)(es.Indices.Refresh(es.Indices.Refresh.WithIndex(index)))
}

func (c *goClient) read() {
	c.t.Helper()
	es, index := c.es, c.index
	if n := c.got(200)(es.Count(es.Count.WithIndex(index)))["count"]; fmt.Sprint(n) != "399" {
		c.t.Errorf("count %v", n)
	}
	c.got(200)(es.Get(index, id(3)))
	c.got(404)(es.Get(index, id(4)))
	c.got(404)(es.Exists(index, id(4)))
	for _, q := range []any{
		m{"query": m{"match": m{"title": "amber velvet"}}, "sort": byScore()},
		m{"query": m{"bool": m{"filter": []any{m{"term": m{"tag": "tag-3"}}, m{"range": m{"price": m{"gte": 100}}}}}}, "sort": []any{m{"at": "desc"}, m{"seq": "asc"}}},
		m{"size": 0, "track_total_hits": true, "aggs": m{"tags": m{"terms": m{"field": "tag"}}}},
	} {
		c.got(200)(es.Search(es.Search.WithIndex(index), es.Search.WithBody(esutil.NewJSONReader(q))))
	}
	c.got(400)(es.Search(es.Search.WithIndex(index), es.Search.WithBody(strings.NewReader(`{"sort":["absent"]}`))))
	body := lines(m{"index": index}, m{"query": m{"match": m{"body": "falcon"}}, "sort": byScore()}, m{"index": index}, m{"size": 1, "sort": []any{"seq"}})
	c.got(200)(es.Msearch(bytes.NewReader(body)))
	c.got(200)(es.Mget(esutil.NewJSONReader(m{"ids": []string{id(1), id(4)}}), es.Mget.WithIndex(index)))
}

// pages reads with a scroll and behind a point in time.
func (c *goClient) pages(e engine) {
	c.t.Helper()
	es, index := c.es, c.index
	hitsOf := func(page m) []any {
		list, _ := page["hits"].(m)["hits"].([]any)
		return list
	}
	seen := 0
	page := c.got(200)(es.Search(es.Search.WithIndex(index), es.Search.WithScroll(60e9), es.Search.WithSize(150), es.Search.WithSort("seq:asc")))
	for len(hitsOf(page)) > 0 {
		seen += len(hitsOf(page))
		page = c.got(200)(es.Scroll(es.Scroll.WithScrollID(page["_scroll_id"].(string)), es.Scroll.WithScroll(60e9)))
	}
	c.got(200)(es.ClearScroll(es.ClearScroll.WithScrollID(page["_scroll_id"].(string))))
	if seen != 399 {
		c.t.Errorf("scrolled over %d documents", seen)
	}
	if e.flavor == "opensearch" {
		return // has a point in time of its own, which this client does not know
	}
	pit := c.got(200)(es.OpenPointInTime([]string{index}, "1m"))["id"]
	body := m{"size": 200, "sort": []any{m{"seq": "asc"}}}
	for seen = 0; ; {
		body["pit"] = m{"id": pit, "keep_alive": "1m"}
		page := c.got(200)(es.Search(es.Search.WithBody(esutil.NewJSONReader(body))))
		list := hitsOf(page)
		if len(list) == 0 {
			break
		}
		seen += len(list)
		body["search_after"] = list[len(list)-1].(m)["sort"]
	}
	c.got(200)(es.ClosePointInTime(es.ClosePointInTime.WithBody(esutil.NewJSONReader(m{"id": pit}))))
	if seen != 399 {
		c.t.Errorf("%d documents behind the point in time", seen)
	}
}
