package sandbox

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// bigShop has 5000 documents of about 30 words.
func bigShop(b *testing.B) *Engine {
	e := newEngine(b, Options{})
	must(b, e, 200, "PUT /shop", shopMapping)
	r := rand.New(rand.NewPCG(1, 2))
	for part := range 10 {
		var bulk strings.Builder
		for i := range 500 {
			var title strings.Builder
			for range 30 {
				fmt.Fprintf(&title, "word%d ", int(r.ExpFloat64()*60)%500)
			}
			fmt.Fprintf(&bulk, "{\"index\":{\"_id\":\"%d\"}}\n{\"title\":%q,\"brand\":\"brand%d\",\"price\":%.2f,\"stock\":%d,\"sold\":\"2024-01-%02d\"}\n",
				part*500+i, title.String(), r.IntN(20), r.Float64()*100, r.IntN(1000), 1+r.IntN(28))
		}
		must(b, e, 200, "POST /shop/_bulk", bulk.String())
		must(b, e, 200, "GET /shop/_count", "")
	}
	return e
}

func BenchmarkSearch(b *testing.B) {
	e := bigShop(b)
	for _, tc := range []struct{ name, body string }{
		{"term+filter", `{"query":{"bool":{"filter":[{"term":{"brand":"brand3"}},{"range":{"price":{"gte":10,"lt":60}}}]}}}`},
		{"match", `{"query":{"match":{"title":"word20 word133"}}}`},
		{"bool+sort", `{"query":{"bool":{"must":[{"match":{"title":"word50"}}],"filter":[{"range":{"stock":{"gte":100}}}]}},"sort":[{"price":"desc"}]}`},
		{"aggs", `{"size":0,"aggs":{"b":{"terms":{"field":"brand"},"aggs":{"p":{"avg":{"field":"price"}}}},"d":{"date_histogram":{"field":"sold","calendar_interval":"day"}}}}`},
		{"deep page", `{"from":4000,"size":20,"sort":[{"stock":"asc"}]}`},
	} {
		b.Run(tc.name, func(b *testing.B) {
			for b.Loop() {
				if w := call(e, "POST /shop/_search", tc.body); w.Code != 200 {
					b.Fatal(w.Body)
				}
			}
		})
	}
}

func BenchmarkBulk(b *testing.B) {
	e := bigShop(b)
	n := 0
	for b.Loop() {
		var bulk strings.Builder
		for range 50 {
			n++
			fmt.Fprintf(&bulk, "{\"index\":{\"_id\":\"n%d\"}}\n{\"title\":\"word1 word2 word3 word4 word%d\",\"brand\":\"b\",\"price\":1.5}\n", n%2000, n)
		}
		if w := call(e, "POST /shop/_bulk", bulk.String()); w.Code != 200 {
			b.Fatal(w.Body)
		}
		if w := call(e, "GET /shop/_count", ""); w.Code != 200 {
			b.Fatal(w.Body)
		}
	}
}
