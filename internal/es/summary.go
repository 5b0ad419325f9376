package es

// Summary is what an answer says, in numbers, names of error types and digests:
// nothing of a document, a query or an error's reason is in it. The same
// function, Summarize, makes it of the source's and of the target's answer, so
// that two of them can be compared. A nil pointer means that the answer did not
// say; a Summary is safe to store once the ids and names in it went through the
// Mapper of the capture.
type Summary struct {
	Took     *int64  `json:"took,omitempty"` // ms, as the server says
	TimedOut *bool   `json:"timed_out,omitempty"`
	Early    *bool   `json:"early,omitempty"` // terminated_early
	Partial  *bool   `json:"partial,omitempty"`
	Running  *bool   `json:"running,omitempty"`
	Shards   *Shards `json:"shards,omitempty"`

	Total *Total   `json:"total,omitempty"` // hits.total
	Hits  *int     `json:"hits,omitempty"`  // hits, rows, events, terms or (msearch) answers returned
	IDs   []string `json:"ids,omitempty"`   // Digests of the first MaxTopIDs mapped hit ids, in order
	Aggs  []Agg    `json:"aggs,omitempty"`  // at most MaxAggs, in order of Path

	Bulk  []BulkCount `json:"bulk,omitempty"`  // items by operation, status and error type
	Items []Item      `json:"items,omitempty"` // msearch, one per request, at most MaxItems

	Count  *int64 `json:"count,omitempty"`  // count; field_caps: number of fields
	Found  *int   `json:"found,omitempty"`  // get, exists, explain, validate: 0 or 1; mget: documents found
	Missed *int   `json:"missed,omitempty"` // mget: documents not found
	Failed *int   `json:"failed,omitempty"` // mget: documents answered by an error; by-query, field_caps: failures
	Work   *Work  `json:"work,omitempty"`   // by-query operations and reindex
	Result string `json:"result,omitempty"` // created, updated, deleted, noop, not_found

	// Error is the type of the error, never its reason: "text" for an error that
	// has only a text, "other" for a type that does not look like one. Root is
	// the type of its first root cause where that is another.
	Error string `json:"error,omitempty"`
	Root  string `json:"root,omitempty"`

	// Cut names what was left out because it exceeded a bound (CutAggs …).
	// Unreadable says why the body could not be read (UnreadableJSON …); then
	// nothing else of it is in the Summary.
	Cut        []string `json:"cut,omitempty"`
	Unreadable string   `json:"unreadable,omitempty"`
}

// Size is how many bytes of memory s takes, about.
func (s *Summary) Size() int {
	const cell, id, agg, count, item = 640, digestLen, 72, 48, 296
	n := cell + id*len(s.IDs) + agg*len(s.Aggs) + count*len(s.Bulk) + item*len(s.Items)
	for i := range s.Aggs {
		n += len(s.Aggs[i].Path) + 8*cap(s.Aggs[i].Counts)
	}
	for i := range s.Items {
		n += s.Items[i].Size()
	}
	return n
}

// Values of Summary.Cut.
const (
	CutAggs  = "aggs"  // more than MaxAggs aggregations
	CutItems = "items" // more than MaxItems items
	CutBulk  = "bulk"  // more than MaxBulk kinds of bulk items
)

// Values of Summary.Unreadable.
const (
	UnreadableJSON   = "json"      // malformed
	UnreadableCut    = "cut"       // ends early
	UnreadablePacked = "packed"    // malformed gzip or deflate data
	UnreadableCoding = "coding"    // a Content-Encoding that is not known
	UnreadableMedia  = "media"     // neither JSON nor a text that is understood: CBOR, SMILE, YAML …
	UnreadableLarge  = "too_large" // beyond the bound of decoded bytes, or of what was captured
)

// Work is what an update_by_query, delete_by_query or reindex says it did.
type Work struct {
	Total     int64 `json:"total"`
	Created   int64 `json:"created,omitempty"`
	Updated   int64 `json:"updated,omitempty"`
	Deleted   int64 `json:"deleted,omitempty"`
	Noops     int64 `json:"noops,omitempty"`
	Conflicts int64 `json:"conflicts,omitempty"`
}

// Shards is the _shards object of an answer.
type Shards struct {
	Total      int `json:"total"`
	Successful int `json:"ok"`
	Skipped    int `json:"skipped,omitempty"`
	Failed     int `json:"failed,omitempty"`
}

// Total is hits.total. Relation is "eq" or "gte"; a plain number, as older
// versions and rest_total_hits_as_int give it, is "eq".
type Total struct {
	Value    int64  `json:"value"`
	Relation string `json:"relation"`
}

// Agg is one bucket aggregation of an answer, all its occurrences taken
// together where it stands below other buckets. Path is the Digest of its name
// and of its ancestors' names, joined by ">". Buckets counts its buckets; one
// that has a doc_count of its own (filter, nested, missing …) counts as one.
//
// Counts are doc_counts. Where the answer's order of buckets says something,
// they are those of the first MaxBuckets in that order. Where it depends on
// keys, which a capture replaces (keyed buckets, and everything below several
// buckets, whose ties keys break), Unordered is set and they are the
// MaxBuckets largest, falling.
type Agg struct {
	Path      string  `json:"path"`
	Buckets   int     `json:"buckets"`
	Counts    []int64 `json:"counts,omitempty"` // at most MaxBuckets
	Other     *int64  `json:"other,omitempty"`  // sum_other_doc_count, summed up
	Unordered bool    `json:"unordered,omitempty"`
}

// BulkCount counts the items of a _bulk answer that agree in what they say. An
// item that was accepted but went to a failure store has the error
// "failure_store_used" or "failure_store_failed".
type BulkCount struct {
	Op     string `json:"op"`
	Status int    `json:"status"`
	Error  string `json:"error,omitempty"`
	N      int    `json:"n"`
}

// Item is one answer inside an _msearch answer.
type Item struct {
	Status int `json:"status"`
	Summary
}

// Bounds of a Summary.
const (
	MaxTopIDs  = 10
	MaxAggs    = 64
	MaxBuckets = 64
	MaxItems   = 256
	MaxBulk    = 64
)

// Mapper turns a hit id and a caller-chosen name (of an aggregation) of an
// answer into the form that the capture knows them by, appending it to dst. A
// nil function leaves the bytes as they are. The two may be called by the
// thousand for one answer; what they are given is decoded text.
type Mapper struct {
	ID   func(dst, id []byte) []byte
	Name func(dst, name []byte) []byte
}
