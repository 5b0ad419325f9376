package canary

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Sizes of a mark's two runs: long enough that neither comes by chance, and that
// both are looked at by the sanitiser's own post-check.
const (
	markLetters = 16
	markDigits  = 12
)

// Marks are what is needed to recognise random marks: a key and the marks' HMACs
// under it. The marks themselves are nowhere in it.
type Marks struct {
	Version int       `json:"version"`
	Sent    time.Time `json:"sent"` // before the first request
	Key     string    `json:"key"`  // hex
	Runs    []string  `json:"runs"` // HMAC-SHA256 of each run, first 16 bytes, hex

	key   []byte
	known map[string]bool
}

// NewMarks makes an empty set.
func NewMarks(now time.Time) (*Marks, error) {
	m := &Marks{Version: 1, Sent: now.UTC(), key: make([]byte, 32), known: map[string]bool{}}
	if _, err := rand.Read(m.key); err != nil {
		return nil, fmt.Errorf("canary: make key: %w", err)
	}
	m.Key = hex.EncodeToString(m.key)
	return m, nil
}

// ParseMarks reads the JSON of Marks.
func ParseMarks(text []byte) (*Marks, error) {
	m := &Marks{}
	if err := json.Unmarshal(text, m); err != nil || m.Version != 1 {
		return nil, errors.New("canary: not a file of marks")
	}
	key, err := hex.DecodeString(m.Key)
	if err != nil || len(key) != 32 || len(m.Runs) == 0 {
		return nil, errors.New("canary: not a file of marks")
	}
	m.key, m.known = key, make(map[string]bool, len(m.Runs))
	for _, r := range m.Runs {
		m.known[r] = true
	}
	return m, nil
}

// New makes a random mark and remembers its runs: letters, a full stop, digits,
// "@probe.example".
func (m *Marks) New() (string, error) {
	var b [markLetters + markDigits]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("canary: random numbers: %w", err)
	}
	for i := range b {
		switch {
		case i < markLetters:
			b[i] = 'a' + b[i]%26
		case i == markLetters:
			b[i] = '1' + b[i]%9
		default:
			b[i] = '0' + b[i]%10
		}
	}
	letters, digits := b[:markLetters], b[markLetters:]
	for _, run := range [][]byte{letters, digits} {
		sum := m.sum(run)
		m.Runs = append(m.Runs, sum)
		m.known[sum] = true
	}
	return string(letters) + "." + string(digits) + "@probe.example", nil
}

// Has tells a run of letters (lower case) or of digits that is part of a mark.
func (m *Marks) Has(run []byte) bool {
	if len(run) != markLetters && len(run) != markDigits {
		return false
	}
	return m.known[m.sum(run)]
}

func (m *Marks) sum(run []byte) string {
	h := hmac.New(sha256.New, m.key)
	h.Write(run)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Probe makes requests with a new mark in every position that a request which
// changes nothing can have. index is asked for; it need not be there.
func (m *Marks) Probe(index string) ([]Case, error) {
	p := &prober{marks: m, index: index, search: "/" + index + "/_search"}
	p.urls()
	p.headers()
	p.clauses()
	p.bodies()
	return p.all, p.failed
}

// prober collects the requests of a probe.
type prober struct {
	marks         *Marks
	index, search string
	all           []Case
	failed        error
}

// o is an object of JSON.
type o map[string]any

func (p *prober) mark() string {
	s, err := p.marks.New()
	p.failed = errors.Join(p.failed, err)
	return s
}

// inURL is a mark as it stands in a URL.
func (p *prober) inURL() string { return strings.ReplaceAll(p.mark(), "@", "%40") }

func (p *prober) text(v any) string {
	b, err := json.Marshal(v)
	p.failed = errors.Join(p.failed, err)
	return string(b)
}

func (p *prober) add(method, path, body, media string, headers ...string) {
	c := Case{Name: fmt.Sprintf("probe %d", len(p.all)+1), Method: method, Path: path, Body: body, Headers: map[string]string{}}
	if body != "" {
		c.Headers["Content-Type"] = media
	}
	for i := 0; i+1 < len(headers); i += 2 {
		c.Headers[headers[i]] = headers[i+1]
	}
	p.all = append(p.all, c)
}

func (p *prober) post(path string, body o, headers ...string) {
	p.add("POST", path, p.text(body), "application/json", headers...)
}

func (p *prober) query(q o) { p.post(p.search, o{"query": q}) }

func (p *prober) urls() {
	p.add("GET", "/"+p.index+"/_doc/"+p.inURL(), "", "")
	for _, name := range []string{"preference", "routing", "q", "stats"} {
		p.add("GET", p.search+"?"+name+"="+p.inURL(), "", "")
	}
	p.add("GET", p.search+"?q=name:%22"+p.inURL()+"%22", "", "")
	p.add("GET", p.search+"?sort="+p.inURL()+":asc", "", "")
}

func (p *prober) headers() {
	for _, h := range []string{"X-Opaque-Id", "Cookie", "X-Tenant", "Referer", "X-Forwarded-For", "User-Agent"} {
		p.post(p.search, o{"query": o{"match_all": o{}}}, h, p.mark())
	}
}

func (p *prober) clauses() {
	mark, query := p.mark, p.query
	for _, clause := range []string{"term", "match", "match_phrase", "match_phrase_prefix", "prefix", "wildcard", "fuzzy"} {
		query(o{clause: o{"name": mark()}})
	}
	query(o{"terms": o{"name": []string{mark(), mark()}}})
	query(o{"ids": o{"values": []string{mark()}}})
	query(o{"range": o{"name": o{"gte": mark(), "lt": mark()}}})
	query(o{"query_string": o{"query": `name:"` + mark() + `"`}})
	query(o{"simple_query_string": o{"query": `"` + mark() + `"`}})
	query(o{"multi_match": o{"query": mark(), "fields": []string{"name", "mail"}}})
	query(o{"more_like_this": o{"fields": []string{"name"}, "like": mark(), "min_term_freq": 1}})
	query(o{"nested": o{"path": "a", "ignore_unmapped": true, "query": o{"term": o{"a.b": mark()}}}})
	query(o{"function_score": o{"query": o{"term": o{"name": mark()}}, "functions": []o{{"filter": o{"term": o{"mail": mark()}}, "weight": 2}}}})
	query(o{"wrapper": o{"query": base64.StdEncoding.EncodeToString([]byte(p.text(o{"term": o{"name": mark()}})))}})
	query(o{"term": o{"name": o{"value": mark(), "_name": mark()}}})
	query(o{"exists": o{"field": mark()}})
}

func (p *prober) bodies() {
	mark, all := p.mark, o{"match_all": o{}}
	p.post(p.search, o{"size": 0, "aggs": o{mark(): o{"terms": o{"field": "name", "include": []string{mark()}, "missing": mark()}}}})
	p.post(p.search, o{"size": 0, "aggs": o{"f": o{"filters": o{"filters": o{mark(): o{"term": o{"name": mark()}}}}}}})
	p.post(p.search, o{"suggest": o{"s": o{"text": mark(), "term": o{"field": "name"}}}})
	p.post(p.search, o{"query": all, "sort": []any{o{"name": o{"order": "asc", "unmapped_type": "keyword"}}}, "search_after": []string{mark()}})
	p.post(p.search, o{
		"query": all, "post_filter": o{"term": o{"name": mark()}},
		"highlight": o{"fields": o{"name": o{"highlight_query": o{"match": o{"name": mark()}}}}},
	})
	p.post("/"+p.index+"/_count", o{"query": o{"match": o{"name": mark()}}})
	p.post("/"+p.index+"/_mget", o{"ids": []string{mark()}})
	lines := p.text(o{"index": p.index, "preference": mark()}) + "\n" + p.text(o{"query": o{"term": o{"name": mark()}}}) + "\n"
	p.add("POST", "/_msearch", lines, "application/x-ndjson")
}
