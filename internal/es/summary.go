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
	Hits  *int     `json:"hits,omitempty"`  // hits (or rows, events) returned
	IDs   []string `json:"ids,omitempty"`   // digests of the first 10 sanitised hit ids, in order
	Aggs  []Agg    `json:"aggs,omitempty"`  // at most MaxAggs, in order of Path

	Bulk  []BulkCount `json:"bulk,omitempty"`  // items by operation, status and error type
	Items []Item      `json:"items,omitempty"` // msearch, one per request, at most MaxItems

	Count  *int64 `json:"count,omitempty"`
	Found  *int   `json:"found,omitempty"`  // get: 0 or 1; mget: documents found
	Missed *int   `json:"missed,omitempty"` // mget: documents not found
	Result string `json:"result,omitempty"` // created, updated, deleted, noop, not_found
	Error  string `json:"error,omitempty"`  // error type, never its reason

	// Cut names what was left out because it exceeded a bound (aggs, items), and
	// Unreadable why the body could not be read at all (json, gzip, too_large …).
	Cut        []string `json:"cut,omitempty"`
	Unreadable string   `json:"unreadable,omitempty"`
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

// Agg is one bucket aggregation of an answer. Path is a digest of its name and
// of its ancestors' names; Counts are the doc_counts of its first buckets in
// the answer's order.
type Agg struct {
	Path    string  `json:"path"`
	Buckets int     `json:"buckets"`
	Counts  []int64 `json:"counts,omitempty"` // at most MaxBuckets
	Other   *int64  `json:"other,omitempty"`  // sum_other_doc_count
}

// BulkCount counts the items of a _bulk answer that agree in what they say.
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
)

// Mapper turns a hit id and a caller-chosen name (of an aggregation) of an
// answer into the form that the capture knows them by, appending it to dst. A
// nil function leaves the bytes as they are.
type Mapper struct {
	ID   func(dst, id []byte) []byte
	Name func(dst, name []byte) []byte
}
