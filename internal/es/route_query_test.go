package es

import (
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParam(t *testing.T) {
	tests := []struct {
		query, name, want string
		ok                bool
	}{
		{"", "q", "", false},
		{"q=x", "q", "x", true},
		{"q", "q", "", true},
		{"q=", "q", "", true},
		{"a=1&q=x%20y", "q", "x%20y", true},
		{"qq=1&q=2", "q", "2", true},
		{"aq=1", "q", "", false},
		{"q=1&q=2", "q", "2", true},
		{"&&q=a=b", "q", "a=b", true},
		{"a=1;q=2;b", "q", "2", true},
		{"a=1#&q=2", "q", "", false},
		{"q=1#2", "q", "1", true},
		{"%71=x", "q", "x", true},
		{"a+b=x", "a b", "x", true},
		{"=q=x", "q", "x", true},
		{"==q", "q", "", true},
		{"=&q=1", "", "", false},
		{"q==x", "q", "=x", true},
		{"x=q", "q", "", false},
		{"Q=1", "q", "", false},
	}
	for _, tt := range tests {
		if got, ok := Param(tt.query, tt.name); got != tt.want || ok != tt.ok {
			t.Errorf("%q %q: got %q, %v", tt.query, tt.name, got, ok)
		}
	}
}

func TestParams(t *testing.T) {
	var got []string
	for n, v := range Params("a=1&&b;c=x=y&=z&d=;=&e#f=1") {
		got = append(got, n+">"+v)
	}
	if s := strings.Join(got, " "); s != "a>1 b> c>x=y z> d> e>" {
		t.Errorf("got %q", s)
	}
	for range Params("a&b") {
		break
	}
}

func TestUnescape(t *testing.T) {
	tests := []struct {
		in, want string
		plus, ok bool
	}{
		{"", "", false, true},
		{"a+b", "a+b", false, true},
		{"a+b", "a b", true, true},
		{"%2F%2f%41", "//A", false, true},
		{"%zz", "%zz", false, false},
		{"%4", "%4", false, false},
		{"%", "%", false, false},
		{"%%41", "%41", false, true},
		{"%%%", "%%", false, false},
		{"%4%31", "%41", false, false},
		{"%C3%A9", "é", false, true},
	}
	for _, tt := range tests {
		if got, ok := Unescape(nil, tt.in, tt.plus); string(got) != tt.want || ok != tt.ok {
			t.Errorf("%q: got %q, %v", tt.in, got, ok)
		}
	}
}

func TestEscapeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOf(rapid.Byte()).Draw(t, "in")
		out := AppendEscaped(nil, in)
		for _, plus := range []bool{false, true} {
			if got, ok := Unescape(nil, string(out), plus); !ok || string(got) != string(in) {
				t.Fatalf("%q: %q, %v", out, got, ok)
			}
		}
		if s, err := url.QueryUnescape(string(out)); err != nil || s != string(in) {
			t.Fatalf("net/url reads %q, %v", s, err)
		}
		if strings.ContainsAny(string(out), "/?&=#+ ") {
			t.Fatalf("%q holds a separator", out)
		}
	})
}

func FuzzParams(f *testing.F) {
	for _, s := range []string{"", "a=1&b;c#d", "=&=;==", "%61=+&a", "q=%", "a=1&a=2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, query string) {
		last := map[string]string{}
		for n, v := range Params(query) {
			if n == "" || strings.ContainsAny(n, "=&;#") || strings.ContainsAny(v, "&;#") {
				t.Fatalf("parameter %q, %q", n, v)
			}
			plain, _ := UnescapeString(n, true)
			last[plain] = v
		}
		for n, want := range last {
			if got, ok := Param(query, n); n != "" && (!ok || got != want) {
				t.Errorf("%q is %q, %v; want %q", n, got, ok, want)
			}
		}
	})
}
