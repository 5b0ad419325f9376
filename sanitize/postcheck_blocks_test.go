package sanitize

import (
	"testing"

	"pgregory.net/rapid"
)

// What blocks find is what run by run is found, wherever a text is cut in blocks.
func TestBlocksFindWhatRunsFind(t *testing.T) {
	piece := rapid.OneOf(
		rapid.StringMatching(`[a-zA-Z]{1,20}`),
		rapid.StringMatching(`[bcdfghjkmpqvwxz]{13}`),
		rapid.StringMatching(`[0-9]{1,12}`),
		rapid.SampledFrom([]string{" ", " ", ".", `\n`, `\"`, `\u0041`, "%41", "%", `\`, "é", "北京", "１２３４５６７８", "\xff", "-", ":", `","`, "sécret"}),
		rapid.StringMatching(`[ ,.]{60,66}`),
	)
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(piece, 1, 30).Draw(t, "pieces")
		var s []byte
		for _, p := range pieces {
			s = append(s, p...)
		}
		seed := newSeed()
		p := postcheck{orig: newRunSet(seed), kept: newRunSet(seed), vocabulary: newRunSet(seed), class: postClasses()}
		p.each([]byte(rapid.SampledFrom(pieces).Draw(t, "original")), p.orig)
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
		mask &^= rapid.Uint64().Draw(t, "cut") & rapid.Uint64().Draw(t, "cut")
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
