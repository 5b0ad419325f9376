package replay

import "github.com/esshadow/esshadow/internal/es"

// Outcome is one line of a run's outcome files: facts about one record of the
// capture, no judgement. Times are ns since the run's start; 0 means that it
// did not happen.
type Outcome struct {
	Seq   uint64 `json:"seq"`  // record number in this run, from 1
	Time  int64  `json:"t"`    // arrival at the source, Unix ns
	Conn  uint64 `json:"conn"` // source connection
	Op    string `json:"op"`
	Class string `json:"class"`
	Shape string `json:"shape,omitempty"`
	Index string `json:"index,omitempty"` // index expression as captured

	Refused string `json:"refused,omitempty"` // a guard's reason: never planned
	Shed    string `json:"shed,omitempty"`    // planned, but not sent
	Err     string `json:"err,omitempty"`     // sent, but no usable answer: error class

	Planned int64 `json:"planned,omitempty"`
	// Ready is when the previous request of the same source connection was done,
	// where that was later than Planned.
	Ready int64 `json:"ready,omitempty"`
	Sent  int64 `json:"sent,omitempty"`
	First int64 `json:"first,omitempty"` // first byte of the answer
	Done  int64 `json:"done,omitempty"`  // last byte of the answer

	Status     int         `json:"status,omitempty"` // the target's
	Got        *es.Summary `json:"got,omitempty"`
	AnswerSize int64       `json:"size,omitempty"`

	SourceStatus int         `json:"src_status,omitempty"`
	Want         *es.Summary `json:"want,omitempty"`
	SourceWait   int64       `json:"src_wait,omitempty"` // µs, as in Record
	SourceTook   int64       `json:"src_took,omitempty"`

	ExactTotal bool `json:"exact_total,omitempty"` // the request asked for an exact hits.total
	Sorted     bool `json:"sorted,omitempty"`      // the request names a sort other than _score
	// TerminateAfter: the request let the search stop early.
	TerminateAfter bool `json:"terminate_after,omitempty"`

	Fidelity string   `json:"fid,omitempty"`
	FidWhy   string   `json:"fid_why,omitempty"`
	Example  *Example `json:"example,omitempty"` // on the first outcomes of each shape, and wherever one may be wanted
}

// Example is a request as it was sent, for people to read. Body is cut at
// MaxExampleBody bytes.
type Example struct {
	Method string `json:"method"`
	Target string `json:"target"`
	Body   string `json:"body,omitempty"`
	Shape  string `json:"shape,omitempty"` // readable form of the query shape
}

// MaxExampleBody bounds Example.Body.
const MaxExampleBody = 4096
