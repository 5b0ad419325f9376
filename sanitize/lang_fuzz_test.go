package sanitize

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// fuzzLanguage: no text makes it panic; what comes out is UTF-8, reads as tokens
// of the same kinds and is the same again.
func fuzzLanguage(f *testing.F, lang language, cases []langCase) {
	for _, c := range cases {
		f.Add(strings.NewReplacer("«", "", "»", "", "‹", "", "›", "", "⟦", "", "⟧", "").Replace(c.text))
	}
	w := newWorker(f, preset(PresetStrict))
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		w.reset()
		out, why := w.langText(nil, []byte(s), lang)
		if !utf8.Valid(out) {
			t.Fatalf("%q became %q", s, out)
		}
		if why != kept {
			return
		}
		var in, made lexer
		if !in.cut(lang, []byte(s)) || !made.cut(lang, out) || !sameKinds(in.toks, made.toks) {
			t.Errorf("%q became %q, which reads otherwise", s, out)
		}
		first := string(out)
		w.reset()
		if out, why = w.langText(nil, []byte(s), lang); why != kept || string(out) != first {
			t.Errorf("%q became %q, then %q", s, first, out)
		}
	})
}

func FuzzESQL(f *testing.F)    { fuzzLanguage(f, langESQL, esqlCases()) }
func FuzzSQL(f *testing.F)     { fuzzLanguage(f, langSQL, sqlCases()) }
func FuzzOpenSQL(f *testing.F) { fuzzLanguage(f, langOpenSQL, sqlCases()) }
func FuzzEQL(f *testing.F)     { fuzzLanguage(f, langEQL, eqlCases()) }
func FuzzPPL(f *testing.F)     { fuzzLanguage(f, langPPL, pplCases()) }
