package sanitize

import (
	"testing"

	"pgregory.net/rapid"
)

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
