package sanitize

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/internal/bytemask"
)

// Runs of 5 to 20 letters among others, so that several blocks come in a row.
func longText() *rapid.Generator[string] {
	return rapid.StringMatching(`([a-zA-Z]{1,20}[ .,]{1,3}|[bcdfghjkmpqvwxz]{13} |[0-9]{1,7}-){20,40}`)
}

// What blocks find is what run by run is found, wherever a text is cut in blocks.
func TestBlocksFindWhatRunsFind(t *testing.T) {
	piece := rapid.OneOf(
		rapid.StringMatching(`[a-zA-Z]{1,20}`),
		rapid.StringMatching(`[bcdfghjkmpqvwxz]{13}`),
		rapid.StringMatching(`[0-9]{1,12}`),
		rapid.SampledFrom([]string{" ", " ", ".", `\n`, `\"`, `\u0041`, "%41", "%", `\`, "é", "北京", "１２３４５６７８", "\xff", "-", ":", `","`, "sécret"}),
		rapid.StringMatching(`[ ,.]{60,66}`),
		longText(),
	)
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(piece, 1, 30).Draw(t, "pieces")
		var s []byte
		for _, p := range pieces {
			s = append(s, p...)
		}
		seed := newSeed()
		p := postcheck{orig: newRunSet(seed), kept: newRunSet(seed), vocabulary: newRunSet(seed), class: postClasses(), unlike: unlikeLetters()}
		original := rapid.SampledFrom(pieces).Draw(t, "original")
		if words := strings.FieldsFunc(original, func(r rune) bool { return strings.ContainsRune(" .,-", r) }); len(words) > 3 {
			original = rapid.SampledFrom(words).Draw(t, "word") // or the first that is looked up tells
		}
		p.each([]byte(original), p.orig)
		if rapid.Bool().Draw(t, "two") {
			p.each([]byte(rapid.StringMatching(`[a-z]{5,14}`).Draw(t, "other")), p.orig)
		}
		_, want := p.cleanRuns(s, 0, len(s))
		if want = want || p.orig.n == 0; p.clean(s) != want {
			t.Fatalf("%q: blocks say %v, runs %v", s, !want, want)
		}
	})
}

// A text read by blocks gets the pseudonym that it gets run by run.
func TestBlocksMakeWhatRunsMake(t *testing.T) {
	piece := rapid.OneOf(
		rapid.StringMatching(`[a-zA-Z]{1,20}`),
		rapid.StringMatching(`[0-9a-f]{1,12}`),
		rapid.StringMatching(`[0-9]{1,12}`),
		rapid.SampledFrom([]string{" ", " ", ".", ":", "-", "/", "the", "10.1.2.3", "2001:db8::1", "2024-05-01T10:00:00Z", "é", "北京", "１２", "\xff"}),
	)
	d := newWorker(t, preset(PresetFidelity)).text
	rapid.Check(t, func(t *rapid.T) {
		var s, want []byte
		for _, p := range rapid.SliceOfN(piece, 0, 30).Draw(t, "pieces") {
			s = append(s, p...)
		}
		inside := false
		for i := 0; i < len(s); {
			want, i, inside = d.run(want, s, i, inside)
		}
		if got := d.tokens(nil, s); string(got) != string(want) && !isPlace(s) {
			t.Fatalf("%q: %q by blocks, %q by runs", s, got, want)
		}
	})
}

// longRuns finds runs by their lengths, which are constants of its own.
func TestLongRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var mask uint64
		for at := 0; at < 64; {
			n := rapid.IntRange(1, 20).Draw(t, "run")
			mask |= (1<<n - 1) << at
			at += n + rapid.IntRange(1, 3).Draw(t, "gap")
		}
		for range rapid.IntRange(0, 9).Draw(t, "cuts") {
			mask &^= 1 << rapid.IntRange(0, 63).Draw(t, "cut")
		}
		var starts, word uint64
		for at := range 64 {
			if hasBit(mask, at) && (at == 0 || !hasBit(mask, at-1)) {
				if n := runLen(mask, at); n >= postLetters {
					starts |= 1 << at
					if n == wordLen {
						word |= 1 << at
					}
				}
			}
		}
		if gotStarts, gotWord := longRuns(mask); gotStarts != starts || gotWord != word {
			t.Fatalf("%064b: %064b, %064b; want %064b, %064b", mask, gotStarts, gotWord, starts, word)
		}
	})
}

// Every letter in every case, at every place.
func TestUnlikeWord(t *testing.T) {
	unlike := unlikeLetters()
	for c := range 256 {
		if asciiClass(byte(c)) != classLetter {
			continue
		}
		like := strings.IndexByte(wordAlphabet, byte(c)|0x20) >= 0
		if likeWord([]byte{byte(c)}) != like || likeWord([]byte("bc"+string(rune(c))+"d")) != like {
			t.Errorf("%c: like a pseudonym's letter: %v", c, !like)
		}
		for at := range bytemask.Block {
			var b [bytemask.Block]byte
			for i := range b {
				b[i] = wordAlphabet[(at+i)%len(wordAlphabet)]
			}
			b[at] = byte(c)
			want := uint64(1) << at
			if like {
				want = 0
			}
			if got := unlike.At(b[:], 0); got != want {
				t.Fatalf("%c at %d: %b, want %b", c, at, got, want)
			}
		}
	}
}

func TestWithinWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mask := rapid.Uint64().Draw(t, "a") & rapid.Uint64().Draw(t, "b") & rapid.Uint64().Draw(t, "c")
		for at := range 64 {
			want := mask>>at&(1<<wordLen-1) != 0
			if hasBit(withinWord(mask), at) != want {
				t.Fatalf("%b at %d: want %v", mask, at, want)
			}
		}
	})
}

// An original as long as a pseudonym is found, whatever its letters are, and whether
// others like it were replaced or not.
func TestOriginalsAsLongAsWords(t *testing.T) {
	const like, unlike, mixed = "bcdfghjkmpqvw", "bcdfghjkmpqve", "consideration"
	for _, originals := range [][]string{{unlike}, {like}, {mixed}, {unlike, mixed}, {like, unlike}} {
		for _, how := range []string{"tokens", "remember"} {
			w := newWorker(t, preset(PresetFidelity))
			w.reset()
			for _, o := range originals {
				if how == "tokens" {
					w.text.tokens(nil, []byte(strings.ToUpper(o)+" x"))
				} else {
					w.text.remember([]byte(o))
				}
			}
			for _, run := range []string{like, unlike, mixed} {
				for at := range 80 {
					s := []byte(strings.Repeat(". ", at) + run + " zxcvbnmzxcvbn")
					if clean := w.post.clean(s); clean == slices.Contains(originals, run) {
						t.Fatalf("%v, by %s: %s at %d: clean %v", originals, how, run, 2*at, clean)
					}
				}
			}
		}
	}
}
