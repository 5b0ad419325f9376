package sanitize

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestLucene holds what becomes of each part of a query string.
func TestLucene(t *testing.T) {
	for _, c := range []struct{ name, in, fid, why string }{
		{"words and operators", `«anna» AND NOT («bo» OR +«cy» -«dee») && «ed» || !«flo»`, "exact", ""},
		{"fields", `name:«anna» first\-name:«bo» a.b.\*:«cy» @t:"«x y»"`, "exact", ""},
		{"space before the colon", `name : «anna» AND other :"«b c»"`, "exact", ""},
		{"field that is data", `«anna»\@«x».«test»:«1»*`, "broken", "wildcard"},
		{"groups", `tags:(«anna» OR ("«big house»" AND «bo»)) «cy»`, "exact", ""},
		{"boosts", `«anna»^2 "«b c»"^0.5 f:(«x1» «y1»)^3`, "exact", ""},
		{"slop", `"«big house»"~3`, "exact", ""},
		{"fuzzy", `«anna»~1`, "broken", "fuzzy"},
		{"ranges", `n:[1 TO 50} m:{* TO 12345] d:[2024-05-01 TO "2024-06-01T00:00:00Z"] e:[now-1d/d TO now]`, "exact", ""},
		{"one-sided ranges", `n:>=10 m:<5 d:>2024-05-01 o:>"2024-05-01"`, "exact", ""},
		{"range of words", `f:[«anna» TO «bo»]`, "broken", "range_text"},
		{"escapes", `url:http\:\/\/«x»`, "", ""},
		{"existence", `_exists_:age AND _exists_:"other.name"`, "exact", ""},
		{"ids", `_id:‹a-1› OR _id:("‹b 2›")`, "exact", ""},
		{"whole pattern", `f:* AND *:* AND g:*\ «berg»`, "", ""},
		{"pattern", `f:«an»?«a»`, "broken", "wildcard"},
		{"regexp", `f:/(«anna»|«bo»)-«x1»/`, "exact", ""},
		{"regexp of characters", `/«an».*/`, "broken", "regexp"},
		{"number", `f:«4711»`, "broken", "number_as_string"},
		{"CJK", `标题:«北京市» "«上海 天气»"`, "broken", "ideographs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorker(t, preset(PresetFidelity))
			in, want := marked(w, c.in)
			w.reset()
			out, why := w.luceneText(nil, []byte(in))
			if why != kept {
				t.Fatalf("%q", why)
			}
			level := [...]string{"exact", "approx", "broken"}[w.fid.level]
			if c.fid == "" { // the words go, the escapes stay
				if strings.Contains(string(out), "anna") || strings.Count(string(out), `\`) != strings.Count(in, `\`) {
					t.Errorf("became %s", out)
				}
				return
			}
			if strings.HasPrefix(c.in, "标题") {
				want = string(w.text.text(nil, []byte("标题"))) + want[len("标题"):]
			}
			if string(out) != want || level != c.fid || w.fid.why != c.why {
				t.Errorf("became %s (%s %s), want %s", out, level, w.fid.why, want)
			}
		})
	}
}

// TestLuceneEscapesAreNoPartOfAValue: what is escaped has the pseudonym that it
// has in a document.
func TestLuceneEscapesAreNoPartOfAValue(t *testing.T) {
	for _, name := range []string{PresetStrict, PresetFidelity} {
		w := newWorker(t, preset(name))
		for in, value := range map[string]string{
			`2024\-05\-01T10\:00\:00Z`:                 "2024-05-01T10:00:00Z",
			`2001\:db8\:\:1`:                           "2001:db8::1",
			`8f14e45f\-ceea\-467f\-9a0c\-0123456789ab`: "8f14e45f-ceea-467f-9a0c-0123456789ab",
			`Anna\ Berg`:                               "Anna Berg",
			`\anna`:                                    "anna",
			`\-anna`:                                   "-anna",
			`"say \"hi\" to C\:\\x"`:                   `say "hi" to C:\x`,
			`user\@example.test`:                       "user@example.test",
		} {
			w.reset()
			out, why := w.luceneText(nil, []byte("f:"+in))
			if why != kept {
				t.Fatalf("%s: %s", in, why)
			}
			got := string(luceneUnescape(nil, []byte(strings.Trim(strings.TrimPrefix(string(out), "f:"), `"`))))
			if want := string(w.text.text(nil, []byte(value))); got != want {
				t.Errorf("%s %s became %s, want %s", name, in, got, want)
			}
		}
	}
}

// TestLuceneRules: the rule for a field holds for its terms, ranges and regular
// expressions.
func TestLuceneRules(t *testing.T) {
	cfg := preset(PresetStrict)
	cfg.Fields = []FieldRule{{Match: Globs{"status"}, Action: "keep", Why: "no person"}, {Match: Globs{"pin"}, Action: "mask"}}
	w := newWorker(t, cfg)
	in, want := marked(w, `status:open status:(held OR "shut off") status:/o.*/ status:[a TO b] status:>=f pin:/mm/ «other»`)
	want = strings.Replace(want, "pin:/mm/", "pin:/mmmmm/", 1)
	out, why := w.luceneText(nil, []byte(in))
	if why != kept || string(out) != want {
		t.Errorf("%q: became %s, want %s", why, out, want)
	}
	for _, in := range []string{"pin:[4711 TO 4712]", "pin:>4711", "pin:4711", `pin:("4711" 4711)`} {
		if out, why := w.luceneText(nil, []byte(in)); why != kept || strings.Contains(string(out), "47") {
			t.Errorf("%s: %q %s", in, why, out)
		}
	}
}

// luceneParts counts what a query string is made of, by its first characters:
// w a term, q a phrase, / a regular expression, [ a range, f a field.
func luceneParts(s []byte) string {
	var parts []byte
	for i := 0; i < len(s); {
		n := 1
		switch c := s[i]; {
		case isLuceneSpace(c):
		case c == '"' || c == '/':
			n = max(quotedLen(s[i:], c), 1)
			parts = append(parts, c)
		case c == '[' || c == '{':
			n = max(rangeLen(s[i:]), 1)
			parts = append(parts, '[')
		case isLuceneOperator(c) || c == '(' || c == ')':
			parts = append(parts, c)
		case c == '^' || c == '~':
			for i+n < len(s) && (digitsAt(s, i+n, 1) || s[i+n] == '.') {
				n++
			}
			parts = append(parts, c)
		default:
			n = luceneWordLen(s[i:])
			kind := byte('w')
			if j := i + n + spaceLen(s[i+n:]); j < len(s) && s[j] == ':' {
				kind = 'f'
			} else if isLuceneKeyword(s[i : i+n]) {
				kind = 'k'
			}
			parts = append(parts, kind)
		}
		i += n
	}
	return string(parts)
}

// FuzzLuceneParts: what comes out has as many terms, phrases, ranges, fields and
// operators as what came in, in the same order.
func FuzzLuceneParts(f *testing.F) {
	for _, s := range []string{`a:b AND c`, `f:(a "b c" /d/)^2`, `n:[1 TO 5} m:>=3`, `a\:b c\*d e*`, `_exists_:x "y\"z"~2`, `f : x -y +z`, `2024\-05\-01`} {
		f.Add(s)
	}
	w := newWorker(f, preset(PresetFidelity))
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		w.reset()
		out, why := w.luceneText(nil, []byte(s))
		if !utf8.Valid(out) {
			t.Fatalf("%q became %q", s, out)
		}
		if in, got := luceneParts([]byte(s)), luceneParts(out); why == kept && in != got {
			t.Errorf("%q became %q: %s, then %s", s, out, in, got)
		}
	})
}
