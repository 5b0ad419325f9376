package sanitize

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/capture"
)

// TestOneValueOnePseudonym: a value is the same in a document, a query, a query
// string and a URL; an id the same in a path, a bulk line, a query and an answer.
func TestOneValueOnePseudonym(t *testing.T) {
	values := rapid.StringOfN(rapid.RuneFrom([]rune("abcXYZ019 -@é北京한")), 1, 20, -1)
	for _, name := range []string{PresetStrict, PresetFidelity} {
		w := newWorker(t, preset(name))
		rapid.Check(t, func(t *rapid.T) {
			v := values.Draw(t, "value")
			if strings.TrimSpace(v) == "" {
				return
			}
			q, _ := json.Marshal(v)
			body := func(target, text string) map[string]any {
				var rec capture.Record
				if drop := w.Sanitize(&rec, exchange("POST", target, text)); drop != "" {
					t.Fatalf("%s: dropped: %s", text, drop)
				}
				var out map[string]any
				if err := json.Unmarshal(bytes.TrimSpace(rec.Body), &out); err != nil {
					t.Fatalf("%s: %v", rec.Body, err)
				}
				return out
			}
			doc := body("/i/_doc", `{"f":`+string(q)+`}`)["f"]
			term := body("/i/_search", `{"query":{"term":{"f":`+string(q)+`}}}`)["query"].(map[string]any)["term"].(map[string]any)["f"]
			match := body("/i/_search", `{"query":{"match":{"f":{"query":`+string(q)+`}}}}`)["query"].(map[string]any)["match"].(map[string]any)["f"].(map[string]any)["query"]
			if doc != term || doc != match {
				t.Fatalf("%q: document %q, term %q, match %q", v, doc, term, match)
			}
			id := string(w.MapID(nil, []byte(v)))
			ids := body("/i/_search", `{"query":{"ids":{"values":[`+string(q)+`]}}}`)["query"].(map[string]any)["ids"].(map[string]any)["values"].([]any)[0]
			if ids != id {
				t.Fatalf("%q: ids query %q, MapID %q", v, ids, id)
			}
		})
	}
}

func TestIDsInPathsAndAnswers(t *testing.T) {
	w := newWorker(t, preset(PresetStrict))
	var rec capture.Record
	x := exchange("GET", "/people/_doc/a%2Fb%20c@x", "")
	x.Answer, x.AnswerType = []byte(`{"_index":"people","_id":"a/b c@x","found":true,"_source":{"f":"anna"}}`), "application/json"
	x.AnswerSize = int64(len(x.Answer))
	if drop := w.Sanitize(&rec, x); drop != "" {
		t.Fatal(drop)
	}
	id := string(w.MapID(nil, []byte("a/b c@x")))
	want := "/" + string(w.indexExpr(nil, []byte("people"))) + "/_doc/" + string(appendLoose(nil, []byte(id), looseInPath))
	if rec.Target != want {
		t.Errorf("target %s, want %s", rec.Target, want)
	}
	if rec.Want == nil || rec.Want.Found == nil || *rec.Want.Found != 1 {
		t.Errorf("summary %+v", rec.Want)
	}
	if len(rec.Handles) != 1 || rec.Handles[0] != (capture.Handle{Kind: "id", Dir: "use", ID: id}) {
		t.Errorf("handles %+v", rec.Handles)
	}
}

// TestHandles: what an answer gives and what a later request uses have one name,
// which stands in the request's text.
func TestHandles(t *testing.T) {
	w := newWorker(t, preset(PresetStrict))
	const scroll = "FGluY2x1ZGVfY29udGV4dF91dWlkDXF1ZXJ5QW5kRmV0Y2g"
	x := exchange("POST", "/i/_search?scroll=1m", `{"size":5}`)
	x.Answer, x.AnswerType = []byte(`{"_scroll_id":"`+scroll+`","took":1,"hits":{"hits":[]}}`), "application/json"
	x.AnswerSize = int64(len(x.Answer))
	var first, second, third capture.Record
	for i, r := range []struct {
		rec *capture.Record
		x   *capture.Exchange
	}{
		{&first, x},
		{&second, exchange("POST", "/_search/scroll", `{"scroll":"1m","scroll_id":"`+scroll+`"}`)},
		{&third, exchange("DELETE", "/_search/scroll/"+scroll, "")},
	} {
		if drop := w.Sanitize(r.rec, r.x); drop != "" {
			t.Fatalf("%d: %s", i, drop)
		}
	}
	if len(first.Handles) != 1 || first.Handles[0].Kind != "scroll" || first.Handles[0].Dir != "give" {
		t.Fatalf("given: %+v", first.Handles)
	}
	id := first.Handles[0].ID
	if len(second.Handles) != 1 || second.Handles[0] != (capture.Handle{Kind: "scroll", Dir: "use", ID: id}) || !strings.Contains(string(second.Body), `"`+id+`"`) {
		t.Errorf("used: %+v in %s", second.Handles, second.Body)
	}
	if len(third.Handles) != 1 || third.Handles[0].ID != id || !strings.HasSuffix(third.Target, "/"+id) {
		t.Errorf("closed: %+v in %s", third.Handles, third.Target)
	}
}

func TestTargets(t *testing.T) {
	w := newWorker(t, preset(PresetStrict))
	for _, c := range []struct{ name, in, want string }{
		{"root", "/", "/"},
		{"all", "/_all/_search", "/_all/_search"},
		{"star", "/*/_search", "/*/_search"},
		{"name", "/⟦people⟧/_search", ""},
		{"date suffix", "/⟦logs⟧-2024.05.01/_search", ""},
		{"rollover", "/.ds-⟦logs⟧-2024.05.01-000007/_search", "/." + string(w.index.text(nil, []byte("ds-logs"))) + "-2024.05.01-000007/_search"},
		{"list", "/⟦aa⟧-*,-⟦bb⟧,⟦eu⟧:⟦cc⟧/_search", ""},
		{"date math", "/%3C⟦logs⟧-%7Bnow%2Fd%7D%3E/_search", ""},
		{"slashes", "//_search", "//_search"},
		{"bare question mark", "/_search?", "/_search"},
		{"flag parameter", "/_search?pretty&size=3", "/_search?pretty&size=3"},
		{"absolute form", "http://svc:pw@es.example.test:9200/_search?size=1", "/_search?size=1"},
		{"absolute form, no path", "http://svc:pw@es.example.test:9200", "/"},
		{"fragment", "/_search#anna", "/_search"},
		{"filter path", "/_search?filter_path=hits.hits._source,took", "/_search?filter_path=hits.hits._source,took"},
		{"preference local", "/_search?preference=_local", "/_search?preference=_local"},
		{"preference shards", "/_search?preference=_shards:2,3%7C‹anna›", ""},
		{"legacy type", "/⟦people⟧/person/‹7›/_update", ""},
		{"exists", "/_search?q=_exists_:age", "/_search?q=_exists_:age"},
		{"plus is a space", "/_search?q=«anna»+AND+«bo»", "/_search?q=" + string(w.text.text(nil, []byte("anna"))) + "%20AND%20" + string(w.text.text(nil, []byte("bo")))},
	} {
		in, want := marked(w, c.in)
		if c.want != "" {
			want = c.want
		}
		var rec capture.Record
		method := "POST"
		if want == "/" {
			method = "GET"
		}
		drop := w.Sanitize(&rec, exchange(method, in, ""))
		if drop != "" || rec.Target != want {
			t.Errorf("%s: %q %s, want %s", c.name, drop, rec.Target, want)
		}
	}
}

func TestHeaders(t *testing.T) {
	w := newWorker(t, preset(PresetFidelity))
	var rec capture.Record
	x := exchange("POST", "/_search", "{}",
		"CONTENT-TYPE", "application/vnd.elasticsearch+json; compatible-with=8", "accept", "application/json, */*;q=0.5",
		"Accept-Encoding", "gzip, deflate", "X-Opaque-Id", "web-anna", "X-Elastic-Client-Meta", "es=8.9.0,go=1.21.3,t=8.9",
		"Authorization", "Basic dTpw", "Cookie", "a=b", "User-Agent", "curl/8", "X-User-Email", "a@b", "Host", "h:1",
		"Content-Length", "2", "es-security-runas-user", "anna", "Accept", "text/anna; charset=x")
	if drop := w.Sanitize(&rec, x); drop != "" {
		t.Fatal(drop)
	}
	opaque := string(w.text.text(nil, []byte("web-anna")))
	want := []capture.Header{
		{Name: "CONTENT-TYPE", Value: "application/vnd.elasticsearch+json; compatible-with=8"},
		{Name: "accept", Value: "application/json, */*;q=0.5"},
		{Name: "Accept-Encoding", Value: "gzip, deflate"},
		{Name: "X-Opaque-Id", Value: opaque},
		{Name: "X-Elastic-Client-Meta", Value: "es=8.9.0,go=1.21.3,t=8.9"},
		{Name: "Accept", Value: "text/anna; charset=x"},
	}
	for i, h := range rec.Header {
		if i >= len(want)-1 || h != want[i] {
			t.Errorf("header %d: %v", i, h)
		}
	}
	if len(rec.Header) != len(want)-1 {
		t.Errorf("%d headers: %v", len(rec.Header), rec.Header)
	}
}

func TestSecretHeadersAreNeverKept(t *testing.T) {
	for _, name := range []string{
		"Authorization", "authorization", "Proxy-Authorization", "COOKIE", "Set-Cookie", "X-Api-Key", "es-secondary-authorization",
		"ES-Client-Authentication", "X-Auth-Token", "x-amz-security-token", "X-Forwarded-For", "Forwarded", "From", "Referer",
		"X-Session-Id", "x-csrf-token", "X-Tenant-Secret", "es-security-runas-user", "X-User-Email", "X-Real-IP",
	} {
		cfg := Default()
		cfg.Headers.Keep = []string{name}
		if cfg.Validate() == nil {
			t.Errorf("%s may be kept", name)
		}
		if headerKinds(cfg.Headers.Keep)[strings.ToLower(name)] != headerDrop {
			t.Errorf("%s is kept", name)
		}
	}
}

// TestCompressedBodies: decoded, then walked over; what cannot be decoded, or
// becomes too large, is dropped.
func TestCompressedBodies(t *testing.T) {
	pack := func(newWriter func(io.Writer) io.WriteCloser, s string) string {
		var b bytes.Buffer
		z := newWriter(&b)
		_, _ = io.WriteString(z, s)
		_ = z.Close()
		return b.String()
	}
	gz := func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }
	zl := func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }
	cfg := preset(PresetFidelity)
	cfg.MaxBody = 1 << 16
	w := newWorker(t, cfg)
	in, want := marked(w, `{"query":{"term":{"f":"«anna»"}}}`)
	for _, c := range []struct{ name, coding, body, drop string }{
		{"gzip", "gzip", pack(gz, in), ""},
		{"deflate", "deflate", pack(zl, in), ""},
		{"twice", "gzip, gzip", pack(gz, pack(gz, in)), ""},
		{"a lie", "gzip", in, "decompress"},
		{"cut", "gzip", pack(gz, in)[:20], "decompress"},
		{"bomb", "gzip", pack(gz, strings.Repeat(" ", 1<<20)), "body_too_large"},
		{"zstd", "zstd", in, "encoding"},
	} {
		var rec capture.Record
		drop := w.Sanitize(&rec, exchange("POST", "/i/_search", c.body, "Content-Encoding", c.coding, "Content-Type", "application/json"))
		if drop != c.drop || drop == "" && string(rec.Body) != want {
			t.Errorf("%s: %q %s", c.name, drop, rec.Body)
		}
		if header(rec.Header, "Content-Encoding") != "" {
			t.Errorf("%s: the record says it is compressed", c.name)
		}
	}
	var rec capture.Record
	x := exchange("POST", "/i/_search", "")
	x.BodySize = 1 << 30
	if drop := w.Sanitize(&rec, x); drop != "body_too_large" {
		t.Errorf("cut body: %q", drop)
	}
}

// TestRecordOwnsItsBytes: the Exchange's buffers are reused after Sanitize.
func TestRecordOwnsItsBytes(t *testing.T) {
	for _, name := range []string{PresetFidelity, PresetOff} {
		cfg := preset(name)
		cfg.AcceptPlaintext = true
		w := newWorker(t, cfg)
		body := []byte(`{"size":3,"query":{"match_all":{}}}`)
		x := exchange("POST", "/i/_search?size=3", "")
		x.Body, x.BodySize = body, int64(len(body))
		var rec capture.Record
		if drop := w.Sanitize(&rec, x); drop != "" {
			t.Fatal(drop)
		}
		want := string(rec.Body)
		clear(body)
		if string(rec.Body) != want {
			t.Errorf("%s: the record aliases the exchange", name)
		}
	}
}

// TestPostcheck: a value that one position replaces must not stand in another.
func TestPostcheck(t *testing.T) {
	w := newWorker(t, preset(PresetFidelity))
	for _, c := range []struct {
		name, target, body string
		want               reason
	}{
		{"an option holds the word", "/i/_search", `{"query":{"match":{"t":{"query":"whitehouse","analyzer":"whitehouse"}}}}`, dropPostcheck},
		{"in another case", "/i/_search", `{"query":{"match":{"t":{"query":"WhiteHouse","analyzer":"wHITEhOUSE"}}}}`, dropPostcheck},
		{"a word of the API", "/i/_search", `{"query":{"match":{"t":"query string filter"}}}`, kept},
		{"a field's name", "/i/_search", `{"query":{"match":{"firstname":"firstname"}}}`, kept},
		{"a short word", "/i/_search", `{"query":{"match":{"t":{"query":"hous","analyzer":"hous"}}}}`, kept},
		{"a city of the time zone", "/i/_search", `{"query":{"bool":{"must":{"match":{"t":"Berlin"}},"filter":{"range":{"d":{"gte":"2024-05-01","time_zone":"Europe/Berlin"}}}}}}`, kept},
		{"an index that is kept", "/whitehouse/_search", `{"query":{"match":{"t":"whitehouse"}}}`, kept},
	} {
		var rec capture.Record
		if got := w.Sanitize(&rec, exchange("POST", c.target, c.body)); got != string(c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	p := &w.post
	for _, c := range []struct {
		orig, text string
		clean      bool
	}{
		{"whitehouse", "a whitehouse b", false},
		{"whitehouse", "WHITEHOUSE", false},
		{"whitehouse", "whitehouses", true},
		{"whitehouse", `x\nwhitehouse`, false},
		{"whitehouse", `%20whitehouse`, false},
		{"whitehouse", `%2Fwhitehouse%20`, false},
		{"13800138000", `"13800138000"`, false},
		{"13800138000", "１３８００１３８０００", false},
		{"13800138000", "138001380001", true},
		{"北京市", "在北京市", true},
		{"北京市", "(北京市)", false},
		{"МОСКВА", "москва", false},
		{"straße", "STRAßE", false},
	} {
		w.reset()
		w.text.text(nil, []byte(c.orig))
		if got := p.clean([]byte(c.text)); got != c.clean {
			t.Errorf("%q in %q: clean %v", c.orig, c.text, got)
		}
	}
}

// TestPanicIsADrop: a fault costs the record, and says nothing.
func TestPanicIsADrop(t *testing.T) {
	w := newWorker(t, preset(PresetFidelity))
	var rec capture.Record
	if drop := w.Sanitize(&rec, nil); drop != string(dropPanic) {
		t.Errorf("%q", drop)
	}
	if drop := w.Sanitize(&rec, exchange("POST", "/i/_search", `{"query":{"wrapper":{"query":"eyJ0ZXJtIjp7ImYiOiJhbm5hIn19"}}}`)); drop != "" {
		t.Errorf("after a panic: %q", drop)
	}
}

func TestReasonsAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Reasons() {
		if r == "" || seen[r] {
			t.Errorf("%q", r)
		}
		seen[r] = true
	}
}
