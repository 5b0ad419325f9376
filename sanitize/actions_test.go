package sanitize

import (
	"encoding/json"
	"math/big"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/capture"
)

// ruled is a worker with one rule, for the field f.
func ruled(t testing.TB, presetName string, rule FieldRule) *Worker {
	cfg := preset(presetName)
	rule.Match = Globs{"f"}
	cfg.Fields = []FieldRule{rule}
	return newWorker(t, cfg)
}

// stored is what a document's value of f becomes.
func stored(t failer, w *Worker, value any) any {
	body, _ := json.Marshal(map[string]any{"f": value})
	var rec capture.Record
	if drop := w.Sanitize(&rec, exchange("PUT", "/i/_doc/1", string(body))); drop != "" {
		t.Fatalf("%s: %s", body, drop)
	}
	var out map[string]any
	d := json.NewDecoder(strings.NewReader(string(rec.Body)))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		t.Fatalf("%s became %s: %v", body, rec.Body, err)
	}
	return out["f"]
}

// asked is what {kind: {f: literal}} becomes, and the record's fidelity.
func asked(t failer, w *Worker, kind string, literal any) (any, *capture.Record) {
	body, _ := json.Marshal(map[string]any{"query": map[string]any{kind: map[string]any{"f": literal}}})
	var rec capture.Record
	if drop := w.Sanitize(&rec, exchange("POST", "/i/_search", string(body))); drop != "" {
		t.Fatalf("%s: %s", body, drop)
	}
	var out struct{ Query map[string]map[string]any }
	d := json.NewDecoder(strings.NewReader(string(rec.Body)))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		t.Fatalf("%s became %s: %v", body, rec.Body, err)
	}
	return out.Query[kind]["f"], &rec
}

// textRules are the actions for strings that must not make two values one.
func textRules() map[string]FieldRule {
	return map[string]FieldRule{
		"tokens":         {Action: "tokens"},
		"tokens, ids":    {Action: "tokens", Domain: "ids"},
		"tokens, split":  {Action: "tokens", Split: Globs{"case"}},
		"pseudonym":      {Action: "pseudonym"},
		"prefix":         {Action: "prefix"},
		"charsub":        {Action: "charsub", AcceptWeak: true},
		"email":          {Action: "email"},
		"url":            {Action: "url"},
		"fpe":            {Action: "fpe"},
		"ip-prefix":      {Action: "ip-prefix"},
		"ip-prefix, own": {Action: "ip-prefix", KeepPrivate: true},
		"shift":          {Action: "shift"},
		"date-shift":     {Action: "date-shift"},
		"date-shift, d":  {Action: "date-shift", Unit: "day"},
	}
}

func valueGen() *rapid.Generator[string] {
	part := rapid.OneOf(
		rapid.SampledFrom([]string{
			"anna", "Anna", "ANNA", "iPhone", "XMLHttp", "ß", "Straße", "é", "Ö", "ǅ", "İ", "ſ", "ไทย", "سلام", "北京", "𠀀", "서울", "コーヒー", "ひらがな",
			"138", "13800138000", "007", "１２", "@", ".", "-", " ", "'", "http://", "a.b@c.com", "10.1.2.3", "192.168.0.7", "2001:db8::1", "::1",
			"2024-05-01", "2024-05", "20240501", "1714521600", "1714521600123", "8f14e45f-ceea-467f-9a0c-0123456789ab", "the", "null", "1e2", "-0.50", "😀", "\x00", "\"", "\\",
		}), rapid.StringN(0, 4, 12))
	return rapid.Custom(func(t *rapid.T) string {
		return strings.ToValidUTF8(strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "parts"), ""), "?")
	})
}

// TestActionsKeepValuesApart: equal values stay equal, different ones different,
// and what comes out is UTF-8, in documents and in queries alike.
func TestActionsKeepValuesApart(t *testing.T) {
	for name, rule := range textRules() {
		t.Run(name, func(t *testing.T) {
			w := ruled(t, PresetFidelity, rule)
			rapid.Check(t, func(t *rapid.T) {
				a, b := valueGen().Draw(t, "a"), valueGen().Draw(t, "b")
				x, y := textOf(t, w, a), textOf(t, w, b)
				if !utf8.ValidString(x) {
					t.Fatalf("%q became %q", a, x)
				}
				if again := textOf(t, w, a); again != x {
					t.Fatalf("%q became %q and %q", a, x, again)
				}
				if a != b && x == y && !alike(rule.Action, a, b) {
					t.Fatalf("%q and %q both became %q", a, b, x)
				}
				if q, _ := asked(t, w, "term", a); q != x {
					t.Fatalf("%q became %q in a document and %q in a query", a, x, q)
				}
			})
		})
	}
}

// alike tells values that an action may make equal: numbers and dates of one
// value in several spellings, URLs that differ in what is removed, words that
// differ beyond the case patterns that words have.
func alike(action, a, b string) bool {
	if strings.EqualFold(a, b) {
		return true
	}
	switch action {
	case "shift":
		x, ok1 := parseAmount([]byte(a))
		y, ok2 := parseAmount([]byte(b))
		return ok1 && ok2 && !x.less(y) && !y.less(x)
	case "url":
		return strings.Contains(a, "://") && strings.Contains(b, "://")
	case "ip-prefix", "tokens", "email", "date-shift": // 2001:db8::1 in two spellings, ::FFFF:…
		return strings.Contains(a, ":") && strings.Contains(b, ":")
	}
	return false
}

func textOf(t failer, w *Worker, s string) string {
	v, ok := stored(t, w, s).(string)
	if !ok {
		t.Fatalf("%q became no string", s)
	}
	return v
}

// failer is a testing.TB or a rapid.T.
type failer interface {
	Fatalf(format string, args ...any)
}

// TestActionsNeedTheKey: with another key, every action gives another result.
func TestActionsNeedTheKey(t *testing.T) {
	for name, rule := range textRules() {
		value := "Anna Berg 13800138000 2024-05-01 10.1.2.3"
		switch rule.Action {
		case "shift":
			value = "42"
		case "date-shift":
			value = "2024-05-01"
		}
		w := ruled(t, PresetFidelity, rule)
		k, err := ParseKey([]byte(strings.Repeat("7a", 31) + "01"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := New(w.p.cfg, k, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := stored(t, w, value), stored(t, p.Worker(), value); a == b || a == value {
			t.Errorf("%s: %q became %q with either key", name, value, a)
		}
	}
}

// TestSharedPrefix: action prefix keeps how long a beginning two values share.
func TestSharedPrefix(t *testing.T) {
	d := ruled(t, PresetFidelity, FieldRule{Action: "prefix"}).plans[0].d
	word := rapid.StringOfN(rapid.SampledFrom([]rune("abAB01éÉ北京서-я")), 0, 12, -1)
	shared := func(a, b string) int {
		x, y, n := []rune(a), []rune(b), 0
		for n < len(x) && n < len(y) && x[n] == y[n] {
			n++
		}
		return n
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		if rapid.Bool().Draw(t, "extend") {
			b = a + b
		}
		x, y := string(d.text(nil, []byte(a))), string(d.text(nil, []byte(b)))
		if shared(a, b) != shared(x, y) || len([]rune(a)) != len([]rune(x)) {
			t.Fatalf("%q and %q share %d, %q and %q share %d", a, b, shared(a, b), x, y, shared(x, y))
		}
	})
}

// TestCharsubCommutes: action charsub goes character by character, so parts of
// values stay parts, in every script that has an alphabet.
func TestCharsubCommutes(t *testing.T) {
	w := ruled(t, PresetFidelity, FieldRule{Action: "charsub", AcceptWeak: true})
	d := w.plans[0].d
	word := rapid.StringOfN(rapid.SampledFrom([]rune("abYZ019éÖя北京市서울あア .-@ß")), 0, 12, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		joined := string(d.text(nil, []byte(a+b)))
		if parts := string(d.text(d.text(nil, []byte(a)), []byte(b))); joined != parts {
			t.Fatalf("%q: %q, in parts %q", a+b, joined, parts)
		}
		low := string(d.text(nil, []byte(strings.ToLower(a))))
		if strings.ToLower(string(d.text(nil, []byte(a)))) != low {
			t.Fatalf("%q: the case is not that of %q", a, low)
		}
	})
}

// TestAlphabetsAreClosed: the characters of an alphabet are found in it, and
// upper-case forms are found as such.
func TestAlphabetsAreClosed(t *testing.T) {
	a := newAlphabets()
	for set, letters := range a.sets {
		if len(letters) < 10 {
			t.Errorf("alphabet %d has %d letters", set, len(letters))
		}
		for i, r := range letters {
			c, upper, ok := a.find(r)
			if !ok || upper || int(c.set) != set || int(c.at) != i {
				t.Errorf("%q: found %v, %v, %v", r, c, upper, ok)
			}
			if k := classOf(r); k == classSep || (k == classCJK) != (set >= setHan) {
				t.Errorf("%q in alphabet %d is of class %d", r, set, k)
			}
		}
	}
}

// TestShiftKeepsOrder: shift and bucket keep the order of numbers, and shift
// their differences.
func TestShiftKeepsOrder(t *testing.T) {
	shift := ruled(t, PresetFidelity, FieldRule{Action: "shift", Step: "0.25"})
	bucket := ruled(t, PresetFidelity, FieldRule{Action: "bucket", Step: "2.5"})
	number := rapid.Custom(func(t *rapid.T) json.Number {
		return json.Number(rapid.StringMatching(`-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,6})?([eE][+-]?[1-3]?[0-9])?`).Draw(t, "number"))
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		rat := func(n any) *big.Rat {
			v, ok := new(big.Rat).SetString(string(n.(json.Number)))
			if !ok {
				t.Fatalf("%v is no number", n)
			}
			return v
		}
		x, y := rat(stored(t, shift, a)), rat(stored(t, shift, b))
		if x.Sub(x, y).Cmp(new(big.Rat).Sub(rat(a), rat(b))) != 0 {
			t.Fatalf("%s and %s moved apart", a, b)
		}
		x, y = rat(stored(t, bucket, a)), rat(stored(t, bucket, b))
		if order := rat(a).Cmp(rat(b)); order*x.Cmp(y) < 0 {
			t.Fatalf("%s and %s became %s and %s", a, b, x, y)
		}
		if down := new(big.Rat).Sub(rat(a), x); down.Sign() < 0 || down.Cmp(big.NewRat(5, 2)) >= 0 {
			t.Fatalf("%s became %s", a, x)
		}
	})
}

// TestDateShiftMovesAllAlike: every form of a date moves by the same whole weeks
// (or days), and stays of its form.
func TestDateShiftMovesAllAlike(t *testing.T) {
	for unit, whole := range map[string]time.Duration{"week": 7 * 24 * time.Hour, "day": 24 * time.Hour} {
		w := ruled(t, PresetFidelity, FieldRule{Action: "date-shift", Unit: unit})
		base := time.Date(2024, 2, 29, 12, 34, 56, 789e6, time.UTC)
		moved := func(value any) any { return stored(t, w, value) }
		day, err := time.Parse(time.DateOnly, moved("2024-02-29").(string))
		if err != nil {
			t.Fatal(err)
		}
		by := day.Sub(base.Truncate(24 * time.Hour))
		if by >= 0 || by%whole != 0 || by < -11*366*24*time.Hour {
			t.Errorf("%s: moved by %v", unit, by)
		}
		to := base.Add(by)
		for in, want := range map[any]string{
			"2024-02-29T12:34:56.789Z":   to.Format("2006-01-02T15:04:05.000Z"),
			"2024/02/29":                 to.Format("2006/01/02"),
			"20240229":                   to.Format("20060102"),
			"1709210096":                 jsonText(to.Unix()),
			"1709210096789":              jsonText(to.UnixMilli()),
			json.Number("1709210096789"): jsonText(to.UnixMilli()),
			json.Number("20240229"):      to.Format("20060102"),
			"2024-02":                    base.AddDate(0, 0, -28).Add(by).Format("2006-01"),
		} {
			if got := moved(in); jsonText(got) != want && got != want {
				t.Errorf("%s: %v became %v, want %s", unit, in, got, want)
			}
		}
		if got, rec := asked(t, w, "range", map[string]string{"gte": "2024-02-29", "lt": "2024-02-29||+1d/d"}); rec.Fidelity != capture.Exact {
			t.Errorf("range: %v, %s", got, rec.FidWhy)
		} else if m := got.(map[string]any); m["gte"] != to.Format(time.DateOnly) || m["lt"] != to.Format(time.DateOnly)+"||+1d/d" {
			t.Errorf("range: %v", m)
		}
		if _, rec := asked(t, w, "range", map[string]string{"gte": "now-1d"}); rec.FidWhy != "now" {
			t.Errorf("now: %s %s", rec.Fidelity, rec.FidWhy)
		}
	}
}

func jsonText(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// TestFPEFitsItsType: a permuted number has as many digits, and fits the integer
// types that it fitted.
func TestFPEFitsItsType(t *testing.T) {
	w := ruled(t, PresetFidelity, FieldRule{Action: "fpe"})
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.Uint64().Draw(t, "n") >> rapid.IntRange(0, 63).Draw(t, "shift")
		text := jsonText(in)
		out, ok := new(big.Int).SetString(string(stored(t, w, json.Number(text)).(json.Number)), 10)
		if !ok || len(out.String()) != len(text) {
			t.Fatalf("%d became %v", in, out)
		}
		for _, limit := range []uint64{127, 32767, 1<<31 - 1, 1 << 53, 1<<63 - 1} {
			if l := new(big.Int).SetUint64(limit); len(text) == len(l.String()) && (in <= limit) != (out.Cmp(l) <= 0) {
				t.Fatalf("%d became %v, on the other side of %d", in, out, limit)
			}
		}
		if s := stored(t, w, text); s != out.String() {
			t.Fatalf("%d became %v as a number and %v as a string", in, out, s)
		}
	})
}

// TestKeepPrivate: private addresses stay, all others go elsewhere, and prefixes
// are shared as before.
func TestKeepPrivate(t *testing.T) {
	d := ruled(t, PresetFidelity, FieldRule{Action: "ip-prefix", KeepPrivate: true}).plans[0].d
	for _, s := range []string{"10.0.0.1", "10.255.3.4", "172.16.0.9", "172.31.9.9", "192.168.1.1", "127.0.0.1", "169.254.1.1", "::1", "fe80::1", "fd00::12"} {
		if got := string(d.text(nil, []byte(s))); got != s {
			t.Errorf("%s became %s", s, got)
		}
	}
	moved := 0
	for _, s := range []string{"8.8.8.8", "203.0.113.7", "172.32.0.1", "11.0.0.1", "2001:db8::1", "2a00:1450::5"} {
		if got := string(d.text(nil, []byte(s))); got != s {
			moved++
		}
	}
	if moved < 5 {
		t.Errorf("%d of 6 public addresses moved", moved)
	}
	rapid.Check(t, func(t *rapid.T) {
		a := netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "a")))
		b := netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "b")))
		for bits := range 33 {
			p, _ := a.Prefix(bits)
			q, _ := d.mapAddr(a).Prefix(bits)
			if p.Contains(b) != q.Contains(d.mapAddr(b)) {
				t.Fatalf("%s and %s share /%d, %s and %s do not", a, b, bits, d.mapAddr(a), d.mapAddr(b))
			}
		}
		if d.mapAddr(a).IsPrivate() != a.IsPrivate() {
			t.Fatalf("%s became %s", a, d.mapAddr(a))
		}
	})
}

// TestExactActionsAreExact: whatever a rule does with a keyword field, a query
// that is called exact finds as many of the sanitised documents as of the
// originals.
func TestExactActionsAreExact(t *testing.T) {
	part := rapid.SampledFrom([]string{
		"anna", "Anna", "an", "b", "7", "42", "2024-05-01", "10.1.2.3", "10.1.9.9", "10.1.", "北京", "北", "サ", "the", "@", "-", ".", " ", "x1",
		"com", "http://", "é", "ß", "iPhone", "Phone", "ไทย", "٣٤", "აბ",
	})
	value := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "parts"), "") })
	for name, rule := range textRules() {
		t.Run(name, func(t *testing.T) {
			w := ruled(t, PresetFidelity, rule)
			exactOnes := 0
			rapid.Check(t, func(t *rapid.T) {
				docs := rapid.SliceOfN(value, 1, 6).Draw(t, "docs")
				if rule.Action == "ip-prefix" { // a field of addresses
					docs = rapid.SliceOfN(rapid.StringMatching(`(10|100)\.[0-2]\.(0|1|12)\.[0-9]`), 1, 6).Draw(t, "addresses")
				}
				kind := rapid.SampledFrom([]string{"term", "prefix", "wildcard"}).Draw(t, "kind")
				lit := []rune(docs[0])
				if rapid.Bool().Draw(t, "any") {
					lit = []rune(value.Draw(t, "literal"))
				}
				switch kind {
				case "prefix":
					lit = lit[:rapid.IntRange(1, len(lit)).Draw(t, "cut")]
				case "wildcard":
					i := rapid.IntRange(0, len(lit)).Draw(t, "from")
					lit = append(append(append([]rune{}, lit[:i]...), '*'), lit[rapid.IntRange(i, len(lit)).Draw(t, "to"):]...)
				}
				became, rec := asked(t, w, kind, string(lit))
				if rec.Fidelity != capture.Exact {
					return
				}
				exactOnes++
				for _, d := range docs {
					s := textOf(t, w, d)
					if matches(kind, string(lit), d) != matches(kind, became.(string), s) {
						t.Fatalf("%s %q on %q: %v; sanitised %q on %q: %v", kind, string(lit), d, matches(kind, string(lit), d), became, s, matches(kind, became.(string), s))
					}
				}
			})
			if exactOnes < 20 {
				t.Errorf("only %d queries were exact", exactOnes)
			}
		})
	}
}

// TestFidelityOfActions is the matrix of docs/sanitize.md.
func TestFidelityOfActions(t *testing.T) {
	for _, c := range []struct {
		rule          FieldRule
		kind          string
		literal       any
		fidelity, why string
	}{
		{FieldRule{Action: "pseudonym"}, "term", "Anna Berg", capture.Exact, ""},
		{FieldRule{Action: "pseudonym"}, "match", "Anna", capture.Broken, "part_of_value"},
		{FieldRule{Action: "pseudonym"}, "prefix", "Anna ", capture.Broken, "prefix"},
		{FieldRule{Action: "pseudonym"}, "regexp", "Anna.*", capture.Broken, "regexp"},
		{FieldRule{Action: "prefix"}, "prefix", "An", capture.Exact, ""},
		{FieldRule{Action: "prefix"}, "match_phrase_prefix", "Anna B", capture.Exact, ""},
		{FieldRule{Action: "prefix"}, "wildcard", "An*", capture.Exact, ""},
		{FieldRule{Action: "prefix"}, "wildcard", "*na", capture.Broken, "wildcard"},
		{FieldRule{Action: "prefix"}, "fuzzy", "anna", capture.Broken, "fuzzy"},
		{FieldRule{Action: "charsub", AcceptWeak: true}, "wildcard", "*n?a*", capture.Exact, ""},
		{FieldRule{Action: "charsub", AcceptWeak: true}, "fuzzy", "anna", capture.Exact, ""},
		{FieldRule{Action: "charsub", AcceptWeak: true}, "match", "北京", capture.Exact, ""},
		{FieldRule{Action: "charsub", AcceptWeak: true}, "regexp", "an+a.*", capture.Exact, ""},
		{FieldRule{Action: "charsub", AcceptWeak: true}, "regexp", "an[a-z]", capture.Broken, "regexp"},
		{FieldRule{Action: "charsub", AcceptWeak: true}, "range", map[string]any{"gte": "anna"}, capture.Broken, "range_text"},
		{FieldRule{Action: "fpe"}, "term", 13800138000, capture.Exact, ""},
		{FieldRule{Action: "fpe"}, "term", "13800138000", capture.Exact, ""},
		{FieldRule{Action: "fpe"}, "range", map[string]any{"gte": 13800138000}, capture.Broken, "number_range"},
		{FieldRule{Action: "shift"}, "range", map[string]any{"gte": 5, "lt": "7.5"}, capture.Exact, ""},
		{FieldRule{Action: "fpe"}, "range", map[string]any{"gte": "42"}, capture.Broken, "number_range"},
		{FieldRule{Action: "url"}, "range", map[string]any{"gte": 42}, capture.Broken, "number_range"},
		{FieldRule{Action: "pseudonym"}, "regexp", "Anna Berg", capture.Broken, "regexp"},
		{FieldRule{Action: "date-shift"}, "regexp", "2024-05-01", capture.Broken, "regexp"},
		{FieldRule{Action: "email"}, "term", 42, capture.Exact, ""},
		{FieldRule{Action: "email"}, "term", "42", capture.Exact, ""},
		{FieldRule{Action: "shift"}, "term", 5, capture.Exact, ""},
		{FieldRule{Action: "bucket", Step: "10"}, "range", map[string]any{"gte": 57}, capture.Approx, "rounded"},
		{FieldRule{Action: "bucket", Step: "10"}, "term", 57, capture.Approx, "rounded"},
		{FieldRule{Action: "ip-prefix"}, "term", "10.1.0.0/16", capture.Exact, ""},
		{FieldRule{Action: "ip-prefix"}, "prefix", "10.1.", capture.Exact, ""},
		{FieldRule{Action: "ip-prefix"}, "wildcard", "10.1.*", capture.Exact, ""},
		{FieldRule{Action: "ip-prefix"}, "wildcard", "10.1*", capture.Broken, "wildcard"},
		{FieldRule{Action: "ip-prefix"}, "range", map[string]any{"gte": "10.1.0.0"}, capture.Broken, "ip_range"},
		{FieldRule{Action: "email"}, "wildcard", "*@example.test", capture.Exact, ""},
		{FieldRule{Action: "email"}, "term", "anna@example.com", capture.Exact, ""},
		{FieldRule{Action: "url"}, "prefix", "https://example.test/", capture.Exact, ""},
		{FieldRule{Action: "tokens", Normalize: Globs{"stem:english"}}, "match", "running shoes", capture.Exact, ""},
		{FieldRule{Action: "tokens", Normalize: Globs{"fold"}}, "term", "cafe", capture.Broken, "normalized"},
		{FieldRule{Action: "tokens"}, "match", "2024", capture.Approx, "number_as_string"},
		{FieldRule{Action: "tokens"}, "match", "made in 2024", capture.Broken, "part_of_shape"},
		{FieldRule{Action: "tokens"}, "match", "8f14e45f", capture.Broken, "part_of_shape"},
		{FieldRule{Action: "tokens"}, "match", "2024-05-01", capture.Approx, "part_of_shape"},
		{FieldRule{Action: "null"}, "term", "x", capture.Broken, "dropped_field"},
		{FieldRule{Action: "shape"}, "term", "x", capture.Broken, "masked_field"},
	} {
		w := ruled(t, PresetFidelity, c.rule)
		got, rec := asked(t, w, c.kind, c.literal)
		if c.why == "number_as_string" {
			c.fidelity, c.why = rec.Fidelity, rec.FidWhy // a number alone: either reason is right
			if rec.Fidelity == capture.Exact {
				t.Errorf("%s %s %v: exact", c.rule.Action, c.kind, c.literal)
			}
		}
		if rec.Fidelity != c.fidelity || rec.FidWhy != c.why {
			t.Errorf("%s: %s %v became %v, %s %s, want %s %s", c.rule.Action, c.kind, c.literal, got, rec.Fidelity, rec.FidWhy, c.fidelity, c.why)
		}
	}
}
