package es

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/internal/testenv"
)

// endpoint is one row of the corpus's endpoint tables.
type endpoint struct {
	api, path, class string
	methods          []string
}

func readEndpoints(t *testing.T, file string, hasClass bool) []endpoint {
	t.Helper()
	text, err := os.ReadFile(testenv.Corpus(t, file))
	if err != nil {
		t.Fatal(err)
	}
	var rows []endpoint
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		e := endpoint{api: f[0], methods: strings.Split(f[1], ","), path: f[2]}
		if hasClass {
			e.class = f[len(f)-1]
		}
		rows = append(rows, e)
	}
	return rows
}

// fill puts a value where the table has {name}; the values show decoding and
// splitting mistakes.
func fill(path, value string) string {
	var out strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] == '{' {
			out.WriteString(value)
			i += strings.IndexByte(path[i:], '}')
			continue
		}
		out.WriteByte(path[i])
	}
	return out.String()
}

// tableClass maps the table's classes to ours.
func tableClass(name string) (Class, bool) {
	switch name {
	case "admin-maintenance":
		return ClassAdminWrite, true
	case "admin-destructive":
		return ClassDestructive, true
	}
	return ParseClass(name)
}

func TestClassifyElasticsearchTable(t *testing.T) {
	rows, checked := readEndpoints(t, "es_endpoints.tsv", true), 0
	for _, e := range rows {
		want, ok := tableClass(e.class)
		if !ok {
			t.Fatalf("%s: class %q of the table is unknown", e.api, e.class)
		}
		for _, method := range e.methods {
			for _, value := range []string{"x", "a%2F_search", "-x*,b", "%3Cl-%7Bnow%2Fd%7D%3E"} {
				target := fill(e.path, value) + "?pretty"
				if r := Classify(method, target); r.Class != want || r.Op == OpUnknown {
					t.Errorf("%s %s (%s): got %v, %v; want %v", method, target, e.api, r.Op, r.Class, want)
				}
				checked++
			}
		}
	}
	t.Logf("%d rows, %d requests", len(rows), checked)
	if len(rows) < 700 {
		t.Errorf("only %d rows", len(rows))
	}
}

// osClass holds the classes of OpenSearch's own APIs that differ from what their
// method says.
var osClass = map[string]Class{
	"POST /_bulk/stream": ClassWrite, "PUT /_bulk/stream": ClassWrite,
	"POST /{}/_bulk/stream": ClassWrite, "PUT /{}/_bulk/stream": ClassWrite,
	"DELETE /_search/point_in_time": ClassReadState, "DELETE /_search/point_in_time/_all": ClassReadState,
	"GET /_search/point_in_time/_all": ClassReadState, "POST /{}/_search/point_in_time": ClassReadState,
	"POST /_plugins/_asynchronous_search":      ClassRead,
	"GET /_plugins/_asynchronous_search/{}":    ClassReadState,
	"DELETE /_plugins/_asynchronous_search/{}": ClassReadState,
	"POST /_plugins/_sql":                      ClassRead, "POST /_plugins/_sql/_explain": ClassRead,
	"POST /_plugins/_sql/close": ClassReadState, "POST /_plugins/_sql/stats": ClassAdminRead,
	"POST /_plugins/_ppl": ClassRead, "POST /_plugins/_ppl/_explain": ClassRead,
	"POST /_plugins/_ppl/stats":                                            ClassAdminRead,
	"POST /_plugins/_ml/_predict/{}/{}":                                    ClassRead,
	"POST /_plugins/_ml/models/{}/_predict":                                ClassRead,
	"POST /_plugins/_ml/models/{}/_predict/stream":                         ClassRead,
	"POST /_plugins/_transform/_preview":                                   ClassRead,
	"POST /_plugins/_ism/explain":                                          ClassAdminRead,
	"POST /_plugins/_ism/explain/{}":                                       ClassAdminRead,
	"POST /_plugins/_ism/remove":                                           ClassDestructive,
	"POST /_plugins/_ism/remove/{}":                                        ClassDestructive,
	"PUT /_plugins/_replication/{}/_start":                                 ClassDestructive,
	"POST /_plugins/_replication/{}/_stop":                                 ClassDestructive,
	"GET /_plugins/_knn/warmup/{}":                                         ClassAdminWrite,
	"GET /_plugins/_notifications/feature/test/{}":                         ClassAdminWrite,
	"POST /_plugins/_security/authinfo":                                    ClassAdminRead,
	"POST /_plugins/_security/dashboardsinfo":                              ClassAdminRead,
	"POST /_plugins/_security/health":                                      ClassAdminRead,
	"POST /_plugins/_security/tenantinfo":                                  ClassAdminRead,
	"POST /_plugins/_security/whoami":                                      ClassAdminRead,
	"PUT /_cluster/decommission/awareness/{}/{}":                           ClassDestructive,
	"PUT /_cluster/routing/awareness/{}/weights":                           ClassDestructive,
	"POST /_remotestore/_restore":                                          ClassDestructive,
	"POST /_plugins/_ml/memory_containers/{}/memories/{}/_delete_by_query": ClassDestructive,
}

func TestClassifyOpenSearchTable(t *testing.T) {
	known := map[string]Class{}
	for _, e := range readEndpoints(t, "es_endpoints.tsv", true) {
		c, _ := tableClass(e.class)
		for _, m := range e.methods {
			known[m+" "+fill(e.path, "{}")] = c
		}
	}
	rows, shared := readEndpoints(t, "opensearch_endpoints.tsv", false), 0
	for _, e := range rows {
		for _, method := range e.methods {
			key := method + " " + fill(e.path, "{}")
			want, ok := known[key]
			if ok {
				shared++
			} else if want, ok = osClass[key]; !ok {
				want = adminClass(verbOf(method))
				if method == "POST" && strings.HasSuffix(e.path, "/_search") {
					want = ClassAdminRead // of the plugin's own objects
				}
			}
			if r := Classify(method, fill(e.path, "x%2Fy")); r.Class != want || r.Op == OpUnknown {
				t.Errorf("%s (%s): got %v, %v; want %v", key, e.api, r.Op, r.Class, want)
			}
		}
	}
	t.Logf("%d rows, %d requests shared with Elasticsearch", len(rows), shared)
}

// TestClassifyRealRequests: no real request of the corpus is unknown but those
// that no engine knows either, date math with an unescaped "/" and an API word
// written twice.
func TestClassifyRealRequests(t *testing.T) {
	for _, file := range []string{"search_bodies.ndjson", "bulk_bodies.ndjson", "other_requests.ndjson", "edge_cases.jsonl"} {
		text, err := os.ReadFile(testenv.Corpus(t, file))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for line := range strings.Lines(string(text)) {
			var req struct{ Method, Path string }
			if err := json.Unmarshal([]byte(line), &req); err != nil {
				t.Fatal(err)
			}
			wrong := strings.HasPrefix(req.Path, "/<") || strings.HasPrefix(req.Path, "/_async_search/_async_search")
			if r := Classify(req.Method, req.Path); r.Op == OpUnknown && !wrong {
				t.Errorf("%s: %s %s is unknown", file, req.Method, req.Path)
			}
			n++
		}
		t.Logf("%s: %d requests", file, n)
	}
}
