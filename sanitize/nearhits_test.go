package sanitize

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What nearHits takes becomes what it becomes run by run, wherever blocks end, and the
// post-check knows the same runs. It writes nothing behind the room that it was given.
func TestHitsAreWhatRunsAre(t *testing.T) {
	quick, slow := newWorker(t, preset(PresetFidelity)), newWorker(t, preset(PresetFidelity))
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			" ", " ", " ", ", ", ":", "::", ": ", " :", "a:b", "12:", "-", "/", ".", "…", "é", "北", "\"", "\\n", strings.Repeat("-", 20), strings.Repeat(" ", 70),
			"the", "The", "a", "be", "cafe", "dead", "beef-", "abc1", "info", "warning", "INFO", "counterrevolutionary", "internationalis", "internationalise",
			"10.0.0.1", "::1", "fe80::1", "2024-05-01T12:00:00Z", "7", "1234567", "123456789012", "x9y8z7", "bcdfghjkmpqvw",
		}),
		rapid.StringMatching(`[a-z]{1,17}`),
		rapid.StringMatching(`[a-fA-F]{1,9}[0-9]{0,3}`),
	)
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(piece, 1, 60).Draw(t, "text"), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		long := append([]byte(s), strings.Repeat("z", 2*nearBehind)...)[:len(s)]
		exact := bytes.Clone([]byte(s))
		for range 2 { // the second time, all is known
			var made []byte
			for i, inside := 0, false; i < len(exact) && !isPlace(exact); {
				made, i, inside = slow.text.run(made, exact, i, inside)
			}
			want := string(made)
			if isPlace(exact) {
				want = s
			}
			const room = 1 << 15
			buf := bytes.Repeat([]byte{'#'}, room+100)
			got := quick.text.tokens(buf[:0:room], long)
			if string(got) != want {
				t.Fatalf("%q\nbecame\n%q\nrun by run\n%q", s, got, want)
			}
			if len(got) <= room && len(bytes.TrimLeft(buf[room:], "#")) > 0 {
				t.Fatal("wrote behind its room")
			}
			if quick.post.orig.n != slow.post.orig.n {
				t.Fatalf("%q: %d runs are known to the check, run by run %d", s, quick.post.orig.n, slow.post.orig.n)
			}
		}
		if rapid.Bool().Draw(t, "next record") {
			quick.reset()
			slow.reset()
		}
	})
}

// The most that a block becomes fits in the room that is asked for.
func TestHitsFitTheirRoom(t *testing.T) {
	w := newWorker(t, preset(PresetFidelity))
	for _, s := range []string{strings.Repeat("x ", 200), strings.Repeat("x y", 200), strings.Repeat(" ", 400), strings.Repeat("is ", 200)} {
		in := append([]byte(s), strings.Repeat("z", nearBehind)...)[:len(s)]
		want := string(w.text.tokens(nil, in))
		for spare := range 2 * nearRoom {
			room := len(want) + spare
			buf := bytes.Repeat([]byte{'#'}, room+nearRoom)
			got := w.text.tokens(buf[:0:room], in)
			if string(got) != want || len(bytes.TrimLeft(buf[room:], "#")) > 0 {
				t.Fatalf("%.10q with %d bytes of room", s, room)
			}
		}
	}
}

// Runs that share their places: what comes again stays in the line that nearHits looks
// at, what came once goes first, and nothing goes while a place is free.
func TestWordsThatComeAgainStay(t *testing.T) {
	c := newNearWords(4)
	key := func(i int) nearKey { return nearKey{uint64(i), 1} }
	known := func(i int) bool {
		k := key(i)
		return c.get(5, &k) != nil
	}
	for i := range nearPlaces {
		c.put(5, nearWord{key: key(i)})
	}
	for i := range nearPlaces {
		if !known(i) {
			t.Fatalf("%d went while a place was free", i)
		}
	}
	for _, i := range []int{3, 2} {
		k := key(i)
		if e := c.find(5, &k); e == nil || e != &c.entries[5] || e.key != k {
			t.Fatalf("%d came again, and is not in front", i)
		}
	}
	for i := nearPlaces; i < 100; i++ {
		c.put(5, nearWord{key: key(i)})
		if !known(i) || !known(2) || !known(3) {
			t.Fatalf("after %d, what came again: %v and %v", i, known(2), known(3))
		}
	}
	for i := range 16 {
		if k := c.entries[i].key; i&^3 != 4 && k != (nearKey{}) {
			t.Fatalf("%v is in place %d", k, i)
		}
	}
	if k := key(2); c.find(5, &k) != &c.entries[5] {
		t.Fatal("what is in front has moved")
	}
	if k := key(3); c.find(5, &k) != &c.entries[4] {
		t.Fatal("what is in the first line has moved")
	}
}
