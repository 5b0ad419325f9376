package es

import (
	"bytes"
	"fmt"
	"testing"
)

// benchDoc is a log line of about 630 bytes, as they come in _bulk bodies.
const benchDoc = `{"@timestamp":"2024-05-13T10:11:12.345Z","message":"GET /api/v1/orders/4711 took 12 ms and answered 200 to the client","log":{"level":"info","logger":"com.example.orders.OrderController","thread":"http-nio-8080-exec-3"},"host":{"name":"web-17.example.org","ip":["10.1.2.3","fe80::1"],"os":{"family":"debian","version":"12.5"}},"http":{"request":{"method":"GET","bytes":512},"response":{"status_code":200,"bytes":18233}},"user":{"id":"u-20391","email":"someone@example.org"},"trace":{"id":"4bf92f3577b34da6a3ce929d0e0e4736"},"tags":["beta","internal"],"duration":12.25,"ok":true,"error":null}`

const benchSearch = `{"size":20,"from":0,"track_total_hits":true,"query":{"bool":{"must":[{"match":{"message":{"query":"order failed","operator":"and"}}}],"filter":[{"term":{"user.id":"u-20391"}},{"range":{"@timestamp":{"gte":"now-7d/d","lt":"now/d"}}}]}},"sort":[{"@timestamp":"desc"},"_score"],"aggs":{"by_status":{"terms":{"field":"http.response.status_code","size":10}}},"_source":["message","user.*"]}`

func drain(t *Tokens) error {
	for {
		k, err := t.Next()
		if err != nil || k.Kind == End {
			return err
		}
	}
}

func BenchmarkTokens(b *testing.B) {
	pretty := bytes.ReplaceAll([]byte(benchSearch), []byte(`,"`), []byte(",\n        \""))
	for _, in := range []struct {
		name string
		text []byte
	}{{"doc", []byte(benchDoc)}, {"search", []byte(benchSearch)}, {"spaced", pretty}} {
		b.Run(in.name, func(b *testing.B) {
			var t Tokens
			b.SetBytes(int64(len(in.text)))
			b.ReportAllocs()
			for b.Loop() {
				t.Reset(in.text)
				if err := drain(&t); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkBulkReader(b *testing.B) {
	var body bytes.Buffer
	for i := range 1000 {
		fmt.Fprintf(&body, "{\"index\":{\"_index\":\"logs\",\"_id\":\"%d\"}}\n%s\n", i, benchDoc)
	}
	var r BulkReader
	b.SetBytes(int64(body.Len()))
	b.ReportAllocs()
	for b.Loop() {
		r.Reset(body.Bytes())
		for {
			if _, err := r.Next(); err != nil {
				break
			}
		}
	}
}

func BenchmarkRequestFacts(b *testing.B) {
	body := []byte(benchSearch)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		RequestFacts(OpSearch, "request_cache=true", body)
	}
}
