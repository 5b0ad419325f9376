package sanitize

import (
	"bytes"
	"testing"

	"github.com/esshadow/esshadow/internal/bytemask"
)

// A text in which nothing is to be found is passed over up to its last block, and not
// beyond one that has to be looked at more closely.
func TestPassStopsBeforeWhatTells(t *testing.T) {
	if !passesBlocks() {
		t.Skip("this processor has no AVX2 or BMI")
	}
	calm := bytes.Repeat([]byte(`the bcdfghjkmpqvw fox 1234567, "field":`), 20)
	for _, tell := range []string{"original", "ORIGINAL", "12345678", `\n`, "%41", "é", "abcdefghijklmnopq", "bcdfghjkmpqva"} {
		seed := newSeed()
		p := postcheck{orig: newRunSet(seed), kept: newRunSet(seed), vocabulary: newRunSet(seed), class: postClasses()}
		p.each([]byte("original bcdfghjkmpqva"), p.orig)
		if at := p.pass(append(calm[:len(calm):len(calm)], make([]byte, passBehind)...)[:len(calm)], 0); at < len(calm)-2*bytemask.Block {
			t.Fatalf("nothing to find: stopped at %d of %d", at, len(calm))
		}
		for from := range 2 * bytemask.Block {
			s := append(bytes.Clone(calm[:300+from]), ' ')
			begin := len(s)
			s = append(append(append(s, tell...), ' '), calm...)
			if at := p.pass(s, 0); at > begin || at < begin-bytemask.Block-len(tell) {
				t.Fatalf("%s at %d: stopped at %d", tell, begin, at)
			}
		}
	}
}
