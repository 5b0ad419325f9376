package sanitize

import (
	"testing"

	"pgregory.net/rapid"
)

// plainMasks is what byteMasks are by their definition.
func plainMasks(s []byte) (m byteMasks) {
	for i, c := range s[:min(len(s), blockSize)] {
		bit := uint64(1) << i
		switch {
		case c >= 0x80:
			m.wide |= bit
		case c == '\\', c == '%':
			m.escape |= bit
		case c == ':':
			m.colon |= bit
		case asciiClass(c) == classLetter:
			m.letter |= bit
		case asciiClass(c) == classDigit:
			m.digit |= bit
		}
	}
	return m
}

// Every byte at every place, in both forms.
func TestMasksOfEveryByte(t *testing.T) {
	for c := range 256 {
		for at := range blockSize {
			var b [blockSize]byte
			b[at] = byte(c)
			b[(at+1)%blockSize] = byte(c + 1)
			want := plainMasks(b[:])
			var plain, fast byteMasks
			classWords(&plain, &b)
			classBlock(&fast, &b)
			if plain != want || fast != want {
				t.Fatalf("byte %#x at %d: %+v and %+v, want %+v", c, at, plain, fast, want)
			}
		}
	}
}

func TestMasksAtTheEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Byte(), 1, 200).Draw(t, "all")
		s := all[:rapid.IntRange(1, len(all)).Draw(t, "length")]
		i := rapid.IntRange(0, len(s)-1).Draw(t, "at")
		var m byteMasks
		blockAt(&m, s, i)
		if want := plainMasks(s[i:]); m != want {
			t.Fatalf("%+v, want %+v", m, want)
		}
	})
}

func TestNearRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := []byte(rapid.StringMatching(`[a-zA-Z]{1,16}`).Draw(t, "run"))
		s := append(append([]byte("x."), run...), rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "behind")...)
		key, cased := nearRun(s, 2, len(run))
		low := foldRunes(nil, run)
		if got, want := key.hash(7), (&runSet{seed: 7}).hash(low); got != want {
			t.Errorf("hash of %q: %x, want %x", run, got, want)
		}
		if (cased != 0) != (string(low) != string(run)) {
			t.Errorf("case of %q: %x", run, cased)
		}
	})
}
