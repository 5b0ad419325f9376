package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"
)

// The documents of the demo.
const (
	demoDocs     = 2000
	demoBulk     = 200 // documents of a bulk
	demoClients  = 16
	writesPerSec = 2 // bulks among the searches
)

func demoWords() []string {
	return []string{
		"amber", "bottle", "candle", "denim", "engine", "falcon", "garden", "hammer", "island", "jacket", "kettle", "ladder",
		"marble", "needle", "orchid", "pepper", "quartz", "ribbon", "saddle", "timber", "umber", "velvet", "walnut", "yellow",
	}
}

func demoBrands() []string {
	return []string{"Arden", "Borealis", "Corvina", "Delphi", "Ember", "Fjord", "Granite", "Harbour", "Indigo", "Juniper"}
}

func demoCategories() []string { return []string{"home", "tools", "sport", "books", "kitchen"} }

// demoTime is when the oldest document was made.
func demoTime() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// product is one document, the same for the same number.
func product(n int) map[string]any {
	r := rand.New(rand.NewPCG(uint64(n), 42))
	w, b, c := demoWords(), demoBrands(), demoCategories()
	return map[string]any{
		"title":    w[r.IntN(len(w))] + " " + w[r.IntN(len(w))] + " " + w[r.IntN(len(w))],
		"brand":    b[r.IntN(len(b))],
		"category": c[r.IntN(len(c))],
		"price":    float64(r.IntN(20000)) / 100,
		"stock":    r.IntN(500),
		"created":  demoTime().Add(time.Duration(n) * time.Hour).Format(time.RFC3339),
		"seller":   fmt.Sprintf("%s.%s@example.test", w[r.IntN(len(w))], b[r.IntN(len(b))]),
	}
}

func bulkOf(index string, from, to int) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for n := from; n < to; n++ {
		_ = enc.Encode(map[string]any{"index": map[string]any{"_index": index, "_id": fmt.Sprintf("item-%d", n)}})
		_ = enc.Encode(product(n))
	}
	return b.Bytes()
}

// query is a search of the mix: 40 % term with a filter, 30 % match, 20 % bool
// with a sort, 5 % aggregations, 5 % deep pages.
func query(r *rand.Rand) any {
	type m = map[string]any
	w, b, c := demoWords(), demoBrands(), demoCategories()
	category := m{"term": m{"category.keyword": c[r.IntN(len(c))]}}
	price := m{"range": m{"price": m{"gte": r.IntN(100), "lt": 100 + r.IntN(100)}}}
	brand := m{"term": m{"brand.keyword": b[r.IntN(len(b))]}}
	switch p := r.IntN(100); {
	case p < 40:
		return m{"query": m{"bool": m{"must": []any{category}, "filter": []any{price}}}, "size": 10, "sort": []any{m{"created": "desc"}}}
	case p < 70:
		return m{"query": m{"match": m{"title": w[r.IntN(len(w))] + " " + w[r.IntN(len(w))]}}, "size": 10}
	case p < 90:
		return m{"query": m{"bool": m{"filter": []any{brand, price}}}, "sort": []any{m{"price": "asc"}, m{"created": "desc"}}, "size": 20}
	case p < 95:
		return m{"size": 0, "query": category, "aggs": m{
			"brands": m{"terms": m{"field": "brand.keyword", "size": 20}, "aggs": m{"price": m{"avg": m{"field": "price"}}}},
			"days":   m{"date_histogram": m{"field": "created", "calendar_interval": "month"}},
		}}
	}
	return m{"query": m{"match_all": m{}}, "from": 500 + 10*r.IntN(50), "size": 10, "sort": []any{m{"created": "asc"}}}
}

// load writes the documents, then keeps the searches' rate on an open loop.
func (d *demo) load(ctx context.Context, url string) error {
	c := newDemoClient(url)
	defer c.http.CloseIdleConnections()
	for n := 0; n < demoDocs; n += demoBulk {
		if err := c.send(ctx, "/_bulk", "application/x-ndjson", bulkOf("products", n, n+demoBulk)); err != nil {
			return err
		}
	}
	if err := c.send(ctx, "/products/_refresh", "", nil); err != nil {
		return err
	}
	pause(ctx, 50*time.Millisecond)
	d.seeded = time.Now()
	pause(ctx, 50*time.Millisecond)
	return d.mix(ctx, url)
}

func (d *demo) mix(ctx context.Context, url string) error {
	type request struct {
		path, media string
		body        []byte
	}
	work := make(chan request, demoClients)
	errs := make(chan error, demoClients)
	var clients sync.WaitGroup
	for range demoClients {
		clients.Go(func() {
			c := newDemoClient(url)
			defer c.http.CloseIdleConnections()
			for q := range work {
				if err := c.send(ctx, q.path, q.media, q.body); err != nil {
					select {
					case errs <- err:
					default:
					}
				}
			}
		})
	}
	r := rand.New(rand.NewPCG(7, 11))
	total := int(d.length.Seconds() * float64(d.rate))
	every := max(d.rate/writesPerSec, 1)
	start := time.Now()
	for i := 0; i < total && ctx.Err() == nil; i++ {
		pause(ctx, time.Until(start.Add(time.Duration(i)*time.Second/time.Duration(d.rate))))
		if i%every == 0 {
			work <- request{"/_bulk", "application/x-ndjson", bulkOf("orders", i, i+10)}
		}
		body, err := json.Marshal(query(r))
		if err != nil {
			return err
		}
		work <- request{"/products/_search", "application/json", body}
	}
	close(work)
	clients.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return ctx.Err()
	}
}

// pause waits, but no longer than ctx.
func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

type demoClient struct {
	url  string
	http http.Client
}

// newDemoClient is a client with a connection of its own.
func newDemoClient(url string) *demoClient {
	return &demoClient{url: url, http: http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}}
}

func (c *demoClient) send(ctx context.Context, path, media string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if media != "" {
		req.Header.Set("Content-Type", media)
	}
	req.Header.Set("Authorization", "Basic ZGVtbzpkZW1v")
	res, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return fmt.Errorf("demo: %s answers %d: %.200s", path, res.StatusCode, answer)
	}
	return nil
}
