package sanitize

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/internal/testenv"
)

// TestNothingBehindTheArray: texts at the end of their array, and up to 200 bytes before
// it, become what they become elsewhere, and nothing behind it is read.
func TestNothingBehindTheArray(t *testing.T) {
	room := testenv.Guarded(t)
	w, plain := newWorker(t, preset(PresetFidelity)), newWorker(t, preset(PresetFidelity))
	text := rapid.StringOfN(rapid.SampledFrom([]rune("aaabcdefggzQ  .:-_/@09é北\\%\"\n")), 0, 150, -1)
	rapid.Check(t, func(t *rapid.T) {
		from := []byte(text.Draw(t, "text"))
		behind := rapid.SampledFrom([]int{0, 0, 1, 7, 15, 16, 31, 63, 64, 100, 200}).Draw(t, "behind")
		all := room[len(room)-len(from)-behind:]
		for i := range all {
			all[i] = "zq9\"\\"[i%5] // what stands behind must not matter
		}
		s := all[:len(from)]
		copy(s, from)
		alone := append(make([]byte, 0, len(from)+512), from...)

		var at frameStep
		for _, f := range []struct {
			name string
			of   func(w *Worker, s []byte) []byte
		}{
			{"tokens", func(w *Worker, s []byte) []byte { return w.text.tokens(nil, s) }},
			{"tokens with room", func(w *Worker, s []byte) []byte { return w.text.tokens(make([]byte, 0, 4096), s) }},
			{"text", func(w *Worker, s []byte) []byte { return w.text.text(nil, s) }},
			{"value", func(w *Worker, s []byte) []byte { return w.plainValue(nil, s, &at) }},
			{"value again", func(w *Worker, s []byte) []byte { return w.plainValue(make([]byte, 0, 4096), s, &at) }},
			{"id", func(w *Worker, s []byte) []byte { return w.id(nil, s) }},
		} {
			if got, want := f.of(w, s), f.of(plain, alone); !bytes.Equal(got, want) {
				t.Fatalf("%s of %q, %d bytes behind: %q, alone %q", f.name, from, behind, got, want)
			}
		}
		if got, want := w.post.clean(s), plain.post.clean(alone); got != want {
			t.Fatalf("clean %q: %v, alone %v", from, got, want)
		}
		w.reset()
		plain.reset()
	})
}
