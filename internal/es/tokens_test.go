package es

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/internal/testenv"
)

// readAll returns the tokens of in as "kind:text" words.
func readAll(in string) (words []string, comments bool, err error) {
	var t Tokens
	t.Reset([]byte(in))
	for {
		k, err := t.Next()
		if err != nil || k.Kind == End {
			return words, t.Comments, err
		}
		words = append(words, string(t.Raw(k)))
	}
}

func TestTokensKeepWhatCame(t *testing.T) {
	tests := []struct {
		name, in, want string
		comments       bool
	}{
		{"empty object", `{}`, `{ }`, false},
		{"empty array", ` [ ] `, `[ ]`, false},
		{"scalar string", `"a"`, `"a"`, false},
		{"scalar number", "\t-0\r\n", `-0`, false},
		{"words", `[true,false,null]`, `[ true false null ]`, false},
		{"number texts", `[1.0,1E+2,1e400,-0,0.10,18446744073709551615]`, `[ 1.0 1E+2 1e400 -0 0.10 18446744073709551615 ]`, false},
		{"duplicate keys", `{"a":1,"a":2}`, `{ "a" 1 "a" 2 }`, false},
		{"escapes", `{"\u0061\n":"\ud83d"}`, `{ "\u0061\n" "\ud83d" }`, false},
		{"space around everything", " { \"a\" : [ 1 , { } ] , \"b\" : null } ", `{ "a" [ 1 { } ] "b" null }`, false},
		{"block comments", `/*x*/{/* y */"a"/*z*/:/***/1/**/,/*"*/"b":2}/*end*/`, `{ "a" 1 "b" 2 }`, true},
		{"line comments", "{//x\n\"a\"://y\n1}//z", `{ "a" 1 }`, true},
		{"not a comment", `{"a":"/*x*/ // y"}`, `{ "a" "/*x*/ // y" }`, false},
		{"non-ascii", `{"é":"日本"}`, `{ "é" "日本" }`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			words, comments, err := readAll(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(words, " "); got != tt.want || comments != tt.comments {
				t.Errorf("got %s, comments %v", got, comments)
			}
		})
	}
}

func TestTokensRefuse(t *testing.T) {
	tests := []struct {
		in   string
		want error
	}{
		{"", ErrEmpty},
		{" \n", ErrEmpty},
		{"/*x*/", ErrEmpty},
		{"//x", ErrEmpty},
		{"{", ErrSyntax},
		{"[", ErrSyntax},
		{"}", ErrSyntax},
		{"]", ErrSyntax},
		{"{]", ErrSyntax},
		{"[}", ErrSyntax},
		{`{"a"}`, ErrSyntax},
		{`{"a":}`, ErrSyntax},
		{`{"a":1,}`, ErrSyntax},
		{`{,}`, ErrSyntax},
		{`[1,]`, ErrSyntax},
		{`[,1]`, ErrSyntax},
		{`{"a" "b":1}`, ErrSyntax},
		{`{"a"::1}`, ErrSyntax},
		{`{"a":1:2}`, ErrSyntax},
		{`[1 2]`, ErrSyntax},
		{`[1:2]`, ErrSyntax},
		{`{a:1}`, ErrSyntax},
		{`{'a':1}`, ErrSyntax},
		{`{1:1}`, ErrSyntax},
		{`["a]`, ErrSyntax},
		{`"a`, ErrSyntax},
		{`"`, ErrSyntax},
		{"\"a\nb\"", ErrSyntax},
		{"\"a\tb\"", ErrSyntax},
		{"\"\x00\"", ErrSyntax},
		{`"\x"`, ErrSyntax},
		{`"\u12g4"`, ErrSyntax},
		{`"\u12`, ErrSyntax},
		{`"\`, ErrSyntax},
		{"01", ErrTrailing},
		{"-", ErrSyntax},
		{"1.", ErrSyntax},
		{".5", ErrSyntax},
		{"1e", ErrSyntax},
		{"1e+", ErrSyntax},
		{"+1", ErrSyntax},
		{"--1", ErrSyntax},
		{"0x1", ErrTrailing},
		{"NaN", ErrSyntax},
		{"tru", ErrSyntax},
		{"truex", ErrTrailing},
		{"True", ErrSyntax},
		{"nul", ErrSyntax},
		{"[falsy]", ErrSyntax},
		{"{}{}", ErrTrailing},
		{"1 2", ErrTrailing},
		{"{} x", ErrTrailing},
		{"{},", ErrTrailing},
		{"{}]", ErrTrailing},
		{"/", ErrSyntax},
		{"/*", ErrSyntax},
		{"/*/", ErrSyntax},
		{"{/*x* /}", ErrSyntax},
		{"{} /", ErrTrailing},
		{"[1/2]", ErrSyntax},
		{"\ufeff{}", ErrSyntax},
		{"\x00", ErrSyntax},
		{"\x0b1", ErrSyntax},
		{"\"\xff\"", ErrUTF8},
		{"{\"\xc3\":1}", ErrUTF8},
		{"\"\xed\xa0\x80\"", ErrUTF8},
		{"\"\xc0\xaf\"", ErrUTF8},
		{"\"a\\n\xe6\x97\"", ErrUTF8},
	}
	for _, tt := range tests {
		t.Run(strconv.Quote(tt.in), func(t *testing.T) {
			_, _, err := readAll(tt.in)
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v; want %v", err, tt.want)
			}
		})
	}
}

func TestTokensErrorsAndEndComeAgain(t *testing.T) {
	for _, in := range []string{"", "{}", `{"a" "b":1}`, `{"a":1,}`, `[1,,2]`, `{"a"`, `[1`, `[1,`, `{} {}`, "[\"\xff\",1]", `[01]`, `{"a":tru,"b":1}`, "[1/2]", "[]/"} {
		var tok Tokens
		tok.Reset([]byte(in))
		var first Token
		var want error
		for {
			if first, want = tok.Next(); want != nil || first.Kind == End {
				break
			}
		}
		at := tok.Offset()
		for range 3 {
			if k, err := tok.Next(); k != first || !errors.Is(err, want) || tok.Offset() != at {
				t.Errorf("%q: first %v, %v at %d; then %v, %v at %d", in, first, want, at, k, err, tok.Offset())
			}
		}
	}
}

func TestTokensDepth(t *testing.T) {
	nested := func(n int) []byte {
		return []byte(strings.Repeat(`[{"a":`, n/2) + "1" + strings.Repeat("}]", n/2))
	}
	tests := []struct {
		limit, depth int
		want         error
	}{
		{0, DefaultMaxDepth, nil},
		{0, DefaultMaxDepth + 2, ErrDepth},
		{4, 4, nil},
		{4, 6, ErrDepth},
		{1024, 1024, nil},
		{5000, 5000, nil},
		{5000, 5002, ErrDepth},
	}
	for _, tt := range tests {
		tok := Tokens{MaxDepth: tt.limit}
		for range 2 { // used again, the deep levels' notes are there already
			tok.Reset(nested(tt.depth))
			if err := drain(&tok); !errors.Is(err, tt.want) {
				t.Errorf("limit %d, depth %d: %v", tt.limit, tt.depth, err)
			}
		}
	}
}

func TestTokensOffsetsAndFlags(t *testing.T) {
	in := `{"k\n":["é",12, "plain"]}`
	want := []Token{
		{0, 1, ObjectStart, StringFacts{}},
		{1, 6, Key, StringFacts{Escaped: true}},
		{7, 8, ArrayStart, StringFacts{}},
		{8, 12, String, StringFacts{NonASCII: true}},
		{13, 15, Number, StringFacts{}},
		{17, 24, String, StringFacts{}},
		{24, 25, ArrayEnd, StringFacts{}},
		{25, 26, ObjectEnd, StringFacts{}},
		{26, 26, End, StringFacts{}},
	}
	depths := []int{1, 1, 2, 2, 2, 2, 1, 0, 0}
	var tok Tokens
	tok.Reset([]byte(in))
	for i, w := range want {
		k, err := tok.Next()
		if err != nil || k != w || tok.Depth() != depths[i] {
			t.Errorf("token %d: got %+v depth %d, %v; want %+v depth %d", i, k, tok.Depth(), err, w, depths[i])
		}
	}
}

func TestSkip(t *testing.T) {
	in := `{"a":{"b":[1,2,{"c":"}"}]},"d":"x","e":[]}`
	var tok Tokens
	tok.Reset([]byte(in))
	var got []string
	must := func(k Token, err error) Token {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	must(tok.Next())
	for {
		k := must(tok.Next())
		if k.Kind == ObjectEnd {
			break
		}
		start, end, err := tok.Skip()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(tok.Raw(k))+in[start:end])
	}
	if want := `"a"{"b":[1,2,{"c":"}"}]} "d""x" "e"[]`; strings.Join(got, " ") != want {
		t.Errorf("got %v", got)
	}
	if k := must(tok.Next()); k.Kind != End {
		t.Errorf("then %v", k)
	}
}

func TestSkipOpen(t *testing.T) {
	in := `[[1,{"a":[2]},3],4]`
	var tok Tokens
	tok.Reset([]byte(in))
	for range 3 { // [ [ 1
		if _, err := tok.Next(); err != nil {
			t.Fatal(err)
		}
	}
	end, err := tok.SkipOpen()
	if err != nil || in[:end] != `[[1,{"a":[2]},3]` || tok.Depth() != 1 {
		t.Errorf("end %d, depth %d, %v", end, tok.Depth(), err)
	}
	if k, err := tok.Next(); err != nil || string(tok.Raw(k)) != "4" {
		t.Errorf("then %v, %v", k, err)
	}
	tok.Reset([]byte(`[1,[2`))
	_, _ = tok.Next()
	if _, err := tok.SkipOpen(); !errors.Is(err, ErrSyntax) {
		t.Errorf("cut: %v", err)
	}
}

func TestSplitValue(t *testing.T) {
	tests := []struct{ line, value, tail string }{
		{`{"a":1}`, `{"a":1}`, ""}, {` {"a":1} ` + "\r", `{"a":1}`, ""}, {`{"a":1}{"b":2}`, `{"a":1}`, `{"b":2}`}, {`1 x`, `1`, ` x`}, {`{}//c`, `{}`, `//c`},
	}
	var tok Tokens
	for _, tt := range tests {
		value, tail, err := tok.SplitValue([]byte(tt.line))
		if err != nil || string(value) != tt.value || string(tail) != tt.tail {
			t.Errorf("%q: got %q, %q, %v", tt.line, value, tail, err)
		}
	}
	if _, _, err := tok.SplitValue([]byte(" ")); !errors.Is(err, ErrEmpty) {
		t.Errorf("blank: %v", err)
	}
}

// agree tells whether Tokens and encoding/json say the same of a text, where
// they should: without comments, in valid UTF-8, not too deep.
func agree(t testing.TB, in []byte) {
	var tok Tokens
	tok.Reset(in)
	err := drain(&tok)
	valid := json.Valid(in)
	switch {
	case tok.Comments, errors.Is(err, ErrDepth):
		if err == nil && valid {
			t.Errorf("comments are valid JSON: %q", in)
		}
	case !utf8.Valid(in):
		if err == nil {
			t.Errorf("invalid UTF-8 passes: %q", in)
		}
	case (err == nil) != valid:
		t.Errorf("got %v, encoding/json says %v: %q", err, valid, in)
	}
}

// TestTokensAgreeOnSmallTexts tries every text of up to five of these pieces.
func TestTokensAgreeOnSmallTexts(t *testing.T) {
	pieces := []string{"{", "}", "[", "]", ",", ":", `"a"`, "1", "true", " ", "-", "0"}
	var try func(prefix string, left int)
	try = func(prefix string, left int) {
		agree(t, []byte(prefix))
		if left == 0 {
			return
		}
		for _, p := range pieces {
			try(prefix+p, left-1)
		}
	}
	try("", 5)
}

func TestTokensAgreeOnCutsAndFlips(t *testing.T) {
	for i := range benchSearch {
		agree(t, []byte(benchSearch[:i]))
		for _, c := range []byte("\"\\{}[],:0x/ \n\x00\xff") {
			b := []byte(benchSearch)
			b[i] = c
			agree(t, b)
		}
	}
}

// TestTokensPassOverBlanks tries every number of blanks between tokens.
func TestTokensPassOverBlanks(t *testing.T) {
	for n := range 40 {
		space := strings.Repeat(" ", n)
		in := strings.Join([]string{"", "{", `"a"`, ":", "[", "1", ",", "{", "}", "]", "}", ""}, "\n"+space)
		words, _, err := readAll(in)
		if got := strings.Join(words, " "); err != nil || got != `{ "a" [ 1 { } ] }` {
			t.Errorf("%d blanks: %s, %v", n, got, err)
		}
		agree(t, []byte(in))
	}
}

func TestTokensAgreeOnCorpus(t *testing.T) {
	for _, file := range []string{"search_bodies.ndjson", "other_requests.ndjson", "edge_cases.jsonl"} {
		text, err := os.ReadFile(testenv.Corpus(t, file))
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			agree(t, line)
		}
	}
}

func TestTokensAllocateNothing(t *testing.T) {
	in := []byte(benchDoc)
	if n := testing.AllocsPerRun(100, func() {
		var tok Tokens
		tok.Reset(in)
		if err := drain(&tok); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestTokensProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.MapOf(rapid.String(), rapid.SliceOf(rapid.String())).Draw(t, "v")
		text, err := json.MarshalIndent(v, "", rapid.SampledFrom([]string{"", " ", "\t"}).Draw(t, "indent"))
		if err != nil {
			t.Skip(err)
		}
		var tok Tokens
		tok.Reset(text)
		keys := 0
		for {
			k, err := tok.Next()
			if err != nil {
				t.Fatal(err)
			}
			if k.Kind == End {
				break
			}
			if k.Kind == Key {
				keys++
			}
		}
		if keys != len(v) {
			t.Fatalf("%d keys of %d", keys, len(v))
		}
	})
}

func FuzzTokens(f *testing.F) {
	for _, s := range []string{benchDoc, benchSearch, `{"a"/**/:1}`, "\"\xff\"", `[1,2`, `{"a":"\ud83d\ude00"}`, "[[[[[[", "// x"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		agree(t, in)
		var tok Tokens
		tok.Reset(in)
		last := 0
		for {
			k, err := tok.Next()
			if err != nil || k.Kind == End {
				return
			}
			if k.Start < last || k.End <= k.Start || k.End > len(in) {
				t.Fatalf("token %+v after %d", k, last)
			}
			last = k.End
			if k.Kind == String || k.Kind == Key {
				Unquote(nil, tok.Raw(k))
			}
		}
	})
}
