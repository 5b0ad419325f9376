package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
