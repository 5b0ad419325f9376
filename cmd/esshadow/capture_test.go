package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// segmentFile is the only file of a capture.
func segmentFile(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.ndjson.zst*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v %v", files, err)
	}
	return files[0]
}

// copyTo copies a capture's file with a change.
func copyTo(t *testing.T, file string, change func([]byte) []byte) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), filepath.Base(file))
	if err := os.WriteFile(path, change(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

type line struct {
	Kind   string          `json:"kind"`
	Seq    uint64          `json:"seq"`
	Time   int64           `json:"t"`
	Op     string          `json:"op"`
	Status int             `json:"status"`
	Body   json.RawMessage `json:"body"`
}

// linesOf reads the output of cat, each line by itself, as jq would.
func linesOf(t *testing.T, out string) []line {
	t.Helper()
	var all []line
	for text := range strings.Lines(out) {
		all = append(all, decode[line](t, text))
	}
	return all
}

func ops(lines []line) string {
	var all []string
	for _, l := range lines {
		all = append(all, l.Op)
	}
	return strings.Join(all, " ")
}

func TestCaptureCat(t *testing.T) {
	c := makeCapture(t, 5, 30*time.Millisecond)
	cat := func(args ...string) []line {
		t.Helper()
		r := esshadow(t, nil, append([]string{"capture", "cat", c.dir}, args...)...).want(t, exitDone)
		if r.err != "" {
			t.Errorf("stderr: %s", r.err)
		}
		return linesOf(t, r.out)
	}
	all := cat()
	if got := ops(all); got != "bulk search search search search search" {
		t.Fatalf("all: %s", got)
	}
	for i, l := range all {
		if l.Status != 200 || len(l.Body) == 0 || i > 0 && (l.Time <= all[i-1].Time || l.Seq <= all[i-1].Seq) {
			t.Errorf("line %d: %+v", i, l)
		}
	}
	third := time.Unix(0, all[2].Time).UTC().Format(time.RFC3339Nano)
	after := time.Duration(all[2].Time - all[0].Time).String()
	before := time.Duration(all[5].Time - all[2].Time).String()
	for name, x := range map[string]struct {
		args  string
		first uint64
		n     int
	}{
		"json, for those who say it":  {"--json", all[0].Seq, 6},
		"limit":                       {"--limit 2", all[0].Seq, 2},
		"operation":                   {"--op bulk", all[0].Seq, 1},
		"operation and limit":         {"--op search --limit 1", all[1].Seq, 1},
		"from":                        {"--from " + third, all[2].Seq, 4},
		"from, relative to the first": {"--from +" + after, all[2].Seq, 4},
		"from, relative to the last":  {"--from -" + before, all[2].Seq, 4},
		"to leaves its own moment":    {"--to " + third, all[0].Seq, 2},
		"window":                      {"--from +" + after + " --to +" + time.Duration(all[4].Time-all[0].Time).String(), all[2].Seq, 2},
		"all at once":                 {"--from +" + after + " --op search --limit 3", all[2].Seq, 3},
	} {
		t.Run(name, func(t *testing.T) {
			got := cat(strings.Fields(x.args)...)
			if len(got) != x.n || x.n > 0 && got[0].Seq != x.first {
				t.Errorf("%s: %d lines %v, want %d from %d", x.args, len(got), got, x.n, x.first)
			}
		})
	}
	esshadow(t, nil, "capture", "cat", c.dir, "--from", "yesterday").want(t, exitUsage, "--from")
	esshadow(t, nil, "capture", "cat", filepath.Join(c.dir, "no")).want(t, exitFailed, "no")
	r := esshadow(t, []string{"ESSHADOW_CAPTURE_CAT_LIMIT=2"}, "capture", "cat", segmentFile(t, c.dir)).want(t, exitDone)
	if got := linesOf(t, r.out); len(got) != 2 {
		t.Errorf("limit from the environment: %d lines", len(got))
	}
}

func TestCaptureLsAndStat(t *testing.T) {
	c := makeCapture(t, 5, 0)
	r := esshadow(t, nil, "capture", "ls", "--json", c.dir).want(t, exitDone)
	ls := decode[[]listed](t, r.out)
	if len(ls) != 1 || ls[0].Records != 6 || !ls[0].Complete || ls[0].Problem != "" || ls[0].File != segmentFile(t, c.dir) || ls[0].Bytes == 0 || ls[0].Raw == 0 {
		t.Errorf("ls: %s", r.out)
	}
	r = esshadow(t, nil, "capture", "ls", c.dir).want(t, exitDone)
	if !strings.HasPrefix(r.out, "RECORDS") || !strings.Contains(r.out, filepath.Base(ls[0].File)) {
		t.Errorf("ls: %s", r.out)
	}
	r = esshadow(t, nil, "capture", "stat", "--json", c.dir).want(t, exitDone)
	st := decode[map[string]any](t, r.out)
	for _, key := range []string{
		"segments", "records", "first", "last", "bytes_file", "bytes_raw", "by_op", "by_status", "fidelity", "dropped",
		"gaps", "torn", "writers", "preset", "key_id", "source",
	} {
		if _, ok := st[key]; !ok {
			t.Errorf("stat lacks %s", key)
		}
	}
	full := decode[struct {
		Records  int            `json:"records"`
		ByOp     map[string]int `json:"by_op"`
		ByStatus map[string]int `json:"by_status"`
		Fidelity map[string]int `json:"fidelity"`
		Preset   string         `json:"preset"`
		KeyID    string         `json:"key_id"`
		Source   struct{ UUID, Version, Flavor string }
	}](t, r.out)
	if full.Records != 6 || full.ByOp["search"] != 5 || full.ByOp["bulk"] != 1 || full.ByStatus["200"] != 6 ||
		full.Fidelity["exact"]+full.Fidelity["approx"]+full.Fidelity["broken"] != 6 || full.Preset != "fidelity" || full.KeyID == "" || full.Source.UUID != c.source.UUID() {
		t.Errorf("stat: %+v", full)
	}
	r = esshadow(t, nil, "capture", "stat", c.dir).want(t, exitDone)
	for _, want := range []string{"search 5", "200 6", "preset", c.source.UUID()} {
		if !strings.Contains(r.out, want) {
			t.Errorf("stat lacks %q:\n%s", want, r.out)
		}
	}
}

func TestCaptureWithoutFiles(t *testing.T) {
	empty := t.TempDir()
	for _, sub := range []string{"ls", "cat", "stat", "verify", "repair"} {
		r := esshadow(t, nil, "capture", sub, empty).want(t, exitFailed, "no segment files", empty)
		if r.out != "" {
			t.Errorf("%s: stdout %q", sub, r.out)
		}
		esshadow(t, nil, "capture", sub, filepath.Join(empty, "absent")).want(t, exitFailed, "absent")
	}
}

// A file that is cut gives what is whole, says so, and is code 1; repair makes it
// whole.
func TestCaptureTorn(t *testing.T) {
	c := makeCapture(t, 5, 0)
	whole := segmentFile(t, c.dir)
	// Without the footer and a bit of what is before it.
	size := int64(0)
	torn := copyTo(t, whole, func(b []byte) []byte { size = int64(len(b)); return b[:len(b)-60] })
	r := esshadow(t, nil, "capture", "cat", torn).want(t, exitFailed, "warning")
	if got := linesOf(t, r.out); len(got) != 6 {
		t.Errorf("%d lines before the warning, want 6", len(got))
	}
	r = esshadow(t, nil, "capture", "stat", "--json", torn).want(t, exitDone)
	if st := decode[map[string]any](t, r.out); st["torn"] != 1.0 || st["records"] != 6.0 {
		t.Errorf("stat: %s", r.out)
	}
	r = esshadow(t, nil, "capture", "ls", torn).want(t, exitDone)
	if !strings.Contains(r.out, "capture repair") {
		t.Errorf("ls: %s", r.out)
	}
	r = esshadow(t, nil, "capture", "verify", "--json", torn, whole).want(t, exitFailed, "1 of 2 files are not whole")
	for _, f := range decode[[]fileResult](t, r.out) {
		if f.OK != (f.File == whole) || f.OK != (f.Error == "") || f.Report.Torn == f.OK || f.Report.Closed != f.OK || f.Report.Records != 6 || f.Report.First == "" {
			t.Errorf("verify: %+v", f)
		}
	}
	for _, name := range []string{`"bytes_file"`, `"bytes_raw"`, `"torn_at"`, `"damage"`, `"meta"`} {
		if !strings.Contains(r.out, name) || strings.Contains(r.out, `"Path"`) {
			t.Errorf("verify --json lacks %s, or has names of Go: %s", name, r.out)
		}
	}
	esshadow(t, nil, "capture", "repair", torn).want(t, exitDone)
	esshadow(t, nil, "capture", "verify", torn).want(t, exitDone)
	if st, err := os.Stat(whole); err != nil || st.Size() != size {
		t.Errorf("the whole file was touched: %v %v", st, err)
	}
	r = esshadow(t, nil, "capture", "cat", torn).want(t, exitDone)
	if got := linesOf(t, r.out); len(got) != 6 {
		t.Errorf("%d lines after repair, want 6", len(got))
	}
}

// A flipped bit inside a block is no torn end: code 1, and only skip reads on.
func TestCaptureCorrupt(t *testing.T) {
	c := makeCapture(t, 5, 0)
	whole := segmentFile(t, c.dir)
	corrupt := copyTo(t, whole, func(b []byte) []byte { b[len(b)/2] ^= 0x10; return b })
	r := esshadow(t, nil, "capture", "verify", corrupt).want(t, exitFailed, "1 of 1 files")
	if !strings.Contains(r.out, "corrupt") && !strings.Contains(r.out, "checksum") {
		t.Errorf("verify: %s", r.out)
	}
	esshadow(t, nil, "capture", "cat", corrupt).want(t, exitFailed, filepath.Base(corrupt))
	esshadow(t, nil, "capture", "stat", corrupt).want(t, exitFailed, filepath.Base(corrupt))
	// The bit fell into the one block of this file, so its records are lost; that
	// is told, with their number.
	r = esshadow(t, nil, "capture", "cat", "--on-corrupt", "skip", corrupt).want(t, exitDone, "6 records are lost in 1 damaged blocks")
	if got := linesOf(t, r.out); len(got) != 0 {
		t.Errorf("%d lines of a damaged block", len(got))
	}
	r = esshadow(t, nil, "capture", "stat", "--json", "--on-corrupt", "skip", corrupt).want(t, exitDone)
	if st := decode[map[string]any](t, r.out); st["missing"] != 6.0 {
		t.Errorf("stat: %s", r.out)
	}
	r = esshadow(t, nil, "capture", "stat", "--on-corrupt", "skip", corrupt).want(t, exitDone)
	if !strings.Contains(r.out, "missing     6, lost to damage") {
		t.Errorf("stat: %s", r.out)
	}
	// Repair cannot bring them back, and does not call such a file whole.
	if f := decode[[]fileResult](t, esshadow(t, nil, "capture", "verify", "--json", corrupt).want(t, exitFailed).out)[0]; f.Report.Damage.Places != 1 || f.Report.Damage.Records != 6 {
		t.Errorf("verify: %+v", f)
	}
	r = esshadow(t, nil, "capture", "repair", corrupt).want(t, exitFailed, "1 of 1 files are not whole")
	if !strings.Contains(r.out, "6 records lost") {
		t.Errorf("repair: %s", r.out)
	}
	// Next to a sound file only the damaged one's records are missing.
	other := makeCapture(t, 3, 0)
	r = esshadow(t, nil, "capture", "cat", "--on-corrupt", "skip", corrupt, other.dir).want(t, exitDone, "6 records are lost")
	if got := linesOf(t, r.out); len(got) != 4 {
		t.Errorf("%d lines, want the 4 of the sound file", len(got))
	}
}

// A listing with a file that cannot be read lists the others, and fails. One that is
// open or cut is no such file.
func TestCaptureLsOfDamagedFiles(t *testing.T) {
	c := makeCapture(t, 2, 0)
	text, err := os.ReadFile(segmentFile(t, c.dir))
	if err != nil {
		t.Fatal(err)
	}
	add := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(c.dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	add("cut.ndjson.zst", text[:len(text)/2])
	esshadow(t, nil, "capture", "ls", c.dir).want(t, exitDone)
	add("other.ndjson.zst", []byte("no segment at all"))
	for _, flags := range [][]string{nil, {"--json"}} {
		r := esshadow(t, nil, append([]string{"capture", "ls", c.dir}, flags...)...)
		r.want(t, exitFailed, "1 of 3 files cannot be read to their end")
		if strings.Count(r.out, ".ndjson.zst") < 3 || !strings.Contains(r.out, "not a segment file") {
			t.Errorf("%v: %s", flags, r.out)
		}
	}
}

// Other files that lie in a capture's directory are none of our business, least
// of all for repair.
func TestCaptureLeavesOtherFilesAlone(t *testing.T) {
	c := makeCapture(t, 2, 0)
	for _, name := range []string{"README", "notes.open", "run.json"} {
		if err := os.WriteFile(filepath.Join(c.dir, name), []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := readAll(t, c.dir)
	for _, sub := range []string{"ls", "verify", "repair"} {
		r := esshadow(t, nil, "capture", sub, c.dir, c.dir, segmentFile(t, c.dir)).want(t, exitDone)
		if strings.Count(r.out, ".ndjson.zst") != 1 || strings.Contains(r.out, "README") {
			t.Errorf("%s: %s", sub, r.out)
		}
	}
	after := readAll(t, c.dir)
	for name, text := range before {
		if after[name] != text {
			t.Errorf("%s changed", name)
		}
	}
}
