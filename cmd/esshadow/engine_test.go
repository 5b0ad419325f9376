//go:build engine

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/internal/testenv"
)

// engine is a kind of node that scripts/engine.sh can run.
type engine struct {
	name   string // as engine.sh calls it
	flavor string // elasticsearch or opensearch
	major  int
}

func parseEngine(t *testing.T, name string) engine {
	t.Helper()
	e := engine{name: name}
	if n, err := fmt.Sscanf(strings.ReplaceAll(name, "-", " "), "%s %d", &e.flavor, &e.major); n != 2 {
		t.Fatalf("engine %q: %v", name, err)
	}
	return e
}

// engines are those that this machine can run, in an order in which the source
// of every pair of crossings comes before its target.
func engines(t *testing.T) []engine {
	t.Helper()
	names := strings.Fields(os.Getenv("ESSHADOW_TEST_ENGINES"))
	if len(names) == 0 {
		out, err := exec.Command("../../scripts/engine.sh", "names").Output()
		if err != nil {
			t.Fatalf("engine.sh names: %v", err)
		}
		if names = strings.Fields(string(out)); len(names) == 0 {
			testenv.Skip(t, "no Java that can run an engine was found")
		}
	}
	all := make([]engine, 0, len(names))
	for _, n := range names {
		all = append(all, parseEngine(t, n))
	}
	slices.SortFunc(all, func(a, b engine) int { return rank(a) - rank(b) })
	return all
}

// rank puts Elasticsearch 7, the source of most crossings, first.
func rank(e engine) int {
	if e.name == "elasticsearch-7" {
		return 0
	}
	return e.major*2 + len(e.flavor)%2
}

// TestEngine takes every engine through whole runs. Two nodes of one kind run at
// a time: one is the source, the other is the target of its capture and of those
// of other engines.
func TestEngine(t *testing.T) {
	taken, dir := map[string]*taking{}, t.TempDir()
	for _, e := range engines(t) {
		t.Run(e.name, func(t *testing.T) {
			source, target := startPair(t, e)
			t.Run("whole-run", func(t *testing.T) { taken[e.name] = wholeRun(t, dir, source, target) })
			for _, from := range crossings()[e.name] {
				if c := taken[from]; c != nil {
					t.Run("from-"+from, func(t *testing.T) { crossRun(t, c, target) })
				}
			}
			t.Run("identical", func(t *testing.T) { identicalSearches(t, dir, source) })
			t.Run("clients", func(t *testing.T) { clientSessions(t, dir, source) })
			// elasticdump and the race want GET /, which the published jars of later
			// Elasticsearch lack.
			if e.name == "elasticsearch-7" || e.flavor == "opensearch" {
				t.Run("elasticdump", func(t *testing.T) { dumpRun(t, dir, source) })
			}
			if e.name == "elasticsearch-7" {
				t.Run("rally", func(t *testing.T) { rallyRun(t, dir, source, target) })
			}
		})
	}
}

// crossings says from which engines a capture is replayed against which.
func crossings() map[string][]string {
	return map[string][]string{
		"elasticsearch-8": {"elasticsearch-7"},
		"opensearch-2":    {"elasticsearch-7"},
		"elasticsearch-9": {"elasticsearch-7", "elasticsearch-8"},
		"opensearch-3":    {"opensearch-2"},
	}
}

// binary is the program under test.
func binary(t *testing.T) string {
	t.Helper()
	path := os.Getenv("ESSHADOW_BIN")
	if path == "" {
		path = "../../bin/esshadow"
	}
	abs, err := filepath.Abs(path)
	if err == nil {
		_, err = os.Stat(abs)
	}
	if err != nil {
		t.Fatalf("%v: run make build", err)
	}
	return abs
}
