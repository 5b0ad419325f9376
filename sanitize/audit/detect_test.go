package audit

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestDetectors(t *testing.T) {
	key := base64.StdEncoding.EncodeToString([]byte("VuaCfGcBCdbkQm-e5aOx:ui2lp2axTNmsyakw9tvNnw"))
	jwt := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"ann"}`)) + "."
	for _, c := range []struct{ name, text, kind string }{
		{"email", "write to ann.lee+x@mail.example.org.", "email"},
		{"email, full width", "ａｎｎ＠ｍａｉｌ．ｅｘａｍｐｌｅ", "email"},
		{"email, percent", "q=ann%40mail.example", "email"},
		{"email of digits", "100200@qq.example", "email"},
		{"email, international", "jürgen@bücher.example", "email"},
		{"email of a pseudonym", "bcdfghjkmpqvw@xzwvqpmkjhgfd.bcdfghjkmpqvx", ""},
		{"email of pseudonyms, digits", "4711@xzwvqpmkjhgfd.bcdfghjkmpqvx", ""},
		{"no email", "a@b", ""},
		{"no email either", "@user.name", ""},
		{"version", "pkg@1.2.3", ""},
		{"iban", "IBAN: DE89 3704 0044 0532 0130 00", "iban"},
		{"iban, lower", "gb82west12345698765432", "iban"},
		{"iban, wrong check digits", "DE88370400440532013000", ""},
		{"iban, in a word", "XDE89370400440532013000", ""},
		{"jwt", "token " + jwt, "jwt"},
		{"jwt in base64", base64.StdEncoding.EncodeToString([]byte(jwt)), "jwt"},
		{"no jwt", "eyJust.a.word", ""},
		{"pem", "-----BEGIN RSA PRIVATE KEY-----\nMIIE", "pem"},
		{"pem, escaped", `-----BEGIN PRIVATE KEY-----\nMIIE`, "pem"},
		{"pem of pseudonyms", "-----BEGIN BCDFGHJKMPQVW XZWVQPMKJHGFD-----", ""},
		{"api key", "x " + key, "es_api_key"},
		{"api key header", "ApiKey " + base64.StdEncoding.EncodeToString([]byte("id:key")), "credentials"},
		{"basic", "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("elastic:changeme")), "credentials"},
		{"bearer", "Bearer AAEAAWVsYXN0aWMvZmxlZXQtc2VydmVy", "credentials"},
		{"basic, the word", "basic authentication", ""},
		{"service token", "AAEAAWVsYXN0aWMvZmxlZXQtc2VydmVyL3Rva2VuMTpaRjZy", "es_api_key"},
		{"user-info", "https://ann:s3cret@host.example/x", "url_credentials"},
		{"user-info of pseudonyms", "https://bcdfghjkmpqvw:xzwvqpmkjhgfd@bcdfghjkmpqvx/x", ""},
		{"token parameter", "https://host/x?a=1&access_token=Zm9vYmFy99", "url_credentials"},
		{"other parameter", "https://host/x?size=10000000", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScanner(t, Options{Detect: true})
			s.Text("t", []byte(c.text))
			r := s.Report()
			if c.kind == "" && r.Found > 0 || c.kind != "" && r.ByKind[c.kind] == 0 {
				t.Errorf("%+v", r.ByKind)
			}
		})
	}
}

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		name, text, kind string
		hit              bool
	}{
		{"mobile", "a 13800138000 b", "phone", true},
		{"mobile beside Han", "电话13800138000号", "phone", true},
		{"mobile with country", "+86 13800138000", "phone", true},
		{"mobile in groups", "138-0013-8000", "phone", true},
		{"another number", "22800138000", "phone", false},
		{"resident", "11010519491231002X", "resident_id", true},
		{"resident, lower", "11010519491231002x", "resident_id", true},
		{"resident, wrong", "110105194912310021", "resident_id", false},
		{"card", "4111 1111 1111 1111", "card", true},
		{"card plain", "5555555555554444", "card", true},
		{"amex", "378282246310005", "card", true},
		{"no card", "4111111111111112", "card", false},
		{"time in ms", "1700000000000", "card", false},
		{"inside of an id", "a13800138000", "", false},
		{"in a longer number", "1138001380001", "phone", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScanner(t, Options{Detect: true})
			s.Text("t", []byte(c.text))
			hits := 0
			for _, x := range s.Report().Chance {
				if x.Detector == c.kind {
					hits = x.Hits
				}
			}
			if hits > 0 != c.hit {
				t.Errorf("%+v", s.Report().Chance)
			}
		})
	}
}

// Random numbers, as a permutation gives them, hit as often as chance says and
// are no finding; real ones are.
func TestChance(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	random := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('0' + rnd.IntN(10))
		}
		b[0] = byte('1' + rnd.IntN(9))
		return string(b)
	}
	real := func(i int) string { return fmt.Sprintf("13%09d", i*7919) }
	for name, c := range map[string]struct {
		number func(i int) string
		found  bool
	}{
		"phones, permuted": {func(int) string { return random(11) }, false},
		"phones, real":     {real, true},
		"cards, permuted":  {func(int) string { return random(16) }, false},
		"one in four real": {func(i int) string {
			if i%4 == 0 {
				return real(i)
			}
			return random(11)
		}, true},
	} {
		s := newScanner(t, Options{Detect: true})
		for i := range 2000 {
			s.Line("x", fmt.Appendf(nil, `{"seq":%d,"body":"{\"a\":\"%s\"}"}`, i, c.number(i)))
		}
		r := s.Report()
		if r.Found > 0 != c.found {
			t.Errorf("%s: %d found, %+v", name, r.Found, r.Chance)
		}
	}
}

// The numbers of the record itself are no candidates.
func TestStructuralNumbers(t *testing.T) {
	s := newScanner(t, Options{Detect: true})
	s.Line("x", []byte(`{"seq":4111111111111111,"t":4111111111111111,"conn":13800138000,"size":[13800138000,1],"want":{"took":13800138000}}`))
	if r := s.Report(); len(r.Chance) > 0 {
		t.Errorf("%+v", r.Chance)
	}
}

func TestIBANLengths(t *testing.T) {
	n := 0
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			if l := ibanLength(string([]rune{a, b})); l != 0 {
				n++
				if l < 15 || l > 34 {
					t.Errorf("%c%c: %d", a, b, l)
				}
			}
		}
	}
	if n < 70 {
		t.Errorf("%d countries", n)
	}
}

func TestPoisson(t *testing.T) {
	for _, c := range []struct {
		k    int
		mean float64
		low  float64
		high float64
	}{{0, 1, 1, 1}, {1, 1, 0.632, 0.633}, {3, 1, 0.080, 0.081}, {100, 100, 0.51, 0.53}, {1, 0, 0, 0}, {1000, 3, 0, 0}} {
		if p := poissonTail(c.k, c.mean); p < c.low-1e-9 || p > c.high+1e-9 {
			t.Errorf("P(>=%d | %g) = %g", c.k, c.mean, p)
		}
	}
}

func TestAnonymous(t *testing.T) {
	for text, want := range map[string]bool{
		"bcdfghjkmpqvw": true, "BCDFGHJKMPQVW.1": true, "the bcdfghjkmpqvw": true, "": false, "12": false, "anna": false,
		"bcdfghjkmpqv": false, strings.Repeat("a", 13): false, "é": false,
	} {
		if anonymous([]byte(text)) != want {
			t.Errorf("%q: want %v", text, want)
		}
	}
}
