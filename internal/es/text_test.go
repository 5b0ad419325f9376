package es

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestPlainEndFindsEveryStop puts every byte at every place of texts of every
// small length, from every start, and compares with the loop that it stands for.
func TestPlainEndFindsEveryStop(t *testing.T) {
	slow := func(in []byte, i int) int {
		for i < len(in) && in[i] >= 0x20 && in[i] < 0x80 && in[i] != '"' && in[i] != '\\' {
			i++
		}
		return i
	}
	for n := range 41 {
		for at := range n {
			for c := range 256 {
				in := bytes.Repeat([]byte{'a'}, n)
				in[at] = byte(c)
				for _, second := range []byte{'a', '"', '!', '#', ']', 0x7f} {
					if at+1 < n {
						in[at+1] = second
					}
					for from := range n + 1 {
						if got, want := plainEnd(in, from), slow(in, from); got != want {
							t.Fatalf("length %d, %#x at %d, then %#x, from %d: got %d, want %d", n, c, at, second, from, got, want)
						}
					}
				}
			}
		}
	}
}

func TestUnquote(t *testing.T) {
	tests := []struct {
		raw, want string
		ok        bool
	}{
		{`""`, "", true},
		{`"plain"`, "plain", true},
		{`"é日"`, "é日", true},
		{`"\"\\\/\b\f\n\r\t"`, "\"\\/\b\f\n\r\t", true},
		{`"\u0041\u00e9\u65E5"`, "Aé日", true},
		{`"\ud83d\ude00x"`, "😀x", true},
		{`"\ud83d"`, "\ufffd", false},
		{`"\ude00"`, "\ufffd", false},
		{`"\ud83dx"`, "\ufffdx", false},
		{`"\ud83d\u0041"`, "\ufffdA", false},
		{`"\ud83d\ud83d\ude00"`, "\ufffd😀", false},
		{`"\u0000"`, "\x00", true},
		{`"\x"`, "", false},
		{`"a\u12"`, "a", false},
		{`"\"`, "", false},
		{`"`, "", false},
		{``, "", false},
	}
	for _, tt := range tests {
		got, ok := Unquote(nil, []byte(tt.raw))
		if string(got) != tt.want || ok != tt.ok {
			t.Errorf("%s: got %q, %v; want %q, %v", tt.raw, got, ok, tt.want, tt.ok)
		}
	}
	if got, _ := Unquote([]byte("pre"), []byte(`"a"`)); string(got) != "prea" {
		t.Errorf("does not append: %q", got)
	}
}

func TestUnquoteAgreesWithJSON(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "é", "日", "😀", `\n`, `\"`, `\\`, `\/`, `\u0041`, `\u00e9`, `\ud83d`, `\ude00`, `\uD83D\uDE00`, `\u0000`, " ", "u0041"})
	rapid.Check(t, func(t *rapid.T) {
		raw := []byte{'"'}
		for _, p := range rapid.SliceOf(piece).Draw(t, "pieces") {
			raw = append(raw, p...)
		}
		raw = append(raw, '"')
		var want string
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		got, ok := Unquote(nil, raw)
		if string(got) != want {
			t.Fatalf("%s: got %q, want %q", raw, got, want)
		}
		if ok == bytes.ContainsRune(got, utf8.RuneError) {
			t.Fatalf("%s: ok %v", raw, ok)
		}
	})
}

func TestAppendQuotedRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		raw := AppendQuoted(nil, []byte(s))
		if !json.Valid(raw) {
			t.Fatalf("%q is not JSON", raw)
		}
		if got, ok := Unquote(nil, raw); !ok || string(got) != s {
			t.Fatalf("%q: back as %q, %v", s, got, ok)
		}
	})
}

func TestAppendQuoted(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", `""`},
		{"a", `"a"`},
		{"</&\u2028>", "\"</&\u2028>\""},
		{"\"\\", `"\"\\"`},
		{"\n\r\t\x00\x1f\x7f", "\"\\n\\r\\t\\u0000\\u001f\x7f\""},
		{"a\xffb\xc3", "\"a\ufffdb\ufffd\""},
		{"eight by\"te text", `"eight by\"te text"`},
	}
	for _, tt := range tests {
		if got := AppendQuoted([]byte("x"), []byte(tt.in)); string(got) != "x"+tt.want {
			t.Errorf("%q: got %s", tt.in, got)
		}
	}
}

// Each byte at each place of a text of up to three words, next to another that
// needs an escape, whatever room dst has.
func TestAppendQuotedAtEveryPlace(t *testing.T) {
	for n := 1; n <= 24; n++ {
		for at := range n {
			for c := range 256 {
				in := []byte(strings.Repeat("a", n))
				in[n-1], in[at] = '"', byte(c)
				want := strings.ToValidUTF8(string(in), "\ufffd")
				raw := AppendQuoted(make([]byte, 0, at), in)
				if got, ok := Unquote(nil, raw); !ok || string(got) != want || !json.Valid(raw) {
					t.Fatalf("%q becomes %s", in, raw)
				}
			}
		}
	}
}

// TestAppendQuotedTextIsAppendQuoted puts bytes at every place of texts longer than
// a block, into buffers with every room, and reads nothing behind the text: there
// stand quotes.
func TestAppendQuotedTextIsAppendQuoted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plain := rapid.StringOfN(rapid.RuneFrom([]rune("abc XYZ019.-é北\x7f")), 0, -1, 90)
		odd := rapid.SampledFrom([]string{`"`, `\`, "\n", "\r", "\t", "\x00", "\x1f", `""""`, "\n\n", ""})
		var text string
		for range rapid.IntRange(0, 12).Draw(t, "parts") {
			text += plain.Draw(t, "plain") + odd.Draw(t, "odd")
		}
		all := []byte(text + strings.Repeat(`"`, 200))
		dst := append(make([]byte, 0, rapid.IntRange(1, 1500).Draw(t, "room")), 'x')
		got := AppendQuotedText(dst, all[:len(text)])
		if want := AppendQuoted([]byte{'x'}, []byte(text)); string(got) != string(want) {
			t.Fatalf("%q became\n%s\nwant\n%s", text, got, want)
		}
	})
	const size = 260
	for c := range rune(256 + 2) {
		if c >= 256 {
			c += '😀'
		}
		for at := range size {
			in := []byte(strings.Repeat("a", at) + string(c) + `"` + strings.Repeat("b", size-at))
			if got, want := AppendQuotedText(nil, in), AppendQuoted(nil, in); string(got) != string(want) {
				t.Fatalf("%q at %d: %s, want %s", c, at, got, want)
			}
		}
	}
}

// It writes nothing behind the room that it was given.
func TestAppendQuotedTextKeepsToItsRoom(t *testing.T) {
	for _, unit := range []string{"a", `"`, "abcdefgh\"", "0123456789\n"} {
		in := []byte(strings.Repeat(unit, 2000/len(unit)))
		for room := 0; room < 6000; room += 7 {
			buf := bytes.Repeat([]byte{'#'}, 10_000)
			AppendQuotedText(buf[:0:room], in)
			if rest := bytes.TrimLeft(buf[room:], "#"); len(rest) > 0 {
				t.Fatalf("%q in %d bytes: %d bytes behind", unit, room, len(rest))
			}
		}
	}
}
