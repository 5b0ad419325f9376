package sanitize

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/capture"
)

// A string that is remembered becomes what it becomes anew, at every length, from
// every kind of array, and with little room to write to.
func TestValuesAreRememberedAsTheyAre(t *testing.T) {
	w, plain := newWorker(t, preset(PresetFidelity)), newWorker(t, preset(PresetFidelity))
	words := rapid.SampledFrom([]string{"a", "info", "web", "example", "test", "com", "7", "42", ".", "-", "@", " ", "é", "北京", "The", "10.0.0.1", "2024-05-01"})
	at := frameStep{}
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(words, 0, 12).Draw(t, "words"), "")
		want := string(plain.text.tokens(nil, []byte(s)))
		for range 3 {
			at.tries, at.hits = 0, 0
			room := rapid.IntRange(0, 200).Draw(t, "room")
			long := append([]byte(s), strings.Repeat("z", rapid.IntRange(0, 40).Draw(t, "behind"))...)
			if got := string(w.plainValue(make([]byte, 0, room), long[:len(s)], &at)); got != want {
				t.Fatalf("%q became %q, want %q", s, got, want)
			}
		}
		if rapid.Bool().Draw(t, "next record") {
			w.reset()
		}
	})
}

// The post-check of a record knows the runs of a string that was remembered from the
// record before.
func TestRememberedValuesAreChecked(t *testing.T) {
	w := newWorker(t, preset(PresetFidelity))
	for record := range 3 {
		body := strings.Repeat("{\"index\":{}}\n{\"level\":\"annabergmann\",\"b\":\"x\"}\n", 8+record)
		var rec capture.Record
		if drop := w.Sanitize(&rec, exchange("POST", "/i/_bulk", body)); drop != "" {
			t.Fatal(drop)
		}
		if w.post.clean([]byte(`{"level":"annabergmann"}`)) {
			t.Errorf("record %d: the original is not known to the check", record)
		}
	}
}

// Where strings hardly come again, they are not looked for.
func TestValuesThatDoNotComeAgain(t *testing.T) {
	w := newWorker(t, preset(PresetFidelity))
	at := frameStep{}
	buf := make([]byte, 64)
	for i := range 100 {
		s := append(buf[:0], "user"...)
		s = append(s, strings.Repeat("q", i%20)...)
		s = append(s, byte('a'+i/20))
		w.plainValue(nil, s, &at)
	}
	if at.tries > valueTries {
		t.Errorf("%d tries, %d hits", at.tries, at.hits)
	}
	again := frameStep{}
	for range 3000 {
		w.plainValue(nil, append(buf[:0], "info"...), &again)
	}
	if again.hits < valueTries || again.tries >= 1<<8 {
		t.Errorf("%d tries, %d hits", again.tries, again.hits)
	}
}
