package es

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// DefaultTotalUpTo is how far hits are counted where a request does not say.
const DefaultTotalUpTo = 10_000

// SortKind is what a search asks its hits to be ordered by.
type SortKind uint8

// The kinds of order. SortIndex begins with _doc or _shard_doc, which have no
// meaning on another cluster.
const (
	SortNone SortKind = iota // nothing said: by score
	SortScore
	SortIndex
	SortFields
)

// Facts is what a replay and a comparison must know of a search request. The
// query string wins over the body, as in the engines.
type Facts struct {
	// Unreadable: the body, or one of the values that stand here, is malformed or
	// of a kind that JSON tokens do not show; nothing else is then set.
	Unreadable bool
	// TotalAsked: the request itself says how far to count. TotalUpTo is how far:
	// hits.total is exact up to it; 0 means not at all, math.MaxInt64 all. It is
	// DefaultTotalUpTo where nothing was asked.
	TotalAsked bool
	TotalUpTo  int64
	// TotalAsInt: rest_total_hits_as_int, hits.total is a plain number.
	TotalAsInt bool
	Sort       SortKind
	FilterPath bool // the answer lacks fields that were filtered away
	HasSize    bool // the request says size
	HasFrom    bool
	Size, From int64

	// TerminateAfter: the request lets the search stop early. Engines also say
	// terminated_early of searches that were complete.
	TerminateAfter bool

	Scroll      bool // opens or continues a scroll
	PIT         bool
	SearchAfter bool
	After       bool // a composite aggregation continues by its after key
	Aggs        bool
	QueryParam  bool // q=: the body's query does not count
	SourceParam bool // source=: the body stands in the query string
}

// ExactTotal tells whether the request asked for a total that is exact, at least
// up to a number of its own.
func (f Facts) ExactTotal() bool { return f.TotalAsked && f.TotalUpTo > 0 }

// Sorted tells whether hits have an order that another cluster can repeat.
func (f Facts) Sorted() bool { return f.Sort == SortFields }

// RequestFacts reads the facts of a request from its query string and, for the
// operations whose body is a search, from its body; an _msearch gives its
// searches one by one, each as OpSearch with the query string of the whole. The
// body must be decoded (no gzip). It never fails: see Facts.Unreadable.
func RequestFacts(op Op, query string, body []byte) Facts {
	f := Facts{TotalUpTo: DefaultTotalUpTo, Scroll: op == OpScroll}
	source, hasSource := Param(query, "source")
	f.SourceParam = hasSource
	if len(body) == 0 && hasSource {
		body, _ = Unescape(make([]byte, 0, len(source)), source, true)
	}
	if searchBody(op) && !blank(body) {
		r := factReader{f: f}
		r.t.Reset(body)
		if !r.read() {
			return Facts{Unreadable: true}
		}
		f = r.f
	}
	if !f.fromQuery(query) {
		return Facts{Unreadable: true}
	}
	return f
}

func searchBody(op Op) bool {
	switch op {
	case OpSearch, OpAsyncSearch, OpKnnSearch, OpMVT:
		return true
	}
	return false
}

// fromQuery applies the query string and tells whether its values could be read.
func (f *Facts) fromQuery(query string) bool {
	ok := true
	for name, value := range Params(query) {
		name, _ = UnescapeString(name, true)
		value, _ = UnescapeString(value, true)
		switch name {
		case "track_total_hits":
			ok = f.setTotal(value) && ok
		case "rest_total_hits_as_int":
			f.TotalAsInt = value == "" || value == "true"
		case "sort":
			if k := sortOfParam(value); k != SortNone {
				f.Sort = k
			}
		case "terminate_after":
			f.TerminateAfter = value != "" && value != "0"
		case "filter_path":
			f.FilterPath = f.FilterPath || value != ""
		case "size":
			f.HasSize, ok = true, setNumber(&f.Size, value) && ok
		case "from":
			f.HasFrom, ok = true, setNumber(&f.From, value) && ok
		case "scroll":
			f.Scroll = true
		case "q":
			f.QueryParam = true
		}
	}
	// Whoever wants the total as a number gets it counted to the end.
	if f.TotalAsInt && !f.TotalAsked {
		f.TotalAsked, f.TotalUpTo = true, math.MaxInt64
	}
	return ok
}

// setTotal reads a track_total_hits value, of the body or of the query string.
func (f *Facts) setTotal(value string) bool {
	switch value {
	case "true", "":
		f.TotalUpTo = math.MaxInt64
	case "false":
		f.TotalUpTo = 0
	default:
		var n int64
		if !setNumber(&n, value) || n < -1 {
			return false
		}
		if n == -1 { // what older clients write for true
			n = math.MaxInt64
		}
		f.TotalUpTo = n
	}
	f.TotalAsked = true
	return true
}

func setNumber(to *int64, text string) bool {
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil {
		*to = n
	}
	return err == nil
}

// sortOfParam reads field:direction,field.
func sortOfParam(value string) SortKind {
	kind := SortNone
	for value != "" {
		var field string
		field, value, _ = strings.Cut(value, ",")
		field, _, _ = strings.Cut(field, ":")
		kind = kind.then(field)
	}
	return kind
}

// then is the kind of an order that goes on with field.
func (k SortKind) then(field string) SortKind {
	switch {
	case k == SortFields || k == SortIndex || field == "":
		return k
	case field == "_score":
		return SortScore
	case field == "_doc" || field == "_shard_doc":
		return SortIndex
	}
	return SortFields
}

// factReader reads the top level of a search body.
type factReader struct {
	t   Tokens
	f   Facts
	buf []byte
}

func (r *factReader) read() bool {
	if k, err := r.t.Next(); err != nil || k.Kind != ObjectStart {
		return false
	}
	for {
		k, err := r.t.Next()
		if err != nil {
			return false
		}
		if k.Kind == ObjectEnd {
			k, err = r.t.Next()
			return err == nil && k.Kind == End
		}
		if !r.member(k) {
			return false
		}
	}
}

// member reads one key and its value.
func (r *factReader) member(key Token) bool {
	switch string(r.text(key)) {
	case "track_total_hits":
		return r.total()
	case "size":
		return r.number(&r.f.Size, &r.f.HasSize)
	case "from":
		return r.number(&r.f.From, &r.f.HasFrom)
	case "sort":
		return r.sort()
	case "terminate_after":
		r.f.TerminateAfter = true
	case "pit":
		r.f.PIT = true
	case "search_after":
		r.f.SearchAfter = true
	case "aggs", "aggregations":
		r.f.Aggs = true
		start, end, err := r.t.Skip()
		// A mere hint, so that no tree of aggregations needs to be walked.
		r.f.After = err == nil && bytes.Contains(r.t.in[start:end], []byte(`"after"`))
		return err == nil
	}
	_, _, err := r.t.Skip()
	return err == nil
}

// total reads the value of track_total_hits, which may be a string, too.
func (r *factReader) total() bool {
	k, err := r.t.Next()
	if err != nil {
		return false
	}
	switch raw := r.t.Raw(k); k.Kind {
	case True, False, Number:
		return r.f.setTotal(string(raw))
	case String:
		return r.f.setTotal(string(raw[1 : len(raw)-1]))
	case Null:
		return true
	}
	return false
}

func (r *factReader) number(to *int64, has *bool) bool {
	k, err := r.t.Next()
	if err != nil {
		return false
	}
	raw := r.t.Raw(k)
	switch k.Kind {
	case Null:
		return true
	case String: // the engines coerce
		raw = raw[1 : len(raw)-1]
	case Number:
	default:
		return false
	}
	*has = true
	return setNumber(to, string(raw))
}

// sort reads the value of sort: a name, an object of them, or an array of both.
func (r *factReader) sort() bool {
	k, err := r.t.Next()
	if err != nil {
		return false
	}
	if k.Kind != ArrayStart {
		return r.sortEntry(k)
	}
	for {
		k, err := r.t.Next()
		switch {
		case err != nil:
			return false
		case k.Kind == ArrayEnd:
			return true
		case !r.sortEntry(k):
			return false
		}
	}
}

func (r *factReader) sortEntry(k Token) bool {
	switch k.Kind {
	case String:
		r.sortField(k)
		return true
	case Null:
		return true
	case ObjectStart:
		for {
			k, err := r.t.Next()
			if err != nil {
				return false
			}
			if k.Kind == ObjectEnd {
				return true
			}
			r.sortField(k)
			if _, _, err := r.t.Skip(); err != nil {
				return false
			}
		}
	}
	return false
}

func (r *factReader) sortField(k Token) {
	r.f.Sort = r.f.Sort.then(string(r.text(k)))
}

// text is the decoded text of a Key or String token, good until the next call.
func (r *factReader) text(k Token) []byte {
	raw := r.t.Raw(k)
	if !k.Escaped {
		return raw[1 : len(raw)-1]
	}
	r.buf, _ = Unquote(r.buf[:0], raw)
	return r.buf
}
