package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/internal/testenv"
	"github.com/esshadow/esshadow/sanitize"
	"github.com/esshadow/esshadow/sanitize/canary"
)

// plainRun is a run whose capture holds everything as it came, judged as if the
// preset had made it: whatever it keeps is a leak but for the preset's word.
func plainRun(t *testing.T, cases []canary.Case, preset string) *canaryResult {
	t.Helper()
	run := canaryRun{cases: cases, preset: "off", presetGiven: true, dir: filepath.Join(t.TempDir(), "capture")}
	run.adjust = func(set *settings) { set.cfg.Sanitize.AcceptPlaintext = true }
	if _, err := run.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	run.policy = sanitize.Default()
	run.preset, run.policy.Preset = preset, preset
	res, err := run.judge()
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// A leak is never called kept: of a capture in which every mark stands, no case is
// that is not known to be kept.
func TestKeptIsNoLeak(t *testing.T) {
	cases, err := canary.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, preset := range []string{"fidelity", "commerce", "strict"} {
		res := plainRun(t, cases, preset)
		t.Logf("%s: of %d cases as they came %d leak, %d are kept by design", preset, res.Cases, res.Leaked, res.Kept)
		if res.ByPolicy > 0 {
			t.Errorf("%s: called kept: %+v", preset, res.KeptCases)
		}
		if res.Leaked < res.Cases/2 {
			t.Errorf("%s: %d leaks seen", preset, res.Leaked)
		}
	}
	// Without the word of the cases themselves, the policy says it of no others.
	known := map[string]bool{}
	for i := range cases {
		known[cases[i].Name] = cases[i].Keeps("fidelity")
		cases[i].KeptIn = nil
	}
	res := plainRun(t, cases, "fidelity")
	t.Logf("without their own word: %d kept by the preset", res.ByPolicy)
	for _, k := range res.KeptCases {
		if !known[k.Case] || len(k.Classes) == 0 {
			t.Errorf("%s (%s) is called kept: %v at %s", k.Case, k.Position, k.Classes, k.Where)
		}
	}
	if res.ByPolicy == 0 {
		t.Error("nothing is kept")
	}
}

// The cases of others say nothing of presets: what fidelity keeps is told apart,
// and in strict nothing is.
func TestKeptInCorpus(t *testing.T) {
	file := testenv.Corpus(t, "canary_cases.ndjson")
	r := decode[canaryResult](t, esshadow(t, nil, "sanitize", "test", "--cases", file, "--preset", "fidelity", "--json").want(t, exitDone).out)
	var kept []string
	for _, k := range r.KeptCases {
		kept = append(kept, k.Case+": "+strings.Join(k.Classes, ", "))
	}
	want := []string{
		"url-index-name: index name", "url-index-list: index name", "q-range-birthdate: date", "q-knn-vector: number",
		"num-bigint: number", "geo-forms: number, place", "bulk-action-line: index name",
	}
	if !slices.Equal(kept, want) || r.ByPolicy != len(want) || r.Leaked > 0 || r.Absent+r.Dropped+r.Kept+r.ByPolicy != r.Cases {
		t.Errorf("%+v", r)
	}
	esshadow(t, nil, "sanitize", "test", "--cases", file, "--preset", "fidelity").want(t, exitDone).
		has(t, "KEPT by the preset  url-index-name", "7 KEPT by the preset, 0 LEAKED")
	r = decode[canaryResult](t, esshadow(t, nil, "sanitize", "test", "--cases", file, "--json").want(t, exitDone).out)
	if r.ByPolicy > 0 || r.Absent != 90 || r.Dropped != 20 || r.Leaked > 0 {
		t.Errorf("strict: %+v", r)
	}
}
