//go:build engine

package main_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// How long things may take on a busy machine of two cores.
const (
	startWait = 3 * time.Minute
	stopWait  = 30 * time.Second
	askWait   = time.Minute
)

// node is a running engine.
type node struct {
	engine
	url string
}

// startPair starts two nodes of one kind at once, clusters of their own.
func startPair(t *testing.T, e engine) (source, target *node) {
	t.Helper()
	source, target = startNode(t, e), startNode(t, e)
	for _, n := range []*node{source, target} {
		n.ready(t)
	}
	return source, target
}

func startNode(t *testing.T, e engine) *node {
	t.Helper()
	port := freePort(t)
	logPath := filepath.Join(t.TempDir(), "engine.log")
	out, err := os.Create(logPath)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("../../scripts/engine.sh", "run", e.name, fmt.Sprint(port))
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stopProcess(t, cmd)
		_ = out.Close()
		if t.Failed() {
			t.Logf("%s says:\n%s", e.name, tail(logPath, 3000))
		}
	})
	return &node{engine: e, url: fmt.Sprintf("http://127.0.0.1:%d", port)}
}

// freePort is a port that nobody listens on. The engines cannot be asked which
// one they chose.
func freePort(t *testing.T) int {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	return ln.Addr().(*net.TCPAddr).Port
}

// stopProcess asks a process to stop, waits, and ends it where it does not.
func stopProcess(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	_ = cmd.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(stopWait, func() {
		t.Errorf("%s did not stop within %s", cmd.Path, stopWait)
		_ = cmd.Process.Kill()
	})
	defer kill.Stop()
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Errorf("%s: %v", cmd.Path, err)
	}
}

func tail(path string, n int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-n):])
}

// ready waits until the node answers and its cluster has formed.
func (n *node) ready(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startWait)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		a, err := request(ctx, http.DefaultClient, "GET", n.url+"/_cluster/health?wait_for_status=yellow&timeout=1s", "", nil)
		if err == nil && a.status == http.StatusOK {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s did not become ready within %s: %v", n.name, startWait, err)
		}
	}
}

// answer is what a node said.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func request(ctx context.Context, c *http.Client, method, url, media string, body []byte) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	if media != "" {
		req.Header.Set("Accept", strings.Replace(media, "x-ndjson", "json", 1))
		if len(body) > 0 {
			req.Header.Set("Content-Type", media)
		}
	}
	resp, err := c.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, text}, err
}

// must asks the node itself and wants a good answer.
func (n *node) must(t *testing.T, method, target, body string) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), askWait)
	defer cancel()
	a, err := request(ctx, http.DefaultClient, method, n.url+target, "application/json", []byte(body))
	if err != nil || a.status >= 300 {
		t.Fatalf("%s %s: status %d, %v: %s", method, target, a.status, err, a.body)
	}
	return a
}

// settle makes what an index holds searchable in one segment, without the
// documents that were replaced or deleted: scores and order then depend on the
// documents alone.
func (n *node) settle(t *testing.T, index string) {
	t.Helper()
	n.must(t, "POST", "/"+index+"/_refresh", "")
	n.must(t, "POST", "/"+index+"/_forcemerge?max_num_segments=1&flush=true", "")
	n.must(t, "POST", "/"+index+"/_refresh", "")
}
