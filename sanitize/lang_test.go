package sanitize

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/capture"
)

// langCase is a text with marks, see marked: what a language makes of it in
// preset fidelity, with its index names as tokens.
type langCase struct{ name, text, fid, why string }

func esqlCases() []langCase {
	return []langCase{
		{"sources", "FROM ⟦logs-2024*⟧, ⟦eu:users⟧,\"⟦old,-older⟧\" METADATA _id, _index | LIMIT 10000", "broken", "index_pattern"},
		{"date math, selectors", "FROM \"⟦<logs-{now/d}>⟧\", ⟦idx⟧::failures | KEEP a.b*, *c, `«odd name»` | DROP x", "exact", ""},
		{"equal", `FROM ⟦i⟧ | WHERE name == "«anna»" AND "«berg»" != city AND n IN ("«a1»", "«b2»") | LIMIT 5`, "exact", ""},
		{"raw", `FROM ⟦i⟧ | WHERE name == """«anna "x" \d»""" OR name=="«say \"hi\" \\»"`, "exact", ""},
		{"comments", "FROM ⟦i⟧ // secret\n| WHERE a == \"«anna // kept»\"", "exact", ""},
		{"match operator", `FROM ⟦i⟧ | WHERE title:"«big house»"`, "exact", ""},
		{"search functions", `FROM ⟦i⟧ | WHERE match(title, "«big»", {"operator": "AND", "minimum_should_match": 2}) OR QSTR("f:«anna» AND \"«b c»\"") OR KQL("f: «anna» or g : \"«x y»\"")`, "exact", ""},
		{"fuzzy", `FROM ⟦i⟧ | WHERE match(title, "«big»", {"fuzziness": "AUTO"})`, "broken", "fuzzy"},
		{"like", `FROM ⟦i⟧ | WHERE a LIKE "* «anna» *" AND b LIKE ("*-«x», «y»")`, "exact", ""},
		{"like inside a word", `FROM ⟦i⟧ | WHERE a LIKE "«ann»*"`, "broken", "wildcard"},
		{"rlike", `FROM ⟦i⟧ | WHERE a RLIKE "(«anna»|«bo»)-«x»"`, "exact", ""},
		{"rlike of characters", `FROM ⟦i⟧ | WHERE a RLIKE "«anna».*"`, "broken", "regexp"},
		{"dates", `FROM ⟦i⟧ | WHERE @timestamp >= "2024-05-01T00:00:00Z" AND d < "2024-06-01" | EVAL w = DATE_TRUNC(1 week, d), f = DATE_FORMAT("yyyy-MM", d) | STATS c = COUNT(*) BY w`, "exact", ""},
		{"range of text", `FROM ⟦i⟧ | WHERE name > "«anna»"`, "broken", "range_text"},
		{"functions", `FROM ⟦i⟧ | WHERE TO_LOWER(name) == "«anna»" AND CIDR_MATCH(ip, "«10.0.0.0/8»") | EVAL x = COALESCE(y, "«none»")`, "exact", ""},
		{"functions that cut", `FROM ⟦i⟧ | WHERE STARTS_WITH(name, "«ann»")`, "broken", "function"},
		{"concat", `FROM ⟦i⟧ | EVAL n = CONCAT(a, " ", b, "«x»")`, "approx", "function"},
		{"row", `ROW a = 1, b = "«anna»", c = ["«x1»", "«y1»"], d = null, e = true, f = 12.5`, "exact", ""},
		{"lookup, enrich", `FROM ⟦i⟧ | LOOKUP JOIN ⟦people⟧ ON id | ENRICH my_policy ON city WITH c = country`, "exact", ""},
		{"dissect", `FROM ⟦i⟧ | DISSECT msg "%{a} «took» %{b->} %{?x}"`, "approx", "extract"},
		{"grok", `FROM ⟦i⟧ | GROK msg "%{IP:ip} «took» %{NUMBER:n:int}"`, "approx", "extract"},
		{"rename, sort", `FROM ⟦i⟧ | RENAME a AS b | SORT b DESC NULLS LAST`, "approx", "sort"},
		{"params", `FROM ⟦i⟧ | WHERE a == ? AND b == ?who AND c == ?2 AND ??f == 1`, "exact", ""},
		{"fork", `FROM ⟦i⟧ | FORK (WHERE a == "«x1»" | LIMIT 5) (WHERE b == "«y1»") | KEEP a`, "exact", ""},
		{"computed names", "FROM ⟦i⟧ | STATS COUNT(x) BY y | WHERE `COUNT(x)` > 5", "exact", ""},
		{"names that are data", "FROM ⟦i⟧ | WHERE `«anna@x»` == 1", "exact", ""},
		{"ids", `FROM ⟦i⟧ METADATA _id, _index | WHERE _id == "‹a-1›" AND _index == "⟦other⟧"`, "exact", ""},
		{"casts", `FROM ⟦i⟧ | WHERE ip == "«10.0.0.1»"::ip AND n == 13::double`, "exact", ""},
		{"case", `FROM ⟦i⟧ | EVAL k = CASE(a == "«anna»", "«x1»", "«y1»")`, "exact", ""},
		{"completion", `FROM ⟦i⟧ | COMPLETION p = "«say»" WITH { "inference_id" : "my-model" }`, "broken", "function"},
	}
}

func sqlCases() []langCase {
	return []langCase{
		{"literals", "SELECT name, \"«other name»\" FROM ⟦users⟧ WHERE city = '«anna''s»' AND '«bo»' <> b AND n IN ('«a1»','«b2»') LIMIT 100", "exact", ""},
		{"quoted index", "SELECT * FROM \"⟦logs-x⟧\" u WHERE u.a = '«x1»' -- secret", "exact", ""},
		{"cluster", "SELECT * FROM ⟦eu⟧:\"⟦logs⟧\"", "exact", ""},
		{"qualified", "SELECT ⟦users⟧.name, ⟦users⟧.* FROM ⟦users⟧ WHERE ⟦users⟧.a = 5", "exact", ""},
		{"like", "SELECT a FROM ⟦i⟧ WHERE a LIKE '% «anna»' AND b NOT LIKE '«x»-!%%' ESCAPE '!'", "exact", ""},
		{"like inside a word", "SELECT a FROM ⟦i⟧ WHERE a LIKE '«ann»%'", "broken", "wildcard"},
		{"rlike", "SELECT a FROM ⟦i⟧ WHERE a RLIKE '(«x»|«y»)'", "exact", ""},
		{"search functions", "SELECT SCORE() FROM ⟦i⟧ WHERE QUERY('f:«anna»', 'default_operator=AND;lenient=true') OR MATCH('a^2,b', '«big»', 'operator=and')", "broken", "function"},
		{"dates", "SELECT a FROM ⟦i⟧ WHERE d >= '2024-05-01' AND d BETWEEN CAST('2024-06-01' AS DATE) AND {d '2024-07-01'} AND e < DATE '2024-01-01'", "exact", ""},
		{"between", "SELECT a FROM ⟦i⟧ WHERE a BETWEEN 5 AND 10 OR b = '«x1»'", "exact", ""},
		{"between texts", "SELECT a FROM ⟦i⟧ WHERE a BETWEEN '«anna»' AND '«bo»'", "broken", "range_text"},
		{"intervals", "SELECT HISTOGRAM(d, INTERVAL 1 MONTH) FROM ⟦i⟧ WHERE d > NOW() - INTERVAL '2 10:20' DAY TO MINUTE", "exact", ""},
		{"units", "SELECT DATE_TRUNC('month', d), DATETIME_FORMAT(d, 'dd/MM/yyyy') x FROM ⟦i⟧ ORDER BY 1", "approx", "sort"},
		{"case", "SELECT CASE WHEN a = '«x1»' THEN '«y1»' ELSE '«z1»' END AS k FROM ⟦i⟧ GROUP BY a HAVING COUNT(DISTINCT b) > 3", "exact", ""},
		{"subquery", "SELECT * FROM (SELECT a FROM ⟦i⟧ WHERE a = '«x1»') AS t WHERE t.a = '«x1»'", "exact", ""},
		{"length", "SELECT a FROM ⟦i⟧ WHERE LENGTH(a) > 5", "broken", "function"},
		{"params", "SELECT a FROM ⟦i⟧ WHERE a = ? AND b > ?", "exact", ""},
		{"show columns", "SHOW COLUMNS FROM ⟦i⟧", "exact", ""},
		{"describe", "DESCRIBE ⟦i⟧", "exact", ""},
		{"extract", "SELECT EXTRACT(YEAR FROM d) FROM ⟦i⟧ JOIN ⟦j⟧ b ON a.x = b.y", "exact", ""},
	}
}

func eqlCases() []langCase {
	return []langCase{
		{"event", `«process» where process.name == "«cmd.exe»" and process.pid != 2013`, "exact", ""},
		{"quoted category", `"«my process»" where true`, "exact", ""},
		{"any", `any where f : "«anna»" or f in ("«a1»", "«b2»") or f in~ ("«c3»")`, "exact", ""},
		{"like", `any where f like "«c» *" and g like~ ("«x1»", "*.«exe»")`, "exact", ""},
		{"wildcard inside a word", `any where f : "«reg»*"`, "broken", "wildcard"},
		{"regex", `any where f regex """(«x»|«y»)-«z»"""`, "exact", ""},
		{"sequence", "sequence by user.id with maxspan=15m\n  [«process» where ?user.name == \"«anna»\"] by pid\n  ![«file» where true] by pid with runs=3\nuntil [«process» where a == 1]\n| head 10", "exact", ""},
		{"functions", `any where stringContains~(f, "«bc»")`, "broken", "function"},
		{"cidr", `any where cidrMatch(source.ip, "«10.0.0.0/8»", "«192.168.0.0/16»")`, "exact", ""},
		{"sample", "sample by host [any where uptime > 0] by os [any where p == \"«x1»\"] by os", "exact", ""},
		{"comments", "any where /* secret */ a == \"«x1»\" // more", "exact", ""},
		{"names in quotes", "any where `«odd name»` == \"«x1»\" and `«a@b»` == null", "exact", ""},
		{"escapes", `any where path == "«C:\\Users\\anna»"`, "exact", ""},
		{"range", `any where a >= "«bo»"`, "broken", "range_text"},
	}
}

func pplCases() []langCase {
	return []langCase{
		{"source", "source=⟦logs-x⟧ | where name = '«anna»' and city != \"«berg»\" | fields name, city | head 100", "exact", ""},
		{"sources", "search source = ⟦a⟧, ⟦b*⟧ | stats count() by span(@timestamp, 5m), host", "broken", "index_pattern"},
		{"words of a search", "search source=⟦i⟧ user=«anna» «error» AND (a=\"«x1»\" OR b>5) status IN (\"«y1»\")", "exact", ""},
		{"addresses, dates, times of a search", "search source=⟦i⟧ ip=«10.0.0.7» d=2024-05-01 «web-7.x» host=«web»-* earliest=-7d@d latest=now", "exact", ""},
		{"quoted index", "source=`⟦logs-2⟧` | where `«odd name»` = '«x1»'", "exact", ""},
		{"like", "source=⟦i⟧ | where a like '% «anna» %' or like(b, '«x»_')", "broken", "wildcard"},
		{"join", "source=⟦i⟧ | join left=L right=R ON L.id = R.id ⟦my-users⟧ | fields L.a", "exact", ""},
		{"join with alias", "source=⟦i⟧ | join type=inner id ⟦users⟧ as u | fields u.a", "exact", ""},
		{"subsearch", "source=⟦i⟧ | append [ source=⟦j⟧ | where a='«x1»' ] | lookup ⟦k⟧ id", "exact", ""},
		{"parse", `source=⟦i⟧ | parse body '«took» (?<ms>\\d+)'`, "broken", "regexp"},
		{"rex", "source=⟦i⟧ | rex field=v '«value»=(?<digits>[\\w]*)'", "broken", "regexp"},
		{"escapes", `source=⟦i⟧ | where a = '«it''s»' and b = "«say \"x\" \\»"`, "exact", ""},
		{"dates", "source=⟦i⟧ | where d > '2024-05-01 10:00:00' | eval f = date_format(d, '%Y-%m-%d')", "exact", ""},
		{"search functions", "source=⟦i⟧ | where match(title, '«big»', operator='AND') or query_string(['a', 'b' ^ 2], 'f:«x1»')", "exact", ""},
		{"json paths", "source=⟦i⟧ | eval x = json_extract(doc, '$.a.b')", "broken", "function"},
		{"comments", "source=⟦i⟧ /* secret */ | fields a // more", "exact", ""},
		{"case", "source=⟦i⟧ | eval k = case(a = '«x1»', '«y1»' else '«z1»') | sort - k", "approx", "sort"},
		{"qualified", "source=⟦users⟧ | where ⟦users⟧.name = '«x1»'", "exact", ""},
	}
}

// TestLanguages holds what becomes of each kind of position in each language:
// marks are replaced as the same words of a document are, the rest stays.
func TestLanguages(t *testing.T) {
	for target, cases := range map[string][]langCase{
		"/_query": esqlCases(), "/_sql": sqlCases(), "/x/_eql/search": eqlCases(), "/_plugins/_ppl": pplCases(),
		"/_plugins/_sql": {
			{"both quotes", "SELECT a FROM ⟦my-idx⟧ WHERE a = \"«anna»\" AND b = '«it\\'s»' AND `«c d»` = 1 # secret", "exact", ""},
			{"search functions", "SELECT a FROM ⟦i⟧ WHERE multi_match(['a^2', 'b'], '«big»', fuzziness='AUTO') OR match_phrase(a, '«x1»')", "broken", "fuzzy"},
			{"prefix", "SELECT a FROM ⟦i⟧ WHERE match_bool_prefix(a, '«x1»')", "broken", "prefix"},
			{"between", "SELECT a FROM ⟦i⟧ x, ⟦j⟧ y WHERE x.a = y.a AND d BETWEEN '2024-05-01' AND '2024-06-01'", "exact", ""},
		},
	} {
		for _, c := range cases {
			t.Run(target+" "+c.name, func(t *testing.T) {
				cfg := preset(PresetFidelity)
				cfg.Indices.Other = "tokens"
				w := newWorker(t, cfg)
				in, want := marked(w, c.text)
				rec, got := langRequest(t, w, target, in)
				want = withoutComments(want)
				if got != want {
					t.Errorf("became\n%s, want\n%s", got, want)
				}
				if rec.Fidelity != c.fid || rec.FidWhy != c.why {
					t.Errorf("fidelity %s %s, want %s %s", rec.Fidelity, rec.FidWhy, c.fid, c.why)
				}
				if strings.Contains(string(rec.Body), "secret") || strings.Contains(string(rec.Body), "more") {
					t.Errorf("a comment is left: %s", rec.Body)
				}
			})
		}
	}
}

// withoutComments puts a space where the cases have a comment.
func withoutComments(s string) string {
	for _, c := range []string{"// secret", "/* secret */", "-- secret", "// more", "# secret"} {
		i := strings.Index(s, c)
		if i < 0 {
			continue
		}
		head, tail := strings.TrimRight(s[:i], " "), s[i+len(c):]
		if strings.HasPrefix(tail, "\n") {
			s = head + "\n" + strings.TrimLeft(tail, "\n")
		} else {
			s = head + " " + strings.TrimLeft(tail, " ")
		}
	}
	return s
}

func langRequest(t testing.TB, w *Worker, target, text string) (rec capture.Record, query string) {
	t.Helper()
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]string{"query": text}); err != nil {
		t.Fatal(err)
	}
	if drop := w.Sanitize(&rec, exchange("POST", target, body.String())); drop != "" {
		t.Fatalf("dropped: %s: %s", drop, text)
	}
	var out struct{ Query string }
	if err := json.Unmarshal(rec.Body, &out); err != nil {
		t.Fatal(err)
	}
	return rec, out.Query
}

// TestNoLiteralStays puts a mark in the place of every literal, quoted name and
// source of every case, one by one: it is replaced or the record is dropped.
func TestNoLiteralStays(t *testing.T) {
	const mark = "zoe.markwart@canary.test"
	n, dropped := 0, 0
	for _, l := range []struct {
		lang   language
		target string
		cases  []langCase
	}{
		{langESQL, "/_query", esqlCases()},
		{langSQL, "/_sql", sqlCases()},
		{langOpenSQL, "/_plugins/_sql", sqlCases()},
		{langEQL, "/x/_eql/search", eqlCases()},
		{langPPL, "/_plugins/_ppl", pplCases()},
	} {
		for _, name := range []string{PresetStrict, PresetFidelity} {
			cfg := preset(name)
			cfg.Indices.Other = "tokens"
			w := newWorker(t, cfg)
			for _, c := range l.cases {
				text, _ := marked(w, c.text)
				var x lexer
				if !x.cut(l.lang, []byte(text)) {
					continue // of the other dialect
				}
				for _, tok := range x.toks {
					if tok.kind != langString && tok.kind != langName {
						continue
					}
					quotes := 1
					if strings.HasPrefix(text[tok.start:], `"""`) {
						quotes = 3
					}
					with := text[:tok.start+quotes] + mark + text[tok.end-quotes:]
					body, _ := json.Marshal(map[string]string{"query": with})
					var rec capture.Record
					n++
					if drop := w.Sanitize(&rec, exchange("POST", l.target, string(body))); drop != "" {
						dropped++
						continue
					}
					if s := strings.ToLower(string(rec.Body)); strings.Contains(s, "markwart") || strings.Contains(s, "canary") {
						t.Errorf("%s became %s", with, rec.Body)
					}
				}
			}
		}
	}
	t.Logf("%d places, %d dropped", n, dropped)
	if n < 300 || dropped > n/4 {
		t.Errorf("%d places looked at, %d dropped", n, dropped)
	}
}

// TestOneWordInAllLanguages: a word has one pseudonym in documents, queries and
// texts of all languages.
func TestOneWordInAllLanguages(t *testing.T) {
	for _, name := range []string{PresetStrict, PresetFidelity} {
		w := newWorker(t, preset(name))
		for _, word := range []string{"anna.berg@example.test", "Anna Berg", "2024-05-01T10:00:00Z", "10.0.0.7", "8f14e45f-ceea-467f-9a0c-0123456789ab", "北京市", "AB-123456"} {
			var doc capture.Record
			if drop := w.Sanitize(&doc, exchange("POST", "/i/_doc", `{"f":"`+word+`"}`)); drop != "" {
				t.Fatal(drop)
			}
			form := strings.TrimSuffix(strings.TrimPrefix(string(doc.Body), `{"f":"`), `"}`)
			for target, text := range map[string]string{
				"/_query": "FROM i | WHERE f == %", "/_sql": "SELECT a FROM i WHERE f = %", "/_plugins/_sql": "SELECT a FROM i WHERE f IN (%)",
				"/x/_eql/search": "any where f == %", "/_plugins/_ppl": "source=i | where % = f",
			} {
				q := `"`
				if strings.Contains(target, "_sql") {
					q = "'"
				}
				_, got := langRequest(t, w, target, strings.Replace(text, "%", q+word+q, 1))
				if !strings.Contains(got, q+form+q) {
					t.Errorf("%s %s: %s, in a document %s", name, target, got, form)
				}
			}
		}
	}
}

// TestLanguageDrops holds texts that are not surely understood.
func TestLanguageDrops(t *testing.T) {
	for _, c := range []struct {
		name, target, text string
		want               reason
	}{
		{"open literal", "/_query", `FROM i | WHERE a == "anna`, dropQueryLanguage},
		{"unknown escape", "/_query", `FROM i | WHERE a == "\x61"`, dropQueryLanguage},
		{"four quotes", "/_query", `ROW a = """anna""""`, dropQueryLanguage},
		{"unknown command", "/_query", `FROM i | UNHEARD anna`, dropQueryLanguage},
		{"settings", "/_query", `SET a = "anna"; FROM i`, dropQueryLanguage},
		{"unbalanced", "/_query", `FROM i | WHERE (a == 1`, dropQueryLanguage},
		{"crossed brackets", "/_query", `FROM i | WHERE (a == [1)]`, dropQueryLanguage},
		{"unknown character", "/_query", `FROM i | WHERE a == ‘anna’`, dropQueryLanguage},
		{"open comment", "/_query", `FROM i /* anna`, dropQueryLanguage},
		{"nested comment", "/_query", `FROM i /* a /* b */ anna */`, dropQueryLanguage},
		{"option that is data", "/_query", `FROM i | WHERE MATCH(a, "x", {"operator": "anna@x.test"})`, dropStructural},
		{"comparison in KQL", "/_query", `FROM i | WHERE KQL("a > 5")`, dropUnparsableQuery},
		{"regexp that spells", "/_query", `FROM i | WHERE a RLIKE "[annaberg]"`, dropUnparsableQuery},
		{"statement", "/_sql", `DELETE FROM i WHERE a = 'anna'`, dropQueryLanguage},
		{"tables", "/_sql", `SHOW TABLES LIKE 'anna%'`, dropQueryLanguage},
		{"two statements", "/_sql", `SELECT 1; SELECT 'anna'`, dropQueryLanguage},
		{"value in the quotes of a name", "/_sql", `SELECT a FROM i WHERE b = "anna"`, dropQueryLanguage},
		{"backslash before a quote", "/_sql", `SELECT a FROM i WHERE b = 'x\' OR c = 'anna'`, dropQueryLanguage},
		{"dashes without space", "/_plugins/_sql", "SELECT 1--anna", dropQueryLanguage},
		{"hash", "/_sql", "SELECT 1 # anna", dropQueryLanguage},
		{"old quotes", "/x/_eql/search", `any where a == 'anna'`, dropQueryLanguage},
		{"pipe", "/x/_eql/search", `any where true | unique "anna"`, dropQueryLanguage},
		{"bare address", "/_query", `FROM i | WHERE ip == 10.0.0.7`, dropQueryLanguage},
		{"order that is data", "/_query", `FROM i | DISSECT m "%{+a/anna}"`, dropQueryLanguage},
		{"too long", "/_query", "FROM i | WHERE a == 1" + strings.Repeat(" ", 1<<20), dropQueryLanguage},
		{"too deep", "/_query", "ROW a = " + strings.Repeat("(", 2000) + "1" + strings.Repeat(")", 2000), dropDepth},
		{"grows", "/_query", `ROW a = "` + strings.Repeat("anna ", 200000) + `"`, kept},
		{"too many sources", "/_query", "FROM i" + strings.Repeat(",j", 1001), dropQueryLanguage},
		{"sed", "/_plugins/_ppl", `source=i | rex field=a mode=sed 's/anna/x@y/g'`, kept},
		{"vector", "/_query", `FROM i | WHERE KNN(v, [0.5, 0.25])`, dropVector},
		{"place", "/_query", `FROM i | WHERE ST_WITHIN(p, TO_GEOSHAPE("POINT(16.37 48.2)"))`, dropGeo},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorker(t, preset(PresetStrict))
			body, _ := json.Marshal(map[string]string{"query": c.text})
			var rec capture.Record
			if got := w.Sanitize(&rec, exchange("POST", c.target, string(body))); got != string(c.want) {
				t.Errorf("%q, want %q: %s", got, c.want, rec.Body)
			}
			if strings.Contains(string(rec.Body), "anna") {
				t.Errorf("became %s", rec.Body)
			}
		})
	}
}

// TestLanguageRules: rules on fields hold in texts as they hold in queries.
func TestLanguageRules(t *testing.T) {
	cfg := preset(PresetFidelity)
	cfg.Fields = []FieldRule{{Match: Globs{"status", "event.category"}, Action: "keep"}, {Match: Globs{"pin"}, Action: "mask"}}
	w := newWorker(t, cfg)
	for _, c := range []struct{ target, text, fid string }{
		{"/_query", `FROM i | WHERE status == "open" AND "shut" != status.keyword AND TO_LOWER(status) IN ("held") AND name == "«open»"`, "exact"},
		{"/_query", `FROM i | WHERE MATCH(status, "open") AND status LIKE "op*"`, "exact"},
		{"/_sql", `SELECT a FROM i WHERE status = 'open' AND status LIKE 'op%' OR name = '«open»'`, "exact"},
		{"/x/_eql/search", `process where status : "op*"`, "exact"},
		{"/_plugins/_ppl", `search source=i status=open | where status = 'open' and name = '«open»'`, "exact"},
	} {
		in, want := marked(w, c.text)
		if rec, got := langRequest(t, w, c.target, in); got != want || rec.Fidelity != c.fid {
			t.Errorf("became\n%s (%s %s), want\n%s", got, rec.Fidelity, rec.FidWhy, want)
		}
	}
	for target, text := range map[string]string{"/_query": `FROM i | WHERE pin == "4711"`, "/_sql": `SELECT a FROM i WHERE pin = '4711' OR 4711 < pin`, "/_plugins/_ppl": `source=i | where pin > 4711`} {
		if rec, got := langRequest(t, w, target, text); strings.Contains(got, "4711") || rec.FidWhy != "masked_field" {
			t.Errorf("%s: %s %s", text, got, rec.FidWhy)
		}
	}
}

// TestLanguageBodies holds what stands around the text.
func TestLanguageBodies(t *testing.T) {
	for _, c := range []struct{ target, body, fid string }{
		{"/_query?format=txt&drop_null_columns", `{"query":"FROM i","params":[5,"«anna»",{"who":"«bo»"},{"f":{"identifier":"name"}},{"v":{"value":"«cy»"}}],"filter":{"term":{"f":"«x1»"}},"columnar":true,"locale":"de-DE"}`, "exact"},
		{"/_query", `{"query":"FROM i","tables":{"t":{"name":{"keyword":["«anna»","«bo»"]}}}}`, "exact"},
		{"/_query/async/⦃abcdef0123456789⦄?wait_for_completion_timeout=2s", ``, "exact"},
		{"/_query/async/⦃abcdef0123456789⦄/stop", ``, "exact"},
		{"/_sql", `{"cursor":"⦃sDXF1ZXJ5QW5kRmV0Y2g⦄"}`, "exact"},
		{"/_sql/close", `{"cursor":"⦃sDXF1ZXJ5QW5kRmV0Y2g⦄"}`, "exact"},
		{"/_sql/translate", `{"query":"SELECT a FROM i","fetch_size":10,"time_zone":"Europe/Berlin","params":["«anna»",{"type":"keyword","value":"«bo»"}]}`, "exact"},
		{"/_plugins/_sql", `{"query":"SELECT a FROM i","parameters":[{"type":"string","value":"«bo»"}]}`, "exact"},
		{"/x/_eql/search", `{"query":"any where true","filter":{"term":{"f":"«x1»"}},"fields":["a.*",{"field":"@timestamp","format":"epoch_millis"}],"event_category_field":"c","size":10}`, "exact"},
		{"/_application/search_application/my-app/_search", `{"params":{"q":"«anna berg»","fields":[{"name":"«title»","boost":5}]}}`, "exact"},
		{"/i/_mvt/place/3/4/2", `{"grid_agg":"geotile","fields":["a"],"query":{"term":{"f":"«anna»"}}}`, "exact"},
		{"/i/_analyze", `{"analyzer":"standard","filter":["lowercase"],"text":["«anna berg»","«bo»"]}`, "exact"},
	} {
		w := newWorker(t, preset(PresetFidelity))
		target, wantTarget := marked(w, c.target)
		body, want := marked(w, c.body)
		var rec capture.Record
		method := "POST"
		if body == "" && !strings.HasSuffix(target, "stop") {
			method = "GET"
		}
		if drop := w.Sanitize(&rec, exchange(method, target, body, "Content-Type", "application/json")); drop != "" {
			t.Errorf("%s %s: %s", c.target, c.body, drop)
			continue
		}
		if rec.Target != wantTarget || string(rec.Body) != want || rec.Fidelity != c.fid {
			t.Errorf("%s %s, want %s %s (%s %s)", rec.Target, rec.Body, wantTarget, want, rec.Fidelity, rec.FidWhy)
		}
	}
}

// TestLanguagesObeyActions: whatever a rule makes of a field's values, a literal
// becomes what the clause that says the same makes of it, and tells as much.
func TestLanguagesObeyActions(t *testing.T) {
	cfg := preset(PresetFidelity)
	cfg.Fields = []FieldRule{
		{Match: Globs{"own"}, Action: "tokens", Domain: "ids"},
		{Match: Globs{"whole"}, Action: "pseudonym"},
		{Match: Globs{"start"}, Action: "prefix"},
		{Match: Globs{"mail"}, Action: "email"},
		{Match: Globs{"moved"}, Action: "date-shift"},
		{Match: Globs{"some"}, Action: "keep", Values: Globs{"open"}},
		{Match: Globs{"n"}, Action: "fpe"},
		{Match: Globs{"gone"}, Action: "drop-record"},
	}
	w := newWorker(t, cfg)
	texts := map[string][2]string{ // of equality, of a pattern
		"/_query":        {"FROM i | WHERE F == V", "FROM i | WHERE F LIKE V"},
		"/_sql":          {"SELECT a FROM i WHERE F = V", "SELECT a FROM i WHERE F LIKE V"},
		"/x/_eql/search": {"any where F == V", "any where F like V"},
		"/_plugins/_ppl": {"source=i | where F = V", "source=i | where F like V"},
	}
	for _, c := range []struct{ field, value string }{
		{"own", "anna"},
		{"whole", "Anna Berg"},
		{"start", "ann*"},
		{"start", "Anna Berg"},
		{"mail", "anna@example.test"},
		{"moved", "2024-05-01"},
		{"some", "open"},
		{"some", "anna"},
		{"n", "123456"},
		{"gone", "anna"},
		{"other", "anna *"},
	} {
		clause, pattern := "term", 0
		if strings.HasSuffix(c.value, "*") {
			clause, pattern = "wildcard", 1
		}
		body, _ := json.Marshal(map[string]any{"query": map[string]any{clause: map[string]any{c.field: c.value}}})
		var want capture.Record
		wantDrop := w.Sanitize(&want, exchange("POST", "/i/_search", string(body)))
		_, form, _ := strings.Cut(string(want.Body), `"`+c.field+`":"`)
		form, _, _ = strings.Cut(form, `"`)
		for target, text := range texts {
			q, in, out := `"`, c.value, form
			if strings.Contains(target, "_sql") || strings.Contains(target, "_ppl") {
				q = "'"
				in, out = strings.ReplaceAll(in, "*", "%"), strings.ReplaceAll(out, "*", "%")
			}
			query := strings.NewReplacer("F", c.field, "V", q+in+q).Replace(strings.Replace(text[pattern], "FROM", "from", 1))
			asked, _ := json.Marshal(map[string]string{"query": query})
			var rec capture.Record
			drop := w.Sanitize(&rec, exchange("POST", target, string(asked)))
			if drop != wantDrop {
				t.Errorf("%s: %q, the clause %q", query, drop, wantDrop)
				continue
			}
			var got struct{ Query string }
			if drop == "" && (json.Unmarshal(rec.Body, &got) != nil || !strings.Contains(got.Query, q+out+q) || rec.Fidelity != want.Fidelity || rec.FidWhy != want.FidWhy) {
				t.Errorf("%s became %s (%s %s), the clause has %s (%s %s)", query, got.Query, rec.Fidelity, rec.FidWhy, form, want.Fidelity, want.FidWhy)
			}
		}
	}
}

// TestLanguageHandles: a cursor has one digest in the body and in the record's
// handles, where the answer gives it and where it is used.
func TestLanguageHandles(t *testing.T) {
	w := newWorker(t, preset(PresetStrict))
	var gave, used capture.Record
	x := exchange("POST", "/_sql", `{"query":"SELECT a FROM i"}`)
	x.Status, x.AnswerType = 200, "application/json"
	x.Answer = []byte(`{"columns":[{"name":"a","type":"text"}],"rows":[["anna"]],"cursor":"c3Vyc29yOjE="}`)
	x.AnswerSize = int64(len(x.Answer))
	if drop := w.Sanitize(&gave, x); drop != "" {
		t.Fatal(drop)
	}
	if drop := w.Sanitize(&used, exchange("POST", "/_sql", `{"cursor":"c3Vyc29yOjE="}`)); drop != "" {
		t.Fatal(drop)
	}
	if len(gave.Handles) != 1 || len(used.Handles) != 1 || gave.Handles[0].ID != used.Handles[0].ID || !strings.Contains(string(used.Body), used.Handles[0].ID) {
		t.Errorf("gave %v, used %v in %s", gave.Handles, used.Handles, used.Body)
	}
}
