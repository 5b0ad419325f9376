//go:build engine

package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// The documents and searches of a whole run.
const (
	docCount   = 2000
	bulkSize   = 250
	readLanes  = 4
	readsEach  = 110 // requests of a lane, besides those of its scroll and point in time
	readsEvery = 12 * time.Millisecond
	docsIndex  = "esx-docs"
	jourIndex  = "esx-journal"
)

type m = map[string]any

// mapping is that of both indices of the source, and of their copies.
const mapping = `{
  "settings": {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": "-1"},
  "mappings": {"properties": {
    "seq": {"type": "integer"}, "title": {"type": "text"}, "body": {"type": "text"}, "tag": {"type": "keyword"},
    "owner": {"properties": {"name": {"type": "text"}, "mail": {"type": "keyword"}}},
    "price": {"type": "double"}, "stock": {"type": "long"}, "at": {"type": "date"}, "open": {"type": "boolean"}
  }}}`

func vocabulary() []string {
	return []string{
		"amber", "bottle", "candle", "denim", "engine", "falcon", "garden", "hammer", "island", "jacket", "kettle", "ladder",
		"marble", "needle", "orchid", "pepper", "quartz", "ribbon", "saddle", "timber", "umber", "velvet", "walnut", "yellow",
	}
}

// document is the same for the same number. What it says of people is made up.
func document(n int) m {
	r := rand.New(rand.NewPCG(uint64(n), 7))
	w := vocabulary()
	pick := func(k int) string {
		words := make([]string, k)
		for i := range words {
			words[i] = w[r.IntN(len(w))]
		}
		return strings.Join(words, " ")
	}
	name := "Pat " + w[r.IntN(len(w))]
	return m{
		"seq": n, "title": pick(2 + r.IntN(3)), "body": pick(8 + r.IntN(20)), "tag": fmt.Sprintf("tag-%d", r.IntN(12)),
		"owner": m{"name": name, "mail": strings.ReplaceAll(name, " ", ".") + "@example.test"},
		"price": float64(r.IntN(40000)) / 4, "stock": r.IntN(900), "open": r.IntN(3) > 0,
		"at": time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * 37 * time.Minute).Format(time.RFC3339),
	}
}

// lane is one client with one connection, which counts what it sends by the
// operation that a capture should see in it.
type lane struct {
	t      *testing.T
	url    string
	client *http.Client
	media  string // "" or the vendor's media type for JSON
	sent   map[string]int
}

func newLane(t *testing.T, url, media string) *lane {
	tr := &http.Transport{MaxConnsPerHost: 1}
	t.Cleanup(tr.CloseIdleConnections)
	return &lane{t: t, url: url, client: &http.Client{Transport: tr, Timeout: askWait}, media: media, sent: map[string]int{}}
}

// vendor is the media type that a client of the engine's own version asks for.
func vendor(e engine) string {
	if e.flavor != "elasticsearch" {
		return ""
	}
	return fmt.Sprintf("application/vnd.elasticsearch+json; compatible-with=%d", e.major)
}

// do sends one request of operation op and wants the status that it should get.
func (l *lane) do(op string, status int, method, target string, body any) answer {
	l.t.Helper()
	media := l.media
	if media == "" {
		media = "application/json"
	}
	var text []byte
	switch b := body.(type) {
	case nil:
	case []byte:
		text, media = b, strings.Replace(media, "json", "x-ndjson", 1)
	default:
		text, _ = json.Marshal(b)
	}
	l.sent[op]++
	a, err := request(l.t.Context(), l.client, method, l.url+target, media, text)
	if err != nil || a.status != status {
		l.t.Fatalf("%s %s: status %d, want %d, %v: %s", method, target, a.status, status, err, a.body)
	}
	return a
}

// field is a string of an answer, by a path of keys.
func (l *lane) field(a answer, keys ...string) string {
	l.t.Helper()
	var v any
	if err := json.Unmarshal(a.body, &v); err != nil {
		l.t.Fatalf("%v: %s", err, a.body)
	}
	for _, k := range keys {
		object, _ := v.(m)
		v = object[k]
	}
	text, _ := v.(string)
	if text == "" {
		l.t.Fatalf("no %v in %s", keys, a.body)
	}
	return text
}

func lines(values ...any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, v := range values {
		_ = enc.Encode(v)
	}
	return b.Bytes()
}

// load writes the documents, then changes some of them, in every way that a
// client can. The index settles afterwards.
func (l *lane) load() {
	for from := 0; from < docCount; from += bulkSize {
		var items []any
		for n := from; n < from+bulkSize; n++ {
			action := "index"
			if n%5 == 0 {
				action = "create"
			}
			items = append(items, m{action: m{"_index": docsIndex, "_id": id(n)}}, document(n))
		}
		l.do("bulk", 200, "POST", "/_bulk", lines(items...))
	}
	l.do("bulk", 200, "POST", "/"+docsIndex+"/_bulk", lines(
		m{"update": m{"_id": id(1)}}, m{"doc": m{"stock": 901}},
		m{"delete": m{"_id": id(2)}},
		m{"create": m{"_id": id(3)}}, document(3), // exists: 409
		m{"delete": m{"_id": "never"}}, // 404
		m{"index": m{"_id": id(docCount)}}, document(docCount),
	))
	for n := 10; n < 30; n++ {
		l.do("update", 200, "POST", "/"+docsIndex+"/_update/"+id(n), m{"doc": m{"price": n, "title": "umber velvet"}})
	}
	for n := 40; n < 60; n++ {
		l.do("delete", 200, "DELETE", "/"+docsIndex+"/_doc/"+id(n), nil)
	}
	l.do("delete", 404, "DELETE", "/"+docsIndex+"/_doc/"+id(40), nil)
	l.do("update", 404, "POST", "/"+docsIndex+"/_update/"+id(40), m{"doc": m{"price": 1}})
	l.do("index", 201, "PUT", "/"+docsIndex+"/_doc/"+id(docCount+1), document(docCount+1))
	l.do("index", 200, "PUT", "/"+docsIndex+"/_doc/"+id(docCount+1), document(docCount+2))
	l.do("create", 201, "PUT", "/"+docsIndex+"/_create/"+id(docCount+3), document(docCount+3))
	l.do("create", 409, "PUT", "/"+docsIndex+"/_create/"+id(docCount+3), document(docCount+3))
}

func id(n int) string { return fmt.Sprintf("doc-%d", n) }

// journal writes and reads by turns on one connection: every answer depends on
// the order.
func (l *lane) journal(e engine) {
	for n := range 15 {
		doc := "/" + jourIndex + "/_doc/" + id(n)
		l.do("get", 404, "GET", doc, nil)
		l.do("index", 201, "PUT", doc+"?refresh=true", document(n))
		l.do("get", 200, "GET", doc, nil)
		l.do("update", 200, "POST", "/"+jourIndex+"/_update/"+id(n)+"?refresh=true", m{"doc": m{"stock": 5000 + n}})
		l.do("count", 200, "POST", "/"+jourIndex+"/_count", m{"query": m{"range": m{"stock": m{"gte": 5000}}}})
		l.do("search", 200, "POST", "/"+jourIndex+"/_search", m{"query": m{"term": m{"stock": 5000 + n}}})
		if n%3 == 0 {
			l.do("delete", 200, "DELETE", doc+"?refresh=true", nil)
			l.do("exists", 404, "HEAD", doc, nil)
		}
		l.do("bulk", 200, "POST", "/"+jourIndex+"/_bulk?refresh=true", lines(
			m{"index": m{"_id": id(100 + n)}}, document(100+n), m{"create": m{"_id": id(100 + n)}}, document(100+n)))
		l.do("search", 200, "POST", "/"+jourIndex+"/_search", m{"query": m{"match_all": m{}}, "size": 50, "sort": []any{m{"seq": "asc"}}})
	}
	if e.major == 7 { // the last engine that lets a bulk name a document's type
		l.do("bulk", 200, "POST", "/_bulk", lines(m{"index": m{"_index": jourIndex, "_type": "_doc", "_id": "typed"}}, document(1)))
	}
}

// reads sends mixed searches from several clients at once, at a steady pace.
func reads(t *testing.T, e engine, url string) map[string]int {
	t.Helper()
	sent := map[string]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range readLanes {
		media := ""
		if i%2 == 1 {
			media = vendor(e)
		}
		l := newLane(t, url, media)
		all.Go(func() {
			l.mix(rand.New(rand.NewPCG(uint64(i), 11)), readsEach, readsEvery)
			l.scroll()
			l.pit(e)
			if e.major == 7 {
				l.old()
			}
			mu.Lock()
			defer mu.Unlock()
			for op, n := range l.sent {
				sent[op] += n
			}
		})
	}
	all.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return sent
}

// mix sends n requests.
func (l *lane) mix(r *rand.Rand, n int, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for i := range n {
		<-tick.C
		l.read(r, i)
	}
}

func plus(a map[string]int, b map[string]int) map[string]int {
	all := maps.Clone(a)
	for k, v := range b {
		all[k] += v
	}
	return all
}
