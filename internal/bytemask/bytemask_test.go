package bytemask

import (
	"testing"

	"pgregory.net/rapid"
)

// plainStruct is what a Struct is by its definition.
func plainStruct(b *[Block]byte) (m Struct) {
	for i, c := range b {
		bit := uint64(1) << i
		switch c {
		case '"':
			m.Quote |= bit
		case '\\':
			m.Backslash |= bit
		case '{', '[':
			m.Open |= bit
		case '}', ']':
			m.Close |= bit
		}
	}
	return m
}

// Every byte at every place, in both forms.
func TestStructOfEveryByte(t *testing.T) {
	for c := range 256 {
		for at := range Block {
			var b [Block]byte
			b[at], b[(at+1)%Block] = byte(c), byte(c+1)
			want := plainStruct(&b)
			var plain, fast Struct
			plain.words(&b)
			fast.Of(&b)
			if plain != want || fast != want {
				t.Fatalf("byte %#x at %d: %+v and %+v, want %+v", c, at, plain, fast, want)
			}
		}
	}
}

// plainText is what a Text is by its definition.
func plainText(s []byte) (m Text) {
	for i, c := range s[:min(len(s), Block)] {
		bit := uint64(1) << i
		switch {
		case c >= 0x80:
			m.Wide |= bit
		case c == '\\', c == '%':
			m.Escape |= bit
		case c == ':':
			m.Colon |= bit
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			m.Letter |= bit
		case c >= '0' && c <= '9':
			m.Digit |= bit
		}
	}
	return m
}

// Every byte at every place, in both forms.
func TestTextOfEveryByte(t *testing.T) {
	for c := range 256 {
		for at := range Block {
			var b [Block]byte
			b[at] = byte(c)
			b[(at+1)%Block] = byte(c + 1)
			want := plainText(b[:])
			var plain, fast Text
			plain.words(&b)
			fast.Of(&b)
			if plain != want || fast != want {
				t.Fatalf("byte %#x at %d: %+v and %+v, want %+v", c, at, plain, fast, want)
			}
		}
	}
}

func TestTextAtTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Byte(), 1, 200).Draw(t, "all")
		s := all[:rapid.IntRange(1, len(all)).Draw(t, "length")]
		i := rapid.IntRange(0, len(s)-1).Draw(t, "at")
		var m Text
		m.At(s, i)
		if want := plainText(s[i:]); m != want {
			t.Fatalf("%+v, want %+v", m, want)
		}
	})
}

// Any tables, any bytes, at any place of a text.
func TestHalves(t *testing.T) {
	bytes16 := rapid.SliceOfN(rapid.Byte(), 16, 16)
	rapid.Check(t, func(t *rapid.T) {
		h := Halves{[16]byte(bytes16.Draw(t, "lower")), [16]byte(bytes16.Draw(t, "upper"))}
		all := rapid.SliceOfN(rapid.Byte(), 1, 200).Draw(t, "all")
		s := all[:rapid.IntRange(1, len(all)).Draw(t, "length")]
		i := rapid.IntRange(0, len(s)-1).Draw(t, "at")
		var want uint64
		for n, c := range s[i:min(len(s), i+Block)] {
			if h.Lower[c%16]&h.Upper[c/16] != 0 {
				want |= 1 << n
			}
		}
		inside := ^uint64(0)
		if n := len(s) - i; n < Block {
			inside = 1<<n - 1
		}
		if got := h.At(s, i) & inside; got != want {
			t.Fatalf("%b, want %b", got, want)
		}
		b := Rest(s[i:min(len(s), i+Block)])
		if plain, fast := h.words(&b), h.Of(&b); plain != fast {
			t.Fatalf("%b in plain Go, %b", plain, fast)
		}
	})
}
