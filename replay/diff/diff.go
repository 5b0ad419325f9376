package diff

import (
	"fmt"

	"github.com/esshadow/esshadow/internal/es"
)

// Kind names one way in which two answers differ.
type Kind string

// The kinds of difference.
const (
	Status        Kind = "status"         // HTTP status
	ErrorType     Kind = "error_type"     // same failing status, another error type
	TimedOut      Kind = "timed_out"      // only the target timed out
	ShardFailures Kind = "shards"         // more shards failed on the target
	Partial       Kind = "partial"        // only the target's answer is partial or still running
	TotalHits     Kind = "total"          // hits.total contradicts
	TotalRelation Kind = "total_relation" // exact total asked for, one side gave a bound
	Returned      Kind = "returned"       // number of hits or rows in the answer
	HitsOrder     Kind = "hits_order"     // same first ids, another order
	HitsSet       Kind = "hits_set"       // other first ids
	Aggs          Kind = "aggs"           // aggregations, their buckets or counts
	BulkItems     Kind = "bulk_items"     // outcomes of the items of a _bulk
	MsearchItems  Kind = "msearch_items"  // at least one answer inside an _msearch differs
	Count         Kind = "count"          // _count
	Found         Kind = "found"          // documents found by get and mget
	Result        Kind = "result"         // what became of a document that was written
	Failures      Kind = "failures"       // documents or indices that failed inside a successful answer
	Work          Kind = "work"           // what update_by_query, delete_by_query or reindex did
)

// Why names a reason for which two answers cannot be compared.
type Why string

// The reasons.
const (
	NoAnswer       Why = "no_answer"          // the source did not answer, or its answer was not captured
	SourceOverload Why = "source_overload"    // the source refused: 429, 502, 503, 504
	SourceTimedOut Why = "source_timed_out"   // the source's answer was incomplete itself
	SourcePartial  Why = "source_partial"     // as above: partial, terminated early, failed shards
	Unreadable     Why = "unreadable"         // one of the answers could not be read
	FidelityBroken Why = "fidelity_broken"    // sanitising changed what the request asks for
	NothingSaid    Why = "nothing_to_compare" // the answers have no figure in common
)

// Answer is one side of a comparison.
type Answer struct {
	Status  int
	Summary *es.Summary
}

// Ask is what the comparison must know of the request.
type Ask struct {
	ExactTotal bool // it asked for an exact hits.total
	Sorted     bool // it named a sort other than _score
	// TerminateAfter: it let the search stop early, so that terminated_early says
	// that something is missing. Engines also say it of complete answers.
	TerminateAfter bool
	Fidelity       string // exact, approx, broken; "" counts as exact
	FidWhy         string // why it is not exact
}

// Tolerances bound what still counts as agreement.
type Tolerances struct {
	// Overlap is the share, 0 to 1, of the first ids that both answers must
	// have in common where hits are ranked by score: equal scores and the shard
	// layout change a ranking without anything being wrong.
	Overlap float64 `json:"overlap" yaml:"overlap"`
	// Total is the relative deviation of hits.total and _count that is let pass.
	Total float64 `json:"total" yaml:"total"`
}

// DefaultTolerances lets no deviation of a count pass, and half of a ranking.
func DefaultTolerances() Tolerances { return Tolerances{Overlap: 0.5} }

// Finding is one difference, with the two values where they are single figures.
type Finding struct {
	Kind Kind
	Want string
	Got  string
}

// Verdict is the result of a comparison: not comparable (Why is set), the same
// (neither is set), or different.
type Verdict struct {
	Why      Why
	Findings []Finding
}

// Same tells that the answers were compared and agree.
func (v Verdict) Same() bool { return v.Why == "" && len(v.Findings) == 0 }

// Has tells whether the verdict holds a difference of that kind.
func (v Verdict) Has(k Kind) bool {
	for _, f := range v.Findings {
		if f.Kind == k {
			return true
		}
	}
	return false
}

// Compare compares the source's answer, want, with the target's, got. Answers
// of the target that are failures of the path rather than answers (429, 502,
// 503, 504) are errors and must not be brought here.
func Compare(want, got Answer, ask Ask, tol Tolerances) Verdict {
	switch {
	case ask.Fidelity == "broken":
		return Verdict{Why: FidelityBroken}
	case want.Status == 0 || want.Summary == nil || got.Summary == nil:
		return Verdict{Why: NoAnswer}
	case overloaded(want.Status):
		return Verdict{Why: SourceOverload}
	}
	if statusClass(want.Status) != statusClass(got.Status) {
		return Verdict{Findings: []Finding{{Status, num(want.Status), num(got.Status)}}}
	}
	if want.Status >= 400 {
		return failed(want, got)
	}
	c := comparison{ask: ask, tol: tol, reordered: reordered(ask)}
	c.summaries(want.Summary, got.Summary)
	return c.verdict()
}

// reordered tells that sanitising kept what matches but not its order, as for a
// sort by a field of pseudonyms.
func reordered(a Ask) bool {
	return a.Fidelity == "approx" && (a.FidWhy == "sort" || a.FidWhy == "order_by_key")
}

func overloaded(status int) bool {
	return status == 429 || status == 502 || status == 503 || status == 504
}

// statusClass makes 200 and 201 one: whether a document was new depends on what
// the target held before.
func statusClass(status int) int {
	if status == 201 {
		return 200
	}
	return status
}

func failed(want, got Answer) Verdict {
	w, g := errorType(want.Summary), errorType(got.Summary)
	if w != "" && g != "" && w != g {
		return Verdict{Findings: []Finding{{ErrorType, w, g}}}
	}
	return Verdict{}
}

// errorType is the error's type and, where it is another one, that of its cause.
func errorType(s *es.Summary) string {
	if s.Root != "" {
		return s.Error + ": " + s.Root
	}
	return s.Error
}

// comparison gathers findings over two Summaries.
type comparison struct {
	ask Ask
	tol Tolerances
	// reordered: sanitising changed what the hits are sorted by.
	reordered bool
	compared  bool // at least one figure was on both sides
	why       Why
	found     []Finding
}

func (c *comparison) verdict() Verdict {
	switch {
	case len(c.found) > 0:
		return Verdict{Findings: c.found}
	case c.why != "":
		return Verdict{Why: c.why}
	case !c.compared:
		return Verdict{Why: NothingSaid}
	}
	return Verdict{}
}

func (c *comparison) add(k Kind, want, got string) {
	c.found = append(c.found, Finding{k, want, got})
}

func (c *comparison) summaries(want, got *es.Summary) {
	switch {
	case want.Unreadable != "" || got.Unreadable != "":
		c.why = Unreadable
		return
	case yes(want.TimedOut):
		c.why = SourceTimedOut
		return
	case c.incomplete(want):
		c.why = SourcePartial
		return
	}
	if c.targetIncomplete(want, got) {
		return
	}
	c.hits(want, got)
	c.aggs(want, got)
	c.bulk(want, got)
	c.items(want, got)
	c.documents(want, got)
}

func yes(b *bool) bool { return b != nil && *b }

func (c *comparison) incomplete(s *es.Summary) bool {
	return yes(s.Partial) || yes(s.Running) || c.early(s) || s.Shards != nil && s.Shards.Failed > 0
}

func (c *comparison) early(s *es.Summary) bool { return c.ask.TerminateAfter && yes(s.Early) }

// targetIncomplete reports what made only the target's answer incomplete; its
// figures then say nothing.
func (c *comparison) targetIncomplete(want, got *es.Summary) bool {
	n := len(c.found)
	if yes(got.TimedOut) {
		c.add(TimedOut, "false", "true")
	}
	if got.Shards != nil && got.Shards.Failed > 0 && want.Shards != nil {
		c.add(ShardFailures, num(want.Shards.Failed), num(got.Shards.Failed))
	}
	if yes(got.Partial) || yes(got.Running) || c.early(got) {
		c.add(Partial, "false", "true")
	}
	if want.TimedOut != nil && got.TimedOut != nil {
		c.compared = true
	}
	return len(c.found) > n
}

// documents compares what get, mget, _count and single writes say.
func (c *comparison) documents(want, got *es.Summary) {
	if want.Count != nil && got.Count != nil {
		c.compared = true
		if !within(*want.Count, *got.Count, c.tol.Total) {
			c.add(Count, num(*want.Count), num(*got.Count))
		}
	}
	if want.Found != nil && got.Found != nil {
		c.compared = true
		if *want.Found != *got.Found {
			c.add(Found, num(*want.Found), num(*got.Found))
		}
	}
	if want.Failed != nil && got.Failed != nil {
		c.compared = true
		if *want.Failed != *got.Failed {
			c.add(Failures, num(*want.Failed), num(*got.Failed))
		}
	}
	if want.Work != nil && got.Work != nil {
		c.compared = true
		if *want.Work != *got.Work {
			c.add(Work, showWork(want.Work), showWork(got.Work))
		}
	}
	if want.Result != "" && got.Result != "" {
		c.compared = true
		if written(want.Result) != written(got.Result) {
			c.add(Result, want.Result, got.Result)
		}
	}
}

func showWork(w *es.Work) string {
	return fmt.Sprintf("total %d, created %d, updated %d, deleted %d, noops %d, conflicts %d",
		w.Total, w.Created, w.Updated, w.Deleted, w.Noops, w.Conflicts)
}

// written makes "created" and "updated" one, as statusClass does.
func written(result string) string {
	if result == "created" {
		return "updated"
	}
	return result
}
