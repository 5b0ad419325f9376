//go:build engine

package main_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
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
	busy.journal()
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
	if rep.Counts.Sent < readLanes*readsEach && !j.loose {
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
	loose   bool
	explain map[string]string // kind of difference and operation, "kind op", to why it is right
	refused []string          // reasons that requests may be refused for
	// unjudged are operations whose answers are bound to differ.
	unjudged []string
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
	for _, o := range v.Operations {
		o.Counts.sums(t, o.Op)
		sum.Records += o.Counts.Records
		sum.Sent += o.Counts.Sent
		for kind, n := range o.Differences {
			if slices.Contains(j.unjudged, o.Op) {
				continue
			}
			if why := j.explain[kind+" "+o.Op]; why != "" {
				t.Logf("%d × %s in %s: %s", n, kind, o.Op, why)
			} else {
				t.Errorf("%d answers of %s differ in %s", n, o.Op, kind)
			}
		}
	}
	if sum.Records != c.Records || sum.Sent != c.Sent {
		t.Errorf("the operations have %d records and %d sent, the run %d and %d", sum.Records, sum.Sent, c.Records, c.Sent)
	}
	for reason, n := range c.Refused {
		if !slices.Contains(j.refused, reason) {
			t.Errorf("%d requests were refused: %s", n, reason)
		}
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
// be explained.
func crossRun(t *testing.T, c *taking, target *node) {
	t.Helper()
	j := explained(c.from, target.engine)
	prefix := "from-" + c.from.name
	t.Run("load", func(t *testing.T) { c.seed(t, target, prefix, j) })
	t.Run("reads", func(t *testing.T) { c.replayReads(t, target, prefix, "4", j) })
	t.Run("journal", func(t *testing.T) { c.replayJournal(t, target, prefix, j) })
}

// explained is what two engines are known to answer differently.
func explained(_, _ engine) judgement {
	return judgement{}
}
