package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// demand asks the admin address with a body and headers of name and value.
func demand(t *testing.T, method, url, body string, headers ...string) (int, string) {
	t.Helper()
	q, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		q.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			q.Host = headers[i+1]
		}
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

func (r result) has(t *testing.T, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(r.out+r.err, p) {
			t.Errorf("output lacks %q:\n%s%s", p, r.out, r.err)
		}
	}
}

func TestCtl(t *testing.T) {
	e := newEngine(t)
	dir := filepath.Join(t.TempDir(), "capture")
	p := start(t, proxyArgs(t, e.url, dir)...)
	url, admin := p.listening()
	send(t, "POST", url+"/_bulk", bulkBody("items", 0, 5))
	ctl := func(code int, args ...string) result {
		t.Helper()
		return esshadow(t, nil, append(append([]string{"ctl"}, args...), "--admin", admin)...).want(t, code)
	}
	status := func() statusReport {
		t.Helper()
		return decode[statusReport](t, ctl(exitDone, "status", "--json").out)
	}

	// A client has its answer a moment before the exchange is offered.
	received := func(n uint64) {
		t.Helper()
		wait(t, "the exchanges came", func() bool { return status().Capture.Received == n })
	}
	received(1)
	s := status()
	if s.State != "ready" || s.Capture.State != "on" || s.Capture.Received != 1 || s.Capture.Preset != "fidelity" || s.Capture.Sample != 1 ||
		len(s.Upstreams) != 1 || !s.Upstreams[0].Up || s.Proxy.Requests != 1 || "http://"+s.Proxy.Admin != admin || s.Log.Level != "info" {
		t.Errorf("status %+v", s)
	}
	ctl(exitDone, "status").has(t, "listens on", "upstream ", ": up", "capture on (preset fidelity", "log level info")

	ctl(exitDone, "capture", "off").has(t, "state: paused")
	send(t, "POST", url+"/items/_search", searchBody(1))
	received(2)
	ctl(exitDone, "capture", "on").has(t, "state: on")
	ctl(exitDone, "sample", "0")
	send(t, "POST", url+"/items/_search", searchBody(2))
	received(3)
	ctl(exitDone, "sample", "1").has(t, "ratio: 1")
	send(t, "POST", url+"/items/_search", searchBody(3))
	received(4)
	wait(t, "both records are in the file", func() bool { return status().Capture.Captured == 2 })
	ctl(exitDone, "rotate").has(t, "rotated: true")
	send(t, "POST", url+"/items/_search", searchBody(4))
	ctl(exitDone, "log-level", "debug")
	if s := status(); s.Capture.Dropped["paused"] != 1 || s.Capture.SampledOut != 1 || s.Log.Level != "debug" {
		t.Errorf("status %+v", s)
	}
	for _, x := range [][]string{{"capture", "maybe"}, {"sample", "7"}, {"sample", "many"}, {"log-level", "loud"}, {"rotate", "now"}} {
		ctl(exitUsage, x...)
	}
	ctl(exitDone, "drain").has(t, "draining: true")
	if code := p.code(patience); code != exitDone {
		t.Errorf("exit code %d:\n%s", code, p.err())
	}
	if n := len(readAll(t, dir)); n != 2 {
		t.Errorf("%d files, want 2 after a rotation", n)
	}
	for _, want := range []string{`"action": "capture"`, `"action": "sample"`, `"action": "rotate"`, `"action": "drain"`, `"done": false`} {
		if !strings.Contains(p.err(), want) {
			t.Errorf("the log lacks %s:\n%s", want, p.err())
		}
	}
	ctl(exitRefused, "status") // nobody there any more
}

func TestControlRefusals(t *testing.T) {
	e := newEngine(t)
	p := start(t, "proxy", "--upstream", e.url, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	_, admin := p.listening()
	for _, x := range []struct {
		method, path, body string
		header             []string
		code               int
		says               string
	}{
		{"GET", "/control/capture", "", nil, 405, "wants POST"},
		{"POST", "/control/status", "", nil, 405, "wants GET"},
		{"GET", "/control/", "", nil, 404, "GET /control/status"},
		{"POST", "/control/nothing", "", nil, 404, "no such endpoint"},
		{"POST", "/control/capture", `{"state":"on"}`, nil, 409, "without a capture directory"},
		{"POST", "/control/sample", `{"ratio":0.5}`, nil, 409, "without a capture directory"},
		{"POST", "/control/rotate", ``, nil, 409, "without a capture directory"},
		{"POST", "/control/capture", `{"state":"on","x":1}`, nil, 400, "want a body such as"},
		{"POST", "/control/capture", `{"state":"on"} {}`, nil, 400, "want a body such as"},
		{"POST", "/control/capture", `{}`, nil, 400, "want on or off"},
		{"POST", "/control/sample", `{"ratio":"x"}`, nil, 400, "want a body such as"},
		{"POST", "/control/sample", `{}`, nil, 400, "from 0 to 1"},
		{"POST", "/control/sample", `{"ratio":1.01}`, nil, 400, "from 0 to 1"},
		{"POST", "/control/log-level", `{"level":"loud"}`, nil, 400, "want debug"},
		{"POST", "/control/drain", `{"now":true}`, nil, 400, "want no body"},
		{"POST", "/control/capture", strings.Repeat(" ", 5000), nil, 413, "exceeds"},
		{"GET", "/control/status", "", []string{"Origin", "http://evil.example"}, 403, "not for web pages"},
		{"POST", "/control/drain", "", []string{"Sec-Fetch-Site", "cross-site"}, 403, "not for web pages"},
		{"GET", "/control/status", "", []string{"Host", "evil.example:9281"}, 403, "not for web pages"},
		{"GET", "/control/status", "", []string{"Host", "localhost:9281"}, 200, "instance"},
		{"GET", "/control/status", "", []string{"Host", "[::1]:9281"}, 200, "instance"},
	} {
		code, text := demand(t, x.method, admin+x.path, x.body, x.header...)
		if code != x.code || !strings.Contains(text, x.says) {
			t.Errorf("%s %s %.40s %v: %d %s, want %d with %q", x.method, x.path, x.body, x.header, code, text, x.code, x.says)
		}
		if code != 200 && decode[map[string]any](t, text)["status"] != float64(code) {
			t.Errorf("%s %s: %s", x.method, x.path, text)
		}
	}
}

func TestControlToken(t *testing.T) {
	e := newEngine(t)
	token := filepath.Join(t.TempDir(), "token")
	write := func(s string) {
		t.Helper()
		if err := os.WriteFile(token, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("0123456789abcdef\n")
	p := start(t, "proxy", "--upstream", e.url, "--listen", "127.0.0.1:0", "--admin", "0.0.0.0:0", "--admin-token-file", token)
	_, admin := p.listening()
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(admin, "http://"))
	admin = "127.0.0.1:" + port
	code := func(header ...string) int {
		t.Helper()
		c, _ := demand(t, "GET", "http://"+admin+"/control/status", "", header...)
		return c
	}
	for name, x := range map[string]struct {
		header []string
		want   int
	}{
		"none":         {nil, 401},
		"wrong":        {[]string{"Authorization", "Bearer 0123456789abcdeF"}, 401},
		"wrong scheme": {[]string{"Authorization", "Basic 0123456789abcdef"}, 401},
		"right":        {[]string{"Authorization", "bearer 0123456789abcdef"}, 200},
	} {
		if got := code(x.header...); got != x.want {
			t.Errorf("%s: %d, want %d", name, got, x.want)
		}
	}
	esshadow(t, nil, "ctl", "status", "--admin", admin).want(t, exitRefused, "Bearer")
	esshadow(t, nil, "ctl", "status", "--admin", admin, "--token-file", token).want(t, exitDone)
	write("another-token-that-is-new")
	if got := code("Authorization", "Bearer 0123456789abcdef"); got != 401 {
		t.Errorf("the old token: %d", got)
	}
	if got := code("Authorization", "Bearer another-token-that-is-new"); got != 200 {
		t.Errorf("the new token: %d", got)
	}
	write("short")
	if got := code("Authorization", "Bearer short"); got != 403 {
		t.Errorf("a short token: %d", got)
	}
	if code, text := get(t, "http://"+admin+"/metrics"); code != 200 || strings.Contains(text, "another") {
		t.Errorf("metrics: %d", code)
	}
	if strings.Contains(p.err(), "another") || strings.Contains(p.err(), "0123456789abcdef") {
		t.Error("a token is in the log")
	}
}

func TestControlFromElsewhereNeedsAToken(t *testing.T) {
	e := newEngine(t)
	p := start(t, "proxy", "--upstream", e.url, "--listen", "127.0.0.1:0", "--admin", "0.0.0.0:0")
	_, admin := p.listening()
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(admin, "http://"))
	if code, text := demand(t, "GET", "http://127.0.0.1:"+port+"/control/status", ""); code != 403 || !strings.Contains(text, "admin_token_file") {
		t.Errorf("%d %s", code, text)
	}
}

func TestReload(t *testing.T) {
	one, two := newEngine(t), newEngine(t)
	file := filepath.Join(t.TempDir(), "esshadow.yml")
	dir := filepath.Join(t.TempDir(), "capture")
	write := func(upstream, more string) {
		t.Helper()
		text := fmt.Sprintf("proxy:\n  upstreams: [%q]\n%s", upstream, more)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(one.url, "")
	args := proxyArgs(t, "", dir, "--config", file)
	p := start(t, append([]string{"proxy"}, args[3:]...)...) // without --upstream
	url, admin := p.listening()
	reload := func(code int) reloadResult {
		t.Helper()
		r := esshadow(t, nil, "ctl", "reload", "--json", "--admin", admin).want(t, code)
		return decode[reloadResult](t, r.out)
	}
	ask := func() statusReport {
		return decode[statusReport](t, esshadow(t, nil, "ctl", "status", "--json", "--admin", admin).want(t, exitDone).out)
	}
	send(t, "POST", url+"/_bulk", bulkBody("items", 0, 4))
	wait(t, "the exchange came", func() bool { return ask().Capture.Received == 1 }) // it does after its answer

	write(two.url, "  upstream_timeout: 5s\n  max_header: 64KiB\n  listen: 127.0.0.1:1\ncapture:\n  sample: 0.5\n  ops: {exclude: [bulk]}\nsanitize:\n  preset: strict\nlog:\n  level: debug\n")
	r := reload(exitDone)
	if got, want := fmt.Sprint(r.Changed), "[capture.ops.exclude capture.sample log.level proxy.upstream_timeout proxy.upstreams]"; got != want {
		t.Errorf("changed %s, want %s", got, want)
	}
	// Flags win over the file: listen and preset were given by flag.
	if got, want := fmt.Sprint(r.Restart), "[proxy.max_header]"; got != want {
		t.Errorf("needs a restart %s, want %s", got, want)
	}
	if again := reload(exitDone); len(again.Changed) != 0 || fmt.Sprint(again.Restart) != "[proxy.max_header]" {
		t.Errorf("once more: %+v", again)
	}
	esshadow(t, nil, "ctl", "sample", "1", "--admin", admin).want(t, exitDone)
	before := two.requests.Load()
	send(t, "POST", url+"/_bulk", bulkBody("items", 0, 4))
	send(t, "POST", url+"/items/_search", searchBody(1))
	if two.requests.Load() != before+2 {
		t.Errorf("the second engine got %d requests", two.requests.Load()-before)
	}
	wait(t, "the exchanges came", func() bool { return ask().Capture.Received == 3 })
	s := ask()
	if s.Capture.Filtered["operation"] != 1 || s.Log.Level != "debug" || s.Upstreams[0].Upstream != strings.TrimPrefix(two.url, "http://") || s.Config.File != file {
		t.Errorf("status %+v", s)
	}

	write(one.url, "  upstream_timout: 5s\n")
	if r := reload(exitUsage); r.OK || !strings.Contains(r.Error, "upstream_timout") || len(r.Changed) != 0 {
		t.Errorf("a broken file: %+v", r)
	}
	for more, says := range map[string]string{
		// What would be refused at the restart that these need.
		"sanitize:\n  numbers: bogus\n":                        "sanitize.numbers: ",
		"sanitize:\n  recipients: [age1x]\n":                   "sanitize.recipients: ",
		"mirror:\n  target: {url: \"ftp://x\"}\n":              "mirror.target.url: ",
		"  admin_token_file: " + dir + "/nowhere\n":            "proxy.admin_token_file: ",
		"log: {level: warn}\nx: " + strings.Repeat("x", 3<<20): "unknown key",
	} {
		write(one.url, more)
		if r := reload(exitUsage); r.OK || !strings.Contains(r.Error, says) || len(r.Error) > 1000 {
			t.Errorf("%.60q: %.1000q", more, r.Error)
		}
	}
	write(one.url, "  drain: -1s\n")
	p.signal(syscall.SIGHUP)
	wait(t, "the reload fails", func() bool {
		r := esshadow(t, nil, "ctl", "status", "--admin", admin)
		return strings.Contains(r.out, "RELOAD FAILED") && strings.Contains(r.out, "drain")
	})
	if !strings.Contains(p.err(), "configuration not reloaded") {
		t.Errorf("the log says nothing:\n%s", p.err())
	}
	send(t, "POST", url+"/items/_search", searchBody(2))
	write(one.url, "")
	p.signal(syscall.SIGHUP)
	wait(t, "the first upstream is back", func() bool {
		return strings.Contains(esshadow(t, nil, "ctl", "status", "--admin", admin).out, "upstream "+strings.TrimPrefix(one.url, "http://"))
	})
	p.signal(syscall.SIGTERM)
	if code := p.code(patience); code != exitDone {
		t.Errorf("exit code %d:\n%s", code, p.err())
	}
}

// Who asks another address than a proxy's admin one is told so, be it that of a
// cluster, to which the address for clients leads, or no address at all.
func TestCtlAtAnotherAddress(t *testing.T) {
	e := newEngine(t)
	for _, answer := range []string{`{"error":{"type":"security_exception"},"status":401}`, `{"status":"ok"}`, `nothing`} {
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if strings.Contains(answer, "401") {
				w.WriteHeader(http.StatusUnauthorized)
			}
			_, _ = io.WriteString(w, answer)
		}))
		defer other.Close()
		esshadow(t, nil, "ctl", "status", "--admin", other.URL).want(t, exitUsage, "no admin address of an esshadow proxy")
	}
	at := strings.TrimPrefix(e.url, "http://")
	for _, deed := range []string{"status", "rotate", "capture off"} {
		args := append([]string{"ctl"}, strings.Fields(deed)...)
		esshadow(t, nil, append(args, "--admin", at)...).want(t, exitUsage, "--admin "+at+": what answers there is no admin address of an esshadow proxy")
	}
	esshadow(t, nil, "ctl", "status", "--admin", "nowhere").want(t, exitUsage, `--admin "nowhere": want host:port`)
}

// A ratio is asked for where none is given, also where it looks like a flag.
func TestCtlSampleWantsARatio(t *testing.T) {
	for _, text := range []string{"-1", "-0.5", "-1e3", "-inf", "2", "nan", "0,5", "50%", ""} {
		esshadow(t, nil, "ctl", "sample", text, "--admin", "127.0.0.1:1").want(t, exitUsage, fmt.Sprintf("ctl sample %q: want a ratio: a number from 0 to 1", text))
	}
	esshadow(t, nil, "ctl", "sample", "-x").want(t, exitUsage, "unknown shorthand flag: 'x'")
	esshadow(t, nil, "ctl", "sample", "0.5", "--admin", "127.0.0.1:1").want(t, exitRefused, "no proxy answers")
}

// Why the token file cannot be used is in the log alone, with its name.
func TestUnusableTokenFileInTheLog(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, append(proxyArgs(t, newEngine(t).url, filepath.Join(t.TempDir(), "capture")), "--admin-token-file", token)...)
	_, admin := p.listening()
	if err := os.Remove(token); err != nil {
		t.Fatal(err)
	}
	r := esshadow(t, nil, "ctl", "status", "--admin", admin).want(t, exitRefused, "the proxy's token file cannot be read")
	if strings.Contains(r.err, token) {
		t.Errorf("who may ask nothing is told: %s", r.err)
	}
	wait(t, "the log says why", func() bool { return strings.Contains(p.err(), "proxy.admin_token_file: open "+token) })
}

// An operator who finds the capture failed is told why by ctl, and how it is again.
func TestStatusSaysWhyTheCaptureFailed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "capture")
	p := start(t, proxyArgs(t, newEngine(t).url, dir)...)
	url, admin := p.listening()
	if err := errors.Join(os.Rename(dir, dir+".old"), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Log("this system keeps open files where they are:", err)
		return
	}
	wait(t, "ctl status says why", func() bool {
		get(t, url+"/")
		r := esshadow(t, nil, "ctl", "status", "--admin", admin).want(t, exitDone)
		return strings.Contains(r.out, "capture failed, nothing can be written: ")
	})
	esshadow(t, nil, "ctl", "rotate", "--admin", admin).want(t, exitFailed, "rotate: capture cannot be written now: ")
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	wait(t, "capture goes on", func() bool {
		r := esshadow(t, nil, "ctl", "status", "--admin", admin).want(t, exitDone)
		return strings.Contains(r.out, "capture on (preset")
	})
	ends(t, p)
	esshadow(t, nil, "capture", "verify", dir).want(t, exitDone)
}
