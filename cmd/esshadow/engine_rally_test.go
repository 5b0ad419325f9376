//go:build engine

package main_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/internal/testenv"
)

// The documents of the race, as its track says.
const (
	raceDocs  = 6000
	raceBulks = raceDocs / 250
)

// raceOps are the requests of the track: two clients do 20 + 150 and 20 + 100
// searches each, one does 10 + 50, and 1 + 5 scrolls of 8 pages. One search is
// rally's own, for the times of machine learning.
func raceOps() map[string]int {
	return map[string]int{"bulk": raceBulks, "search": 2*170 + 2*120 + 60 + 6 + 1, "scroll": 6 * 7, "clear_scroll": 6}
}

// rallyRun races esrally through the proxy and replays the race.
func rallyRun(t *testing.T, dir string, source, target *node) {
	python := os.Getenv("ESSHADOW_TEST_RALLY")
	if python == "" {
		testenv.Skip(t, "ESSHADOW_TEST_RALLY names no Python with esrally: run scripts/test-engine.sh")
	}
	g := startGate(t, source, filepath.Join(dir, source.name+"-rally"))
	race(t, python, g.url)
	sums := g.stop(t)
	t.Log(sums.text)
	st := checked(t, g.capture)
	t.Logf("captured %v, %v", st.ByOp, st.Fidelity)
	if sums.dropped != 0 || sums.captured != st.Records {
		t.Errorf("of the race: %s; %d records", sums.text, st.Records)
	}
	if want := raceOps(); !maps.Equal(st.ByOp, want) {
		t.Errorf("the capture of the race holds %v, the track means %v", st.ByOp, want)
	}
	c := &taking{from: source.engine, capture: g.capture, key: g.key}
	t.Run("writes", func(t *testing.T) { replayRace(t, c, st, target) })
	t.Run("reads", func(t *testing.T) {
		target.settle(t, "race-rally")
		v := c.replay(t, target, "race", judgement{refused: map[string]int{"write": raceBulks}}, "--speed", "4")
		equalCounts(t, st, v)
	})
}

// replayRace sends all of the race, writes too. The searches of the race began
// after a refresh and a merge, which are no traffic to replay, so here they find
// nothing yet: only the writes are judged.
func replayRace(t *testing.T, c *taking, st stat, target *node) {
	t.Helper()
	index, err := os.ReadFile("../../scripts/clients/rally/index.json")
	if err != nil {
		t.Fatal(err)
	}
	target.must(t, "PUT", "/race-rally", string(index))
	v := c.replay(t, target, "race", judgement{unjudged: true}, "--speed", "8", "--writes")
	equalCounts(t, st, v)
	for _, o := range v.Operations {
		if o.Op == "bulk" && o.Counts.Same != raceBulks {
			t.Errorf("bulks: %+v", o.Counts)
		}
	}
	target.must(t, "POST", "/race-rally/_refresh", "")
	a := target.must(t, "GET", "/race-rally/_count", "")
	if !strings.Contains(string(a.body), fmt.Sprintf(`"count":%d,`, raceDocs)) {
		t.Errorf("the target holds %s", a.body)
	}
}

// equalCounts holds that every captured request was planned or refused, and that
// every one that was sent was answered.
func equalCounts(t *testing.T, st stat, v verdict) {
	t.Helper()
	if v.Counts.Records != st.Records || v.Counts.Answered != v.Counts.Sent {
		t.Errorf("captured %d: %+v", st.Records, v.Counts)
	}
	seen := 0
	for _, o := range v.Operations {
		seen++
		if n := o.Counts.Planned + total(o.Counts.Refused); n != st.ByOp[o.Op] {
			t.Errorf("%s: captured %d, planned and refused %d", o.Op, st.ByOp[o.Op], n)
		}
	}
	if seen != len(st.ByOp) {
		t.Errorf("%d operations were captured, %d reported", len(st.ByOp), seen)
	}
}

// race runs esrally with our track. It keeps what it writes in a folder of its
// own and reaches for nothing but the proxy.
func race(t *testing.T, python, url string) {
	t.Helper()
	home := t.TempDir()
	track := filepath.Join(home, "track")
	if err := os.CopyFS(track, os.DirFS("../../scripts/clients/rally")); err != nil {
		t.Fatal(err)
	}
	docs, err := exec.CommandContext(t.Context(), python, filepath.Join(track, "documents.py"), fmt.Sprint(raceDocs)).Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(track, "documents.json"), docs, 0o600); err != nil {
		t.Fatal(err)
	}
	results := filepath.Join(home, "results.csv")
	cmd := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(python), "esrally"), "race", "--offline", "--pipeline=benchmark-only",
		"--target-hosts="+strings.TrimPrefix(url, "http://"), "--track-path="+track, "--on-error=abort",
		"--report-format=csv", "--report-file="+results)
	cmd.Env = append(os.Environ(), "HOME="+home, "RALLY_HOME="+home)
	if out, err := cmd.CombinedOutput(); err != nil {
		logs, _ := filepath.Glob(filepath.Join(home, ".rally/logs/rally.log"))
		for _, l := range logs {
			t.Logf("%s", tail(l, 4000))
		}
		t.Fatalf("esrally: %v\n%s", err, out)
	}
	text, err := os.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	noErrors(t, text)
}

// noErrors reads rally's results: metric, task, value, unit.
func noErrors(t *testing.T, results []byte) {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(results)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	tasks := 0
	for _, row := range rows {
		if row[0] != "error rate" {
			continue
		}
		tasks++
		if row[2] != "0.00" {
			t.Errorf("rally: the error rate of %s is %s", row[1], row[2])
		}
	}
	if tasks != 5 {
		t.Errorf("rally reports %d tasks, the track has 5:\n%s", tasks, results)
	}
}
