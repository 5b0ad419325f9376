package capture

import "github.com/esshadow/esshadow/internal/es"

// Record is one line of a capture: a sanitised request and the Summary of its
// answer, or, with Kind "gap", what is known to be missing. Only package
// sanitize and the codec make Records. docs/segment-format.md has the fields'
// names on disk.
type Record struct {
	Kind string // "" or "record", "gap"

	Seq     uint64 // per writer, without holes
	Time    int64  // arrival of the request, Unix ns
	Conn    uint64
	Request uint64

	Op     string
	Method string
	Target string
	Header []Header
	Body   []byte

	BodySize   int64 // request and answer on the wire, before sanitising
	AnswerSize int64
	Wait, Took int64 // first and last byte of the answer after Time, µs

	Status int
	Err    string
	Want   *es.Summary

	Shape    string
	Fidelity string // exact, approx, broken
	FidWhy   string
	Handles  []Handle

	// What the parts above read on a line, where that is known from an equal Record
	// before: then it is not made anew. Whoever changes such a part clears it.
	BodyEncoded, WantEncoded Encoded

	Gap *Gap // only with Kind "gap"
}

// Handle is a server-issued id that a request used or an answer gave, as a
// keyed digest.
type Handle struct {
	Kind string // scroll, pit, async, task, id …
	Dir  string // "use" in the request, "give" in the answer
	ID   string
}

// Gap says what is known to be missing.
type Gap struct {
	Reason   string
	Count    uint64
	From, To int64 // Unix ns
}

// Fidelity values.
const (
	Exact  = "exact"
	Approx = "approx"
	Broken = "broken"
)

// Sanitizer makes a Record of an Exchange. It is used by one goroutine.
//
// It fills rec, whose slices it may reuse, and returns "". Where nothing may be
// stored it returns the reason's name, one of a fixed list that package sanitize
// states. The Record must not alias the Exchange's buffers.
type Sanitizer interface {
	Sanitize(rec *Record, x *Exchange) (drop string)
}
