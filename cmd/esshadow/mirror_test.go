package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// mirrorArgs are the flags of a proxy that mirrors and does not capture.
func mirrorArgs(t *testing.T, upstream, target, dir string, more ...string) []string {
	t.Helper()
	args := proxyArgs(t, upstream, "")
	return append(append(args, "--mirror", target, "--mirror-out", dir), more...)
}

// waitSums waits until all that was offered to a mirror has come to an end.
func waitSums(t *testing.T, admin string, offered float64) string {
	t.Helper()
	text := ""
	wait(t, fmt.Sprint("the mirror is done with ", offered), func() bool {
		_, text = get(t, admin+"/metrics")
		return metric(text, "esshadow_mirror_offered_total") == offered && metric(text, "esshadow_mirror_in_flight") == 0
	})
	return text
}

// A mirror of one engine to another with the same documents: all is sent, nothing
// differs, and the report says so.
func TestMirrorOfTheSame(t *testing.T) {
	source, target := newEngine(t), newEngine(t)
	for _, e := range []*engine{source, target} {
		send(t, "POST", e.url+"/_bulk?refresh=true", bulkBody("items", 0, 48))
	}
	dir := filepath.Join(t.TempDir(), "run")
	p := start(t, mirrorArgs(t, source.url, target.url, dir)...)
	url, admin := p.listening()
	const n = 60
	for i := range n {
		send(t, "POST", url+"/items/_search", searchBody(i))
	}
	send(t, "POST", url+"/_bulk", bulkBody("items", 48, 1)) // writes are not mirrored
	text := waitSums(t, admin, n+1)
	for name, want := range map[string]float64{
		"esshadow_mirror_sent_total": n, `esshadow_mirror_answers_total{code="200"}`: n,
		`esshadow_mirror_compared_total{result="same"}`:      n,
		`esshadow_mirror_refused_total{reason="write"}`:      1,
		`esshadow_mirror_breaker_state{state="closed"}`:      1,
		`esshadow_mirror_state{state="on"}`:                  1,
		"esshadow_mirror_response_seconds_count":             n,
		"esshadow_mirror_source_seconds_count":               n,
		"esshadow_mirror_queue_bytes":                        0,
		`esshadow_mirror_compared_total{result="different"}`: 0,
	} {
		if got := metric(text, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	esshadow(t, nil, "ctl", "status", "--admin", admin).want(t, exitDone).has(t, "mirror on to "+target.url+", breaker closed", "offered 61 = sent 60 + refused 1 (write 1)")
	p.signal(syscall.SIGTERM)
	if code := p.code(patience); code != exitDone || !strings.Contains(p.err(), "offered 61 = sent 60 + refused 1 (write 1) + sampled out 0 + shed 0; answered 60") {
		t.Errorf("exit code %d:\n%s", code, p.err())
	}
	r := decode[struct {
		Run    struct{ Mirror bool }
		Counts struct {
			Records, Planned, Sent, Answered, Compared, Same int
			Refused                                          map[string]int
		}
		Verdict  struct{ State string }
		Warnings []string
	}](t, esshadow(t, nil, "report", "--format", "json", dir).want(t, exitDone).out)
	if !r.Run.Mirror || r.Counts.Records != n+1 || r.Counts.Refused["write"] != 1 || r.Counts.Sent != n || r.Counts.Same != n || len(r.Warnings) > 0 {
		t.Errorf("report %+v", r)
	}
	esshadow(t, nil, "report", dir).want(t, exitDone).has(t, "esshadow mirror of live traffic since")
}
