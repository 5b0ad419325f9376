package sanitize

import (
	"strings"
	"testing"

	"github.com/esshadow/esshadow/capture"
)

// marked cuts a text with marks into what goes in and what must come out: «x»
// is a value, ‹x› an id, ⟦x⟧ an index, ⦃x⦄ a server's handle; the rest stays.
func marked(w *Worker, s string) (in, out string) {
	for {
		i := strings.IndexAny(s, "«‹⟦⦃")
		if i < 0 {
			return in + s, out + s
		}
		in, out = in+s[:i], out+s[:i]
		var form func(dst, s []byte) []byte
		var end string
		switch rest := s[i:]; {
		case strings.HasPrefix(rest, "«"):
			form, end = w.text.text, "»"
		case strings.HasPrefix(rest, "‹"):
			form, end = w.id, "›"
		case strings.HasPrefix(rest, "⟦"):
			form, end = w.indexExpr, "⟧"
		default:
			form, end = w.state, "⦄"
		}
		_, s, _ = strings.Cut(s[i:], string([]rune(s[i:])[0]))
		word, rest, _ := strings.Cut(s, end)
		s = rest
		in += word
		out += string(form(nil, []byte(word)))
	}
}

// TestPositions holds what becomes of each kind of position.
func TestPositions(t *testing.T) {
	for _, c := range []struct{ name, target, body, fid, why string }{
		{"match all", "/i/_search", `{"query":{"match_all":{}}}`, "exact", ""},
		{"white space and order stay", "/i/_search", "{ \"size\" : 3,\n\t\"query\":{\"term\":{\"f\" : \"«anna»\" } } }\n", "exact", ""},
		{"term long", "/i/_search", `{"query":{"term":{"f":{"value":"«anna»","boost":2,"case_insensitive":true}}}}`, "exact", ""},
		{"terms", "/i/_search", `{"query":{"terms":{"f":["«anna»","«Bo Li»",7,true,null],"boost":1.5}}}`, "exact", ""},
		{"terms lookup", "/i/_search", `{"query":{"terms":{"f":{"index":"⟦users⟧","id":"‹4711›","path":"followers","routing":"‹r1›"}}}}`, "exact", ""},
		{"terms set", "/i/_search", `{"query":{"terms_set":{"f":{"terms":["«anna»"],"minimum_should_match_field":"n"}}}}`, "exact", ""},
		{"match", "/i/_search", `{"query":{"match":{"t":{"query":"«Anna goes» to the «market»","operator":"and"}}}}`, "exact", ""},
		{"match fuzzy", "/i/_search", `{"query":{"match":{"t":{"query":"«anna»","fuzziness":"AUTO"}}}}`, "broken", "fuzzy"},
		{"match fuzziness 0", "/i/_search", `{"query":{"match":{"t":{"query":"«anna»","fuzziness":0}}}}`, "exact", ""},
		{"phrase", "/i/_search", `{"query":{"match_phrase":{"t":"«anna berg»"}}}`, "exact", ""},
		{"phrase prefix", "/i/_search", `{"query":{"match_phrase_prefix":{"t":"«anna be»"}}}`, "broken", "prefix"},
		{"multi match", "/i/_search", `{"query":{"multi_match":{"query":"«anna»","fields":["t^3","name.*"],"type":"best_fields"}}}`, "exact", ""},
		{"multi match prefix", "/i/_search", `{"query":{"multi_match":{"query":"«anna»","type":"phrase_prefix"}}}`, "broken", "prefix"},
		{"prefix inside a word", "/i/_search", `{"query":{"prefix":{"f":"«ann»"}}}`, "broken", "prefix"},
		{"prefix at a separator", "/i/_search", `{"query":{"prefix":{"f":"«Anna »"}}}`, "exact", ""},
		{"wildcard at separators", "/i/_search", `{"query":{"wildcard":{"f":{"value":"*@«example».«test»"}}}}`, "exact", ""},
		{"wildcard inside a word", "/i/_search", `{"query":{"wildcard":{"f":"*«berg»"}}}`, "broken", "wildcard"},
		{"wildcard one character", "/i/_search", `{"query":{"wildcard":{"f":"«B»? «Li»"}}}`, "broken", "wildcard"},
		{"regexp of whole words", "/i/_search", `{"query":{"regexp":{"f":"(«anna»|«bo»)-«berg»"}}}`, "exact", ""},
		{"regexp of parts", "/i/_search", `{"query":{"regexp":{"f":"«ann».*[a-z0-9]+"}}}`, "broken", "regexp"},
		{"fuzzy", "/i/_search", `{"query":{"fuzzy":{"f":{"value":"«anna»","fuzziness":2}}}}`, "broken", "fuzzy"},
		{"ids", "/i/_search", `{"query":{"ids":{"values":["‹a-1›","‹b-2›"]}}}`, "exact", ""},
		{"term on _id", "/i/_search", `{"query":{"term":{"_id":"‹a-1›"}}}`, "exact", ""},
		{"term on _index", "/i/_search", `{"query":{"terms":{"_index":["⟦logs⟧"]}}}`, "exact", ""},
		{"exists", "/i/_search", `{"query":{"exists":{"field":"user.name"}}}`, "exact", ""},
		{"number in a string", "/i/_search", `{"query":{"term":{"f":"«30»"}}}`, "broken", "number_as_string"},
		{"range of dates", "/i/_search", `{"query":{"range":{"d":{"gte":"2024-05-01","lt":"now-1d/d","format":"yyyy-MM-dd","time_zone":"+01:00"}}}}`, "exact", ""},
		{"range with math", "/i/_search", `{"query":{"range":{"d":{"gte":"2024-05-01||-1M/d"}}}}`, "exact", ""},
		{"range of text", "/i/_search", `{"query":{"range":{"f":{"gte":"«anna»"}}}}`, "broken", "range_text"},
		{"range of numbers", "/i/_search", `{"query":{"range":{"n":{"gte":10,"lt":"20"}}}}`, "exact", ""},
		{"bool", "/i/_search", `{"query":{"bool":{"must":{"term":{"f":"«x1»"}},"filter":[{"term":{"f":"«y1»"}}],"minimum_should_match":"75%","_name":"q1"}}}`, "exact", ""},
		{"function score", "/i/_search", `{"query":{"function_score":{"query":{"match":{"t":"«anna»"}},"functions":[{"filter":{"term":{"f":"«bo»"}},"weight":2},{"gauss":{"d":{"origin":"2024-05-01","scale":"10d"}}}]}}}`, "exact", ""},
		{"nested", "/i/_search", `{"query":{"nested":{"path":"c","query":{"term":{"c.f":"«anna»"}},"inner_hits":{"name":"h"}}}}`, "exact", ""},
		{"query string", "/i/_search", `{"query":{"query_string":{"query":"name:«anna» AND (\"«big house»\"~2 OR tag:[* TO 5]) NOT «bo»^2 _exists_:age","fields":["t^2"]}}}`, "exact", ""},
		{"query string regexp", "/i/_search", `{"query":{"query_string":{"query":"/«john»?/"}}}`, "broken", "regexp"},
		{"simple query string", "/i/_search", `{"query":{"simple_query_string":{"query":"\"«big house»\" +(«anna» | «bo») -«cy»","fields":["t"]}}}`, "exact", ""},
		{"geo kept", "/i/_search", `{"query":{"geo_distance":{"distance":"2km","home":{"lat":48.208176,"lon":16.373819}}}}`, "exact", ""},
		{"intervals", "/i/_search", `{"query":{"intervals":{"t":{"all_of":{"intervals":[{"match":{"query":"«anna»","max_gaps":2}}]}}}}}`, "exact", ""},
		{"span", "/i/_search", `{"query":{"span_near":{"clauses":[{"span_term":{"t":"«anna»"}},{"span_term":{"t":{"value":"«bo»"}}}],"slop":1}}}`, "exact", ""},
		{"more like this", "/i/_search", `{"query":{"more_like_this":{"fields":["t"],"like":["«anna berg»",{"_index":"⟦i⟧","_id":"‹7›"}]}}}`, "approx", "more_like_this"},
		{"percolate", "/i/_search", `{"query":{"percolate":{"field":"query","document":{"t":"«anna»","n":{"deep":["«bo»"]}}}}}`, "exact", ""},
		{"terms aggregation", "/i/_search", `{"aggs":{"by_user":{"terms":{"field":"user","size":5,"missing":"«nobody»","exclude":["«anna»"]},"aggs":{"m":{"max":{"field":"n"}}}}}}`, "exact", ""},
		{"filters aggregation", "/i/_search", `{"aggs":{"f":{"filters":{"filters":{"one":{"term":{"f":"«anna»"}}}}},"g":{"filters":{"filters":[{"term":{"f":"«bo»"}}]}}}}`, "exact", ""},
		{"pipeline aggregation", "/i/_search", `{"aggs":{"h":{"date_histogram":{"field":"d","calendar_interval":"month"},"aggs":{"s":{"sum":{"field":"n"}},"r":{"bucket_script":{"buckets_path":{"x":"s.value"},"script":"params.x / 2"}}}}}}`, "exact", ""},
		{"aggregation names that are data", "/i/_search", `{"aggs":{"«anna@x.test»":{"max":{"field":"n"}}}}`, "exact", ""},
		{"composite", "/i/_search", `{"aggs":{"c":{"composite":{"sources":[{"u":{"terms":{"field":"user"}}}],"after":{"u":"«anna»"}}}}}`, "broken", "search_after"},
		{"suggest", "/i/_search", `{"suggest":{"text":"«anna»","s":{"term":{"field":"t"}}}}`, "broken", "suggest"},
		{"sort", "/i/_search", `{"sort":["_score",{"d":{"order":"desc","missing":"_last"}}]}`, "approx", "sort"},
		{"sort by score", "/i/_search", `{"sort":["_score","_doc"]}`, "exact", ""},
		{"highlight", "/i/_search", `{"highlight":{"fields":{"t":{"highlight_query":{"match":{"t":"«anna»"}}}},"pre_tags":["<em class='x'>"]}}`, "exact", ""},
		{"rescore, collapse", "/i/_search", `{"rescore":{"window_size":5,"query":{"rescore_query":{"match":{"t":"«anna»"}}}},"collapse":{"field":"user"}}`, "exact", ""},
		{"pit", "/_search", `{"pit":{"id":"⦃46ToAwMDaWR5BXV1aWQy⦄","keep_alive":"1m"}}`, "exact", ""},
		{"ext", "/i/_search", `{"query":{"match_all":{}},"stats":["g1"]}`, "exact", ""},
		{"field names that are data", "/i/_search", `{"query":{"term":{"«anna@x»":"«b1»"}}}`, "exact", ""},
		{"knn kept", "/i/_search", `{"knn":{"field":"v","k":3,"num_candidates":9,"query_vector":[0.5,-0.25]}}`, "exact", ""},
		{"script of code", "/i/_search", `{"query":{"script_score":{"query":{"match_all":{}},"script":{"source":"doc['n'].value * params.k","params":{"k":2}}}}}`, "exact", ""},
		{"script of literals", "/i/_search", `{"query":{"script":{"script":"doc['f'].value == '«anna»'"}}}`, "broken", "script"},
		{"vector functions", "/i/_search", `{"query":{"script_score":{"query":{"match_all":{}},"script":{"source":"cosineSimilarity(params.v, 'emb') + 1.0","params":{"v":[1,2]}}}}}`, "exact", ""},
		{"prefix inside an address", "/i/_search", `{"query":{"prefix":{"f":"«10.»"}}}`, "broken", "prefix"},
		{"wildcard inside a date", "/i/_search", `{"query":{"wildcard":{"f":"«2024»-*"}}}`, "broken", "wildcard"},
		{"one field, several terms", "/i/_search", `{"query":{"query_string":{"query":"_id:(‹a1› OR ‹b2›) AND «cy»"}}}`, "exact", ""},
		{"count", "/i/_count", `{"query":{"term":{"f":"«anna»"}}}`, "exact", ""},
		{"mget", "/i/_mget", `{"docs":[{"_id":"‹a1›","_index":"⟦i⟧"}],"ids":["‹b1›"]}`, "exact", ""},
		{"update", "/i/_update/‹1›", `{"doc":{"f":"«anna»"},"upsert":{"f":"«bo»"},"doc_as_upsert":true}`, "exact", ""},
		{"document", "/i/_doc/‹1›", `{"f":"«anna»","n":3,"b":true,"x":null,"a":["«b c»",{"d.e":"«f g»"}],"when":"2024-05-01"}`, "exact", ""},
		{"escapes", "/i/_doc/‹1›", `{"f":"«anna»\n\"«bo»\"\\«cy»"}`, "exact", ""},
		{"bulk", "/_bulk", "{\"index\":{\"_index\":\"⟦i⟧\",\"_id\":\"‹7a›\",\"routing\":\"‹r›\"}}\n{\"f\":\"«anna»\"}\n\n{\"delete\":{\"_id\":\"‹8›\"}}\n{ \"update\" : {\"_id\":‹9›} }\r\n{\"doc\":{\"f\":\"«bo»\"}}\r\n", "exact", ""},
		{"msearch", "/_msearch", "{\"index\":\"⟦i⟧\",\"preference\":\"‹anna›\"}\n{\"query\":{\"term\":{\"f\":\"«bo»\"}}}\n\n{}\n", "exact", ""},
		{"scroll", "/_search/scroll", `{"scroll":"1m","scroll_id":"⦃FGluY2x1ZGVfY29udGV4dF91dWlkDXF1ZXJ5⦄"}`, "exact", ""},
		{"by query", "/i/_delete_by_query?conflicts=proceed", `{"query":{"term":{"f":"«anna»"}}}`, "exact", ""},
		{"template", "/_search/template", `{"id":"by-mail","params":{"who":"«anna@x.test»","list":[{"v":"«bo»"}]}}`, "exact", ""},
		{"terms enum", "/i/_terms_enum", `{"field":"f","string":"«ann»"}`, "broken", "prefix"},
		{"rank eval", "/i/_rank_eval", `{"requests":[{"id":"q1","request":{"query":{"match":{"t":"«anna»"}}},"ratings":[{"_index":"⟦i⟧","_id":"‹a1›","rating":1}]}],"metric":{"precision":{"k":20}}}`, "exact", ""},
		{"q parameter", "/i/_search?q=name:«anna»&size=5", ``, "exact", ""},
		{"sort parameter", "/i/_search?sort=d:desc&routing=‹a1›,‹b1›", ``, "approx", "sort"},
		{"index list", "/⟦logs-*,-old,eu:users⟧/_search", ``, "exact", ""},
		{"source parameter", "/i/_search?source_content_type=application%2Fjson&pretty", ``, "exact", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorker(t, preset(PresetFidelity))
			target, wantTarget := marked(w, c.target)
			body, wantBody := marked(w, c.body)
			method := "POST"
			var rec capture.Record
			if drop := w.Sanitize(&rec, exchange(method, target, body, "Content-Type", "application/json")); drop != "" {
				t.Fatalf("dropped: %s", drop)
			}
			if rec.Target != wantTarget {
				t.Errorf("target\n%s, want\n%s", rec.Target, wantTarget)
			}
			if string(rec.Body) != wantBody {
				t.Errorf("body\n%s, want\n%s", rec.Body, wantBody)
			}
			if rec.Fidelity != c.fid || rec.FidWhy != c.why {
				t.Errorf("fidelity %s %s, want %s %s", rec.Fidelity, rec.FidWhy, c.fid, c.why)
			}
		})
	}
}

// TestDrops holds what is not captured, and why.
func TestDrops(t *testing.T) {
	for _, c := range []struct {
		name, preset, method, target, body string
		want                               reason
	}{
		{"unknown path", PresetFidelity, "GET", "/_nowhere/at/all", "", dropUnknownEndpoint},
		{"administration", PresetFidelity, "GET", "/_cat/shards", "", dropEndpoint},
		{"security", PresetFidelity, "PUT", "/_security/user/anna", `{"password":"p"}`, dropEndpoint},
		{"esql", PresetFidelity, "POST", "/_query", `{"query":"UNHEARD i"}`, dropQueryLanguage},
		{"sql", PresetFidelity, "POST", "/_sql", `{"query":"INSERT INTO i VALUES ('anna')"}`, dropQueryLanguage},
		{"clause", PresetFidelity, "POST", "/i/_search", `{"query":{"unheard_of":{"f":"x"}}}`, dropUnknownClause},
		{"aggregation", PresetFidelity, "POST", "/i/_search", `{"aggs":{"a":{"unheard_of":{"field":"f"}}}}`, dropUnknownAgg},
		{"member of a clause", PresetFidelity, "POST", "/i/_search", `{"query":{"term":{"f":{"value":"x","unheard_of":1}}}}`, dropUnknownKey},
		{"member of the body", PresetFidelity, "POST", "/i/_search", `{"unheard_of":{"f":"x"}}`, dropUnknownKey},
		{"parameter", PresetFidelity, "GET", "/i/_search?unheard_of=1", "", dropUnknownParam},
		{"option that is data", PresetFidelity, "POST", "/i/_search", `{"timeout":"anna@x.test"}`, dropStructural},
		{"option as an object", PresetFidelity, "POST", "/i/_search", `{"search_pipeline":{"request_processors":[]}}`, dropShape},
		{"scalar query", PresetFidelity, "POST", "/i/_search", `{"query":"anna"}`, dropShape},
		{"malformed", PresetFidelity, "POST", "/i/_search", `{"query":`, dropJSON},
		{"second value", PresetFidelity, "POST", "/i/_search", `{} {}`, dropJSON},
		{"half a pair", PresetFidelity, "POST", "/i/_search", `{"query":{"term":{"f":"\ud83d"}}}`, dropUTF8},
		{"bad utf-8", PresetFidelity, "POST", "/i/_search", "{\"query\":{\"term\":{\"f\":\"\xff\"}}}", dropUTF8},
		{"deep", PresetFidelity, "POST", "/i/_doc", strings.Repeat("[", 1001) + strings.Repeat("]", 1001), dropDepth},
		{"bulk action", PresetFidelity, "POST", "/_bulk", "{\"upsert\":{}}\n{}\n", dropNDJSON},
		{"bulk tail", PresetFidelity, "POST", "/_bulk", "{\"delete\":{}} {\"a\":1}\n", dropNDJSON},
		{"bulk comment", PresetFidelity, "POST", "/_bulk", "{/* anna */\"delete\":{}}\n", dropNDJSON},
		{"mustache", PresetFidelity, "POST", "/_search/template", `{"source":"{\"query\":{{anna}}"}`, dropTemplate},
		{"script", PresetStrict, "POST", "/i/_search", `{"query":{"script":{"script":"doc['f'].value == 'anna'"}}}`, dropScript},
		{"regexp in a script", PresetFidelity, "POST", "/i/_search", `{"query":{"script":{"script":"doc['f'].value =~ /anna.*/"}}}`, dropScript},
		{"regexp at its start", PresetFidelity, "POST", "/i/_search", `{"query":{"script":{"script":"return /anna/.matcher(x)"}}}`, dropScript},
		{"other language", PresetFidelity, "POST", "/i/_search", `{"query":{"script":{"script":{"source":"1","lang":"javascript"}}}}`, dropScript},
		{"mustache in a script", PresetFidelity, "POST", "/i/_search", `{"query":{"script":{"script":"{{anna}}"}}}`, dropTemplate},
		{"interval that spells", PresetFidelity, "POST", "/i/_search", `{"query":{"regexp":{"f":"<13800-13899>"}}}`, dropUnparsableQuery},
		{"vector", PresetStrict, "POST", "/i/_search", `{"knn":{"field":"v","query_vector":[0.1,0.2]}}`, dropVector},
		{"vector as text", PresetFidelity, "POST", "/i/_search", `{"knn":{"field":"v","query_vector":"3f80"}}`, dropVector},
		{"geohash", PresetStrict, "POST", "/i/_search", `{"query":{"geo_distance":{"distance":"1km","p":"u2edk8"}}}`, dropGeo},
		{"remote", PresetFidelity, "POST", "/_reindex", `{"source":{"remote":{"host":"h","password":"p"},"index":"a"},"dest":{"index":"b"}}`, dropSecret},
		{"query string", PresetFidelity, "POST", "/i/_search", `{"query":{"query_string":{"query":"\"open"}}}`, dropUnparsableQuery},
		{"letters in disguise", PresetFidelity, "POST", "/i/_search", `{"query":{"query_string":{"query":"\\u0061nna"}}}`, dropUnparsableQuery},
		{"regexp that spells", PresetFidelity, "POST", "/i/_search", `{"query":{"regexp":{"f":"[annaberg]"}}}`, dropUnparsableQuery},
		{"escaped twice", PresetFidelity, "GET", "/i/_search?q=anna%2540x", "", dropTarget},
		{"malformed escape", PresetFidelity, "GET", "/i/_search?q=%zz", "", dropTarget},
		{"options", PresetFidelity, "OPTIONS", "/i/_search", "", dropUnknownEndpoint},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorker(t, preset(c.preset))
			var rec capture.Record
			got := w.Sanitize(&rec, exchange(c.method, c.target, c.body))
			if got != string(c.want) {
				t.Errorf("%q, want %q: %s %s", got, c.want, rec.Target, rec.Body)
			}
		})
	}
}

// TestComments: they go, everything else stays.
func TestComments(t *testing.T) {
	w := newWorker(t, preset(PresetFidelity))
	in, want := marked(w, `{ "query" : {"term":{"u":"http://«anna»/*x*/" } } } `)
	in = strings.Replace(in, `{ "query"`, "{ /* customer Ann */ \"query\"", 1) + "// note"
	want = strings.Replace(want, `{ "query"`, `{  "query"`, 1)
	want = strings.Replace(want, "http://", string(w.text.text(nil, []byte("http")))+"://", 1)
	want = strings.Replace(want, "/*x*/", "/*"+string(w.text.text(nil, []byte("x")))+"*/", 1)
	var rec capture.Record
	if drop := w.Sanitize(&rec, exchange("POST", "/i/_search", in)); drop != "" || string(rec.Body) != want {
		t.Errorf("%q: %s, want %s", drop, rec.Body, want)
	}
}

// TestDepth: as deep as the bound allows, and no stack grows without one.
func TestDepth(t *testing.T) {
	w := newWorker(t, preset(PresetFidelity))
	var rec capture.Record
	for n, want := range map[int]string{400: "", 600: "depth"} {
		body := `{"query":` + strings.Repeat(`{"bool":{"filter":`, n) + `{"match_all":{}}` + strings.Repeat("}}", n) + "}"
		if drop := w.Sanitize(&rec, exchange("POST", "/i/_search", body)); drop != want {
			t.Errorf("%d levels: %q, want %q", n, drop, want)
		}
	}
}

// TestVectorsInDocuments: an embedding keeps its length and nothing else.
func TestVectorsInDocuments(t *testing.T) {
	vector := "[0.5" + strings.Repeat(",-0.123456", 63) + "]"
	for name, want := range map[string]string{
		PresetStrict:   `{"v":[1` + strings.Repeat(",1", 63) + `],"w":[0.5,0.123]}`,
		PresetFidelity: `{"v":` + vector + `,"w":[0.5,0.123456]}`,
	} {
		w := newWorker(t, preset(name))
		var rec capture.Record
		if drop := w.Sanitize(&rec, exchange("POST", "/i/_doc", `{"v":`+vector+`,"w":[0.5,0.123456]}`)); drop != "" || string(rec.Body) != want {
			t.Errorf("%s: %q %s", name, drop, rec.Body)
		}
	}
}

// TestNumbers holds what becomes of numbers by policy; out is checked where it
// does not depend on the key.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		numbers, in, out string
	}{
		{"keep", "13800138000", "13800138000"},
		{"guard", "13800138001", ""},
		{"guard", "12800138000", "12800138000"},
		{"guard", "4111111111111111", ""},
		{"guard", "4111111111111112", "4111111111111112"},
		{"guard", "110105194912310011", ""},
		{"guard", "1700000000000", "1700000000000"},
		{"guard", "-0.5e10", "-0.5e10"},
		{"guard", "18446744073709551615", "18446744073709551615"},
		{"fpe", "12345", "12345"},
		{"fpe", "123456", ""},
		{"fpe", "-123456", ""},
		{"fpe", "123456.0", ""},
		{"fpe", "0.123456", "0.123"},
		{"fpe", "1234.5", "1230"},
		{"fpe", "-0.00098765", "-0.000987"},
		{"fpe", "1.5", "1.5"},
		{"fpe", "9.87654e-7", "9.87e-7"},
		{"fpe", "1e400", "1e400"},
		{"fpe", "-0", "-0"},
		{"fpe", "0.0", "0.0"},
	} {
		cfg := preset(PresetFidelity)
		cfg.Numbers = c.numbers
		w := newWorker(t, cfg)
		got := string(w.number(nil, []byte(c.in)))
		if c.out != "" && got != c.out || c.out == "" && (got == c.in || len(got) != len(c.in)) {
			t.Errorf("%s: %s became %s, want %s", c.numbers, c.in, got, c.out)
		}
		whole := strings.TrimSuffix(strings.TrimPrefix(c.in, "-"), ".0")
		if c.out == "" { // the same digits in a string
			text := string(w.text.text(nil, []byte(whole)))
			if strings.TrimSuffix(strings.TrimPrefix(got, "-"), ".0") != text {
				t.Errorf("%s: %s as a number, %s as a string", whole, got, text)
			}
		}
	}
}
