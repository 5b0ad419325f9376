package es

import (
	"bytes"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/internal/testenv"
)

// TestNothingBehindTheArray: JSON at the end of its array, and cut anywhere, is read and
// quoted as it is elsewhere, and nothing behind the array is looked at.
func TestNothingBehindTheArray(t *testing.T) {
	room := testenv.Guarded(t)
	pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
		`{"took":1,`, `"items":[`, `{"index":{"_id":"a","status":201}}`, `,`, `]`, `}`, `"a\"b\\"`, `\`, `"`, `[[{`, `é北`, "\x01", "\n", `1.5e3`,
		`"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"`, `"hits":{"hits":[{"_id":"x","_source":{"a":["}"]}}]}`, `:`, ` `,
	}), 0, 30)
	rapid.Check(t, func(t *rapid.T) {
		var from []byte
		for _, p := range pieces.Draw(t, "pieces") {
			from = append(from, p...)
		}
		from = from[:rapid.IntRange(0, len(from)).Draw(t, "cut")]
		behind := rapid.SampledFrom([]int{0, 0, 1, 8, 63, 64, 200}).Draw(t, "behind")
		all := room[len(room)-len(from)-behind:]
		for i := range all {
			all[i] = `]}"\x`[i%5] // what stands behind must not matter
		}
		s := all[:len(from)]
		copy(s, from)
		alone := bytes.Clone(from)
		if got, want := AppendQuoted(nil, s), AppendQuoted(nil, alone); !bytes.Equal(got, want) {
			t.Fatalf("quoted %q: %q, alone %q", from, got, want)
		}
		if got, want := AppendQuotedText(nil, s), AppendQuotedText(nil, alone); !bytes.Equal(got, want) {
			t.Fatalf("quoted text %q: %q, alone %q", from, got, want)
		}
		if got, want := plainEnd(s, 0), plainEnd(alone, 0); got != want {
			t.Fatalf("plainEnd %q: %d, alone %d", from, got, want)
		}
		if got, want := openEnd(s, 0), openEnd(alone, 0); got != want {
			t.Fatalf("openEnd %q: %d, alone %d", from, got, want)
		}
		for _, op := range []Op{OpSearch, OpBulk, OpMsearch} {
			got, want := Summarize(op, 200, "application/json", "", s, Mapper{}), Summarize(op, 200, "application/json", "", alone, Mapper{})
			if a, b := asJSON(t, got), asJSON(t, want); a != b {
				t.Fatalf("%v of %q: %s, alone %s", op, from, a, b)
			}
		}
		var r BulkReader
		r.Reset(s)
		for {
			if _, err := r.Next(); err != nil {
				break
			}
		}
	})
}

func asJSON(t *rapid.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
