package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/replay"
	"github.com/esshadow/esshadow/replay/report"
)

// golden compares with a file, or rewrites it where ESSHADOW_GOLDEN=1.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("ESSHADOW_GOLDEN") == "1" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (ESSHADOW_GOLDEN=1 writes it)", err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s differs; ESSHADOW_GOLDEN=1 rewrites it after a wanted change (-want +got):\n%s", path, d)
	}
}

// fixedRun writes a run directory in which everything is given.
func fixedRun(t *testing.T, outcomes []*replay.Outcome, change func(*replay.Run)) string {
	t.Helper()
	return turnedRun(t, outcomes, nil, change)
}

// turnedRun is fixedRun of a mirror that turned requests away.
func turnedRun(t *testing.T, outcomes []*replay.Outcome, turned map[string]uint64, change func(*replay.Run)) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	begun := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	target := replay.DefaultTarget()
	target.URL = "http://target.example:9200"
	run := replay.NewRun(begun, "v1.2.3", []string{"capture/"}, replay.Default(), target)
	run.Source = es.Identity{Flavor: es.FlavorElasticsearch, Version: "7.17.29", UUID: "source-uuid"}
	run.Target = es.Identity{Flavor: es.FlavorOpenSearch, Version: "2.19.6", UUID: "target-uuid"}
	lines, err := replay.CreateRunDir(dir, run)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes {
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := lines.Append(text, o.Time); err != nil {
			t.Fatal(err)
		}
	}
	if err := lines.Close(turned); err != nil {
		t.Fatal(err)
	}
	ended := begun.Add(10 * time.Second)
	run.Ended, run.Sums = &ended, &replay.Sums{InFlightMax: 7}
	if change != nil {
		change(&run)
	}
	if err := replay.WriteRun(dir, run); err != nil {
		t.Fatal(err)
	}
	return dir
}

func number[T any](v T) *T { return &v }

// mixedOutcomes hold one of everything: two shapes, of which one is slower, all
// fates of a request, and some differences.
func mixedOutcomes() []*replay.Outcome {
	const ms = int64(time.Millisecond)
	var all []*replay.Outcome
	for i := range int64(240) {
		o := &replay.Outcome{
			Seq: uint64(i + 1), Time: 1767225600e9 + i*40*ms, Conn: uint64(i % 8), Op: "search", Class: "read", Shape: "aaaa", Index: "items",
			Planned: i * 40 * ms, Sent: i*40*ms + ms/10 + i%7*ms/20, Status: 200, SourceStatus: 200, AnswerSize: 900,
			SourceTook: 5000 + i%9*100, SourceWait: 4000,
			Want:     &es.Summary{Took: number(int64(4)), Total: &es.Total{Value: 40 + i, Relation: "eq"}, Hits: number(10), IDs: []string{"one", "two"}},
			Got:      &es.Summary{Took: number(int64(3)), Total: &es.Total{Value: 40 + i, Relation: "eq"}, Hits: number(10), IDs: []string{"one", "two"}},
			Fidelity: "exact",
		}
		service := 5*ms + i%5*ms/10
		if i%3 == 0 {
			o.Shape, service = "bbbb", service+20*ms
		}
		o.First, o.Done = o.Sent+service-ms/2, o.Sent+service
		if i < 6 {
			o.Example = &replay.Example{Method: "POST", Target: "/items/_search", Body: fmt.Sprintf(`{"query":{"match":{"title":"tok%d"}}}`, i), Shape: "search items: match(title)"}
			if o.Shape == "bbbb" {
				o.Example.Shape = "search items: term(brand)"
			}
		}
		all = append(all, o)
	}
	all[20].Got.Total.Value, all[20].Example = 3, &replay.Example{Method: "POST", Target: "/items/_search", Body: `{"query":{"match":{"title":"tok"}}}`, Shape: "search items: match(title)"}
	all[21].Got.IDs, all[21].Sorted = []string{"two", "one"}, true
	all[22].Status, all[22].Got = 404, &es.Summary{Error: "index_not_found_exception"}
	for i, o := range all[40:60] {
		switch i % 5 {
		case 0:
			o.Refused, o.Class, o.Op = "write", "write", "bulk"
			o.Planned, o.Sent, o.First, o.Done, o.Got, o.Status = 0, 0, 0, 0, nil, 0
		case 1:
			o.Shed = "cancelled"
			o.Sent, o.First, o.Done, o.Got, o.Status = 0, 0, 0, nil, 0
		case 2:
			o.Err, o.Status, o.Got = "throttled", 429, nil
		case 3:
			o.Err, o.Status, o.Got = "timeout", 0, nil
		default:
			o.SourceStatus, o.Want = 503, nil
		}
	}
	return all
}

func TestReportGolden(t *testing.T) {
	dir := fixedRun(t, mixedOutcomes(), nil)
	text := esshadow(t, nil, "report", dir).want(t, exitDone)
	golden(t, "testdata/report.txt", text.out)
	golden(t, "testdata/report.json", esshadow(t, []string{"ESSHADOW_REPORT_FORMAT=json"}, "report", dir).want(t, exitDone).out)
	if text.err != "" {
		t.Errorf("stderr: %s", text.err)
	}
}

func reportSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile("../../docs/report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("report.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("report.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(doc)
}

// Whatever a run looks like, its JSON report obeys the schema and its sums hold.
func TestReportObeysItsSchema(t *testing.T) {
	schema := reportSchema(t)
	all := mixedOutcomes()
	overloaded := mixedOutcomes()
	for _, o := range overloaded[100:] {
		o.Shed, o.Sent, o.First, o.Done, o.Got, o.Status = "in_flight", 0, 0, 0, nil, 0
	}
	strangers := mixedOutcomes()
	for _, o := range strangers {
		if o.Got != nil && o.Got.Total != nil {
			o.Got = &es.Summary{Total: &es.Total{Relation: "eq"}, Hits: number(0)}
		}
	}
	for name, x := range map[string]struct {
		outcomes []*replay.Outcome
		change   func(*replay.Run)
		state    string
	}{
		"mixed":        {all, nil, report.Worse},
		"equal":        {all[:20], nil, report.Same},
		"one":          {all[:1], nil, report.Same},
		"empty":        {nil, nil, report.Inconclusive},
		"refused":      {all[40:41], nil, report.Inconclusive},
		"errors only":  {all[42:44], nil, report.Inconclusive},
		"overloaded":   {overloaded, nil, report.Inconclusive},
		"strangers":    {strangers, nil, report.Inconclusive},
		"interrupted":  {all[:60], func(r *replay.Run) { r.Interrupted = true }, report.Worse},
		"killed":       {all[:20], func(r *replay.Run) { r.Ended, r.Sums = nil, nil }, report.Same},
		"failed":       {all[:20], func(r *replay.Run) { r.Failed = "disk full" }, report.Same},
		"nobody known": {all[:20], func(r *replay.Run) { r.Source, r.Target = es.Identity{}, es.Identity{} }, report.Same},
	} {
		t.Run(name, func(t *testing.T) {
			r := esshadow(t, nil, "report", "--format", "json", fixedRun(t, x.outcomes, x.change)).want(t, exitDone)
			if err := validate(t, schema, r.out); err != nil {
				t.Errorf("%v\n%s", err, r.out)
			}
			rep := decode[report.Report](t, r.out)
			sumsHold(t, rep.Counts)
			for _, o := range rep.Operations {
				sumsHold(t, o.Counts)
			}
			if rep.Verdict.State != x.state || rep.Counts.Records != len(x.outcomes) {
				t.Errorf("verdict %+v of %d records, want %s of %d", rep.Verdict, rep.Counts.Records, x.state, len(x.outcomes))
			}
		})
	}
}

// The schema says what the contract says, and no report may say less or more.
func TestSchemaRefuses(t *testing.T) {
	schema := reportSchema(t)
	text := esshadow(t, nil, "report", "--format", "json", fixedRun(t, mixedOutcomes(), nil)).want(t, exitDone).out
	for name, change := range map[string]func(map[string]any){
		"a field too many": func(r map[string]any) { r["mood"] = "good" },
		"another schema":   func(r map[string]any) { r["schema"] = "esshadow.report/2" },
		"no counts":        func(r map[string]any) { delete(r, "counts") },
		"no p99":           func(r map[string]any) { delete(r["latency"].(map[string]any)["response_ms"].(map[string]any), "p99") },
		"unknown kind":     func(r map[string]any) { r["differences"].(map[string]any)["smell"] = 1 },
		"null operations":  func(r map[string]any) { r["operations"] = nil },
		"unknown verdict":  func(r map[string]any) { r["verdict"].(map[string]any)["state"] = "fine" },
		"a time in words":  func(r map[string]any) { r["run"].(map[string]any)["started"] = "noon" },
	} {
		t.Run(name, func(t *testing.T) {
			doc := decode[map[string]any](t, text)
			change(doc)
			changed, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			if validate(t, schema, string(changed)) == nil {
				t.Error("the schema takes it")
			}
		})
	}
}

// The names that scripts rely on, spelled out once more.
func TestReportFieldsOfTheContract(t *testing.T) {
	text := esshadow(t, nil, "report", "--format", "json", fixedRun(t, mixedOutcomes(), nil)).want(t, exitDone).out
	r := decode[map[string]any](t, text)
	q := "n min mean p50 p90 p95 p99 p999 max"
	for path, names := range map[string]string{
		"":                             "schema run counts sender latency differences operations shapes verdict gates",
		"run":                          "started ended speed capture source target",
		"run.source":                   "flavor version uuid",
		"run.target":                   "flavor version uuid",
		"counts":                       "records planned sent answered shed errors refused compared not_comparable same different",
		"sender":                       "state lag_ms span_planned_s span_actual_s in_flight_max",
		"sender.lag_ms":                q,
		"latency":                      "response_ms service_ms first_byte_ms source_ms took_ms source_took_ms",
		"latency.response_ms":          q,
		"operations.0":                 "op counts latency differences",
		"shapes.0":                     "shape op index example n different differences response_ms source_ms time_lost_s",
		"shapes.0.example":             "method target body",
		"verdict":                      "state reasons",
		"operations.0.latency.took_ms": q,
	} {
		var at any = r
		for key := range strings.SplitSeq(path, ".") {
			if list, ok := at.([]any); ok {
				at = list[0]
				continue
			}
			if key != "" {
				at = at.(map[string]any)[key]
			}
		}
		have := at.(map[string]any)
		for name := range strings.FieldsSeq(names) {
			if _, ok := have[name]; !ok {
				t.Errorf("%s lacks %s", path, name)
			}
		}
	}
}

func TestReportOutput(t *testing.T) {
	dir := fixedRun(t, mixedOutcomes()[:20], nil)
	file := filepath.Join(t.TempDir(), "report.json")
	r := esshadow(t, nil, "report", "--format", "json", "-o", file, dir).want(t, exitDone)
	text, err := os.ReadFile(file)
	if err != nil || r.out != "" || !json.Valid(text) {
		t.Errorf("%v, stdout %q, file %.100s", err, r.out, text)
	}
	esshadow(t, nil, "report", "-o", file, dir).want(t, exitFailed, "nothing existing is overwritten")
	if now, _ := os.ReadFile(file); !bytes.Equal(now, text) {
		t.Error("the file was overwritten")
	}
	// What fails leaves no half of a file.
	half := filepath.Join(t.TempDir(), "half")
	esshadow(t, nil, "report", "-o", half, dir, t.TempDir()).want(t, exitFailed, "not a run directory")
	if _, err := os.Stat(half); err == nil {
		t.Error("a failed report left a file")
	}
	two := esshadow(t, nil, "report", "--format", "json", dir, dir).want(t, exitDone)
	in := json.NewDecoder(strings.NewReader(two.out))
	for range 2 {
		var rep report.Report
		if err := in.Decode(&rep); err != nil {
			t.Errorf("two runs: %v", err)
		}
	}
	esshadow(t, nil, "report", t.TempDir()).want(t, exitFailed, "not a run directory")
	esshadow(t, nil, "report", filepath.Join(t.TempDir(), "absent")).want(t, exitFailed, "absent")
}

// A run that was killed is reported as far as it is whole, with a warning.
func TestReportOfATornRun(t *testing.T) {
	dir := fixedRun(t, mixedOutcomes(), func(r *replay.Run) { r.Ended, r.Sums = nil, nil })
	files, _ := filepath.Glob(filepath.Join(dir, "*.outcomes.ndjson.zst"))
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], text[:len(text)-50], 0o600); err != nil {
		t.Fatal(err)
	}
	r := esshadow(t, nil, "report", "--format", "json", dir).want(t, exitDone)
	if err := validate(t, reportSchema(t), r.out); err != nil {
		t.Error(err)
	}
	rep := decode[report.Report](t, r.out)
	if len(rep.Warnings) != 2 || !slices.ContainsFunc(rep.Warnings, func(w string) bool { return strings.Contains(w, "torn") }) || rep.Counts.Records == 0 {
		t.Errorf("warnings %q, %d records", rep.Warnings, rep.Counts.Records)
	}
}

// What a mirror turned away is in the sums and under its operation, also one of
// which nothing else is there; files of old tell no operation.
func TestReportOfTurnedAway(t *testing.T) {
	dir := turnedRun(t, mixedOutcomes(), map[string]uint64{
		"refused.write@bulk": 3, "shed.paused@search": 2, "shed.closed@bulk": 1, "refused.info": 4, "queue_full": 5,
	}, func(r *replay.Run) { r.Asked.Mirror = true })
	plain := decode[report.Report](t, esshadow(t, nil, "report", "--format", "json", fixedRun(t, mixedOutcomes(), nil)).want(t, exitDone).out)
	r := decode[report.Report](t, esshadow(t, nil, "report", "--format", "json", dir).want(t, exitDone).out)
	if r.Counts.Records != plain.Counts.Records+10 || r.Counts.Planned != plain.Counts.Planned+3 || r.Counts.Refused["info"] != 4 {
		t.Errorf("counts %+v, without %+v", r.Counts, plain.Counts)
	}
	of := func(r report.Report, op string) report.Counts {
		for _, o := range r.Operations {
			if o.Op == op {
				return o.Counts
			}
		}
		return report.Counts{}
	}
	if c := of(r, "bulk"); c.Records != of(plain, "bulk").Records+4 || c.Refused["write"] != 3+of(plain, "bulk").Refused["write"] || c.Shed["closed"] != 1 || c.Planned != of(plain, "bulk").Planned+1 {
		t.Errorf("bulk %+v", c)
	}
	if c, was := of(r, "search"), of(plain, "search"); c.Records != was.Records+2 || c.Shed["paused"] != was.Shed["paused"]+2 || c.Sent != was.Sent {
		t.Errorf("search %+v", c)
	}
	all := 0
	for _, o := range r.Operations {
		all += o.Counts.Records
	}
	if all != r.Counts.Records-4 {
		t.Errorf("operations have %d records of %d", all, r.Counts.Records)
	}
}
