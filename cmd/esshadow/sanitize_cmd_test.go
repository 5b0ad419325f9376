package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/internal/testenv"
	"github.com/esshadow/esshadow/sanitize"
	"github.com/esshadow/esshadow/sanitize/canary"
)

func TestKeyCommands(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "key")
	id := strings.TrimSpace(esshadow(t, nil, "key", "new", file).want(t, exitDone).out)
	if !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(id) {
		t.Errorf("id %q", id)
	}
	st, err := os.Stat(file)
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Fatalf("%v, mode %v", err, st.Mode())
	}
	text, err := os.ReadFile(file)
	if err != nil || !regexp.MustCompile(`^[0-9a-f]{64}\n$`).Match(text) {
		t.Errorf("key file of %d bytes, %v", len(text), err)
	}
	esshadow(t, nil, "key", "new", file).want(t, exitFailed, "exists")
	if again, _ := os.ReadFile(file); string(again) != string(text) {
		t.Error("an existing key was overwritten")
	}
	if got := strings.TrimSpace(esshadow(t, nil, "key", "id", file).want(t, exitDone).out); got != id {
		t.Errorf("id %q, then %q", id, got)
	}
	other := filepath.Join(dir, "other")
	if esshadow(t, nil, "key", "new", other).want(t, exitDone).out == id+"\n" {
		t.Error("two keys are equal")
	}
	// What is no key is not destroyed; a hard link shows what became of the bytes.
	note := filepath.Join(dir, "note")
	if err := os.WriteFile(note, []byte("not a key"), 0o600); err != nil {
		t.Fatal(err)
	}
	esshadow(t, nil, "key", "destroy", note).want(t, exitUsage, "64 hexadecimal digits")
	if err := os.Link(file, filepath.Join(dir, "link")); err != nil {
		testenv.Skip(t, "no hard links here")
	}
	out := esshadow(t, nil, "key", "destroy", file).want(t, exitDone).out
	if !strings.Contains(out, "destroyed key "+id) {
		t.Errorf("receipt: %s", out)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
	if left, _ := os.ReadFile(filepath.Join(dir, "link")); strings.Trim(string(left), "\x00") != "" || len(left) != 65 {
		t.Errorf("the bytes were not overwritten with zeros: %d bytes", len(left))
	}
	esshadow(t, nil, "key", "id", file).want(t, exitUsage, "no such file")
	esshadow(t, nil, "key", "new").want(t, exitUsage, "want one file")
	if err := os.Chmod(other, 0o644); err != nil {
		t.Fatal(err)
	}
	esshadow(t, nil, "key", "id", other).want(t, exitUsage, "chmod 600")
}

func TestSanitizeTest(t *testing.T) {
	for _, preset := range []string{"strict", "fidelity", "ecs-logs", "commerce", "shape-only"} {
		t.Run(preset, func(t *testing.T) {
			out := esshadow(t, nil, "sanitize", "test", "--preset", preset, "--json").want(t, exitDone).out
			r := decode[canaryResult](t, out)
			t.Logf("%s: %d cases, %d absent, %d dropped, %d kept by design, %d leaked", preset, r.Cases, r.Absent, r.Dropped, r.Kept, r.Leaked)
			if r.Preset != preset || r.Leaked+r.NotDropped > 0 || r.Absent+r.Kept < r.Cases*3/4 || r.Absent+r.Dropped+r.Kept != r.Cases {
				t.Errorf("%+v", r)
			}
			if (preset == "strict" || preset == "shape-only") && r.Kept > 0 {
				t.Errorf("%d are kept", r.Kept)
			}
		})
	}
	esshadow(t, nil, "sanitize", "test", "--cases", "/nowhere").want(t, exitUsage, "--cases")
	esshadow(t, nil, "sanitize", "test", "--preset", "none").want(t, exitUsage, "preset")
	esshadowWith(t, strings.NewReader("{\n"), nil, "sanitize", "test", "--cases", "-").want(t, exitUsage, "line 1")
}

// The cases of the corpus go the same way.
func TestSanitizeTestCorpus(t *testing.T) {
	file := testenv.Corpus(t, "canary_cases.ndjson")
	out := esshadow(t, nil, "sanitize", "test", "--cases", file, "--json").want(t, exitDone).out
	r := decode[canaryResult](t, out)
	t.Logf("strict: %d cases, %d absent, %d dropped, %d leaked, dropped by reason %v", r.Cases, r.Absent, r.Dropped, r.Leaked, r.Reasons)
	if r.Cases < 100 || r.Absent < r.Cases/2 {
		t.Errorf("%+v", r)
	}
	kept := "url-index-name,url-index-list,q-range-birthdate,q-knn-vector,num-bigint,geo-forms,bulk-action-line"
	out = esshadow(t, nil, "sanitize", "test", "--cases", file, "--preset", "fidelity", "--kept", kept, "--json").want(t, exitDone).out
	if r = decode[canaryResult](t, out); r.Kept != 7 || r.ByPolicy != 0 {
		t.Errorf("what the caller says is kept comes first: %+v", r)
	}
	r = decode[canaryResult](t, out)
	t.Logf("fidelity: %d cases, %d absent, %d dropped, %d kept by design, %d leaked", r.Cases, r.Absent, r.Dropped, r.Kept, r.Leaked)
	esshadow(t, nil, "sanitize", "test", "--kept", "no-such-case").want(t, exitUsage, "no-such-case")
}

// The test is not blind: without a sanitiser nearly every mark is found.
func TestSanitizeTestSeesPlaintext(t *testing.T) {
	cases, err := canary.Cases()
	if err != nil {
		t.Fatal(err)
	}
	run := canaryRun{cases: cases, preset: "off", presetGiven: true, dir: filepath.Join(t.TempDir(), "capture")}
	run.adjust = func(set *settings) { set.cfg.Sanitize.AcceptPlaintext = true }
	res, err := run.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	requests := 0
	for _, c := range cases {
		if c.Direction != canary.DirectionOut && !c.Wire {
			requests++
		}
	}
	t.Logf("%d of %d requests leak without a sanitiser", res.Leaked, requests)
	if res.Leaked < requests*85/100 {
		t.Errorf("only %d of %d requests are seen to leak", res.Leaked, requests)
	}
}

// A rule that keeps is seen by the test, and by the exit code.
func TestSanitizeTestSeesRules(t *testing.T) {
	rules := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(rules, []byte("version: 1\nfields:\n  - {match: '**', action: keep, why: test}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := esshadow(t, nil, "sanitize", "test", "--rules", rules).want(t, exitFindings).out
	if !strings.Contains(out, "LEAKED") {
		t.Errorf("%.500s", out)
	}
}

// Labels of metrics are from closed sets, whatever clients send.
func TestMetricLabelsAreClosed(t *testing.T) {
	cases, err := canary.Cases()
	if err != nil {
		t.Fatal(err)
	}
	run := canaryRun{cases: cases, preset: "strict", dir: filepath.Join(t.TempDir(), "capture")}
	if _, err := run.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	allowed := map[string]func(string) bool{
		"op":        func(v string) bool { _, ok := es.ParseOp(v); return ok },
		"code":      regexp.MustCompile(`^[1-5][0-9][0-9]$`).MatchString,
		"by":        func(v string) bool { return v == "client" || v == "upstream" },
		"class":     func(v string) bool { _, ok := es.ParseClass(v); return ok },
		"direction": func(v string) bool { return v == "in" || v == "out" },
		"le":        regexp.MustCompile(`^([0-9.e+-]+|\+Inf)$`).MatchString,
		"reason": func(v string) bool {
			own := []string{
				"", capture.DropQueueFull, capture.DropBodyTooLarge, capture.DropDiskLow, capture.DropWriteFailed, capture.DropPaused,
				capture.DropClosed, capture.DropPanic, capture.DropLineTooLong, capture.FilteredInfo, capture.FilteredAdminRead,
				capture.FilteredAdminWrite, capture.FilteredDestructive, capture.FilteredOperation, capture.FilteredIndex,
			}
			return slices.Contains(own, v) || slices.Contains(sanitize.Reasons(), v)
		},
		"result": func(v string) bool {
			return slices.Contains([]string{"captured", "filtered", "sampled_out", "dropped"}, v)
		},
		"detector": func(v string) bool { return slices.Contains(sanitize.Detectors(), v) },
		"state":    regexp.MustCompile(`^[a-z_]+$`).MatchString,
		"upstream": regexp.MustCompile(`^(http://)?127\.0\.0\.1:[0-9]+$`).MatchString,
		"quantile": regexp.MustCompile(`^[0-9.]+$`).MatchString,
		"version":  func(string) bool { return true }, // of the program
		"go":       func(string) bool { return true },
	}
	seen := map[string]int{}
	for _, m := range regexp.MustCompile(`([a-z_]+)="([^"]*)"`).FindAllStringSubmatch(string(run.metrics), -1) {
		if strings.HasPrefix(m[1], "status") {
			continue
		}
		ok := allowed[m[1]]
		if ok == nil {
			t.Errorf("label %s is not known to be closed", m[1])
		} else if !ok(m[2]) {
			t.Errorf("label %s has the value %q", m[1], m[2])
		}
		seen[m[1]]++
	}
	if seen["reason"] < 10 || seen["op"] < 10 {
		t.Errorf("the run reached %v only", slices.Sorted(maps.Keys(seen)))
	}
}

func TestSanitizeAudit(t *testing.T) {
	c := makeCapture(t, 20, 0)
	out := esshadow(t, nil, "sanitize", "audit", c.dir).want(t, exitDone).out
	if !strings.Contains(out, "0 findings, 0 places not decoded") {
		t.Errorf("%s", out)
	}
	r := esshadowWith(t, strings.NewReader("amber\n\nnowhere\n"), nil, "sanitize", "audit", c.dir, "--words", "-").want(t, exitDone)
	if !strings.Contains(r.out, "2 words") {
		t.Errorf("%s", r.out)
	}
	// The name of a field is kept: as a word it is found, and not printed.
	r = esshadowWith(t, strings.NewReader("title\n"), nil, "sanitize", "audit", c.dir, "--words", "-", "--json").want(t, exitFindings)
	if strings.Contains(r.out, "title") {
		t.Errorf("the word is printed: %.500s", r.out)
	}
	rep := decode[struct {
		Found    int
		Findings []struct {
			Segment, Field, Kind, Digest string
			Seq                          int64
		}
	}](t, r.out)
	if rep.Found < 21 || rep.Findings[0].Kind != "word" || rep.Findings[0].Digest == "" || rep.Findings[0].Segment == "" {
		t.Errorf("%+v", rep)
	}
	esshadowWith(t, strings.NewReader("ab\n"), nil, "sanitize", "audit", c.dir, "--words", "-").want(t, exitUsage, "word 1")
	esshadow(t, nil, "sanitize", "audit", t.TempDir()).want(t, exitFailed, "no segment files")
	// A damaged file is no clean one.
	files, err := filepath.Glob(filepath.Join(c.dir, "*.zst"))
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], text[:len(text)-20], 0o600); err != nil {
		t.Fatal(err)
	}
	out = esshadow(t, nil, "sanitize", "audit", c.dir).want(t, exitUndecoded).out
	if !strings.Contains(out, "not decoded") {
		t.Errorf("%s", out)
	}
}

func TestSanitizeReport(t *testing.T) {
	c := makeCapture(t, 30, 0)
	rep := decode[exposure](t, esshadow(t, nil, "sanitize", "report", "--json", c.dir).want(t, exitDone).out)
	fields := map[string]fieldExposure{}
	for _, f := range rep.Fields {
		fields[f.Field] = f
	}
	title, ids, query := fields["doc: title"], fields["query: action.index._id"], fields["query: query.match.title"]
	if title.Values != 48 || title.Distinct != 24 || title.Singletons != 0 || title.TopShare != 0.0417 || title.Entropy < 4.5 {
		t.Errorf("title: %+v", title)
	}
	if ids.Values != 48 || ids.Distinct != 48 || ids.Singletons != 48 {
		t.Errorf("ids: %+v", ids)
	}
	if query.Values != 30 || query.Distinct != 24 || query.MinLength < 13 {
		t.Errorf("query: %+v", query)
	}
	if rep.ByOp["search"].Records != 30 || rep.ByOp["bulk"].Records != 1 || rep.Preset != "fidelity" || rep.Records < 31 {
		t.Errorf("%+v %+v", rep.ByOp, rep)
	}
	out := esshadow(t, nil, "sanitize", "report", "--top", "1", c.dir).want(t, exitDone).out
	for _, want := range []string{"fields more", "fidelity: exact", "dropped: 0", "operations:"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestSanitizePreview(t *testing.T) {
	key := writeKey(t)
	forms := []string{
		`{"method":"POST","path":"/people/_search","headers":{"X-Opaque-Id":"ann"},"body":{"query":{"match":{"name":"Anna"}}}}`,
		"POST /people/_search\nX-Opaque-Id: ann\n\n{\"query\":{\"match\":{\"name\":\"Anna\"}}}",
		"POST /people/_search\nX-Opaque-Id: ann\n{\"query\":{\"match\":{\"name\":\"Anna\"}}}\n",
	}
	var first string
	for _, f := range forms {
		r := esshadowWith(t, strings.NewReader(f), nil, "sanitize", "preview", "--key", key).want(t, exitDone, "operation search", "exact")
		if first == "" {
			first = r.out
		}
		if r.out != first || strings.Contains(strings.ToLower(r.out), "ann") || !strings.Contains(r.out, `{"query":{"match":{"name":"`) {
			t.Errorf("%s\n%s", f, r.out)
		}
	}
	for name, c := range map[string]struct {
		in   string
		code int
		out  string
	}{
		"dropped":      {`{"method":"POST","path":"/x/_search","body":{"frobnicate":"secretword"}}`, exitFindings, "dropped: unknown_key"},
		"endpoint":     {"POST /x/_frob/secretword", exitFindings, "dropped: "},
		"bulk":         {"POST /x/_bulk\n\n{\"index\":{}}\n{\"a\":\"secretword\"}\n", exitDone, `{"index":{}}`},
		"bulk text":    {`{"method":"POST","path":"/x/_bulk","body":"{\"index\":{}}\n{\"a\":1}\n"}`, exitDone, `{"a":1}`},
		"no body":      {`{"method":"GET","path":"/x/_doc/secretword","body":null}`, exitDone, "GET /"},
		"not JSON":     {`{"method":"secretword`, exitUsage, ""},
		"no request":   {"secretword", exitUsage, ""},
		"not a header": {"GET /x\nsecretword\n", exitUsage, ""},
	} {
		r := esshadowWith(t, strings.NewReader(c.in), nil, "sanitize", "preview", "--key", key).want(t, c.code)
		if !strings.Contains(r.out, c.out) || strings.Contains(r.out+r.err, "secretword") {
			t.Errorf("%s: %s %s", name, r.out, r.err)
		}
	}
}

func writeKey(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(testKey), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSanitizeCheckAndExplain(t *testing.T) {
	rules := func(text string) string {
		path := filepath.Join(t.TempDir(), "rules.yml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := rules("version: 1\nfields:\n  - {match: status, action: keep, why: enum, values: [open, done]}\n  - {match: '**.mail', action: email}\n")
	out := esshadow(t, nil, "sanitize", "check", "-c", good).want(t, exitDone).out
	for _, want := range []string{"fields[0]", "keep [open, done]", "**.mail", "default", "integers", "fpe", "preset strict"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	bad := rules("version: 1\nfields:\n  - match: a\n    action: frob\n  - match: b\n    action: keep\n")
	esshadow(t, nil, "sanitize", "check", "-c", bad).want(t, exitUsage, ":4: fields[0]: action", ":5: fields[1]: why")
	esshadow(t, nil, "sanitize", "check", "-c", rules("version: 1\nfeilds: []\n")).want(t, exitUsage, ":2: unknown key")
	shadowed := rules("version: 1\npreset: fidelity\nfields:\n  - {match: 'a.*', action: keep}\n  - {match: a.b, action: mask}\n  - {match: c, action: charsub, accept_weak: true}\n")
	out = esshadow(t, nil, "sanitize", "check", "-c", shadowed).want(t, exitFindings).out
	for _, want := range []string{":5: warning: fields[1] (a.b): no field reaches it: fields[0]", ":4: warning: fields[0] (a.*): keeps values without", "charsub is weak"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	out = esshadow(t, nil, "sanitize", "explain", "user.mail", "-c", good).want(t, exitDone).out
	for _, want := range []string{"fields[1]", good + ":4", "email", `"ORD-20417"`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Count(out, "Anna") != 1 {
		t.Errorf("the example is not replaced:\n%s", out)
	}
	out = esshadow(t, nil, "sanitize", "explain", "other").want(t, exitDone).out
	if !strings.Contains(out, "none: the default of preset strict") {
		t.Errorf("%s", out)
	}
	esshadow(t, nil, "sanitize", "explain").want(t, exitUsage, "want one field")
	for _, a := range sanitize.Actions() {
		if effectOf(a).equal == "-" && a != "drop-record" {
			t.Errorf("nothing is said of action %s", a)
		}
	}
}

func TestCanarySendAndVerify(t *testing.T) {
	e := newEngine(t)
	dir := filepath.Join(t.TempDir(), "capture")
	marks := filepath.Join(t.TempDir(), "marks")
	p := start(t, proxyArgs(t, e.url, dir)...)
	url, _ := p.listening()
	r := esshadow(t, nil, "sanitize", "canary", "send", "--via", url, "--marks", marks).want(t, exitDone, "0 failed")
	if r.out != "" {
		t.Errorf("standard output: %s", r.out)
	}
	esshadow(t, nil, "sanitize", "canary", "send", "--via", url, "--marks", marks).want(t, exitUsage, "exists")
	if st, err := os.Stat(marks); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", st, err)
	}
	endProxy(t, p)
	out := esshadow(t, nil, "sanitize", "canary", "verify", dir, "--marks", marks).want(t, exitDone).out
	if !regexp.MustCompile(`\b[3-9][0-9] records since`).MatchString(out) {
		t.Errorf("%s", out)
	}
	log := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(log, []byte(p.err()), 0o600); err != nil {
		t.Fatal(err)
	}
	esshadow(t, nil, "sanitize", "canary", "verify", dir, "--marks", marks, "--also", log).want(t, exitDone)
	// The same probe without a sanitiser is found.
	plain := filepath.Join(t.TempDir(), "plain")
	marks2 := filepath.Join(t.TempDir(), "marks")
	p = start(t, append(proxyArgs(t, e.url, plain), "--preset", "off", "--i-accept-plaintext-on-disk")...)
	url, _ = p.listening()
	esshadow(t, nil, "sanitize", "canary", "send", "--via", url, "--marks", marks2).want(t, exitDone)
	endProxy(t, p)
	out = esshadow(t, nil, "sanitize", "canary", "verify", plain, "--marks", marks2).want(t, exitFindings).out
	if n := strings.Count(out, "\nmark "); n < 60 {
		t.Errorf("%d marks are found in plain text", n)
	}
	// An older capture says nothing about a later probe.
	esshadow(t, nil, "sanitize", "canary", "verify", dir, "--marks", marks2).want(t, exitUndecoded, "nothing was captured since")
	esshadow(t, nil, "sanitize", "canary", "send", "--via", "nowhere", "--marks", marks2+"x").want(t, exitUsage, "--via")
	esshadow(t, nil, "sanitize", "canary", "send", "--via", "http://127.0.0.1:1", "--marks", marks2+"y").want(t, exitRefused, "no request was answered")
	if _, err := os.Lstat(marks2 + "y"); !os.IsNotExist(err) {
		t.Errorf("marks that nobody got are kept: %v", err)
	}
	esshadow(t, nil, "sanitize", "canary", "verify", dir, "--marks", log).want(t, exitUsage, "not a file of marks")
}

func endProxy(t *testing.T, p *process) {
	t.Helper()
	p.signal(syscall.SIGTERM)
	if code := p.code(patience); code != exitDone {
		t.Fatalf("exit code %d:\n%s", code, p.err())
	}
}

// Documents that go through filter are those of the capture.
func TestFilterAgreesWithCapture(t *testing.T) {
	c := makeCapture(t, 1, 0)
	dump := bulkBody("items", 0, 48)
	r := esshadowWith(t, strings.NewReader(dump), nil, "sanitize", "filter", "--key", c.key, "--preset", "fidelity").want(t, exitDone, "96 lines read, 96 written, 0 left out")
	cat := esshadow(t, nil, "capture", "cat", "--op", "bulk", c.dir).want(t, exitDone).out
	rec := decode[struct{ Body string }](t, cat)
	if rec.Body != r.out {
		t.Errorf("filter gives\n%.300s\nthe capture has\n%.300s", r.out, rec.Body)
	}
}

// Preset off has nothing to try, and the commands that try rules have no flag that
// would allow it.
func TestPresetOffHasNothingToTry(t *testing.T) {
	key := writeKey(t)
	for _, args := range [][]string{{"check"}, {"explain", "f"}, {"preview"}, {"filter", "--key", key}} {
		esshadow(t, nil, append(append([]string{"sanitize"}, args...), "--preset", "off")...).want(t, exitUsage, "--preset: off replaces nothing")
	}
}

func TestFilterBulk(t *testing.T) {
	key := writeKey(t)
	filter := func(in string, code int, args ...string) result {
		return esshadowWith(t, strings.NewReader(in), nil, append([]string{"sanitize", "filter", "--key", key}, args...)...).want(t, code)
	}
	good := `{"index":{"_index":"people","_id":"anna"}}` + "\n" + `{"name":"Anna"}` + "\n"
	del := `{"delete":{"_id":"anna"}}` + "\n"
	one := filter(good+del+"\n"+good, exitDone)
	if n := strings.Count(one.out, "\n"); n != 6 {
		t.Errorf("%d lines:\n%s", n, one.out)
	}
	if strings.Contains(strings.ToLower(one.out), "anna") {
		t.Errorf("%s", one.out)
	}
	bad := filter(good+"{\"frob\":{}}\n{\"a\":\"anna\"}\n"+good+"{\"index\":{}}\n{\"a\":", exitUndecoded)
	if n := strings.Count(bad.out, "\n"); n != 4 || !strings.Contains(bad.err, "4 left out") {
		t.Errorf("%d lines, %s", n, bad.err)
	}
	filter("{\"frob\":{}}\n{}\n", exitDone, "--skip-bad")
	long := filter(good+`{"index":{}}`+"\n"+`{"a":"`+strings.Repeat("x", 3000)+`"}`+"\n"+good, exitUndecoded, "--max-line", "1KiB")
	if !strings.Contains(long.err, "line_too_long 2") || strings.Count(long.out, "\n") != 4 {
		t.Errorf("%s", long.err)
	}
	cut := filter(good+`{"index":{}}`+"\n", exitUndecoded)
	if !strings.Contains(cut.err, "ndjson 1") {
		t.Errorf("%s", cut.err)
	}
	esshadowWith(t, strings.NewReader(""), nil, "sanitize", "filter").want(t, exitUsage, "--key")
	filter("", exitUsage, "--format", "csv")
	filter("", exitDone)
}

func TestFilterElasticdump(t *testing.T) {
	key := writeKey(t)
	lines := []string{
		`{"_index":"people","_type":"_doc","_id":"anna","_score":1,"_source":{"name":"Anna","age":41}}`,
		`{"_index":"people","_id":7,"_score":null,"_source":{"name":"Bob"},"sort":["bob"]}`,
		`{"people":{"mappings":{"properties":{"name":{"type":"text","fields":{"raw":{"type":"keyword","ignore_above":256}},"copy_to":["all.anna@mail.example"]},"anna@mail.example":{"type":"object","properties":{"x":{"type":"long","null_value":13800138000,"meta":{"unit":"anna"}}}},"rel":{"type":"join","relations":{"anna":["bob"]}}},"_meta":{"owner":"anna"}}}}`,
		`{"people":{"mappings":{"_doc":{"dynamic":"strict","properties":{"a":{"type":"date","format":"yyyy-MM-dd||epoch_millis"}}}}}}`,
	}
	r := esshadowWith(t, strings.NewReader(strings.Join(lines, "\n")+"\n"), nil, "sanitize", "filter", "--format", "elasticdump", "--key", key).
		want(t, exitDone, "4 lines read, 4 written", "mapping_member 3", "sort 1")
	if strings.Contains(strings.ToLower(r.out), "anna") || strings.Contains(strings.ToLower(r.out), "bob") || strings.Contains(r.out, "13800138000") {
		t.Errorf("%s", r.out)
	}
	out := strings.Split(strings.TrimSpace(r.out), "\n")
	for _, l := range out {
		if !json.Valid([]byte(l)) {
			t.Errorf("no JSON: %s", l)
		}
	}
	type hit struct {
		Index  string          `json:"_index"`
		ID     json.RawMessage `json:"_id"`
		Score  json.RawMessage `json:"_score"`
		Source map[string]any  `json:"_source"`
	}
	first := decode[hit](t, out[0])
	if string(first.Score) != "1" || len(first.Source) != 2 || first.Source["age"] != 41.0 {
		t.Errorf("%s", out[0])
	}
	mapping := decode[map[string]struct {
		Mappings struct {
			Properties map[string]struct {
				Type      string
				Fields    map[string]struct{ Type string }
				CopyTo    []string `json:"copy_to"`
				Relations map[string][]string
			}
		}
	}](t, out[2])
	props := mapping[first.Index].Mappings.Properties
	if props["name"].Fields["raw"].Type != "keyword" || len(props) != 3 || len(props["name"].CopyTo) != 1 {
		t.Errorf("%s", out[2])
	}
	// The join's relation is the value that documents have.
	doc := esshadowWith(t, strings.NewReader(`{"_index":"people","_id":"1","_source":{"rel":"anna"}}`+"\n"), nil, "sanitize", "filter", "--format", "elasticdump", "--key", key).want(t, exitDone).out
	value, _ := decode[hit](t, doc).Source["rel"].(string)
	if _, ok := props["rel"].Relations[value]; !ok {
		t.Errorf("relation %v, documents have %q", props["rel"].Relations, value)
	}
	if !strings.Contains(out[3], `"format":"yyyy-MM-dd||epoch_millis"`) || !strings.Contains(out[3], `"dynamic":"strict"`) {
		t.Errorf("%s", out[3])
	}
	for name, line := range map[string]string{
		"enrich policy":  `{"policies":[{"config":{"match":{"name":"anna"}}}]}`,
		"of no index":    `{"people":{"surprise":{"a":"anna"}}}`,
		"a list":         `{"people":{"settings":{"index":{"analysis":{"filter":{"s":{"type":"stop","stopwords":[{"anna":1}]}}}}}}}`,
		"unknown member": `{"_id":"1","_source":{},"surprise":"anna"}`,
		"no JSON":        `{"_id":"1","_source":{`,
		"an array":       `[1]`,
		"score":          `{"_id":"1","_score":"anna","_source":{}}`,
	} {
		r := esshadowWith(t, strings.NewReader(line+"\n"), nil, "sanitize", "filter", "--format", "elasticdump", "--key", key).want(t, exitUndecoded, "1 left out")
		if r.out != "" {
			t.Errorf("%s: %s", name, r.out)
		}
	}
}
