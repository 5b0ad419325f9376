package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// metricNames are those of the contract that a proxy shows.
func metricNames() []string {
	return []string{
		`esshadow_proxy_requests_total{code="200",op="search"}`, "esshadow_proxy_request_seconds_bucket", "esshadow_proxy_request_seconds_count",
		"esshadow_proxy_upstream_seconds_bucket", "esshadow_proxy_overhead_seconds_bucket", "esshadow_proxy_in_flight",
		"esshadow_proxy_upstream_up{upstream=",
		`esshadow_capture_records_total{reason="",result="captured"}`, `esshadow_capture_records_total{reason="",result="sampled_out"}`,
		"esshadow_capture_queue_bytes", "esshadow_capture_cpu_seconds_total", "esshadow_capture_raw_bytes_total", "esshadow_capture_written_bytes_total",
		`esshadow_capture_state{state="off"}`, `esshadow_capture_state{state="on"}`, `esshadow_capture_state{state="paused"}`,
		`esshadow_capture_state{state="disk_low"}`, `esshadow_capture_state{state="failed"}`,
		"esshadow_build_info{", "go_goroutines", "go_memstats_heap_alloc_bytes", "process_open_fds", "process_resident_memory_bytes", "process_start_time_seconds",
	}
}

// get asks the admin server, whatever it answers.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	return demand(t, "GET", url, "")
}

// metric is the value of one line of /metrics, -1 where it is missing.
func metric(text, name string) float64 {
	v := -1.0
	for line := range strings.SplitSeq(text, "\n") {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			_, _ = fmt.Sscan(rest, &v)
		}
	}
	return v
}

// metricSum is the sum of a metric's lines of /metrics, whatever their labels.
func metricSum(text, name string) (sum float64) {
	for line := range strings.SplitSeq(text, "\n") {
		rest, ok := strings.CutPrefix(line, name)
		if at := strings.LastIndexByte(rest, ' '); ok && at >= 0 && (at == 0 || rest[0] == '{') {
			v := 0.0
			_, _ = fmt.Sscan(rest[at:], &v)
			sum += v
		}
	}
	return sum
}

func TestProxyCapturesAndDrains(t *testing.T) {
	e := newEngine(t)
	dir := filepath.Join(t.TempDir(), "new", "capture")
	p := start(t, proxyArgs(t, e.url, dir)...)
	url, admin := p.listening()
	send(t, "POST", url+"/_bulk", bulkBody("items", 0, 20))
	for i := range 10 {
		send(t, "POST", url+"/items/_search", searchBody(i))
	}
	send(t, "POST", url+"/items/_refresh", "")        // an administrative request, filtered
	wait(t, "the searches are counted", func() bool { // after their answers
		_, text := get(t, admin+"/metrics")
		return metric(text, `esshadow_proxy_requests_total{code="200",op="search"}`) == 10
	})

	code, ready := get(t, admin+"/readyz")
	if r := decode[map[string]any](t, ready); code != 200 || r["status"] != "ready" || fmt.Sprint(r["capture"]) != "map[state:on]" {
		t.Errorf("readyz: %d %s", code, ready)
	}
	if code, alive := get(t, admin+"/healthz"); code != 200 || !strings.Contains(alive, `"alive"`) {
		t.Errorf("healthz: %d %s", code, alive)
	}
	_, text := get(t, admin+"/metrics")
	for _, name := range metricNames() {
		if !strings.Contains(text, "\n"+name) {
			t.Errorf("/metrics lacks %s", name)
		}
	}
	if on, off := metric(text, `esshadow_capture_state{state="on"}`), metric(text, `esshadow_capture_state{state="off"}`); on != 1 || off != 0 {
		t.Errorf("state on %v, off %v", on, off)
	}
	for name := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(name, "esshadow_") && strings.Contains(name, "items") {
			t.Errorf("a metric names an index: %s", name)
		}
	}

	p.signal(syscall.SIGTERM)
	if code := p.code(patience); code != exitDone {
		t.Errorf("SIGTERM: exit code %d, want 0", code)
	}
	sums := regexp.MustCompile(`esshadow capture: received (\d+) = captured (\d+) \+ filtered (\d+).* \+ sampled out 0 \+ dropped 0;`).FindStringSubmatch(p.err())
	if sums == nil || sums[1] != "12" || sums[2] != "11" || sums[3] != "1" {
		t.Errorf("sums %v in:\n%s", sums, p.err())
	}
	if n := strings.Count(p.err(), "listening on"); n != 1 || !strings.Contains(p.err(), "12 requests on ") {
		t.Errorf("%d lines say where it listens:\n%s", n, p.err())
	}
	if st, err := os.Stat(dir); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("the capture's directory: %v %v", st.Mode(), err)
	}
	r := esshadow(t, nil, "capture", "verify", dir).want(t, exitDone)
	if !strings.Contains(r.out, ": ok: 11 records") {
		t.Errorf("verify: %s", r.out)
	}
}

// Without --capture requests pass, nothing is written, and metrics say off.
func TestProxyWithoutCapture(t *testing.T) {
	e := newEngine(t)
	p := start(t, "proxy", "--upstream", e.url, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	url, admin := p.listening()
	send(t, "GET", url+"/_cluster/health", "")
	_, text := get(t, admin+"/metrics")
	if on, off := metric(text, `esshadow_capture_state{state="on"}`), metric(text, `esshadow_capture_state{state="off"}`); on != 0 || off != 1 {
		t.Errorf("state on %v, off %v", on, off)
	}
	p.signal(os.Interrupt)
	if code := p.code(patience); code != exitDone || strings.Contains(p.err(), "esshadow capture:") || !strings.Contains(p.err(), "no capture") {
		t.Errorf("exit code %d:\n%s", code, p.err())
	}
}

// After SIGTERM a request in flight gets its answer, and one that comes by a kept
// connection the proxy's own.
func TestSignalledProxyRefusesOnKeptConnections(t *testing.T) {
	e := newEngine(t)
	send(t, "POST", e.url+"/_bulk", bulkBody("items", 0, 4))
	p := start(t, "proxy", "--upstream", e.url, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	url, admin := p.listening()
	ask := func(tr *http.Transport) (code int, closing bool, text string) {
		res, err := (&http.Client{Transport: tr}).Post(url+"/items/_search", "application/json", strings.NewReader(searchBody(0)))
		if err != nil {
			return 0, false, err.Error()
		}
		defer func() { _ = res.Body.Close() }()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return 0, false, err.Error()
		}
		return res.StatusCode, res.Close, string(body)
	}
	kept := &http.Transport{}
	if code, _, text := ask(kept); code != 200 {
		t.Fatalf("%d %s", code, text)
	}
	release := e.hold()
	flying := make(chan int, 1)
	go func() {
		code, _, _ := ask(&http.Transport{})
		flying <- code
	}()
	wait(t, "the request is in flight", func() bool {
		_, text := get(t, admin+"/metrics")
		return metric(text, "esshadow_proxy_in_flight") == 1
	})
	signalled := time.Now()
	p.signal(syscall.SIGTERM)
	wait(t, "it drains", func() bool {
		_, text := get(t, admin+"/readyz")
		return strings.Contains(text, "draining")
	})
	code, closing, text := ask(kept)
	switch {
	case code == 0 && time.Since(signalled) > time.Second:
		t.Logf("too late on a busy machine: idle connections are closed after a second: %s", text)
	case code != 503 || !closing || !strings.Contains(text, `"type":"proxy_draining"`):
		t.Errorf("%d, closing %t: %s", code, closing, text)
	}
	release()
	if code := <-flying; code != 200 {
		t.Errorf("the request in flight got %d", code)
	}
	if code := p.code(patience); code != exitDone {
		t.Errorf("exit code %d:\n%s", code, p.err())
	}
}

// A request in flight is waited for; a second signal does not wait.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	e := newEngine(t)
	send(t, "POST", e.url+"/_bulk", bulkBody("items", 0, 4))
	for _, again := range []bool{false, true} {
		t.Run(fmt.Sprintf("again %v", again), func(t *testing.T) {
			release := e.hold()
			defer release()
			p := start(t, "proxy", "--upstream", e.url, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
			url, admin := p.listening()
			answer := make(chan int, 1)
			go func() {
				res, err := http.Post(url+"/items/_search", "application/json", strings.NewReader(searchBody(0)))
				if err != nil {
					answer <- 0
					return
				}
				_ = res.Body.Close()
				answer <- res.StatusCode
			}()
			wait(t, "the request is in flight", func() bool {
				_, text := get(t, admin+"/metrics")
				return metric(text, "esshadow_proxy_in_flight") == 1
			})
			p.signal(syscall.SIGTERM)
			wait(t, "it drains", func() bool {
				code, text := get(t, admin+"/readyz")
				return code == 503 && strings.Contains(text, "draining")
			})
			if !again {
				release()
				if code := p.code(patience); code != exitDone || <-answer != 200 {
					t.Errorf("exit code %d, want 0 and the answer:\n%s", code, p.err())
				}
				return
			}
			p.signal(syscall.SIGTERM)
			if code := p.code(time.Second); code != exitInterrupted {
				t.Errorf("second signal: exit code %d, want 130", code)
			}
		})
	}
}

// wait asks again until it is so.
func wait(t *testing.T, what string, so func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); time.Now().Before(end); <-tick.C {
		if so() {
			return
		}
	}
	t.Fatalf("waited in vain: %s", what)
}

// Files of an earlier run stay as they are; a second run adds its own.
func TestProxyOverwritesNothing(t *testing.T) {
	c := makeCapture(t, 3, 0)
	before := readAll(t, c.dir)
	p := start(t, proxyArgs(t, c.source.url, c.dir)...)
	url, _ := p.listening()
	send(t, "POST", url+"/items/_search", searchBody(0))
	p.signal(syscall.SIGTERM)
	if code := p.code(patience); code != exitDone {
		t.Fatalf("exit code %d:\n%s", code, p.err())
	}
	after := readAll(t, c.dir)
	for name, text := range before {
		if after[name] != text {
			t.Errorf("%s changed", name)
		}
	}
	if len(after) != len(before)+1 {
		t.Errorf("%d files, then %d", len(before), len(after))
	}
	r := esshadow(t, nil, "capture", "stat", "--json", c.dir).want(t, exitDone)
	if st := decode[map[string]any](t, r.out); st["records"] != 5.0 || st["segments"] != 2.0 {
		t.Errorf("stat: %s", r.out)
	}
}

func readAll(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(text)
	}
	return all
}

// A preset that was said wins over that of a rules file, also the default one;
// what was not said gives way.
func TestPresetAgainstRules(t *testing.T) {
	e := newEngine(t)
	rules := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(rules, []byte("version: 1\npreset: fidelity\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		args []string
		want string
	}{
		{nil, "fidelity"},
		{[]string{"--preset", "strict"}, "strict"},
	} {
		dir := filepath.Join(t.TempDir(), "capture")
		p := start(t, append([]string{"proxy", "--upstream", e.url, "--listen", "127.0.0.1:0", "--admin", "off", "--capture", dir, "--min-free", "0", "--rules", rules}, x.args...)...)
		p.find("listening on")
		p.signal(syscall.SIGTERM)
		if code := p.code(patience); code != exitDone {
			t.Fatalf("exit code %d:\n%s", code, p.err())
		}
		if !strings.Contains(p.err(), "preset "+x.want) || !strings.Contains(p.err(), "no --key") {
			t.Errorf("%v: want preset %s and a warning about the key:\n%s", x.args, x.want, p.err())
		}
	}
}

// With --preset off and its consent requests are written as they are, and the
// proxy warns.
func TestPresetOffByConsent(t *testing.T) {
	e := newEngine(t)
	dir := filepath.Join(t.TempDir(), "capture")
	p := start(t, "proxy", "--upstream", e.url, "--listen", "127.0.0.1:0", "--admin", "off", "--capture", dir, "--min-free", "0",
		"--preset", "off", "--i-accept-plaintext-on-disk")
	m := p.find(`listening on (\S+),`)
	send(t, "POST", "http://"+m[1]+"/_bulk", bulkBody("items", 0, 1))
	p.signal(syscall.SIGTERM)
	if code := p.code(patience); code != exitDone || !strings.Contains(p.err(), "preset off: requests are written") {
		t.Fatalf("exit code %d:\n%s", code, p.err())
	}
	if r := esshadow(t, nil, "capture", "cat", dir).want(t, exitDone); !strings.Contains(r.out, "amber") {
		t.Errorf("cat: %s", r.out)
	}
}
