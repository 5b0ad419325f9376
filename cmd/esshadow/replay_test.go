package main

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/esshadow/esshadow/internal/testenv"

	"github.com/esshadow/esshadow/replay"
	"github.com/esshadow/esshadow/replay/report"
)

// replayTo replays to a target into a new run directory.
func replayTo(t *testing.T, target, capture string, args ...string) (result, string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "runs", "one")
	return esshadow(t, nil, append([]string{"replay", capture, "--target", target, "--out", out}, args...)...), out
}

func runOf(t *testing.T, dir string) replay.Run {
	t.Helper()
	r, err := replay.ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func reportOf(t *testing.T, dir string) report.Report {
	t.Helper()
	return decode[report.Report](t, esshadow(t, nil, "report", "--format", "json", dir).want(t, exitDone).out)
}

// seed gives a target the documents of the capture.
func seed(t *testing.T, target *engine, c captured) {
	t.Helper()
	r, _ := replayTo(t, target.url, c.dir, "--writes", "--same-index", "--speed", "max", "--in-flight", "1")
	r.want(t, exitDone)
}

func TestReplay(t *testing.T) {
	c := makeCapture(t, 12, 10*time.Millisecond)
	target := newEngine(t)
	seed(t, target, c)
	r, dir := replayTo(t, target.url, c.dir)
	r.want(t, exitDone, "outcomes are in "+dir, "esshadow report "+dir)
	for _, want := range []string{"VERDICT", "records 13 = planned 12 + refused 1 (", "sent 12 = answered 12 + errors 0", "same 12 + different 0", "SHAPES"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("the report lacks %q:\n%s", want, r.out)
		}
	}
	if strings.Contains(r.err, "VERDICT") || strings.Contains(r.out, "outcomes are in") {
		t.Errorf("stdout and stderr are mixed:\n%s\n%s", r.out, r.err)
	}
	for path, mode := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, "run.json"): 0o600} {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != mode {
			t.Errorf("%s: %v %v, want mode %o", path, st, err, mode)
		}
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	outcomes, _ := filepath.Glob(filepath.Join(dir, "*.outcomes.ndjson.zst"))
	if len(files) != 2 || len(outcomes) != 1 {
		t.Errorf("the run directory holds %v", files)
	}
	run := runOf(t, dir)
	if run.Ended == nil || run.Interrupted || run.Failed != "" || run.Source.UUID != c.source.UUID() || run.Target.UUID != target.UUID() ||
		run.Preset != "fidelity" || run.KeyID == "" || run.Machine.CPUs == 0 || run.Asked.Target != target.url || run.Versions.Esshadow == "" || run.Sums == nil {
		t.Errorf("run.json: %+v", run)
	}
	if rep := reportOf(t, dir); rep.Counts.Same != 12 || rep.Counts.Refused["write"] != 1 {
		t.Errorf("report: %+v", rep.Counts)
	}
}

// What is no target to replay to ends with code 5, and leaves nothing.
func TestReplayRefusesTargets(t *testing.T) {
	c := makeCapture(t, 2, 0)
	dead, _ := testenv.DeadAddress(t)
	gone := "http://" + dead
	answering := func(code int) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }))
		t.Cleanup(s.Close)
		return s.URL
	}
	p := start(t, "proxy", "--upstream", newEngine(t).url, "--listen", "127.0.0.1:0", "--admin", "off")
	ours := "http://" + p.find(`listening on (\S+),`)[1]
	for name, x := range map[string]struct{ target, says string }{
		"nobody there":          {gone, "cannot be reached"},
		"unauthorised":          {answering(401), "refuses the credentials"},
		"forbidden":             {answering(403), "refuses the credentials"},
		"unavailable":           {answering(503), "cannot be reached"},
		"another kind":          {answering(200), "does not answer as a search engine"},
		"the captured cluster":  {c.source.url, "the cluster that was captured"},
		"one of our proxies":    {ours, "is an esshadow proxy"},
		"no TLS where TLS is":   {strings.Replace(c.source.url, "http:", "https:", 1), "cannot be reached"},
		"the cluster, by proxy": {proxyTo(t, c.source.url), "is an esshadow proxy"},
	} {
		t.Run(name, func(t *testing.T) {
			r, dir := replayTo(t, x.target, c.dir)
			r.want(t, exitRefused, x.says)
			if _, err := os.Stat(dir); err == nil || r.out != "" {
				t.Errorf("it left %s, and printed %q", dir, r.out)
			}
		})
	}
}

func proxyTo(t *testing.T, url string) string {
	t.Helper()
	p := start(t, "proxy", "--upstream", url, "--listen", "127.0.0.1:0", "--admin", "off")
	return "http://" + p.find(`listening on (\S+),`)[1]
}

func TestReplayDryRunSendsNothing(t *testing.T) {
	c := makeCapture(t, 4, 0)
	target := newEngine(t)
	r, dir := replayTo(t, target.url, c.dir, "--dry-run")
	r.want(t, exitDone)
	if n := target.requests.Load(); n != 0 {
		t.Errorf("%d requests reached the target", n)
	}
	for _, want := range []string{"5 = planned 4 + refused 1 (write 1)", "planned 4, refused 0", "POST /"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("lacks %q:\n%s", want, r.out)
		}
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a dry run left a run directory")
	}
	replayed, _ := replayTo(t, "http://127.0.0.1:1", c.dir, "--dry-run")
	replayed.want(t, exitDone)
}

func TestReplayOverwritesNothing(t *testing.T) {
	c := makeCapture(t, 2, 0)
	target := newEngine(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	esshadow(t, nil, "replay", c.dir, "--target", target.url, "--out", dir).want(t, exitFailed, "not empty", dir)
	if all := readAll(t, dir); len(all) != 1 || all["mine"] != "x" {
		t.Errorf("the directory became %v", all)
	}
	// An empty one is taken; without --out the directory is named by the time.
	esshadow(t, nil, "replay", c.dir, "--target", target.url, "--out", t.TempDir()).want(t, exitDone)
	t.Chdir(t.TempDir())
	esshadow(t, nil, "replay", c.dir, "--target", target.url).want(t, exitDone, "esshadow-run-")
	made, _ := filepath.Glob("*")
	if len(made) != 1 || !regexp.MustCompile(`^esshadow-run-\d{8}T\d{6}Z$`).MatchString(made[0]) {
		t.Errorf("it made %v", made)
	}
}

func TestReplayWindows(t *testing.T) {
	c := makeCapture(t, 6, 40*time.Millisecond)
	all := linesOf(t, esshadow(t, nil, "capture", "cat", c.dir).want(t, exitDone).out)
	at := func(i int) string { return time.Unix(0, all[i].Time).UTC().Format(time.RFC3339Nano) }
	since := func(i, j int) string { return time.Duration(all[j].Time - all[i].Time).String() }
	target := newEngine(t)
	for name, x := range map[string]struct {
		args    []string
		planned int
	}{
		"all":                     {nil, 6},
		"from":                    {[]string{"--from", at(3)}, 4},
		"from, relative":          {[]string{"--from", "+" + since(0, 3)}, 4},
		"from, before the last":   {[]string{"--from", "-" + since(5, 6)}, 2},
		"to":                      {[]string{"--to", at(3)}, 2},
		"from and to":             {[]string{"--from", at(2), "--to", at(4)}, 2},
		"duration":                {[]string{"--duration", since(0, 3)}, 2},
		"from and duration":       {[]string{"--from", at(3), "--duration", since(3, 5)}, 2},
		"a longer duration":       {[]string{"--duration", "1h"}, 6},
		"several times the speed": {[]string{"--speed", "8x"}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			r, dir := replayTo(t, target.url, c.dir, x.args...)
			r.want(t, exitDone)
			if rep := reportOf(t, dir); rep.Counts.Planned != x.planned || rep.Counts.Answered != x.planned {
				t.Errorf("planned %d, answered %d, want %d", rep.Counts.Planned, rep.Counts.Answered, x.planned)
			}
		})
	}
	r, _ := replayTo(t, target.url, c.dir, "--from", at(4), "--to", at(2))
	r.want(t, exitUsage, "--to")
	r, _ = replayTo(t, target.url, c.dir, "--from", "soon")
	r.want(t, exitUsage, "--from")
}

// A window in which there is nothing is told, with what there is, before anything is
// made or asked; and so is a filter that lets nothing through.
func TestNothingInTheWindow(t *testing.T) {
	c := makeCapture(t, 4, 40*time.Millisecond)
	all := linesOf(t, esshadow(t, nil, "capture", "cat", c.dir).want(t, exitDone).out)
	at := func(i int, d time.Duration) string {
		return time.Unix(0, all[i].Time).Add(d).UTC().Format(time.RFC3339Nano)
	}
	span := "the capture goes from " + at(0, 0) + " to " + at(len(all)-1, 0)
	for name, x := range map[string]struct {
		args []string
		flag string
	}{
		"from after the end":     {[]string{"--from", "+1h"}, "--from"},
		"from after the end too": {[]string{"--from", at(0, time.Hour), "--to", at(0, 2*time.Hour)}, "--from"},
		"to before the first":    {[]string{"--to", at(0, -time.Hour)}, "--to"},
		"to at the first":        {[]string{"--to", at(0, 0)}, "--to"},
		"all before the first":   {[]string{"--from", "-2h", "--to", "-1h"}, "--to"},
		"between two records":    {[]string{"--from", at(1, time.Nanosecond), "--to", at(1, 2*time.Nanosecond)}, "--from"},
	} {
		t.Run(name, func(t *testing.T) {
			r, dir := replayTo(t, "http://127.0.0.1:1", c.dir, x.args...)
			r.want(t, exitFailed, x.flag+": no record lies in that window: "+span)
			if _, err := os.Stat(dir); err == nil {
				t.Error("it left a run directory")
			}
			r, _ = replayTo(t, "http://127.0.0.1:1", c.dir, append(x.args, "--dry-run")...)
			r.want(t, exitFailed, span)
			r = esshadow(t, nil, append([]string{"capture", "cat", c.dir}, x.args...)...).want(t, exitFailed, x.flag+": no record lies", span)
			if r.out != "" {
				t.Errorf("stdout: %s", r.out)
			}
		})
	}
	r, _ := replayTo(t, "http://127.0.0.1:1", c.dir, "--from", at(1, 1), "--duration", "1ns")
	r.want(t, exitFailed, "--from: no record lies in that window")
	r = esshadow(t, nil, "capture", "cat", "--op", "msearch", c.dir).want(t, exitFailed, "--op: no record is of msearch: there are ", "search ")
	if r.out != "" {
		t.Errorf("stdout: %s", r.out)
	}
	esshadow(t, nil, "capture", "cat", "--from", at(2, 0), "--to", at(1, 0), c.dir).want(t, exitUsage, "--to: want a time after --from")
}

// Secrets reach the target and nothing else.
func TestReplaySecrets(t *testing.T) {
	c := makeCapture(t, 2, 0)
	target := newEngine(t)
	const secret = "s3cr3t-Pa55"
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("me:"+secret))
	for name, x := range map[string]struct {
		args, env []string
		stdin     string
		want      string
		auth      string
	}{
		"password file":                  {args: []string{"--user", "me", "--password-file", file}, want: basic, auth: "basic"},
		"password from standard input":   {args: []string{"--user", "me", "--password-file", "-"}, stdin: secret + "\r\n", want: basic, auth: "basic"},
		"password from environment":      {args: []string{"--user", "me"}, env: []string{"ESSHADOW_REPLAY_PASSWORD=" + secret}, want: basic, auth: "basic"},
		"a file wins over the variable":  {args: []string{"--user", "me", "--password-file", file}, env: []string{"ESSHADOW_REPLAY_PASSWORD=x"}, want: basic, auth: "basic"},
		"API key file":                   {args: []string{"--api-key-file", file}, want: "ApiKey " + secret, auth: "api_key"},
		"API key from environment":       {env: []string{"ESSHADOW_REPLAY_API_KEY=" + secret}, want: "ApiKey " + secret, auth: "api_key"},
		"nothing said: the captured one": {want: "", auth: "none"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			r := esshadowWith(t, strings.NewReader(x.stdin), x.env, append([]string{"replay", c.dir, "--target", target.url, "--out", dir}, x.args...)...)
			r.want(t, exitDone)
			if got := target.auth.Load(); got != x.want {
				t.Errorf("the target saw Authorization %q, want %q", got, x.want)
			}
			if run := runOf(t, dir); run.Asked.Auth != x.auth {
				t.Errorf("run.json says auth %q, want %q", run.Asked.Auth, x.auth)
			}
			seen := readAll(t, dir)["run.json"] + r.out + r.err + esshadow(t, nil, "report", "--format", "json", dir).out
			for _, s := range []string{secret, strings.TrimPrefix(basic, "Basic ")} {
				if strings.Contains(seen, s) {
					t.Errorf("the secret is shown:\n%s", seen)
				}
			}
		})
	}
	r, _ := replayTo(t, target.url, c.dir, "--user", "me", "--api-key-file", file)
	r.want(t, exitUsage, "exclude each other")
	r, _ = replayTo(t, target.url, c.dir, "--password-file", file)
	r.want(t, exitUsage, "needs a user")
}

func TestReplayOfNothing(t *testing.T) {
	empty := t.TempDir()
	r, dir := replayTo(t, newEngine(t).url, empty)
	r.want(t, exitFailed, "no segment files", empty)
	if _, err := os.Stat(dir); err == nil {
		t.Error("it left a run directory")
	}
	r, _ = replayTo(t, "http://127.0.0.1:1", filepath.Join(empty, "absent"))
	r.want(t, exitFailed, "absent")
}

// The key of another capture is refused, that of this one taken.
func TestReplayKey(t *testing.T) {
	c := makeCapture(t, 2, 0)
	target := newEngine(t)
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte(strings.Repeat("0123456789abcdef", 4)), 0o600); err != nil {
		t.Fatal(err)
	}
	r, _ := replayTo(t, target.url, c.dir, "--key", other)
	r.want(t, exitUsage, "--key", "the capture was made with key")
	r, _ = replayTo(t, target.url, c.dir, "--key", filepath.Join(t.TempDir(), "absent"))
	r.want(t, exitUsage, "absent")
	r, _ = replayTo(t, target.url, c.dir, "--key", c.key)
	r.want(t, exitDone)
}

// Interrupted, a replay stops within a second, keeps what it has and reports it.
// It does not wait for what is due, nor for answers, nor does it send what stands
// in a queue.
func TestReplayInterrupted(t *testing.T) {
	slow, long := makeCapture(t, 10, 20*time.Millisecond), makeCapture(t, 400, 0)
	for name, x := range map[string]struct {
		of    captured
		speed string
		stall time.Duration
		sent  int64 // requests before the signal, the one that asks who it is included
		most  int   // planned
	}{
		"a quick target":       {slow, "0.01", 0, 2, 9},
		"a target that hangs":  {slow, "0.01", time.Minute, 2, 9},
		"a queue that is full": {long, "max", 20 * time.Millisecond, 20, 401},
	} {
		t.Run(name, func(t *testing.T) {
			target := newEngine(t)
			target.stall.Store(int64(x.stall))
			dir := filepath.Join(t.TempDir(), "run")
			p := start(t, "replay", x.of.dir, "--target", target.url, "--out", dir, "--speed", x.speed)
			wait(t, "searches are sent", func() bool { return target.requests.Load() >= x.sent })
			begun := time.Now()
			p.signal(os.Interrupt)
			if code := p.code(patience); code != exitInterrupted {
				t.Fatalf("exit code %d, want 130:\n%s", code, p.err())
			}
			took, last := time.Since(begun), time.Unix(0, target.last.Load()).Sub(begun)
			t.Logf("the last request came %s after the signal, the end after %s", last.Round(time.Microsecond), took.Round(time.Millisecond))
			// The report is drawn, and a process ended, in what a busy machine adds.
			if last > time.Second || took > 2*time.Second {
				t.Error("want all to stop within a second")
			}
			if out := p.out.String(); !strings.Contains(out, "INTERRUPTED") || !strings.Contains(out, "COUNTS") {
				t.Errorf("no partial report:\n%s", out)
			}
			if run := runOf(t, dir); !run.Interrupted || run.Ended == nil {
				t.Errorf("run.json: %+v", run)
			}
			rep := reportOf(t, dir)
			sumsHold(t, rep.Counts)
			if rep.Counts.Sent == 0 || rep.Counts.Planned > x.most || rep.Counts.Sent >= x.most || !rep.Run.Interrupted {
				t.Errorf("counts: %+v", rep.Counts)
			}
			if x.stall > 0 && rep.Counts.Errors["cancelled"] == 0 {
				t.Errorf("what was in flight is not counted as cancelled: %+v", rep.Counts)
			}
			esshadow(t, nil, "capture", "verify", dir).want(t, exitDone)
		})
	}
}

// sumsHold checks the sums that a report promises.
func sumsHold(t *testing.T, c report.Counts) {
	t.Helper()
	total := func(m map[string]int) (n int) {
		for _, v := range m {
			n += v
		}
		return n
	}
	for name, x := range map[string][2]int{
		"records = planned + refused":          {c.Records, c.Planned + total(c.Refused)},
		"planned = sent + shed":                {c.Planned, c.Sent + total(c.Shed)},
		"sent = answered + errors":             {c.Sent, c.Answered + total(c.Errors)},
		"answered = compared + not comparable": {c.Answered, c.Compared + total(c.NotComparable)},
		"compared = same + different":          {c.Compared, c.Same + c.Different},
	} {
		if x[0] != x[1] {
			t.Errorf("%s does not hold: %d, %d in %+v", name, x[0], x[1], c)
		}
	}
}
