package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/esshadow/esshadow/internal/testenv"

	"github.com/esshadow/esshadow/replay"
)

// A mirror to the source itself, by any of its names, or to a proxy is refused
// before a client is served.
func TestMirrorRefusesItsSource(t *testing.T) {
	e := newEngine(t)
	other := httptest.NewServer(e.Handler()) // the same cluster at another address
	defer other.Close()
	front := start(t, "proxy", "--upstream", e.url, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	proxyURL, _ := front.listening()
	for name, target := range map[string]string{
		"a node": e.url, "a node with a slash": e.url + "/", "its uuid": other.URL,
	} {
		t.Run(name, func(t *testing.T) {
			esshadow(t, nil, mirrorArgs(t, e.url, target, filepath.Join(t.TempDir(), "run"))...).
				want(t, exitRefused, "--mirror", "the target is the cluster that was captured")
		})
	}
	esshadow(t, nil, mirrorArgs(t, e.url, proxyURL, filepath.Join(t.TempDir(), "run"))...).
		want(t, exitRefused, "--mirror", "the target is an esshadow proxy")
}

// A mirror to the address on which the proxy will listen is refused as well,
// although nobody answers there yet.
func TestMirrorRefusesItself(t *testing.T) {
	e := newEngine(t)
	address, _ := testenv.DeadAddress(t)
	_, port, _ := strings.Cut(address, ":")
	for _, listen := range []string{address, "0.0.0.0:" + port} {
		for _, target := range []string{"http://" + address, "http://localhost:" + port} {
			args := append(mirrorArgs(t, e.url, target, filepath.Join(t.TempDir(), "run")), "--listen", listen)
			esshadow(t, nil, args...).want(t, exitRefused, "--mirror", "the target is an esshadow proxy")
		}
	}
}

// What a mirror sent is not mirrored again, wherever the way to its target leads.
func TestMirrorDoesNotMirrorAMirror(t *testing.T) {
	source, target := newEngine(t), newEngine(t)
	p := start(t, mirrorArgs(t, source.url, target.url, filepath.Join(t.TempDir(), "run"))...)
	url, admin := p.listening()
	send(t, "POST", source.url+"/_bulk", bulkBody("items", 0, 4))
	before := target.requests.Load()
	demand(t, "POST", url+"/items/_search", searchBody(1), "Content-Type", "application/json", "esshadow-mirror", "1")
	text := waitSums(t, admin, 1)
	if n := metric(text, `esshadow_mirror_shed_total{reason="loop"}`); n != 1 || target.requests.Load() != before {
		t.Errorf("%v are shed, the target got %d", n, target.requests.Load()-before)
	}
	ends(t, p)
	if !strings.Contains(p.err(), "a mirror's requests come through this proxy") {
		t.Errorf("the log does not tell:\n%s", p.err())
	}
}

// A target that does not answer at the start is no reason not to serve; when it is
// there, mirroring begins.
func TestMirrorWaitsForItsTarget(t *testing.T) {
	source, target := newEngine(t), newEngine(t)
	var up atomic.Bool
	door := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !up.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		target.Handler().ServeHTTP(w, r)
	}))
	defer door.Close()
	send(t, "POST", source.url+"/_bulk", bulkBody("items", 0, 4))
	file := filepath.Join(t.TempDir(), "esshadow.yml")
	if err := os.WriteFile(file, []byte("mirror:\n  breaker_wait: 50ms\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	p := start(t, mirrorArgs(t, source.url, door.URL, dir, "--config", file)...)
	url, admin := p.listening()
	send(t, "POST", url+"/items/_search", searchBody(1))
	text := waitSums(t, admin, 1)
	if metric(text, `esshadow_mirror_shed_total{reason="breaker_open"}`) != 1 || metric(text, `esshadow_mirror_breaker_state{state="open"}`) != 1 {
		t.Errorf("not shed, or the breaker is not open:\n%s", text)
	}
	if _, ready := get(t, admin+"/readyz"); !strings.Contains(ready, `"breaker":"open"`) || !strings.Contains(ready, `"why":"unreachable"`) || !strings.Contains(ready, `"status":"ready"`) {
		t.Errorf("readyz %s", ready)
	}
	up.Store(true)
	wait(t, "the breaker is closed", func() bool {
		_, text := get(t, admin+"/metrics")
		return metric(text, `esshadow_mirror_breaker_state{state="closed"}`) == 1
	})
	send(t, "POST", url+"/items/_search", searchBody(2))
	if text := waitSums(t, admin, 2); metric(text, "esshadow_mirror_sent_total") != 1 {
		t.Error("nothing is sent although the target is there")
	}
	ends(t, p)
	run, err := replay.ReadRun(dir)
	if err != nil || run.Target.UUID != target.UUID() || run.Source.UUID != source.UUID() || run.Ended == nil || !run.Asked.Mirror {
		t.Errorf("run %+v, %v", run, err)
	}
}

func TestMirrorSettings(t *testing.T) {
	e := newEngine(t)
	filled := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(filled, []byte("sesame"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		says string
		args []string
	}{
		{"--mirror-writes: needs --mirror-index-map or --mirror-same-index", []string{"--mirror-writes"}},
		{"--mirror-sample: 2: want a ratio from 0 to 1", []string{"--mirror-sample", "2"}},
		{"--mirror-queue: 1KiB", []string{"--mirror-queue", "1KiB"}},
		{"--mirror-in-flight: 0", []string{"--mirror-in-flight", "0"}},
		{"--sample: 3: want a ratio from 0 to 1", []string{"--sample", "3"}},
		{"--mirror: want http://", []string{"--mirror", "ftp://127.0.0.1:1"}},
		{"do not belong into the URL", []string{"--mirror", "http://u:p@127.0.0.1:1"}},
		{"--mirror-password-file", []string{"--mirror-user", "u", "--mirror-password-file", "/does/not/exist"}},
		{"--mirror-api-key-file: /dev/null is empty", []string{"--mirror-api-key-file", "/dev/null"}},
		{"--mirror-index-map", []string{"--mirror-index-map", "nothing"}},
		{"--mirror-user: needs a password: --mirror-password-file FILE, or ESSHADOW_PROXY_MIRROR_PASSWORD", []string{"--mirror-user", "u"}},
		{"--mirror-user and --mirror-api-key-file exclude each other", []string{"--mirror-user", "u", "--mirror-api-key-file", filled}},
		{"--mirror-password-file: a password needs a user", []string{"--mirror-password-file", filled}},
	} {
		r := esshadow(t, nil, append(mirrorArgs(t, e.url, "http://127.0.0.1:1", filepath.Join(t.TempDir(), "run")), x.args...)...).want(t, exitUsage, x.says)
		if strings.Contains(r.err, "u:p") {
			t.Errorf("the error tells a password: %s", r.err)
		}
	}
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "precious"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	esshadow(t, nil, mirrorArgs(t, e.url, newEngine(t).url, full)...).want(t, exitFailed, "not empty")
}

// Credentials of the target come by file or environment, and the clients' own
// stay behind.
func TestMirrorCredentials(t *testing.T) {
	source, target := newEngine(t), newEngine(t)
	secret := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(secret, []byte("open sesame\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	send(t, "POST", source.url+"/_bulk", bulkBody("items", 0, 4))
	p := start(t, mirrorArgs(t, source.url, target.url, filepath.Join(t.TempDir(), "run"), "--mirror-user", "ali", "--mirror-password-file", secret)...)
	url, admin := p.listening()
	demand(t, "POST", url+"/items/_search", searchBody(1), "Content-Type", "application/json", "Authorization", "ApiKey of-a-client")
	waitSums(t, admin, 1)
	if got := target.auth.Load(); got != "Basic YWxpOm9wZW4gc2VzYW1l" {
		t.Errorf("authorization %v", got)
	}
	ends(t, p)
}

func TestCtlMirror(t *testing.T) {
	source, target := newEngine(t), newEngine(t)
	send(t, "POST", source.url+"/_bulk", bulkBody("items", 0, 4))
	file := filepath.Join(t.TempDir(), "esshadow.yml")
	configure := func(sample string) {
		t.Helper()
		if err := os.WriteFile(file, []byte("mirror:\n  sample: "+sample+"\n  drain: 3s\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	configure("1")
	p := start(t, mirrorArgs(t, source.url, target.url, filepath.Join(t.TempDir(), "run"), "--config", file)...)
	url, admin := p.listening()
	ctl := func(code int, args ...string) result {
		t.Helper()
		return esshadow(t, nil, append(append([]string{"ctl"}, args...), "--admin", admin)...).want(t, code)
	}
	ctl(exitDone, "mirror", "off").has(t, "state: paused")
	send(t, "POST", url+"/items/_search", searchBody(1))
	waitSums(t, admin, 1)
	ctl(exitDone, "mirror", "on").has(t, "state: on")
	ctl(exitUsage, "mirror", "maybe")
	configure("0")
	ctl(exitDone, "reload").has(t, "changed: mirror.sample")
	send(t, "POST", url+"/items/_search", searchBody(2))
	waitSums(t, admin, 2)
	s := decode[statusReport](t, ctl(exitDone, "status", "--json").out).Mirror
	if s == nil || s.State != "on" || s.Shed["paused"] != 1 || s.SampledOut != 1 || s.Sample != 0 || s.Identity.UUID != target.UUID() || s.Dir == "" {
		t.Errorf("status %+v", s)
	}
	ends(t, p)

	without := start(t, "proxy", "--upstream", source.url, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	_, admin = without.listening()
	if code, text := demand(t, "POST", admin+"/control/mirror", `{"state":"on"}`); code != 409 || !strings.Contains(text, "without a mirror") {
		t.Errorf("%d %s", code, text)
	}
}

// Beside a capture, both get every exchange.
func TestMirrorBesideCapture(t *testing.T) {
	source, target := newEngine(t), newEngine(t)
	top := t.TempDir()
	p := start(t, proxyArgs(t, source.url, filepath.Join(top, "capture"), "--mirror", target.url, "--mirror-out", filepath.Join(top, "run"),
		"--mirror-writes", "--mirror-index-map", "items=shadow-items")...)
	url, admin := p.listening()
	send(t, "POST", url+"/_bulk?refresh=true", bulkBody("items", 0, 48))
	waitSums(t, admin, 1)
	const n = 40
	for i := range n {
		send(t, "POST", url+"/items/_search", searchBody(i))
	}
	text := waitSums(t, admin, n+1)
	if sent, same := metric(text, "esshadow_mirror_sent_total"), metric(text, `esshadow_mirror_compared_total{result="same"}`); sent != n+1 || same != n+1 {
		t.Errorf("%v sent, %v the same, want %d", sent, same, n+1)
	}
	if all := send(t, "GET", target.url+"/shadow-items/_count", ""); !strings.Contains(all, `"count":48`) {
		t.Errorf("the target holds %s", all)
	}
	ends(t, p)
	for _, want := range []string{fmt.Sprintf("received %d = captured %d", n+1, n+1), fmt.Sprintf("offered %d = sent %d", n+1, n+1)} {
		if !strings.Contains(p.err(), want) {
			t.Errorf("the sums lack %q:\n%s", want, p.err())
		}
	}
}

// A compressed body is mapped and compared as a plain one is.
func TestMirrorOfCompressedBodies(t *testing.T) {
	source, target := newEngine(t), newEngine(t)
	dir := filepath.Join(t.TempDir(), "run")
	p := start(t, mirrorArgs(t, source.url, target.url, dir, "--mirror-writes", "--mirror-index-map", "*=shadow-*")...)
	url, admin := p.listening()
	packed := func(text string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, text)
		_ = z.Close()
		return b.String()
	}
	post := func(path, body string) {
		t.Helper()
		if code, text := demand(t, "POST", url+path, packed(body), "Content-Type", "application/x-ndjson", "Content-Encoding", "gzip"); code != 200 {
			t.Fatalf("%d %s", code, text)
		}
	}
	post("/_bulk?refresh=true", bulkBody("items", 0, 20))
	waitSums(t, admin, 1)
	post("/_msearch", `{"index":"items"}`+"\n"+searchBody(1)+"\n{}\n"+searchBody(2)+"\n")
	demand(t, "POST", url+"/items/_search", packed(`{"query": broken`), "Content-Type", "application/json", "Content-Encoding", "gzip")
	demand(t, "POST", url+"/items/_doc", "no gzip", "Content-Type", "application/json", "Content-Encoding", "gzip")
	text := waitSums(t, admin, 4)
	if n := metric(text, `esshadow_mirror_compared_total{result="same"}`); n < 2 {
		t.Errorf("%v are the same:\n%s", n, text)
	}
	if all := send(t, "GET", target.url+"/shadow-items/_count", ""); !strings.Contains(all, `"count":20`) {
		t.Errorf("the target holds %s", all)
	}
	ends(t, p)
}

// The target's ids of scrolls and documents take the place of the source's.
func TestMirrorMapsIDs(t *testing.T) {
	source, target := newEngine(t), newEngine(t)
	p := start(t, mirrorArgs(t, source.url, target.url, filepath.Join(t.TempDir(), "run"), "--mirror-writes", "--mirror-same-index")...)
	url, admin := p.listening()
	send(t, "POST", url+"/_bulk?refresh=true", bulkBody("items", 0, 30))
	first := decode[struct {
		Scroll string `json:"_scroll_id"`
	}](t, send(t, "POST", url+"/items/_search?scroll=1m", `{"size":10}`))
	scroll := `{"scroll":"1m","scroll_id":"` + first.Scroll + `"}`
	for range 2 {
		send(t, "POST", url+"/_search/scroll", scroll)
	}
	send(t, "DELETE", url+"/_search/scroll", `{"scroll_id":["`+first.Scroll+`"]}`)
	made := decode[struct {
		ID string `json:"_id"`
	}](t, send(t, "POST", url+"/items/_doc?refresh=true", `{"title":"new","price":1}`))
	send(t, "GET", url+"/items/_doc/"+made.ID, "")
	text := waitSums(t, admin, 7)
	if sent, same := metric(text, "esshadow_mirror_sent_total"), metric(text, `esshadow_mirror_compared_total{result="same"}`); sent != 7 || same < 6 {
		t.Errorf("%v sent, %v the same", sent, same)
	}
	for _, kind := range []string{"status", "found", "returned"} {
		if n := metric(text, `esshadow_mirror_differences_total{kind="`+kind+`"}`); n > 0 {
			t.Errorf("%v differences of kind %s", n, kind)
		}
	}
	ends(t, p)
}

// A process that follows another goes on with its run: one report has both.
func TestMirrorGoesOnAfterARestart(t *testing.T) {
	source, target := newEngine(t), newEngine(t)
	for _, e := range []*engine{source, target} {
		send(t, "POST", e.url+"/_bulk?refresh=true", bulkBody("items", 0, 48))
	}
	dir := filepath.Join(t.TempDir(), "run")
	var began string
	for i, end := range []os.Signal{syscall.SIGTERM, syscall.SIGKILL, syscall.SIGTERM} {
		p := start(t, mirrorArgs(t, source.url, target.url, dir)...)
		url, admin := p.listening()
		for n := range 10 {
			send(t, "POST", url+"/items/_search", searchBody(n))
		}
		waitSums(t, admin, 10)
		wait(t, "the outcomes are in the file", func() bool {
			_, text := get(t, admin+"/metrics")
			return metric(text, `esshadow_mirror_outcomes_total{result="written"}`) == 10
		})
		// While it runs, the report shows what there is, and says what it cannot know:
		// what the file that is written, and the one that a kill left, will not tell.
		esshadow(t, nil, "report", dir).want(t, exitDone).has(t, fmt.Sprintf("sent %d = answered %d", 10*(i+1), 10*(i+1)),
			fmt.Sprintf("their writer has not closed: %d.", []int{1, 1, 2}[i]))
		p.signal(end)
		<-p.exited
		r := decode[struct {
			Run      struct{ Started, Ended string }
			Warnings []string
		}](t, esshadow(t, nil, "report", "--format", "json", dir).want(t, exitDone).out)
		if began == "" {
			began = r.Run.Started
		}
		if open := strings.Contains(strings.Join(r.Warnings, "\n"), "their writer has not closed: 1."); open != (i > 0) {
			t.Errorf("run %d: warnings %q", i, r.Warnings)
		}
		if r.Run.Started != began || (r.Run.Ended == "") != (end == syscall.SIGKILL) {
			t.Errorf("run %d: %+v, the first began at %s", i, r.Run, began)
		}
	}
	esshadow(t, nil, mirrorArgs(t, source.url, newEngine(t).url, dir)...).want(t, exitFailed, "another run")
}
