//go:build engine

package main_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/internal/testenv"
)

// heard is one answer as a client got it.
type heard struct {
	Method string            `json:"method"`
	Target string            `json:"target"`
	Status int               `json:"status"`
	Header map[string]string `json:"headers"`
	Body   []byte            `json:"body"`
}

// changing is what differs between two calls of the same API: the time that it
// took and ids that the engine makes up, of scrolls, points in time and of an
// index that was made anew. The id of a point in time stands in the answer that
// opens it as "id" or "pit_id", OpenSearch adds when that was.
var changing = regexp.MustCompile(`"took":\d+|"_scroll_id":"[^"]*"|"pit_id":"[^"]*"|^\{"id":"[^"]*"|"index_uuid":"[^"]*"|"creation_time":\d+`)

// text is an answer but for what changes: took and made-up ids, and in the head
// the length that follows from took, and OpenSearch's processor time of a task.
func (h heard) text() string {
	head := maps.Clone(h.Header)
	delete(head, "content-length")
	delete(head, "task_resource_usage")
	names := slices.Sorted(maps.Keys(head))
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n%d\n", h.Method, madeUp.ReplaceAllString(h.Target, "$1$2"), h.Status)
	for _, n := range names {
		fmt.Fprintf(&b, "%s: %s\n", n, head[n])
	}
	body := h.Body
	if z, err := gzip.NewReader(bytes.NewReader(h.Body)); err == nil && head["content-encoding"] == "gzip" {
		// A client that shows the bytes before they are decoded: took is in them.
		body, err = io.ReadAll(z)
		if err != nil {
			fmt.Fprintf(&b, "cut: %v\n", err)
		}
	}
	body = changing.ReplaceAllFunc(body, func(m []byte) []byte { return m[:bytes.IndexByte(m, ':')] })
	fmt.Fprintf(&b, "%s", body)
	return b.String()
}

// madeUp is an id that the engine made up, in a request's path or query.
var madeUp = regexp.MustCompile(`^(/_search/scroll/|/_pit/)[^/?]+|([?&]scroll_id=)[^&]+`)

// sameAnswers compares a session through the proxy with a direct one.
func sameAnswers(t *testing.T, direct, proxied []heard, least int) {
	t.Helper()
	if len(direct) != len(proxied) || len(direct) < least {
		t.Fatalf("%d answers direct, %d through the proxy, want at least %d", len(direct), len(proxied), least)
	}
	size, wrong := 0, 0
	for i := range direct {
		a, b := direct[i].text(), proxied[i].text()
		size += len(a)
		if a != b {
			if wrong++; wrong <= 3 {
				t.Errorf("answer %d differs\ndirect:  %.1500s\nproxied: %.1500s", i, a, b)
			}
		}
	}
	t.Logf("%d answers of %d bytes, %d different", len(direct), size, wrong)
}

// identicalSearches asks a node 1 000 searches, each one directly and through
// the proxy, and compares the bytes. The documents are those of the whole run.
func identicalSearches(t *testing.T, dir string, n *node) {
	g := startGate(t, n, filepath.Join(dir, n.name+"-identical"))
	var both [2][]heard
	for i, url := range []string{n.url, g.url} {
		l := newLane(t, url, vendor(n.engine))
		l.client.Transport = &recorder{next: l.client.Transport, to: &both[i]}
		r := rand.New(rand.NewPCG(99, 1))
		for k := range 1000 {
			l.read(r, k)
		}
	}
	sameAnswers(t, both[0], both[1], 1000)
	if s := g.stop(t); s.received != 1000 || s.captured != 1000 {
		t.Errorf("of 1000 requests: %s", s.text)
	}
}

// clientSessions runs a session of every official client directly and through
// the proxy.
func clientSessions(t *testing.T, dir string, n *node) {
	g := startGate(t, n, filepath.Join(dir, n.name+"-clients"))
	unknown := 0 // the sessions of scripts send one query each that no engine knows: their records are dropped and counted
	defer func() {
		if s := g.stop(t); s.captured == 0 || s.dropped != unknown {
			t.Errorf("want %d dropped: %s", unknown, s.text)
		} else {
			t.Log(s.text)
		}
	}()
	t.Run("go", func(t *testing.T) {
		index := "esx-go"
		sameAnswers(t, goSession(t, n.engine, n.url, index), goSession(t, n.engine, g.url, index), 20)
	})
	for _, coding := range []string{"plain", "gzip"} {
		t.Run("python-"+coding, func(t *testing.T) {
			python := os.Getenv("ESSHADOW_TEST_PYTHON")
			if python == "" {
				testenv.Skip(t, "ESSHADOW_TEST_PYTHON names no Python with the clients: run scripts/test-engine.sh")
			}
			run := func(url string) []heard {
				return session(t, coding, "", python, script(t, "session.py"), n.flavor, url, "esx-python")
			}
			sameAnswers(t, run(n.url), run(g.url), 30)
			unknown++
		})
		t.Run("javascript-"+coding, func(t *testing.T) {
			if n.flavor != "elasticsearch" {
				t.Skip("the client of Elasticsearch is for Elasticsearch")
			}
			modules := os.Getenv("ESSHADOW_TEST_NODE")
			if modules == "" {
				testenv.Skip(t, "ESSHADOW_TEST_NODE names no folder with the client: run scripts/test-engine.sh")
			}
			run := func(url string) []heard {
				return session(t, coding, modules, "node", moduleScript(t, modules), url, "esx-javascript")
			}
			sameAnswers(t, run(n.url), run(g.url), 30)
			unknown++
		})
	}
}

func script(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../../scripts/clients", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// moduleScript copies session.mjs to where node finds the client: it looks for
// modules beside the script only.
func moduleScript(t *testing.T, modules string) string {
	t.Helper()
	text, err := os.ReadFile(script(t, "session.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(modules, "session.mjs")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// session runs a script that prints the answers it gets.
func session(t *testing.T, coding, dir, command string, args ...string) []heard {
	t.Helper()
	if coding == "gzip" {
		args = append(args, "--gzip")
	}
	cmd := exec.CommandContext(t.Context(), command, args...)
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", command, args, err, errs.Bytes())
	}
	var all []heard
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var h heard
		if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
			t.Fatalf("%s: %v: %.200s", command, err, lines.Bytes())
		}
		all = append(all, h)
	}
	return all
}
