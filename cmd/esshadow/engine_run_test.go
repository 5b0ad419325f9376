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
	sanitised(t, c)
	if st.Source.Flavor != source.flavor || !strings.HasPrefix(st.Source.Version, string(rune('0'+source.major))+".") || st.Source.UUID == "" {
		t.Errorf("the capture's source is %+v", st.Source)
	}
	c.uuid = st.Source.UUID
	if t.Failed() {
		t.FailNow()
	}
	return c
}

// record is the part of a captured line that these tests look at.
type record struct {
	Op      string         `json:"op"`
	Fid     string         `json:"fid"`
	Why     string         `json:"fid_why"`
	Headers map[string]any `json:"headers"` // a name that came twice has a list
}

// each calls f for every record of a capture.
func each(t *testing.T, capture string, f func(record)) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(good(t, "capture", "cat", capture)))
	for d.More() {
		var r record
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		f(r)
	}
}

// sanitised checks what sanitising kept: every request exactly, but for the
// order that words have, and the vendor's media types, which some clients send
// and a target may have to be spared.
func sanitised(t *testing.T, c *taking) {
	t.Helper()
	inexact, vendors := map[string]int{}, 0
	each(t, c.capture, func(r record) {
		if r.Fid != "exact" && (r.Fid != "approx" || r.Why != "sort") {
			inexact[r.Op+" "+r.Fid+" "+r.Why]++
		}
		for _, v := range r.Headers {
			if text, _ := v.(string); strings.Contains(text, "vnd.elasticsearch") {
				vendors++
				break
			}
		}
	})
	if len(inexact) > 0 {
		t.Errorf("not all requests are kept exactly: %v", inexact)
	}
	if (vendors > 200) != (c.from.flavor == "elasticsearch") {
		t.Errorf("%d records have the vendor's media types", vendors)
	}
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
