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
	var failed error
	mark := func() string {
		s, err := m.New()
		failed = errors.Join(failed, err)
		return s
	}
	text := func(v any) string {
		b, err := json.Marshal(v)
		failed = errors.Join(failed, err)
		return string(b)
	}
	url := func(s string) string { return strings.ReplaceAll(s, "@", "%40") }
	search := "/" + index + "/_search"
	var all []Case
	add := func(method, path string, body any, headers ...string) {
		c := Case{Name: fmt.Sprintf("probe %d", len(all)+1), Method: method, Path: path, Headers: map[string]string{}}
		if body != nil {
			c.Body = text(body)
			c.Headers["Content-Type"] = "application/json"
		}
		for i := 0; i+1 < len(headers); i += 2 {
			c.Headers[headers[i]] = headers[i+1]
		}
		all = append(all, c)
	}
	type o map[string]any
	query := func(q o) { add("POST", search, o{"query": q}) }

	add("GET", "/"+index+"/_doc/"+url(mark()), nil)
	for _, p := range []string{"preference", "routing", "q", "stats"} {
		add("GET", search+"?"+p+"="+url(mark()), nil)
	}
	add("GET", search+"?q=name:%22"+url(mark())+"%22", nil)
	add("GET", search+"?sort="+url(mark())+":asc", nil)
	for _, h := range []string{"X-Opaque-Id", "Cookie", "X-Tenant", "Referer", "X-Forwarded-For", "User-Agent"} {
		add("POST", search, o{"query": o{"match_all": o{}}}, h, mark())
	}
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
	query(o{"wrapper": o{"query": base64.StdEncoding.EncodeToString([]byte(text(o{"term": o{"name": mark()}})))}})
	query(o{"term": o{"name": o{"value": mark(), "_name": mark()}}})
	query(o{"exists": o{"field": mark()}})
	add("POST", search, o{"size": 0, "aggs": o{mark(): o{"terms": o{"field": "name", "include": []string{mark()}, "missing": mark()}}}})
	add("POST", search, o{"size": 0, "aggs": o{"f": o{"filters": o{"filters": o{mark(): o{"term": o{"name": mark()}}}}}}})
	add("POST", search, o{"suggest": o{"s": o{"text": mark(), "term": o{"field": "name"}}}})
	add("POST", search, o{"query": o{"match_all": o{}}, "sort": []any{o{"name": o{"order": "asc", "unmapped_type": "keyword"}}}, "search_after": []string{mark()}})
	add("POST", search, o{"query": o{"match_all": o{}}, "post_filter": o{"term": o{"name": mark()}}, "highlight": o{"fields": o{"name": o{"highlight_query": o{"match": o{"name": mark()}}}}}})
	add("POST", "/"+index+"/_count", o{"query": o{"match": o{"name": mark()}}})
	add("POST", "/"+index+"/_mget", o{"ids": []string{mark()}})
	add("POST", "/_msearch", nil)
	last := &all[len(all)-1]
	last.Headers["Content-Type"] = "application/x-ndjson"
	last.Body = text(o{"index": index, "preference": mark()}) + "\n" + text(o{"query": o{"term": o{"name": mark()}}}) + "\n"
	return all, failed
}
