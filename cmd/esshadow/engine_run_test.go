//go:build engine

package main_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// taking is a capture, and when its parts began.
type taking struct {
	from                engine
	capture, key        string
	reads, journal, end time.Time // the load is what came before reads
	ops                 map[string]int
	uuid                string
}

// wholeRun captures traffic at a source and replays it against another cluster
// of the same kind: every answer must be the same.
func wholeRun(t *testing.T, dir string, source, target *node) *taking {
	t.Helper()
	c := take(t, filepath.Join(dir, source.name), source)
	t.Run("source-as-target", func(t *testing.T) { refusesItself(t, c, source) })
	same := judgement{}
	t.Run("load", func(t *testing.T) { c.seed(t, target, "copy", same) })
	for _, speed := range []string{"1", "4"} {
		t.Run("reads-"+speed+"x", func(t *testing.T) { c.replayReads(t, target, "copy", speed, same) })
	}
	t.Run("journal", func(t *testing.T) { c.replayJournal(t, target, "copy", same) })
	t.Run("spoiled", func(t *testing.T) { c.replaySpoiled(t, target) })
	return c
}

// take captures a load, reads and a journal, and checks that the capture holds
// what was sent and nothing else.
func take(t *testing.T, dir string, source *node) *taking {
	t.Helper()
	g := startGate(t, source, dir)
	writer := newLane(t, g.url, "")
	for _, index := range []string{docsIndex, jourIndex} { // by way of the proxy: counted as filtered
		writer.do("", 200, "PUT", "/"+index, rawJSON(mapping))
	}
	c := &taking{from: source.engine, capture: g.capture, key: g.key}
	writer.load()
	source.settle(t, docsIndex)
	c.reads = time.Now()
	c.ops = reads(t, source.engine, g.url)
	c.journal = time.Now()
	busy := newLane(t, g.url, vendor(source.engine))
	busy.journal(source.engine)
	c.end = time.Now()
	sums := g.stop(t)
	t.Log(sums.text)
	c.ops = plus(plus(c.ops, writer.sent), busy.sent)
	filtered := c.ops[""]
	delete(c.ops, "")
	st := checked(t, c.capture)
	if !maps.Equal(st.ByOp, c.ops) {
		t.Errorf("the capture holds %v, sent was %v", st.ByOp, c.ops)
	}
	if want := total(c.ops); sums.received != want+filtered || sums.captured != want || sums.filtered != filtered || st.Records != want || sums.dropped != 0 {
		t.Errorf("sent %d to capture and %d to filter; %s; records %d", want, filtered, sums.text, st.Records)
	}
	for why, n := range inexact(t, c.capture) {
		// Which fields hold words, whose pseudonyms sort otherwise, a proxy cannot know.
		if !strings.HasSuffix(why, " approx sort") {
			t.Errorf("%d records are not exact: %s", n, why)
		}
	}
	if st.Source.Flavor != source.flavor || !strings.HasPrefix(st.Source.Version, string(rune('0'+source.major))+".") || st.Source.UUID == "" {
		t.Errorf("the capture's source is %+v", st.Source)
	}
	c.uuid = st.Source.UUID
	if t.Failed() {
		t.FailNow()
	}
	return c
}

// inexact counts the records that are not exact by operation and reason.
func inexact(t *testing.T, capture string) map[string]int {
	t.Helper()
	why := map[string]int{}
	d := json.NewDecoder(strings.NewReader(good(t, "capture", "cat", capture)))
	for d.More() {
		var r struct {
			Op  string `json:"op"`
			Fid string `json:"fid"`
			Why string `json:"fid_why"`
		}
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		if r.Fid != "exact" {
			why[r.Op+" "+r.Fid+" "+r.Why]++
		}
	}
	return why
}

// rawJSON is a body that is JSON already.
type rawJSON string

// MarshalJSON implements json.Marshaler.
func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

func refusesItself(t *testing.T, c *taking, source *node) {
	code, _, errs := esshadow(t, "replay", c.capture, "--target", source.url, "--out", filepath.Join(t.TempDir(), "run"))
	if code != 5 {
		t.Errorf("exit code %d, want 5:\n%s", code, errs)
	}
}

// stamp is a moment as --from and --to take it.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// seed loads a target from the captured bulks and changes.
func (c *taking) seed(t *testing.T, target *node, prefix string, j judgement) {
	t.Helper()
	for _, index := range []string{docsIndex, jourIndex} {
		target.must(t, "PUT", "/"+strings.Replace(index, "esx", prefix, 1), mapping)
	}
	rep := c.replay(t, target, prefix, j, "--speed", "max", "--writes", "--to", stamp(c.reads))
	if want := docCount/bulkSize + 1 + 20 + 20 + 2 + 2 + 2; rep.Counts.Sent != want {
		t.Errorf("sent %d, the load has %d requests", rep.Counts.Sent, want)
	}
	target.settle(t, strings.Replace(docsIndex, "esx", prefix, 1))
}

func (c *taking) replayReads(t *testing.T, target *node, prefix, speed string, j judgement) {
	t.Helper()
	rep := c.replay(t, target, prefix, j, "--speed", speed, "--from", stamp(c.reads), "--to", stamp(c.journal))
	if rep.Counts.Sent < readLanes*readsEach {
		t.Errorf("sent %d, the reads are more than %d", rep.Counts.Sent, readLanes*readsEach)
	}
	if len(rep.Shapes) < 10 {
		t.Errorf("%d shapes only", len(rep.Shapes))
	}
}

func (c *taking) replayJournal(t *testing.T, target *node, prefix string, j judgement) {
	t.Helper()
	c.replay(t, target, prefix, j, "--speed", "2", "--writes", "--from", stamp(c.journal))
}

// replaySpoiled takes documents from the target, of which the report must tell.
func (c *taking) replaySpoiled(t *testing.T, target *node) {
	t.Helper()
	page := hits(target.must(t, "POST", "/copy-docs/_search", `{"size": 100, "sort": [{"seq": "desc"}], "query": {"range": {"seq": {"lt": 1000}}}}`))
	var gone []any
	for _, h := range page {
		gone = append(gone, m{"delete": m{"_id": h.ID}})
	}
	target.must(t, "POST", "/copy-docs/_bulk", string(lines(gone...)))
	target.settle(t, "copy-docs")
	run := filepath.Join(t.TempDir(), "run")
	good(t, "replay", c.capture, "--target", target.url, "--index-map", "esx-*=copy-*", "--out", run, "--speed", "max",
		"--from", stamp(c.reads), "--to", stamp(c.journal))
	var v verdict
	goodJSON(t, &v, "report", "--format", "json", run)
	v.Counts.sums(t, "the run")
	t.Logf("of %d compared, %d differ: %v; verdict %s %q", v.Counts.Compared, v.Counts.Different, v.Differences, v.Verdict.State, v.Verdict.Reasons)
	for _, kind := range []string{"total", "hits_set", "found", "aggs", "count"} {
		if v.Differences[kind] == 0 {
			t.Errorf("100 documents of %d are gone, and no answer differs in %s", docCount, kind)
		}
	}
	if v.Verdict.State != "worse" && v.Verdict.State != "different" {
		t.Errorf("the verdict is %s", v.Verdict.State)
	}
}

// replay sends a part of the capture, with its indices renamed, and judges.
func (c *taking) replay(t *testing.T, target *node, prefix string, j judgement, args ...string) verdict {
	t.Helper()
	run := filepath.Join(t.TempDir(), "run")
	good(t, append([]string{"replay", c.capture, "--target", target.url, "--index-map", "esx-*=" + prefix + "-*", "--out", run}, args...)...)
	return j.report(t, run)
}

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
	if n := total(c.NotComparable); !j.unjudged && (n != c.NotComparable["nothing_to_compare"] || n > 3*readLanes) {
		t.Errorf("%v were not compared: only the opening and closing of scrolls and points in time has nothing to compare", c.NotComparable)
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
	switch {
	case to.name == "elasticsearch-8":
		reads.explain["status search"] = explanation{readLanes / 2 * oldOnes, interval}
	case to.name == "opensearch-2":
		journal.explain["status bulk"] = explanation{1, typed}
	default:
		reads.explain["status search"] = explanation{readLanes * oldOnes, interval}
		journal.explain["status bulk"] = explanation{1, typed}
	}
	return reads, journal
}
