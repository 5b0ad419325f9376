package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// While a replay runs, its counts can be scraped.
func TestReplayMetrics(t *testing.T) {
	c := makeCapture(t, 40, 10*time.Millisecond)
	target := newEngine(t)
	dir := filepath.Join(t.TempDir(), "run")
	p := start(t, "replay", c.dir, "--target", target.url, "--out", dir, "--speed", "0.02", "--admin", "127.0.0.1:0")
	admin := "http://" + p.find(`^esshadow replay: admin on (\S+)$`)[1]
	if code, text := get(t, admin+"/healthz"); code != 200 || !strings.Contains(text, "alive") {
		t.Errorf("healthz %d %s", code, text)
	}
	text := ""
	wait(t, "requests were sent and answered", func() bool {
		_, text = get(t, admin+"/metrics")
		if sent, answered := metric(text, "esshadow_replay_sent_total"), metric(text, "esshadow_replay_response_seconds_count"); answered > sent {
			t.Errorf("%v of %v sent are answered", answered, sent)
		}
		return metric(text, "esshadow_replay_sent_total") >= 2 && metric(text, "esshadow_replay_response_seconds_count") >= 2
	})
	for _, name := range []string{
		"esshadow_replay_planned_total", `esshadow_replay_answers_total{code="404"}`, `esshadow_replay_refused_total{reason="write"}`,
		`esshadow_replay_differences_total{kind="status"}`, "esshadow_replay_lag_seconds_count", "esshadow_build_info", "go_goroutines",
	} {
		if !strings.Contains(text, name) {
			t.Errorf("no %s in\n%s", name, text)
		}
	}
	for _, path := range []string{"/readyz", "/control/status", "/debug/pprof/"} {
		if code, _ := get(t, admin+path); code != 404 {
			t.Errorf("%s: %d", path, code)
		}
	}
	p.signal(syscall.SIGINT)
	if code := p.code(patience); code != exitInterrupted {
		t.Errorf("exit code %d: %s", code, p.err())
	}
	if conn, err := net.Dial("tcp", strings.TrimPrefix(admin, "http://")); err == nil {
		_ = conn.Close()
		t.Error("the address is still served")
	}
}

// A port that is taken is told before anything is made, and a dry run serves none.
func TestReplayAdminRefused(t *testing.T) {
	c := makeCapture(t, 2, time.Millisecond)
	target := newEngine(t)
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = busy.Close() }()
	r, dir := replayTo(t, target.url, c.dir, "--admin", busy.Addr().String())
	r.want(t, exitFailed, "--admin ")
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("a run directory was made: %v", err)
	}
	r, _ = replayTo(t, target.url, c.dir, "--dry-run", "--admin", busy.Addr().String())
	r.want(t, exitDone, "esshadow replay: warning: no effect with --dry-run: --admin")
}
