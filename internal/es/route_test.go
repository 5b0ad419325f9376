package es

import (
	"strings"
	"testing"
)

func TestClassify(t *testing.T) {
	tests := []struct {
		method, target string
		op             Op
		class          Class
		index, id      string
	}{
		{"GET", "/", OpInfo, ClassRead, "", ""},
		{"HEAD", "/", OpInfo, ClassRead, "", ""},
		{"GET", "/?pretty", OpInfo, ClassRead, "", ""},
		{"POST", "/", OpUnknown, ClassUnknown, "", ""},
		{"GET", "/_search", OpSearch, ClassRead, "", ""},
		{"POST", "/logs-*,-logs-old/_search?size=0", OpSearch, ClassRead, "logs-*,-logs-old", ""},
		{"GET", "/_all/_search", OpSearch, ClassRead, "_all", ""},
		{"POST", "/a:b,c/_search?scroll=1m", OpSearch, ClassReadState, "a:b,c", ""},
		{"POST", "/a/_search?ascroll=1m&scroll_id=x", OpSearch, ClassRead, "a", ""},
		{"POST", "/a/_search?x;%73croll=1m", OpSearch, ClassReadState, "a", ""},
		{"POST", "/a/_search?x#&scroll=1m", OpSearch, ClassRead, "a", ""},
		{"POST", "/a/_search/template?scroll=1m", OpSearchTemplate, ClassReadState, "a", ""},
		{"GET", "/%3Clogs-%7Bnow%2Fd%7D%3E/_search", OpSearch, ClassRead, "%3Clogs-%7Bnow%2Fd%7D%3E", ""},
		{"DELETE", "/a/_search", OpUnknown, ClassUnknown, "a", ""},
		{"POST", "/_msearch", OpMsearch, ClassRead, "", ""},
		{"GET", "/a/_msearch/template", OpMsearchTemplate, ClassRead, "a", ""},
		{"POST", "/a/_count", OpCount, ClassRead, "a", ""},
		{"GET", "/a/_validate/query?q=x", OpValidate, ClassRead, "a", ""},
		{"GET", "/a/_explain/7", OpExplain, ClassRead, "a", "7"},
		{"POST", "/_render/template/t", OpRender, ClassRead, "", "t"},
		{"GET", "/a/_doc/x%2Fy%2C%20z?routing=1", OpGet, ClassRead, "a", "x%2Fy%2C%20z"},
		{"HEAD", "/a/_doc/1", OpExists, ClassRead, "a", "1"},
		{"GET", "/a/_source/1", OpGet, ClassRead, "a", "1"},
		{"HEAD", "/a/_source/1", OpExists, ClassRead, "a", "1"},
		{"POST", "/a/_doc", OpIndex, ClassWrite, "a", ""},
		{"POST", "/a/_doc/", OpIndex, ClassWrite, "a", ""},
		{"PUT", "/a/_doc/1", OpIndex, ClassWrite, "a", "1"},
		{"PUT", "/a/_doc/1?op_type=create", OpCreate, ClassWrite, "a", "1"},
		{"PUT", "/a/_doc/1?op_type=index&op_type=c%72eate", OpCreate, ClassWrite, "a", "1"},
		{"PUT", "/a/_doc/1?op_type=index", OpIndex, ClassWrite, "a", "1"},
		{"PUT", "/a/_doc", OpUnknown, ClassUnknown, "a", ""},
		{"PUT", "/a/_create/1", OpCreate, ClassWrite, "a", "1"},
		{"POST", "/a/_update/1", OpUpdate, ClassWrite, "a", "1"},
		{"DELETE", "/a/_doc/1", OpDelete, ClassWrite, "a", "1"},
		{"PUT", "/_bulk", OpBulk, ClassWrite, "", ""},
		{"POST", "/a/_bulk?refresh=true", OpBulk, ClassWrite, "a", ""},
		{"POST", "/a/_bulk/stream", OpBulkStream, ClassWrite, "a", ""},
		{"GET", "/_bulk", OpUnknown, ClassUnknown, "", ""},
		{"GET", "/_mget", OpMget, ClassRead, "", ""},
		{"GET", "/a/_termvectors/1", OpTermvectors, ClassRead, "a", "1"},
		{"POST", "/a/_terms_enum", OpTermsEnum, ClassRead, "a", ""},
		{"GET", "/a*/_field_caps?fields=*", OpFieldCaps, ClassRead, "a*", ""},
		{"GET", "/_resolve/index/a*", OpResolve, ClassRead, "a*", ""},
		{"GET", "/a/_mvt/loc/13/4207/2692", OpMVT, ClassRead, "a", ""},
		{"GET", "/a/_mvt/loc/13/4207", OpUnknown, ClassUnknown, "a", ""},
		{"POST", "/a/_async_search?keep_alive=1d", OpAsyncSearch, ClassRead, "a", ""},
		{"GET", "/_async_search/FmR==", OpAsyncGet, ClassReadState, "", "FmR=="},
		{"GET", "/_async_search/status/FmR==", OpAsyncStatus, ClassReadState, "", "FmR=="},
		{"DELETE", "/_async_search/FmR==", OpAsyncDelete, ClassReadState, "", "FmR=="},
		{"GET", "/_plugins/_asynchronous_search/F", OpAsyncGet, ClassReadState, "", "F"},
		{"GET", "/_opendistro/_asynchronous_search/F", OpAsyncGet, ClassReadState, "", "F"},
		{"POST", "/_search/scroll", OpScroll, ClassReadState, "", ""},
		{"GET", "/_search/scroll/DX==", OpScroll, ClassReadState, "", "DX=="},
		{"DELETE", "/_search/scroll/_all", OpClearScroll, ClassReadState, "", "_all"},
		{"POST", "/a/_pit?keep_alive=1m", OpOpenPIT, ClassReadState, "a", ""},
		{"DELETE", "/_pit", OpClosePIT, ClassReadState, "", ""},
		{"POST", "/a/_search/point_in_time", OpOpenPIT, ClassReadState, "a", ""},
		{"DELETE", "/_search/point_in_time", OpClosePIT, ClassReadState, "", ""},
		{"GET", "/_search/point_in_time/_all", OpListPIT, ClassReadState, "", ""},
		{"POST", "/_query", OpESQL, ClassRead, "", ""},
		{"POST", "/_query/async", OpESQLAsync, ClassRead, "", ""},
		{"GET", "/_query/async/F", OpESQLAsync, ClassReadState, "", "F"},
		{"DELETE", "/_query/view/v", OpAdmin, ClassDestructive, "", ""},
		{"POST", "/_sql?format=json", OpSQL, ClassRead, "", ""},
		{"POST", "/_sql/close", OpSQLClose, ClassReadState, "", ""},
		{"POST", "/a/_eql/search", OpEQL, ClassRead, "a", ""},
		{"POST", "/_plugins/_ppl", OpPPL, ClassRead, "", ""},
		{"POST", "/a/_update_by_query", OpUpdateByQuery, ClassMassWrite, "a", ""},
		{"POST", "/a/_delete_by_query", OpDeleteByQuery, ClassMassWrite, "a", ""},
		{"POST", "/_reindex", OpReindex, ClassMassWrite, "", ""},
		{"POST", "/_reindex/n:1/_rethrottle", OpAdmin, ClassAdminWrite, "", "n:1"},
		{"POST", "/a/_refresh", OpRefresh, ClassAdminWrite, "a", ""},
		{"DELETE", "/a", OpAdmin, ClassDestructive, "a", ""},
		{"DELETE", "/*/", OpAdmin, ClassDestructive, "*", ""},
		{"DELETE", "/_all", OpAdmin, ClassDestructive, "_all", ""},
		{"DELETE", "/_data_stream/*", OpAdmin, ClassDestructive, "", ""},
		{"PUT", "/a", OpAdmin, ClassAdminWrite, "a", ""},
		{"POST", "/a", OpUnknown, ClassUnknown, "a", ""},
		{"HEAD", "/a", OpAdmin, ClassAdminRead, "a", ""},
		{"POST", "/a/_close", OpAdmin, ClassDestructive, "a", ""},
		{"POST", "/a/_rollover/b", OpAdmin, ClassDestructive, "a", ""},
		{"POST", "/_aliases", OpAdmin, ClassAdminWrite, "", ""},
		{"PUT", "/_security/user/ann", OpAdmin, ClassAdminWrite, "", ""},
		{"DELETE", "/_security/user/ann", OpAdmin, ClassDestructive, "", ""},
		{"GET", "/_cat/indices/a*?v", OpAdmin, ClassAdminRead, "a*", ""},
		{"GET", "/_cat/count/a", OpAdmin, ClassRead, "a", ""},
		{"GET", "/_cat/not_yet_known", OpAdmin, ClassAdminRead, "", ""},
		{"GET", "/_cluster/health", OpAdmin, ClassAdminRead, "", ""},
		{"PATCH", "/_plugins/_security/api/roles", OpAdmin, ClassAdminWrite, "", ""},
		{"PATCH", "/a/_doc/1", OpUnknown, ClassUnknown, "a", ""},

		// Version 7 and older.
		{"POST", "/a/t/_search", OpSearch, ClassRead, "a", ""},
		{"POST", "/a/t/_search/template", OpSearchTemplate, ClassRead, "a", ""},
		{"POST", "/a/t/_bulk", OpBulk, ClassWrite, "a", ""},
		{"GET", "/a/t/_count", OpCount, ClassRead, "a", ""},
		{"POST", "/a/t/_msearch", OpMsearch, ClassRead, "a", ""},
		{"GET", "/a/t/_mget", OpMget, ClassRead, "a", ""},
		{"POST", "/a/t/_update", OpUpdate, ClassWrite, "a", ""},
		{"POST", "/a/t/1/_update", OpUpdate, ClassWrite, "a", "1"},
		{"POST", "/a/_doc/1/_update", OpUpdate, ClassWrite, "a", "1"},
		{"GET", "/a/t/1", OpGet, ClassRead, "a", "1"},
		{"HEAD", "/a/t/1", OpExists, ClassRead, "a", "1"},
		{"PUT", "/a/t/1", OpIndex, ClassWrite, "a", "1"},
		{"POST", "/a/t", OpIndex, ClassWrite, "a", ""},
		{"DELETE", "/a/t/1", OpDelete, ClassWrite, "a", "1"},
		{"GET", "/a/t", OpUnknown, ClassUnknown, "a", ""},
		{"GET", "/a/t/1/2", OpUnknown, ClassUnknown, "a", ""},
		{"GET", "/a/t/_cat", OpUnknown, ClassUnknown, "a", ""},
		// As version 7 takes them; version 8 and OpenSearch see a document of that name.
		{"GET", "/a/_doc/_search", OpSearch, ClassRead, "a", ""},
		{"POST", "/a/_doc/_search?scroll=1m", OpSearch, ClassReadState, "a", ""},
		{"POST", "/a/_doc/_count", OpCount, ClassRead, "a", ""},
		{"POST", "/a/_doc/_msearch", OpMsearch, ClassRead, "a", ""},
		{"POST", "/a/_doc/_validate/query", OpValidate, ClassRead, "a", ""},
		{"GET", "/a/_doc/_mget", OpMget, ClassRead, "a", ""},
		{"PUT", "/a/_doc/_bulk", OpBulk, ClassWrite, "a", ""},
		{"POST", "/a/_doc/_update_by_query", OpUpdateByQuery, ClassMassWrite, "a", ""},
		{"POST", "/a/_doc/_delete_by_query", OpDeleteByQuery, ClassMassWrite, "a", ""},
		{"PUT", "/a/_doc/_mapping", OpAdmin, ClassDestructive, "a", ""},
		// And as both take them: a document.
		{"PUT", "/a/_doc/_search", OpIndex, ClassWrite, "a", "_search"},
		{"DELETE", "/a/_doc/_search", OpDelete, ClassWrite, "a", "_search"},
		{"GET", "/a/_doc/_bulk", OpGet, ClassRead, "a", "_bulk"},
		{"POST", "/a/_doc/_x", OpIndex, ClassWrite, "a", "_x"},
		{"POST", "/a/_doc/_search/_update", OpUpdate, ClassWrite, "a", "_search"},

		// Forms of the target.
		{"GET", "http://h:9200/a/_search?q=x", OpSearch, ClassRead, "a", ""},
		{"GET", "HTTPS://h/a/_search", OpSearch, ClassRead, "a", ""},
		{"GET", "http://h", OpInfo, ClassRead, "", ""},
		{"GET", "http://h?q=http://x/y", OpUnknown, ClassUnknown, "", ""},
		{"GET", "ftp://h/_search", OpUnknown, ClassUnknown, "", ""},
		{"GET", "_search", OpUnknown, ClassUnknown, "", ""},
		{"OPTIONS", "*", OpUnknown, ClassUnknown, "", ""},
		{"CONNECT", "h:9200", OpUnknown, ClassUnknown, "", ""},
		{"GET", "", OpUnknown, ClassUnknown, "", ""},
		{"GET", "//_search", OpSearch, ClassRead, "", ""},
		{"GET", "//a", OpUnknown, ClassUnknown, "", ""},
		{"DELETE", "//a", OpUnknown, ClassUnknown, "", ""},
		{"GET", "//", OpInfo, ClassRead, "", ""},
		{"GET", "/a//_search", OpUnknown, ClassUnknown, "a", ""},
		{"GET", "/a/_doc//1", OpUnknown, ClassUnknown, "a", ""},
		{"GET", "/_search/", OpSearch, ClassRead, "", ""},
		{"GET", "/_search?a=/_doc/?b", OpSearch, ClassRead, "", ""},
		{"GET", "/%5Fsearch", OpAdmin, ClassAdminRead, "%5Fsearch", ""},
		{"GET", "/_nothing", OpUnknown, ClassUnknown, "", ""},
		{"GET", "/a/_nothing", OpUnknown, ClassUnknown, "a", ""},
		{"get", "/_search", OpUnknown, ClassUnknown, "", ""},
		{"OPTIONS", "/_search", OpUnknown, ClassUnknown, "", ""},
		{"TRACE", "/", OpUnknown, ClassUnknown, "", ""},
		{"", "/_search", OpUnknown, ClassUnknown, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.target, func(t *testing.T) {
			r := Classify(tt.method, tt.target)
			if r.Op != tt.op || r.Class != tt.class {
				t.Errorf("got %v, %v; want %v, %v", r.Op, r.Class, tt.op, tt.class)
			}
			if verbOf(tt.method) != 0 && (r.Index != tt.index || r.ID != tt.id) {
				t.Errorf("got index %q id %q; want %q, %q", r.Index, r.ID, tt.index, tt.id)
			}
		})
	}
}

func TestClassifyKeepsPathAndQuery(t *testing.T) {
	r := Classify("GET", "http://h/a%2Fb/_search?q=a?b#c&x=%zz")
	if r.Path != "/a%2Fb/_search" || r.Query != "q=a?b#c&x=%zz" {
		t.Errorf("got path %q, query %q", r.Path, r.Query)
	}
}

func TestClassifyAllocatesNothing(t *testing.T) {
	targets := []string{"/a/_search?scroll=1m&x=y", "/a/_doc/1", "/_ml/none/of/these", "/_plugins/_x/y", "http://h/_bulk"}
	if n := testing.AllocsPerRun(100, func() {
		for _, target := range targets {
			Classify("POST", target)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestNamesAreUniqueAndParse(t *testing.T) {
	for _, o := range Ops() {
		if back, ok := ParseOp(o.String()); !ok || back != o {
			t.Errorf("op %d: %q parses to %v, %v", o, o.String(), back, ok)
		}
		if strings.ToLower(o.String()) != o.String() || o.String() == "" {
			t.Errorf("op %d: name %q", o, o.String())
		}
	}
	for c := range classCount {
		if back, ok := ParseClass(c.String()); !ok || back != c {
			t.Errorf("class %d: %q parses to %v, %v", c, c.String(), back, ok)
		}
	}
	if _, ok := ParseOp("nonsense"); ok {
		t.Error("a nonsense op parses")
	}
	if Op(200).String() != "unknown" || Class(200).String() != "unknown" {
		t.Error("a value out of range has a name")
	}
}

func FuzzClassify(f *testing.F) {
	for _, target := range []string{"/", "//x", "/a/_doc/1?x", "http://h/_search", "/_ml/a/b/c/d/e", "/a/t/_update/", "?", "/_all/"} {
		f.Add("GET", target)
		f.Add("DELETE", target)
	}
	f.Fuzz(func(t *testing.T, method, target string) {
		r := Classify(method, target)
		if (r.Op == OpUnknown) != (r.Class == ClassUnknown) {
			t.Errorf("op %v has class %v", r.Op, r.Class)
		}
		if !strings.Contains(r.Path, r.Index) || !strings.Contains(r.Path, r.ID) || strings.Contains(r.Path, "?") {
			t.Errorf("parts are not of the path")
		}
		if strings.ContainsAny(r.Index+r.ID, "/?") {
			t.Errorf("a part holds a separator")
		}
		if r != Classify(method, target) {
			t.Error("two answers")
		}
	})
}

func BenchmarkClassify(b *testing.B) {
	for _, target := range []string{"/logs-2024/_search?size=10", "/_bulk", "/a/_doc/1", "/_ml/trained_models/m/_infer"} {
		b.Run(strings.ReplaceAll(target, "/", " "), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Classify("POST", target)
			}
		})
	}
}

// No read may be sent in a form that some version takes for a write: what is left
// below _doc by Typeless is a document, to all of them.
func TestTypelessReadsAreReads(t *testing.T) {
	n := 0
	for _, word := range []string{
		"_search", "_search/template", "_search/point_in_time", "_msearch", "_msearch/template", "_count", "_validate/query", "_mget", "_termvectors",
		"_mtermvectors", "_bulk", "_bulk/stream", "_update_by_query", "_delete_by_query", "_mapping", "_mapping/f", "_mappings", "_explain", "_update", "_create", "_source",
		"_doc", "_refresh", "_close", "_x", "1", "1/_update", "1/_explain", "1/_termvectors",
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE"} {
			r := Classify(method, "/a/_doc/"+word)
			if r.DocType {
				n++
			}
			sent := Classify(method, r.Typeless())
			if sent.DocType || r.DocType && (sent.Op != r.Op || sent.Class != r.Class || sent.Index != r.Index) {
				t.Errorf("%s %s: %v %v, sent as %s: %v %v", method, r.Path, r.Op, r.Class, r.Typeless(), sent.Op, sent.Class)
			}
			document := strings.Count(r.Typeless(), "/") == 3 && strings.Contains(r.Typeless(), "/_doc/")
			if read := r.Class == ClassRead || r.Class == ClassReadState; read && document && (method == "POST" || method == "PUT" || method == "DELETE") {
				t.Errorf("%s %s is a read, and written by version 8", method, r.Typeless())
			}
		}
	}
	if n < 15 {
		t.Errorf("%d of them have a type", n)
	}
	if r := Classify("POST", "/a/t/_search"); r.Typeless() != "/a/t/_search" {
		t.Errorf("another type goes as well: %s", r.Typeless())
	}
}
