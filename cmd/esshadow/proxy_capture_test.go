package main

import (
	"encoding/pem"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What is not captured is counted by its reason: in metrics, in the sums, in the
// capture itself.
func TestProxyCountsWhatItDoesNotCapture(t *testing.T) {
	e := newEngine(t)
	dir := filepath.Join(t.TempDir(), "capture")
	p := start(t, proxyArgs(t, e.url, dir, "--max-body", "1KiB", "--queue", "1MiB")...)
	url, admin := p.listening()
	send(t, "POST", url+"/_bulk", bulkBody("items", 0, 2))
	send(t, "POST", url+"/_bulk", bulkBody("items", 2, 100)) // above 1 KiB
	wait(t, "both are counted", func() bool {
		_, text := get(t, admin+"/metrics")
		return metric(text, `esshadow_capture_records_total{reason="body_too_large",result="dropped"}`) == 1 &&
			metric(text, `esshadow_capture_records_total{reason="",result="captured"}`) == 1
	})
	p.signal(syscall.SIGTERM)
	if code := p.code(patience); code != exitDone || !strings.Contains(p.err(), "dropped 1 (body_too_large 1)") {
		t.Errorf("exit code %d:\n%s", code, p.err())
	}
	if all := send(t, "GET", e.url+"/items/_count", ""); !strings.Contains(all, `"count":102`) {
		t.Errorf("what was not captured was not forwarded either: %s", all)
	}
	type gap struct {
		Kind, Reason string
		Count        int
		From, To     int64
	}
	gaps := 0
	for text := range strings.Lines(esshadow(t, nil, "capture", "cat", dir).want(t, exitDone).out) {
		if g := decode[gap](t, text); g.Kind == "gap" {
			gaps++
			if g.Reason != "body_too_large" || g.Count != 1 || g.From == 0 || g.To < g.From {
				t.Errorf("gap %+v", g)
			}
		}
	}
	st := decode[struct {
		Records, Gaps int
		Dropped       map[string]int
	}](t, esshadow(t, nil, "capture", "stat", "--json", dir).want(t, exitDone).out)
	if gaps != 1 || st.Gaps != 1 || st.Records != 1 || st.Dropped["body_too_large"] != 1 {
		t.Errorf("%d gap lines, stat %+v", gaps, st)
	}
}

func TestProxySamplesNothing(t *testing.T) {
	e := newEngine(t)
	dir := filepath.Join(t.TempDir(), "capture")
	p := start(t, proxyArgs(t, e.url, dir, "--sample", "0")...)
	url, _ := p.listening()
	send(t, "POST", url+"/_bulk", bulkBody("items", 0, 2))
	p.signal(syscall.SIGTERM)
	if code := p.code(patience); code != exitDone || !strings.Contains(p.err(), "received 1 = captured 0 + filtered 0 + sampled out 1 + dropped 0") {
		t.Errorf("exit code %d:\n%s", code, p.err())
	}
}

// The layers in a real start: file, environment, flags.
func TestProxyFromFileAndEnvironment(t *testing.T) {
	e := newEngine(t)
	dir := t.TempDir()
	file, capture := filepath.Join(dir, "esshadow.yml"), filepath.Join(dir, "capture")
	text := "proxy:\n  upstreams: [" + e.url + "]\n  listen: 127.0.0.1:1\n  admin: 127.0.0.1:1\ncapture:\n  dir: " + capture +
		"\n  min_free: 0\nsanitize:\n  preset: fidelity\nlog:\n  format: json\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startWith(t, func(c *exec.Cmd) {
		c.Env = append(os.Environ(), "ESSHADOW_PROXY_LISTEN=127.0.0.1:0", "ESSHADOW_PROXY_ADMIN=127.0.0.1:0", "ESSHADOW_PROXY_PRESET=strict")
	}, "proxy", "--config", file, "--admin", "off")
	m := p.find(`listening on (\S+), admin on (\S+), upstream (\S+), capture (\S+) \(preset (\S+)\)`)
	if m[2] != "off" || m[3] != e.url || m[4] != capture || m[5] != "strict" {
		t.Errorf("it says %q", m[0])
	}
	if !strings.Contains(p.err(), `"level":"warn"`) {
		t.Errorf("the log is not JSON:\n%s", p.err())
	}
	send(t, "GET", "http://"+m[1]+"/_cat/indices", "")
	p.signal(syscall.SIGTERM)
	if code := p.code(patience); code != exitDone {
		t.Errorf("exit code %d", code)
	}
}

func TestAddressInUse(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	taken := ln.Addr().String()
	dir := filepath.Join(t.TempDir(), "capture")
	for _, args := range [][]string{
		{"proxy", "--upstream", "http://127.0.0.1:1", "--listen", taken, "--admin", "off"},
		{"proxy", "--upstream", "http://127.0.0.1:1", "--listen", "127.0.0.1:0", "--admin", taken},
		{"proxy", "--upstream", "http://127.0.0.1:1", "--listen", taken, "--admin", "off", "--capture", dir, "--min-free", "0"},
		{"sandbox", "--listen", taken},
	} {
		esshadow(t, nil, args...).want(t, exitFailed, taken, "in use")
	}
}

// A source behind TLS is identified with the authorities that the proxy trusts.
func TestProxyIdentifiesASourceBehindTLS(t *testing.T) {
	e := newEngine(t)
	s := httptest.NewTLSServer(e.Handler())
	defer s.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(ca, text, 0o600); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "capture")
	p := start(t, proxyArgs(t, s.URL, dir, "--upstream-ca-cert", ca)...)
	url, _ := p.listening()
	send(t, "POST", url+"/_bulk", bulkBody("items", 0, 1))
	p.signal(syscall.SIGTERM)
	if code := p.code(patience); code != exitDone || strings.Contains(p.err(), "could not be identified") {
		t.Errorf("exit code %d:\n%s", code, p.err())
	}
	if r := esshadow(t, nil, "capture", "stat", "--json", dir).want(t, exitDone); !strings.Contains(r.out, e.UUID()) {
		t.Errorf("stat: %s", r.out)
	}
}

func TestSandbox(t *testing.T) {
	p := start(t, "sandbox", "--listen", "127.0.0.1:0", "--reject-every", "2")
	url := "http://" + p.find(`listening on (\S+) `)[1]
	if code, text := get(t, url+"/"); code != 200 || !strings.Contains(text, "cluster_uuid") {
		t.Errorf("/: %d %s", code, text)
	}
	codes := map[int]int{}
	for range 4 {
		code, _ := get(t, url+"/_cluster/health")
		codes[code]++
	}
	if codes[200] != 2 || codes[429] != 2 {
		t.Errorf("codes %v", codes)
	}
	p.signal(os.Interrupt)
	if code := p.code(patience); code != exitDone {
		t.Errorf("exit code %d:\n%s", code, p.err())
	}
}

// What detectors find in kept values is seen as a metric, by ctl, and in the sums;
// the value itself nowhere.
func TestProxyShowsWhatDetectorsFound(t *testing.T) {
	e := newEngine(t)
	rules := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(rules, []byte("version: 1\npreset: fidelity\nfields:\n - {match: note, action: keep, why: test}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, proxyArgs(t, e.url, filepath.Join(t.TempDir(), "capture"), "--rules", rules)...)
	url, admin := p.listening()
	send(t, "POST", url+"/_bulk", "{\"index\":{\"_index\":\"i\"}}\n{\"note\":\"write to anna.smith@mail.example\"}\n{\"index\":{\"_index\":\"i\"}}\n{\"note\":\"nothing in here\"}\n")
	metrics := ""
	wait(t, "the detector has counted", func() bool {
		_, metrics = get(t, admin+"/metrics")
		return strings.Contains(metrics, `esshadow_sanitize_detected_total{detector="email"} 1`)
	})
	if !strings.Contains(metrics, `esshadow_sanitize_detected_total{detector="phone:cn"} 0`) {
		t.Error("a detector that found nothing is not there")
	}
	if status := esshadow(t, nil, "ctl", "status", "--admin", admin).want(t, exitDone).out; !strings.Contains(status, "detectors found 1 kept values (email 1)") {
		t.Errorf("status: %s", status)
	}
	p.signal(syscall.SIGTERM)
	if code := p.code(patience); code != exitDone || !strings.Contains(p.err(), "in 1 kept values (email 1)") {
		t.Errorf("exit code %d:\n%s", code, p.err())
	}
	if strings.Contains(p.err()+metrics, "anna") {
		t.Error("the value is told")
	}
}
