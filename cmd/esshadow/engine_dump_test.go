//go:build engine

package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/internal/testenv"
)

const (
	dumped   = "esx-dump"
	dumpDocs = 437
	dumpPage = 50 // documents in a page of a scroll, and in a bulk
)

// dumpRun dumps an index with elasticdump, mapping and documents, and loads what
// came out into another, directly and through the proxy: both ways give the same
// files and the same documents, and every request is counted.
func dumpRun(t *testing.T, dir string, n *node) {
	modules := os.Getenv("ESSHADOW_TEST_NODE")
	if modules == "" {
		testenv.Skip(t, "ESSHADOW_TEST_NODE names no folder with elasticdump: run scripts/test-engine.sh")
	}
	tool := filepath.Join(modules, "node_modules", "elasticdump", "bin", "elasticdump")
	fillDumped(t, n)
	g := startGate(t, n, filepath.Join(dir, n.name+"-dump"))
	files := map[string][2]string{}
	for _, way := range []struct{ name, url string }{{"direct", n.url}, {"proxied", g.url}} {
		files[way.name] = dumpAndLoad(t, tool, t.TempDir(), way.url, dumped+"-"+way.name)
	}
	s := g.stop(t)
	for i, what := range []string{"mapping", "documents"} {
		if a, b := sortedLines(files["direct"][i]), sortedLines(files["proxied"][i]); !slices.Equal(a, b) || len(a) == 0 {
			t.Errorf("%s: %d lines direct, %d through the proxy, or others", what, len(a), len(b))
		}
	}
	if got := len(sortedLines(files["proxied"][1])); got != dumpDocs {
		t.Errorf("%d documents dumped, want %d", got, dumpDocs)
	}
	want := documents(t, n, dumped)
	for _, index := range []string{dumped + "-direct", dumped + "-proxied"} {
		if got := documents(t, n, index); len(got) != dumpDocs || !reflect.DeepEqual(got, want) {
			t.Errorf("%s has %d documents, or others than %s, which has %d", index, len(got), dumped, len(want))
		}
	}
	st := checked(t, g.capture)
	const pages = (dumpDocs + dumpPage - 1) / dumpPage
	if st.Records != s.captured || s.dropped != 0 || st.ByOp["search"] != 1 || st.ByOp["bulk"] != pages || st.ByOp["scroll"] < pages-1 {
		t.Errorf("%s; by operation %v; dropped %v", s.text, st.ByOp, st.Dropped)
	}
	t.Logf("%s; by operation %v", s.text, st.ByOp)
}

// fillDumped makes an index whose ids and values tools like to spoil.
func fillDumped(t *testing.T, n *node) {
	t.Helper()
	n.must(t, "PUT", "/"+dumped, `{"settings":{"number_of_shards":1},"mappings":{"properties":{"title":{"type":"text"},"tag":{"type":"keyword"},"n":{"type":"long"},"at":{"type":"date"},"where":{"type":"geo_point"}}}}`)
	var b strings.Builder
	for i := range dumpDocs {
		id := []string{"plain-%d", "with space %d", "a/b+c%%%d", "ключ-%d", "日本-%d"}[i%5]
		action, err := json.Marshal(map[string]any{"index": map[string]any{"_index": dumped, "_id": fmt.Sprintf(id, i)}})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n", action)
		fmt.Fprintf(&b, `{"title":"Zeile %d \"quoted\" \\ 東京 \u00e9","tag":["x%d","y"],"n":%d,"at":"2024-05-%02dT12:00:00Z","where":{"lat":%d.5,"lon":-7.25},"nested":{"deep":[{"k":null},{"k":true}]}}`+"\n",
			i, i%7, 1<<40+i, 1+i%28, i%80)
	}
	a := n.must(t, "POST", "/_bulk?refresh=true", b.String())
	var said struct{ Errors bool }
	if err := json.Unmarshal(a.body, &said); err != nil || said.Errors {
		t.Fatalf("fill the index: %v: %.500s", err, a.body)
	}
}

// dumpAndLoad gives the files of mapping and documents.
func dumpAndLoad(t *testing.T, tool, dir, url, into string) (texts [2]string) {
	t.Helper()
	for i, kind := range []string{"mapping", "data"} {
		file := filepath.Join(dir, kind+".ndjson")
		for _, way := range [][2]string{{url + "/" + dumped, file}, {file, url + "/" + into}} {
			cmd := exec.CommandContext(t.Context(), "node", tool, "--input="+way[0], "--output="+way[1], "--type="+kind, fmt.Sprintf("--limit=%d", dumpPage))
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("elasticdump of %s: %v\n%s", kind, err, out)
			}
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[i] = string(text)
	}
	return texts
}

func sortedLines(text string) []string {
	return slices.Sorted(slices.Values(strings.Split(strings.TrimSpace(text), "\n")))
}

// documents are the documents of an index by their ids, as the node itself
// gives them.
func documents(t *testing.T, n *node, index string) map[string]any {
	t.Helper()
	n.must(t, "POST", "/"+index+"/_refresh", "")
	var got struct {
		Hits struct {
			Hits []struct {
				ID     string `json:"_id"`
				Source any    `json:"_source"`
			}
		}
	}
	if err := json.Unmarshal(n.must(t, "GET", "/"+index+"/_search?size=1000", "").body, &got); err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	for _, h := range got.Hits.Hits {
		out[h.ID] = h.Source
	}
	return out
}
