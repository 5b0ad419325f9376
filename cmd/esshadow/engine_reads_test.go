//go:build engine

package main_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
)

// byScore sorts equal scores by number: their order else depends on how an index
// came to its segments.
func byScore() []any { return []any{"_score", m{"seq": "asc"}} }

func query(r *rand.Rand) (q m, scored bool) {
	w := vocabulary()
	word := func() string { return w[r.IntN(len(w))] }
	price := m{"range": m{"price": m{"gte": r.IntN(3000), "lt": 4000 + r.IntN(6000)}}}
	tag := m{"term": m{"tag": "tag-" + string(rune('0'+r.IntN(10)))}}
	switch r.IntN(12) {
	case 0:
		return tag, false
	case 1:
		return m{"match": m{"title": word() + " " + word()}}, true
	case 2:
		return m{"match": m{"body": m{"query": word() + " " + word() + " " + word(), "operator": "and"}}}, true
	case 3:
		return m{"match_phrase": m{"body": word() + " " + word()}}, true
	case 4:
		return m{"multi_match": m{"query": word() + " " + word(), "fields": []string{"title^2", "body"}}}, true
	case 5:
		return m{"bool": m{"must": []any{m{"match": m{"body": word()}}}, "filter": []any{price, tag}, "must_not": []any{m{"term": m{"open": false}}}}}, true
	case 6:
		return m{"bool": m{"filter": []any{price, m{"exists": m{"field": "tag"}}}}}, false
	case 7:
		return m{"ids": m{"values": []string{id(r.IntN(docCount)), id(r.IntN(docCount)), id(41)}}}, false
	case 8:
		return m{"terms": m{"tag": []string{"tag-1", "tag-7", "tag-11"}}}, false
	case 9:
		return m{"range": m{"at": m{"gte": "2026-01-10", "lt": "2026-02-01T12:00:00Z", "format": "strict_date_optional_time"}}}, false
	case 10:
		return m{"match": m{"owner.name": "pat " + word()}}, true
	}
	return m{"match_all": m{}}, false
}

func (l *lane) read(r *rand.Rand, i int) {
	q, scored := query(r)
	body := m{"query": q, "size": 5 + r.IntN(20)}
	switch {
	case scored && i%2 == 0:
		// The engine's own order: both indices have one segment, filled in the same order.
	case scored:
		body["sort"] = byScore()
	default:
		body["sort"] = []any{m{"at": "desc"}, m{"seq": "asc"}}
	}
	search := "/" + docsIndex + "/_search"
	switch i % 22 {
	case 0, 1:
		body["track_total_hits"] = true
		l.do("search", 200, "POST", search, body)
	case 2:
		body["from"], body["_source"] = 10, []string{"seq", "title"}
		l.do("search", 200, "GET", search+"?request_cache=false", body)
	case 3, 4:
		l.do("search", 200, "POST", search, m{"size": 0, "query": q, "aggs": m{
			"tags":  m{"terms": m{"field": "tag", "size": 20}, "aggs": m{"mean": m{"avg": m{"field": "price"}}}},
			"weeks": m{"date_histogram": m{"field": "at", "calendar_interval": "week", "min_doc_count": 1}},
			"cheap": m{"filter": m{"range": m{"price": m{"lt": 500}}}},
			"stock": m{"stats": m{"field": "stock"}},
		}})
	case 5:
		other, _ := query(r)
		l.do("msearch", 200, "POST", "/_msearch", lines(
			m{"index": docsIndex}, body, m{"index": docsIndex}, m{"size": 0, "query": other},
			m{"index": "esx-absent"}, m{"query": m{"match_all": m{}}}))
	case 6:
		l.do("msearch", 200, "POST", "/"+docsIndex+"/_msearch", lines(m{}, body, m{}, m{"size": 1, "query": q, "sort": []any{m{"seq": "asc"}}}))
	case 7, 8:
		l.do("count", 200, "POST", "/"+docsIndex+"/_count", m{"query": q})
	case 9, 10:
		l.do("get", 200, "GET", "/"+docsIndex+"/_doc/"+id(100+r.IntN(docCount-100)), nil)
	case 11:
		l.do("get", 404, "GET", "/"+docsIndex+"/_doc/"+id(40+r.IntN(20)), nil)
	case 12:
		l.do("mget", 200, "POST", "/"+docsIndex+"/_mget", m{"ids": []string{id(r.IntN(docCount)), id(45), id(r.IntN(docCount))}})
	case 13:
		l.do("exists", 200, "HEAD", "/"+docsIndex+"/_doc/"+id(100+r.IntN(100)), nil)
	case 14:
		l.do("search", 200, "GET", search+"?q=tag:tag-3&sort=seq:asc&size=7&track_total_hits=true", nil)
	case 15:
		l.do("search", 400, "POST", search, m{"query": q, "sort": []any{m{"absent": "asc"}}})
	case 16:
		l.do("search", 404, "POST", "/esx-absent/_search", body)
	default:
		l.do("search", 200, "POST", search, body)
	}
}

// scroll reads pages to the end, and closes.
func (l *lane) scroll() {
	a := l.do("search", 200, "POST", "/"+docsIndex+"/_search?scroll=1m", m{"size": 300, "query": m{"range": m{"seq": m{"lt": 1000}}}, "sort": []any{m{"seq": "asc"}}})
	for len(hits(a)) > 0 {
		a = l.do("scroll", 200, "POST", "/_search/scroll", m{"scroll": "1m", "scroll_id": l.field(a, "_scroll_id")})
	}
	l.do("clear_scroll", 200, "DELETE", "/_search/scroll", m{"scroll_id": l.field(a, "_scroll_id")})
}

// pitUses is how many requests of pit use the id that the first one gets.
const pitUses = 7

// pit reads pages behind a point in time, and closes it.
func (l *lane) pit(e engine) {
	var pit string
	if e.flavor == "opensearch" {
		pit = l.field(l.do("open_pit", 200, "POST", "/"+docsIndex+"/_search/point_in_time?keep_alive=1m", nil), "pit_id")
	} else {
		pit = l.field(l.do("open_pit", 200, "POST", "/"+docsIndex+"/_pit?keep_alive=1m", nil), "id")
	}
	body := m{"size": 400, "query": m{"range": m{"price": m{"gte": 1000}}}, "sort": []any{m{"seq": "asc"}}}
	for {
		body["pit"] = m{"id": pit, "keep_alive": "1m"}
		a := l.do("search", 200, "POST", "/_search", body)
		page := hits(a)
		pit = l.field(a, "pit_id")
		if len(page) == 0 {
			break
		}
		body["search_after"] = page[len(page)-1].Sort
	}
	if e.flavor == "opensearch" {
		l.do("close_pit", 200, "DELETE", "/_search/point_in_time", m{"pit_id": []string{pit}})
	} else {
		l.do("close_pit", 200, "DELETE", "/_pit", m{"id": pit})
	}
}

// oldOnes is how often each lane sends a request that only older engines know.
const oldOnes = 3

// old searches by the interval that is neither calendar nor fixed, which
// Elasticsearch 7 and OpenSearch still take.
func (l *lane) old() {
	for range oldOnes {
		l.do("search", 200, "POST", "/"+docsIndex+"/_search", m{"size": 0, "aggs": m{"days": m{"date_histogram": m{"field": "at", "interval": "week"}}}})
	}
}

type hit struct {
	ID   string `json:"_id"`
	Sort []any  `json:"sort"`
}

func hits(a answer) []hit {
	var page struct {
		Hits struct {
			Hits []hit `json:"hits"`
		} `json:"hits"`
	}
	d := json.NewDecoder(strings.NewReader(string(a.body)))
	d.UseNumber()
	if d.Decode(&page) != nil {
		return nil
	}
	return page.Hits.Hits
}
