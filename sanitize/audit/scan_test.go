package audit

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

func newScanner(t testing.TB, opt Options) *Scanner {
	t.Helper()
	s, err := New(opt)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const mark = "Marigold-77@example.test"

func gz(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.String()
}

func zl(s string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(s))
	_ = w.Close()
	return b.String()
}

func zst(s string) string {
	e, _ := zstd.NewWriter(nil)
	defer func() { _ = e.Close() }()
	return string(e.EncodeAll([]byte(s), nil))
}

func percentAll(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%%%02x", s[i])
	}
	return b.String()
}

func jsonEscapeAll(s string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, `\u%04X`, r)
	}
	return b.String()
}

func htmlAll(s string) string {
	var b strings.Builder
	for i, r := range s {
		if i%2 == 0 {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			fmt.Fprintf(&b, "&#x%x;", r)
		}
	}
	return b.String()
}

// fullWidth writes ASCII in the wide forms that East Asian keyboards give.
func fullWidth(s string) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7F {
			return r + 0xFEE0
		}
		return r
	}, s)
}

// encodings are the ways that text travels in.
func encodings() map[string]func(string) string {
	return map[string]func(string) string{
		"plain":        func(s string) string { return s },
		"upper":        strings.ToUpper,
		"full width":   fullWidth,
		"zero width":   func(s string) string { return strings.ReplaceAll(s, "-", "\u200b-") },
		"percent":      percentAll,
		"form":         url.QueryEscape,
		"percent 2":    func(s string) string { return url.QueryEscape(url.QueryEscape(s)) },
		"percent 3":    func(s string) string { return url.QueryEscape(url.QueryEscape(url.QueryEscape(s))) },
		"json":         jsonEscapeAll,
		"query escape": func(s string) string { return strings.NewReplacer("-", `\-`, "@", `\@`).Replace(s) },
		"html":         htmlAll,
		"html names":   func(s string) string { return html.EscapeString(`"<>&`) + s },
		"hex":          func(s string) string { return hex.EncodeToString([]byte(s)) },
		"hex odd":      func(s string) string { return "a" + hex.EncodeToString([]byte(s)) },
		"base64":       func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		"base64 +1":    func(s string) string { return "x" + base64.RawURLEncoding.EncodeToString([]byte(s)) },
		"base64 +2":    func(s string) string { return "xy" + base64.RawURLEncoding.EncodeToString([]byte(s)) },
		"base64 +3":    func(s string) string { return "xyz" + base64.RawStdEncoding.EncodeToString([]byte(s)) },
		"base64 of +1": func(s string) string { return base64.StdEncoding.EncodeToString([]byte("{" + s)) },
		"base64 of +2": func(s string) string { return base64.StdEncoding.EncodeToString([]byte("{ " + s)) },
		"base64 lines": func(s string) string {
			b := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("filling ", 7) + s))
			return b[:76] + "\r\n" + b[76:]
		},
		"gzip": func(s string) string { return base64.StdEncoding.EncodeToString([]byte(gz(s))) },
		"zlib": func(s string) string { return hex.EncodeToString([]byte(zl(s))) },
		"zstd": func(s string) string { return base64.URLEncoding.EncodeToString([]byte(zst(s))) },
	}
}

func TestEveryEncodingIsSeenThrough(t *testing.T) {
	for name, enc := range encodings() {
		t.Run(name, func(t *testing.T) {
			line, err := json.Marshal(map[string]any{"body": `{"query":{"term":{"a":` + string(quote("x "+enc(mark)+" y")) + `}}}`})
			if err != nil {
				t.Fatal(err)
			}
			s := newScanner(t, Options{Words: []string{mark}})
			s.Line("segment", line)
			r := s.Report()
			if r.Found != 1 || r.Findings[0].Field != "body.query.term.a" || r.Findings[0].Word != 0 {
				t.Errorf("%s: %+v", line, r)
			}
			s = newScanner(t, Options{Words: []string{"Marigold-78@example.test"}})
			s.Line("segment", line)
			if r := s.Report(); r.Found != 0 || r.Undecoded != 0 {
				t.Errorf("another word: %+v", r)
			}
		})
	}
}

func quote(s string) []byte {
	b, _ := json.Marshal(s)
	return b
}

// Any two encodings within each other are seen through, three where none of
// them is a step of its own.
func TestNestedEncodings(t *testing.T) {
	enc := encodings()
	names := make([]string, 0, len(enc))
	for n := range enc {
		names = append(names, n)
	}
	for _, outer := range names {
		for _, inner := range names {
			switch outer { // these damage what they are not made for
			case "upper", "zero width", "query escape":
				continue
			}
			text := enc[outer](enc[inner](mark))
			s := newScanner(t, Options{Words: []string{mark}})
			s.Text("t", []byte(text))
			if s.Report().Found == 0 {
				t.Errorf("%s of %s is not seen: %.200s", outer, inner, text)
			}
		}
	}
}

func TestNestedToDepthFour(t *testing.T) {
	enc := encodings()
	names := []string{"percent", "json", "html", "hex", "base64", "gzip"}
	rapid.Check(t, func(rt *rapid.T) {
		text, steps := mark, 0
		for steps < 4 {
			n := rapid.SampledFrom(names).Draw(rt, "encoding")
			text = enc[n](text)
			if steps++; n == "gzip" { // compressed, and base64
				steps++
			}
		}
		if steps > 4 {
			rt.Skip()
		}
		s, err := New(Options{Words: []string{mark}})
		if err != nil {
			rt.Fatal(err)
		}
		s.Text("t", []byte(text))
		if s.Report().Found == 0 {
			rt.Fatalf("not seen: %.300s", text)
		}
	})
}

func TestDigitsInGroups(t *testing.T) {
	for _, text := range []string{"13800138000", "138 0013 8000", "138-0013-8000", "+86 138.0013.8000", "１３８００１３８０００"} {
		s := newScanner(t, Options{Words: []string{"138 0013-8000"}})
		s.Text("t", []byte("call "+text+" now"))
		if s.Report().Found == 0 {
			t.Errorf("%s is not found", text)
		}
	}
	s := newScanner(t, Options{Words: []string{"13800138000"}})
	s.Text("t", []byte("138, 0013, 8000"))
	if s.Report().Found != 0 {
		t.Error("a list of numbers was joined")
	}
}

func TestPositions(t *testing.T) {
	line := `{"seq":42,"t":1,"conn":3,"n":1,"op":"bulk","method":"POST","target":"/marigold/_bulk","headers":{"X-Opaque-Id":"marigold"},` +
		`"body":"{\"index\":{\"_id\":\"marigold\"}}\n{\"a\":{\"b\":[1,\"marigold\"]},\"marigold\":1}\n","want":{"hits":["marigold"]},"ids":[{"kind":"id","id":"marigold"}]}`
	s := newScanner(t, Options{Words: []string{"marigold"}})
	s.Line("one", []byte(line))
	got := map[string]bool{}
	for _, f := range s.Report().Findings {
		if f.Seq != 42 || f.Segment != "one" || f.Kind != "word" || len(f.Digest) != 12 {
			t.Errorf("finding %+v", f)
		}
		got[f.Field] = true
	}
	for _, want := range []string{
		"target", "headers.X-Opaque-Id", "body[0].index._id", "body[1].a.b", "body[1] (name)", "want.hits", "ids.id",
	} {
		if !got[want] {
			t.Errorf("no finding at %q, only at %v", want, got)
		}
	}
}

// No result quotes the value, whatever is a name or a value.
func TestNothingIsQuoted(t *testing.T) {
	s := newScanner(t, Options{Words: []string{"marigold smith"}, Detect: true})
	s.Line("one", []byte(`{"seq":1,"body":"{\"marigold smith\":{\"m.smith@mail.example\":\"Marigold Smith\"}}"}`))
	text, err := json.Marshal(s.Report())
	if err != nil {
		t.Fatal(err)
	}
	if s.Report().Found < 3 || strings.Contains(strings.ToLower(string(text)), "smith") {
		t.Errorf("%s", text)
	}
}

func TestTroubles(t *testing.T) {
	bomb := base64.StdEncoding.EncodeToString([]byte(gz(strings.Repeat("a", 1<<20))))
	for name, c := range map[string]struct {
		line string
		opt  Options
		want int
	}{
		"no JSON":         {`{"seq":1,"body":"cut`, Options{}, 1},
		"gzip too large":  {`{"seq":1,"body":"` + bomb + `"}`, Options{Expand: 1 << 16}, 1},
		"all in order":    {`{"seq":1,"body":"` + bomb + `"}`, Options{}, 0},
		"nonsense base64": {`{"seq":1,"body":"` + strings.Repeat("x/+9", 99) + `"}`, Options{}, 0},
	} {
		s := newScanner(t, c.opt)
		s.Line("one", []byte(c.line))
		if r := s.Report(); r.Undecoded < c.want || c.want == 0 && r.Undecoded > 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestShortWords(t *testing.T) {
	if _, err := New(Options{Words: []string{"long enough", "ab"}}); err == nil || !strings.Contains(err.Error(), "word 2") {
		t.Error(err)
	}
	s := newScanner(t, Options{Words: []string{"张三"}})
	s.Text("t", []byte(`{"name":"\u5f20\u4e09"}`))
	if s.Report().Found == 0 {
		t.Error("two characters of Han are not found")
	}
}

func TestManyWords(t *testing.T) {
	words := make([]string, 20000)
	for i := range words {
		words[i] = fmt.Sprintf("customer%05dname", i)
	}
	s := newScanner(t, Options{Words: words})
	s.Text("t", []byte("a customer12345name b"))
	r := s.Report()
	if r.Found != 1 || r.Findings[0].Word != 12345 {
		t.Errorf("%+v", r)
	}
}

func TestRuns(t *testing.T) {
	got := map[string]bool{}
	s := newScanner(t, Options{Runs: func(run []byte) bool { got[string(run)] = true; return string(run) == "abcdefgh" }})
	s.Text("t", []byte(base64.StdEncoding.EncodeToString([]byte(`{"x":"AbCdEfGh-1234 5678"}`))))
	if r := s.Report(); r.ByKind["mark"] != 1 {
		t.Errorf("%+v", r)
	}
	for _, want := range []string{"abcdefgh", "1234", "5678", "12345678"} {
		if !got[want] {
			t.Errorf("run %q was not offered", want)
		}
	}
}

func FuzzLine(f *testing.F) {
	for _, enc := range encodings() {
		f.Add([]byte(`{"seq":1,"body":` + string(quote(enc(mark))) + `}`))
	}
	f.Add([]byte(`{"seq":`))
	f.Fuzz(func(t *testing.T, line []byte) {
		s, err := New(Options{Words: []string{mark}, Detect: true, Expand: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		s.Line("x", line)
		if bytes.Contains(line, []byte(mark)) && s.Report().Found == 0 {
			t.Errorf("plain word not found in %q", line)
		}
	})
}

func BenchmarkLine(b *testing.B) {
	doc := strings.Repeat(`{"index":{"_id":"bcdfghjkmpqvw"}}`+"\n"+`{"title":"Qkzcvbmqfwhgx wmbcfgxqkzpvd","price":1234.5,"ip":"10.1.2.3"}`+"\n", 200)
	line := []byte(`{"seq":1,"body":` + string(quote(doc)) + `}`)
	s := newScanner(b, Options{Words: []string{mark}, Detect: true})
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		s.Line("x", line)
	}
}
