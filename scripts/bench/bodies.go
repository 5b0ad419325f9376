package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// docBytes is what one document of a _bulk body takes, its action line included;
// an answer holds one item for as many bytes.
const docBytes = 512

// vocabulary is a set of words that come as often as words do in a language.
type vocabulary struct {
	r     *rand.Rand
	words []string
	zipf  *rand.Zipf
}

func newVocabulary(seed uint64) *vocabulary {
	r := rand.New(rand.NewPCG(seed, seed^0x9e3779b97f4a7c15))
	words := make([]string, 4000)
	for i := range words {
		b := make([]byte, 3+r.IntN(8))
		for j := range b {
			b[j] = 'a' + byte(r.IntN(26))
		}
		words[i] = string(b)
	}
	return &vocabulary{r: r, words: words, zipf: rand.NewZipf(r, 1.2, 4, uint64(len(words)-1))}
}

func (v *vocabulary) phrase(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = v.words[v.zipf.Uint64()]
	}
	return strings.Join(out, " ")
}

// request makes the bytes of a request of one connection that is kept.
func request(path, mediaType, body string) []byte {
	return []byte("POST " + path + " HTTP/1.1\r\nHost: bench.test\r\nUser-Agent: bench\r\nAccept: application/json\r\nContent-Type: " +
		mediaType + "\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
}

// searches makes n different _search requests with bodies of about 530 bytes.
func searches(n int) [][]byte {
	v := newVocabulary(1)
	out := make([][]byte, n)
	for i := range out {
		day := 1 + v.r.IntN(28)
		body := fmt.Sprintf(`{"size":%d,"from":%d,"track_total_hits":true,"query":{"bool":{"must":[{"match":{"message":{"query":%q,"operator":"and"}}}],`+
			`"filter":[{"term":{"user.id":"u-%05d"}},{"terms":{"http.response.status_code":[%d,%d]}},{"range":{"@timestamp":{"gte":"2024-05-%02dT%02d:00:00Z","lt":"2024-05-%02dT00:00:00Z"}}}]}},`+
			`"sort":[{"@timestamp":"desc"},"_score"],"aggs":{"by_host":{"terms":{"field":"host.name","size":%d}},"per_hour":{"date_histogram":{"field":"@timestamp","fixed_interval":"1h"}}},"_source":["message","user.*","host.name"]}`,
			10*(1+v.r.IntN(5)), 10*v.r.IntN(4), v.phrase(3+v.r.IntN(4)), v.r.IntN(100000), 200+v.r.IntN(5), 500+v.r.IntN(5), day, v.r.IntN(24), day+1, 5+v.r.IntN(20))
		out[i] = request("/logs-app/_search", "application/json", body)
	}
	return out
}

// bulks makes n different _bulk requests of docs documents, docBytes each.
func bulks(n, docs int) [][]byte {
	v := newVocabulary(uint64(docs))
	out := make([][]byte, n)
	for i := range out {
		var b strings.Builder
		for range docs {
			v.document(&b)
		}
		out[i] = request("/_bulk", "application/x-ndjson", b.String())
	}
	return out
}

// document writes an action line and a log line of docBytes together.
func (v *vocabulary) document(b *strings.Builder) {
	begin := b.Len()
	fmt.Fprintf(b, "{\"index\":{\"_index\":\"logs-app\",\"_id\":\"AZx%08x\"}}\n", v.r.Uint32())
	fmt.Fprintf(b, `{"@timestamp":"2024-05-%02dT12:%02d:11.%03dZ","log":{"level":"info","logger":"com.example.orders.Orders"},"host":{"name":"web-%d.example.test","ip":"10.2.%d.%d"},`+
		`"http":{"response":{"status_code":%d,"bytes":%d}},"user":{"id":"u-%05d","email":"person%d@example.test"},"took":%d.%02d,"ok":true,"message":"`,
		1+v.r.IntN(28), v.r.IntN(60), v.r.IntN(1000), v.r.IntN(90), v.r.IntN(250), v.r.IntN(250), 200+v.r.IntN(5), v.r.IntN(90000), v.r.IntN(100000), v.r.IntN(5000), v.r.IntN(900), v.r.IntN(100))
	const end = "\"}\n"
	for {
		w := v.words[v.zipf.Uint64()]
		room := begin + docBytes - len(end) - b.Len()
		if len(w)+1 > room {
			b.WriteString(strings.Repeat("x", room))
			break
		}
		b.WriteString(w)
		b.WriteByte(' ')
	}
	b.WriteString(end)
}

// answerBytes makes the bytes of a whole answer.
func answerBytes(body string) []byte {
	return []byte("HTTP/1.1 200 OK\r\nX-elastic-product: Elasticsearch\r\ncontent-type: application/json\r\ncontent-length: " +
		strconv.Itoa(len(body)) + "\r\n\r\n" + body)
}

// searchAnswer is an answer of about 2 KB with five hits and an aggregation.
func searchAnswer() []byte {
	v := newVocabulary(2)
	var b strings.Builder
	b.WriteString(`{"took":4,"timed_out":false,"_shards":{"total":5,"successful":5,"skipped":0,"failed":0},"hits":{"total":{"value":1234,"relation":"eq"},"max_score":11.25,"hits":[`)
	for i := range 5 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"_index":"logs-app","_id":"AZx%08x","_score":%d.25,"_source":{"message":%q,"host":{"name":"web-%d.example.test"},"user":{"id":"u-%05d","email":"person%d@example.test"}},"sort":[1714521600%03d,%d.25]}`,
			v.r.Uint32(), 11-i, v.phrase(17), i, v.r.IntN(100000), v.r.IntN(5000), v.r.IntN(1000), 11-i)
	}
	b.WriteString(`]},"aggregations":{"by_host":{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"web-1.example.test","doc_count":912},{"key":"web-2.example.test","doc_count":322}]},"per_hour":{"buckets":[{"key_as_string":"2024-05-01T00:00:00.000Z","key":1714521600000,"doc_count":1234}]}}}`)
	return answerBytes(b.String())
}

// bulkAnswer is the answer to a _bulk body of so many bytes.
func bulkAnswer(bodyBytes int64) []byte {
	var b strings.Builder
	b.WriteString(`{"took":30,"errors":false,"items":[`)
	for i := range max(1, int(bodyBytes/docBytes)) {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"index":{"_index":"logs-app","_id":"AZx%08x","_version":1,"result":"created","_shards":{"total":2,"successful":2,"failed":0},"_seq_no":%d,"_primary_term":1,"status":201}}`, i*7919, i)
	}
	b.WriteString(`]}`)
	return answerBytes(b.String())
}

// rootAnswer is what a cluster with this uuid says of itself.
func rootAnswer(uuid string) []byte {
	return answerBytes(fmt.Sprintf(`{"name":"bench","cluster_name":"bench","cluster_uuid":%q,"version":{"number":"8.19.0","build_flavor":"default","build_type":"tar","build_hash":"0","build_date":"2024-01-01T00:00:00Z","build_snapshot":false,"lucene_version":"9.12.0","minimum_wire_compatibility_version":"7.17.0","minimum_index_compatibility_version":"7.0.0"},"tagline":"You Know, for Search"}`, uuid))
}
