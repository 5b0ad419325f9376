package es

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// plainOpenEnd is openEnd byte by byte.
func plainOpenEnd(in []byte, i int) int {
	depth, inside := 1, false
	for ; i < len(in); i++ {
		switch c := in[i]; {
		case inside && c == '\\':
			i++
		case c == '"':
			inside = !inside
		case inside:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

func TestOpenEnd(t *testing.T) {
	piece := rapid.SampledFrom([]string{"{", "}", "[", "]", `"a"`, `"\""`, `"\\"`, `"\\\""`, `"}{\\\\"`, `"long text without anything in it, beyond a block of bytes"`, `,`, "1", "   "})
	rapid.Check(t, func(t *rapid.T) {
		in := bytes.Join(rapid.Map(rapid.SliceOfN(piece, 0, 60), func(s []string) [][]byte {
			out := make([][]byte, len(s))
			for i := range s {
				out[i] = []byte(s[i])
			}
			return out
		}).Draw(t, "pieces"), nil)
		in = append(in, rapid.SampledFrom([]string{"", `"`, `"a}`, `"\`, `"\"}`}).Draw(t, "cut")...)
		if got, want := openEnd(in, 0), plainOpenEnd(in, 0); got != want {
			t.Fatalf("%q: %d, want %d", in, got, want)
		}
	})
}

// Runs of backslashes of every length at every place.
func TestOpenEndBehindBackslashes(t *testing.T) {
	for before := range 70 {
		for n := range 70 {
			in := append(bytes.Repeat([]byte(" "), before), '"')
			in = append(append(in, bytes.Repeat([]byte(`\`), n)...), `"}" ]`...)
			if got, want := openEnd(in, 0), plainOpenEnd(in, 0); got != want {
				t.Fatalf("%d spaces, %d backslashes: %d, want %d", before, n, got, want)
			}
		}
	}
}
