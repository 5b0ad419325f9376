package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/internal/testenv"

	"github.com/esshadow/esshadow/sanitize/audit"
	"github.com/esshadow/esshadow/sanitize/canary"
)

// badUpstream answers every request in a way that makes a reader of HTTP
// complain, with the request's own bytes in the place that errors quote.
func badUpstream(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; ; n++ {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			quoteBack(conn, n)
		}
	}()
	t.Cleanup(func() {
		_ = ln.Close()
		<-done
	})
	return ln.Addr().String()
}

func quoteBack(conn net.Conn, n int) {
	defer func() { _ = conn.Close() }()
	r, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	body, _ := io.ReadAll(r.Body)
	quoted := strings.NewReplacer("\r", "", "\n", "").Replace(r.RequestURI + " " + string(body))
	answers := []string{
		quoted + "\r\n\r\n",
		"HTTP/1.1 200 OK\r\n" + quoted + "\r\n\r\n",
		"HTTP/1.1 " + quoted + "\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: " + quoted + "\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + quoted + "\r\n",
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 40\r\n\r\n" + quoted,
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + fmt.Sprint(len(quoted)) + "\r\n\r\n" + quoted,
	}
	_, _ = io.WriteString(conn, answers[n%len(answers)])
}

// Errors of parsers and dialers quote what they could not read. None of that
// reaches the log at level debug, the metrics or the capture: not when the
// cluster is away, not when it answers nonsense, not when the disk is gone.
func TestSideDoors(t *testing.T) {
	cases, err := canary.Cases()
	if err != nil {
		t.Fatal(err)
	}
	gone, _ := testenv.DeadAddress(t)
	for name, upstream := range map[string]string{"the cluster is away": gone, "the cluster answers nonsense": badUpstream(t)} {
		t.Run(name, func(t *testing.T) {
			run := canaryRun{cases: cases, preset: "strict", dir: filepath.Join(t.TempDir(), "capture")}
			run.adjust = func(set *settings) { set.cfg.Proxy.Upstreams = []string{"http://" + upstream} }
			res, err := run.run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range res.Leaks {
				t.Errorf("%+v", l)
			}
			if run.upstream.requests.Load() > 0 {
				t.Error("the other upstream was asked")
			}
			t.Logf("%d absent, %d dropped, %d bytes of log", res.Absent, res.Dropped, res.Looked["log"])
			if bytes.Count(run.metrics, []byte("esshadow_proxy_requests_total{")) < 10 {
				t.Error("hardly a request was counted")
			}
		})
	}
}

// Profiles show memory: the admin port has none, whatever it listens on.
func TestProfilesAreNotServed(t *testing.T) {
	e := newEngine(t)
	p := start(t, proxyArgs(t, e.url, filepath.Join(t.TempDir(), "capture"))...)
	_, admin := p.listening()
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/vars", "/debug/pprof/cmdline"} {
		if code, _ := get(t, admin+path); code != http.StatusNotFound {
			t.Errorf("%s answers %d", path, code)
		}
	}
	endProxy(t, p)
	scan, err := audit.New(audit.Options{Detect: true})
	if err != nil {
		t.Fatal(err)
	}
	scan.Text("log", []byte(p.err()))
	if r := scan.Report(); r.Found > 0 {
		t.Errorf("%+v", r.Findings)
	}
}
