//go:build engine

package main_test

import (
	"maps"
	"testing"
)

// verdict is the part of a report's JSON that these tests look at.
type verdict struct {
	Counts      counts         `json:"counts"`
	Differences map[string]int `json:"differences"`
	Operations  []struct {
		Op          string         `json:"op"`
		Counts      counts         `json:"counts"`
		Differences map[string]int `json:"differences"`
	} `json:"operations"`
	Examples []struct {
		Kind, Op, Want, Got string
		Request             *struct{ Method, Target, Body string }
	} `json:"examples"`
	Shapes []struct {
		Shape string `json:"shape"`
		N     int    `json:"n"`
	} `json:"shapes"`
	Sender struct {
		State string `json:"state"`
	} `json:"sender"`
	Verdict struct {
		State   string   `json:"state"`
		Reasons []string `json:"reasons"`
	} `json:"verdict"`
}

type counts struct {
	Records       int            `json:"records"`
	Planned       int            `json:"planned"`
	Sent          int            `json:"sent"`
	Answered      int            `json:"answered"`
	Shed          map[string]int `json:"shed"`
	Errors        map[string]int `json:"errors"`
	Refused       map[string]int `json:"refused"`
	Compared      int            `json:"compared"`
	NotComparable map[string]int `json:"not_comparable"`
	Same          int            `json:"same"`
	Different     int            `json:"different"`
}

// judgement says what a report may find. The zero value allows nothing: every
// request is sent, answered and answered alike.
type judgement struct {
	explain  map[string]explanation // by kind of difference and operation, "kind op"
	refused  map[string]int         // by reason
	unjudged bool                   // what the answers say is bound to differ: only the sums are looked at
}

// explanation is how often a difference must occur, and why it is right.
type explanation struct {
	n   int
	why string
}

// report reads a run's report and checks its sums and what it found.
func (j judgement) report(t *testing.T, run string) verdict {
	t.Helper()
	var v verdict
	goodJSON(t, &v, "report", "--format", "json", run)
	c := v.Counts
	t.Logf("records %d = planned %d + refused %v; sent %d, answered %d, compared %d (not: %v), same %d, different %d %v; sender %s; verdict %s %q",
		c.Records, c.Planned, c.Refused, c.Sent, c.Answered, c.Compared, c.NotComparable, c.Same, c.Different, v.Differences, v.Sender.State, v.Verdict.State, v.Verdict.Reasons)
	c.sums(t, "the run")
	var sum counts
	found := 0
	for _, o := range v.Operations {
		o.Counts.sums(t, o.Op)
		sum.Records += o.Counts.Records
		sum.Sent += o.Counts.Sent
		for kind, n := range o.Differences {
			if j.unjudged {
				continue
			}
			if x := j.explain[kind+" "+o.Op]; x.n == n {
				found++
				t.Logf("%d × %s in %s: %s", n, kind, o.Op, x.why)
			} else {
				t.Errorf("%d answers of %s differ in %s", n, o.Op, kind)
			}
		}
	}
	if found != len(j.explain) {
		t.Errorf("%d of the differences that are explained were found: %v", found, j.explain)
	}
	if sum.Records != c.Records || sum.Sent != c.Sent {
		t.Errorf("the operations have %d records and %d sent, the run %d and %d", sum.Records, sum.Sent, c.Records, c.Sent)
	}
	if !maps.Equal(c.Refused, j.refused) {
		t.Errorf("refused are %v, want %v", c.Refused, j.refused)
	}
	why := c.NotComparable
	if n := why["nothing_to_compare"]; !j.unjudged && (n > 3*readLanes || total(why) != n) {
		t.Errorf("%v were not compared: only the opening and closing of scrolls and points in time has nothing to compare", why)
	}
	if total(c.Errors) > 0 || total(c.Shed) > 0 || c.Compared == 0 {
		t.Errorf("errors %v, shed %v, compared %d", c.Errors, c.Shed, c.Compared)
	}
	if t.Failed() {
		for _, e := range v.Examples {
			t.Logf("%s %s: want %s, got %s: %+v", e.Kind, e.Op, e.Want, e.Got, e.Request)
		}
	}
	return v
}

// sums holds the equations that every report promises.
func (c counts) sums(t *testing.T, what string) {
	t.Helper()
	if c.Records != c.Planned+total(c.Refused) || c.Planned != c.Sent+total(c.Shed) || c.Sent != c.Answered+total(c.Errors) ||
		c.Answered != c.Compared+total(c.NotComparable) || c.Compared != c.Same+c.Different {
		t.Errorf("the counts of %s do not add up: %+v", what, c)
	}
}

// crossRun replays the capture of one engine against another. What differs must
// be explained, and what is explained must differ.
func crossRun(t *testing.T, c *taking, target *node) {
	t.Helper()
	reads, journal := explained(c.from, target.engine)
	prefix := "from-" + c.from.name
	t.Run("load", func(t *testing.T) { c.seed(t, target, prefix, judgement{}) })
	t.Run("reads", func(t *testing.T) { c.replayReads(t, target, prefix, "4", reads) })
	t.Run("journal", func(t *testing.T) { c.replayJournal(t, target, prefix, journal) })
}

// explained is what two engines are known to answer differently, each so many
// times and nothing else. Half of the lanes, and the journal, ask Elasticsearch
// by the vendor's media type for the behaviour of their version, which an engine
// of the next version still has.
func explained(from, to engine) (reads, journal judgement) {
	reads.explain, journal.explain = map[string]explanation{}, map[string]explanation{}
	if from.flavor == "elasticsearch" && to.flavor == "opensearch" {
		reads.explain["status open_pit"] = explanation{readLanes, "OpenSearch opens a point in time at /_search/point_in_time"}
		reads.refused = map[string]int{"handle": readLanes * pitUses} // what stands on one
	}
	if from.major != 7 {
		return reads, journal
	}
	const interval, typed = "date_histogram takes interval no longer", "a bulk may no longer name a document's type"
	switch to.name {
	case "elasticsearch-8":
		reads.explain["status search"] = explanation{readLanes / 2 * oldOnes, interval}
	case "opensearch-2":
		journal.explain["status bulk"] = explanation{1, typed}
	default:
		reads.explain["status search"] = explanation{readLanes * oldOnes, interval}
		journal.explain["status bulk"] = explanation{1, typed}
	}
	return reads, journal
}
