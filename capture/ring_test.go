package capture

import (
	"testing"

	"pgregory.net/rapid"
)

// A Ring gives what a slice gives that is filled at one end and emptied at the other.
func TestRing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r Ring[int]
		var want []int
		for i := range rapid.IntRange(0, 500).Draw(t, "steps") {
			if rapid.IntRange(0, 2).Draw(t, "push") > 0 {
				r.Push(i)
				want = append(want, i)
			} else if v, ok := r.Pop(); ok != (len(want) > 0) || ok && v != want[0] {
				t.Fatalf("%d, %v; want the first of %v", v, ok, want)
			} else if ok {
				want = want[1:]
			}
			if r.Len() != len(want) {
				t.Fatalf("length %d, want %d", r.Len(), len(want))
			}
		}
	})
}
