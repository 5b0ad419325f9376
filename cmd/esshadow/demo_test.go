package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/replay/report"
)

// The demo goes through: capture, equal target, worse target, and its own check
// that the report names what is wrong. Its figures of time are not looked at,
// beyond what it looks at itself.
func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("takes ten seconds")
	}
	dir := filepath.Join(t.TempDir(), "demo")
	r := esshadow(t, nil, "demo", "--dir", dir, "--length", "2s", "--rate", "50")
	for _, want := range []string{"== 1. capture", "== 2. a target of the same kind", "different 0;", "== 3. a target that answers match", "COUNTS", "DIFFERENCES", "match(title)"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("lacks %q", want)
		}
	}
	if t.Failed() {
		t.Fatalf("exit code %d\n%s\n%s", r.code, r.out, r.err)
	}
	esshadow(t, nil, "capture", "verify", filepath.Join(dir, "capture")).want(t, exitDone)
	for _, run := range []string{"run-1x", "run-4x", "run-worse"} {
		rep := reportOf(t, filepath.Join(dir, run))
		sumsHold(t, rep.Counts)
		if rep.Counts.Answered < 100 || (run == "run-worse") != (rep.Counts.Different > 0) {
			t.Errorf("%s: %+v", run, rep.Counts)
		}
	}
	// Nothing of the documents stands in the capture as it was.
	text := esshadow(t, nil, "capture", "cat", filepath.Join(dir, "capture")).want(t, exitDone).out
	for _, plain := range []string{"amber", "walnut", "Borealis", "@example.test", "item-17", "ZGVtbzpkZW1v"} {
		if strings.Contains(text, plain) {
			t.Errorf("the capture holds %q", plain)
		}
	}
	esshadow(t, nil, "demo", "--dir", dir).want(t, exitFailed, "--dir")
	if _, err := os.Stat(filepath.Join(dir, "key")); err != nil {
		t.Error(err)
	}
}

// The demo fails where its report is wrong, and says what may have made it so.
func TestDemoJudgesItself(t *testing.T) {
	shape := func(name, state string) report.Shape {
		r := report.Shape{Shape: name}
		r.Change.State = state
		return r
	}
	match, other := shape("search products: match(title) size≈10", "slower"), shape("search products: match_all", "slower")
	for name, x := range map[string]struct {
		shapes []report.Shape
		total  int
		fails  string
		says   string
	}{
		"all is named":         {[]report.Shape{match, shape("b", "unchanged")}, 9, "", "names the one slow shape"},
		"another shape too":    {[]report.Shape{match, other}, 9, "names 2: ", ""},
		"another shape only":   {[]report.Shape{other}, 9, "names 1: ", ""},
		"none":                 {nil, 9, "names 0: ", ""},
		"no document was lost": {[]report.Shape{match}, 0, "lacks documents", ""},
	} {
		var out bytes.Buffer
		d := demo{s: &streams{out: &out}}
		rep := &report.Report{Shapes: x.shapes}
		rep.Verdict.State = report.Worse
		if x.total > 0 {
			rep.Differences = map[string]int{"total": x.total}
		}
		err := d.named(rep)
		if (err == nil) != (x.fails == "") || err != nil && !strings.Contains(err.Error(), x.fails) {
			t.Errorf("%s: %v", name, err)
		}
		if len(x.shapes) > 1 && err != nil && !strings.Contains(err.Error(), "quiet one") {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.Contains(out.String(), x.says) {
			t.Errorf("%s: %q", name, out.String())
		}
	}
}
