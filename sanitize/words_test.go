package sanitize

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// vectors are pseudonyms of scheme 1 under the test key, domain text, dates
// kept. They never change: captures of different versions must agree.
var vectors = []struct{ in, out string }{
	{"anna", "xcxpxbmdzjpjz"},
	{"Anna Berg", "Xcxpxbmdzjpjz Fvxczpwxpzkdv"},
	{"ANNA", "XCXPXBMDZJPJZ"},
	{"iPhone", "jGfjbqgdzpzxx"},
	{"interOperabilityOfThings", "VqfpVGZXwqXgh"},
	{"don't stop", "xgmgkckvhhpjj'cmzjvbgcqcdmv mfqbhpzdvbkjg"},
	{"canary-a@example.test", "wgppvgcfwhqxb-a@cffwfbzwbmmfk.zqvcxdhxhhwzk"},
	{"ORD-1001", "BMJWKMCDBZJDX-6044"},
	{"7", "4"},
	{"42", "84"},
	{"123", "400"},
	{"4821", "9753"},
	{"90210", "37162"},
	{"123456", "490370"},
	{"13800138000", "58980768441"},
	{"007", "064"},
	{"0123456", "0495201"},
	{"9007199254740993", "9296312848772905"},
	{"12345678901234567890123456789012345678901234567890", "47018213518409469522450801678951888303688877682446"},
	{"１３８", "７１０"},
	{"Straße", "Gmqxwfjxzgvkh"},
	{"МОСКВА", "XDZHZXXKZFKZF"},
	{"北", "蹽"},
	{"北京市朝阳区", "歧睗蠭迗舔棑"},
	{"서울", "턖룪"},
	{"서울특별시", "싽럏놚큸싋"},
	{"コ", "セ"},
	{"食べ物です", "腫蹣脳穔簦"},
	{"203.0.113.77", "116.66.17.124"},
	{"203.0.113.0/25", "116.66.17.0/25"},
	{"2001:db8::c0de:77", "c878:8a38:6038:cd81:e000:400:3fde:df89"},
	{"8f14e45f-ceea-467f-9a0c-0123456789ab", "4ed18897-e532-4693-9c9c-a09bce4340ca"},
	{"1987-03-14T10:11:12Z", "1987-03-14T10:11:12Z"},
	{"The quick 2024-05-01", "The hdkdzwwqqvfkh 2024-05-01"},
}

func TestVectors(t *testing.T) {
	d := newWorker(t, preset(PresetFidelity)).text
	for _, v := range vectors {
		if got := string(d.text(nil, []byte(v.in))); got != v.out {
			t.Errorf("{%q, %q},", v.in, got)
		}
	}
	s := newWorker(t, preset(PresetStrict)).text
	for _, v := range shiftVectors {
		if got := string(s.text(nil, []byte(v.in))); got != v.out {
			t.Errorf("{%q, %q}, // shifted", v.in, got)
		}
	}
}

var shiftVectors = []struct{ in, out string }{
	{"1987-03-14", "1981-05-23"},
	{"2024-02-29T23:59:59.999+01:00", "2018-05-10T23:59:59.999+01:00"},
	{"on 2000/01/01", "on 1994/03/12"},
}

// TestVectorsInParallel runs many workers at once: none may see another's state.
func TestVectorsInParallel(t *testing.T) {
	p, err := New(preset(PresetFidelity), testKey(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			d := p.Worker().text
			for range 200 {
				for _, v := range vectors {
					if got := string(d.text(nil, []byte(v.in))); got != v.out {
						t.Errorf("%q: got %q, want %q", v.in, got, v.out)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

func TestWordShape(t *testing.T) {
	d := newWorker(t, preset(PresetFidelity)).text
	word := `[bcdfghjkmpqvwxz]{13}`
	for _, c := range []struct{ in, want string }{
		{"anna", "^" + word + "$"},
		{"Anna Berg", "^[A-Z][a-z]{12} [A-Z][a-z]{12}$"},
		{"ANNA", "^[A-Z]{13}$"},
		{"X", "^[A-Z]{13}$"},
		{"iPhone", "^[a-z][A-Z][a-z]{11}$"},
		{"CaNaRy", "^[A-Z][a-z][A-Z][a-z][A-Z][a-z]{8}$"},
		{"a.b@c-d_e/f", "^a." + word + "@" + word + "-" + word + "_" + word + "/" + word + "$"},
		{"don't", "^" + word + "'" + word + "$"},
		{"the quick and lazy", "^the " + word + " and " + word + "$"},
		{"The NULL", "^The NULL$"},
		{"abc123def", "^" + word + "[1-9][0-9]{2}" + word + "$"},
		{"Ἀθήνα", "^[A-Z][a-z]{12}$"},
		{"МОСКВА", "^[A-Z]{13}$"},
		{"سلام", "^" + word + "$"},
		{"北京", "^[\u4e00-\u9fff]{2}$"},
		{"북한", "^[\uac00-\ud7a3]{2}$"},
		{"食べ物です", "^[\u4e00-\u9fff]{5}$"},
		{"コ", "^[\u30a1-\u30fa]$"},
		{"abc北京123", "^" + word + "[\u4e00-\u9fff]{2}[1-9][0-9]{2}$"},
		{"１３８", "^[\uff11-\uff19][\uff10-\uff19]{2}$"},
		{"😀 !?", "^😀 !\\?$"},
		{"", "^$"},
		{"0", "^0$"},
		{"007", "^0[0-9]{2}$"},
		{"\xff\xfe", "^[a-z]{13}$"},
	} {
		got := string(d.text(nil, []byte(c.in)))
		if !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%q became %q, want %s", c.in, got, c.want)
		}
	}
}

// TestCaseFolds: an analyser that lowers the case sees the same word in all
// spellings, and one that does not sees as many words as before.
func TestCaseFolds(t *testing.T) {
	d := newWorker(t, preset(PresetFidelity)).text
	for _, w := range []string{"anna", "straße", "москва", "interoperability", "supercalifragilistic"} {
		seen := map[string]bool{}
		low := string(d.text(nil, []byte(w)))
		for _, v := range []string{w, strings.ToUpper(w), strings.ToUpper(w[:1]) + w[1:]} {
			if v == "STRASSE" || !utf8.ValidString(v) || v[0] > 0x80 && v != w && v != strings.ToUpper(w) {
				continue
			}
			got := string(d.text(nil, []byte(v)))
			if strings.ToLower(got) != low {
				t.Errorf("%q became %q, which does not fold to %q", v, got, low)
			}
			if seen[got] {
				t.Errorf("%q: two spellings became %q", w, got)
			}
			seen[got] = true
		}
	}
	all := map[string]string{}
	for mask := range 1 << 14 { // every case pattern of a word longer than 13
		b := []byte("abcdefghijklmn")
		for i := range b {
			if mask>>i&1 != 0 {
				b[i] -= 32
			}
		}
		got := string(d.text(nil, b))
		if mask == 0 || mask == 1 || mask == 1<<14-1 {
			if prev, ok := all[got]; ok {
				t.Fatalf("%s and %s became one", prev, b)
			}
		}
		all[got] = string(b)
	}
	for _, plain := range []string{"abcdefghijklmn", "Abcdefghijklmn", "ABCDEFGHIJKLMN"} {
		if all[string(d.text(nil, []byte(plain)))] != plain {
			t.Errorf("a mixed pattern looks like %s", plain)
		}
	}
}

// TestDigitsArePermuted goes through every run of up to five digits.
func TestDigitsArePermuted(t *testing.T) {
	d := newWorker(t, preset(PresetStrict)).text
	for n := 1; n <= 5; n++ {
		size := int(pow10(n))
		seen := make([]bool, size)
		same := 0
		for i := range size {
			in := fmt.Sprintf("%0*d", n, i)
			out := string(d.permute(nil, []byte(in)))
			var v int
			if _, err := fmt.Sscanf(out, "%d", &v); err != nil || len(out) != n || seen[v] || (in[0] == '0') != (out[0] == '0') {
				t.Fatalf("%s became %s", in, out)
			}
			seen[v] = true
			if in == out {
				same++
			}
		}
		if n >= 3 && same > 12 {
			t.Errorf("%d of %d runs of %d digits stayed", same, size, n)
		}
	}
}

func TestLongDigits(t *testing.T) {
	d := newWorker(t, preset(PresetStrict)).text
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.StringMatching(`[0-9]{1,120}`).Draw(t, "digits")
		other := rapid.StringMatching(`[0-9]{1,120}`).Draw(t, "other")
		out, out2 := string(d.permute(nil, []byte(in))), string(d.permute(nil, []byte(other)))
		if len(out) != len(in) || (out[0] == '0') != (in[0] == '0') {
			t.Fatalf("%s became %s", in, out)
		}
		if (in == other) != (out == out2) {
			t.Fatalf("%s and %s became %s and %s", in, other, out, out2)
		}
		if integerClass([]byte(in)) != integerClass([]byte(out)) {
			t.Fatalf("%s became %s, which a field of its size cannot hold", in, out)
		}
	})
}

// TestInjective: different texts stay different, tokens stay where they are.
func TestInjective(t *testing.T) {
	d := newWorker(t, preset(PresetFidelity)).text
	texts := rapid.StringOf(rapid.RuneFrom([]rune("aAbBzZ019 -.@:/_äßЖж北京市あ한글１é́٣"), unicode.Latin, unicode.Han))
	seen := map[string]string{}
	rapid.Check(t, func(t *rapid.T) {
		in := texts.Draw(t, "text")
		out := string(d.text(nil, []byte(in)))
		if !utf8.ValidString(out) {
			t.Fatalf("%q became %q, which is not UTF-8", in, out)
		}
		if prev, ok := seen[out]; ok && !strings.EqualFold(prev, in) {
			t.Fatalf("%q and %q both became %q", prev, in, out)
		}
		seen[out] = in
		if string(d.text(nil, []byte(in))) != out {
			t.Fatalf("%q became two things", in)
		}
	})
}

func TestNoCollisions(t *testing.T) {
	d := newWorker(t, preset(PresetFidelity)).text
	r := rand.New(rand.NewPCG(3, 4))
	in, out := map[string]bool{}, map[string]bool{}
	for range 200000 {
		b := make([]byte, 1+r.IntN(9))
		for i := range b {
			b[i] = 'a' + byte(r.IntN(26))
		}
		in[string(b)] = true
		out[string(d.text(nil, b))] = true
	}
	if len(in) != len(out) {
		t.Errorf("%d words became %d", len(in), len(out))
	}
	han := map[string]bool{}
	for i := range 20992 {
		han[string(d.text(nil, []byte(string(rune(hanFirst+i)))))] = true
	}
	if len(han) != 20992 {
		t.Errorf("20992 single Han became %d", len(han))
	}
	two := map[string]bool{}
	for i := range 40000 {
		two[string(d.text(nil, []byte(string([]rune{rune(hanFirst + i%200), rune(hanFirst + i/200)}))))] = true
	}
	if len(two) != 40000 {
		t.Errorf("40000 pairs of Han became %d", len(two))
	}
}

// TestKeysAndDomainsDiffer: another key, another domain, another pseudonym, for
// every kind of token.
func TestKeysAndDomainsDiffer(t *testing.T) {
	w := newWorker(t, preset(PresetStrict))
	k, err := ParseKey([]byte(strings.Repeat("0123456789abcdef", 4)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(preset(PresetStrict), k, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := p.Worker()
	for _, in := range []string{
		"anna", "4821", "13800138000", "北京市朝阳区", "서울특별시", "食べ物です", "203.0.113.77", "2001:db8::1",
		"8f14e45f-ceea-467f-9a0c-0123456789ab", "1987-03-14",
	} {
		a, b, c := w.text.text(nil, []byte(in)), v.text.text(nil, []byte(in)), w.ids.text(nil, []byte(in))
		if string(a) == in || string(a) == string(b) || string(a) == string(c) {
			t.Errorf("%q: %q, other key %q, other domain %q", in, a, b, c)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"Anna 13800138000", "1987-03-14T10:11:12Z", "10.0.0.1/8 ::1", "北京 한글", "\xff\x80"} {
		f.Add([]byte(s))
	}
	w := newWorker(f, preset(PresetStrict))
	f.Fuzz(func(t *testing.T, in []byte) {
		out := w.text.text(nil, in)
		if utf8.Valid(in) && !utf8.Valid(out) {
			t.Errorf("%q became %q", in, out)
		}
	})
}
