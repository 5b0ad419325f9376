package sanitize

import (
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A text that is an address and nothing else becomes the text of what mapAddr makes of
// it, the first time and again; any other is no address to address4.
func TestTextsOfAddresses(t *testing.T) {
	d := newWorker(t, preset(PresetFidelity)).text
	text := rapid.OneOf(
		rapid.StringMatching(`[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}`),
		rapid.StringMatching(`(1|10|172|255)\.(0|16|168)\.[0-9]{1,2}\.[0-9]`),
		rapid.StringMatching(`[0-9.]{0,18}`),
		rapid.StringMatching(`[0-9]{6,16}`),
	)
	rapid.Check(t, func(t *rapid.T) {
		s, tail := text.Draw(t, "text"), rapid.SampledFrom([]string{"", " ", ",1", ".", "..", ":9200", "/8", "a", "é", "-"}).Draw(t, "tail")
		if digits := strings.ReplaceAll(s, ".", ""); digits != "" {
			d.digitRun(nil, []byte(digits)) // whose pseudonym stands in the same cache
		}
		want := ""
		if a, err := netip.ParseAddr(s); err == nil && (tail == "" || tail == " " || tail == ",1" || tail == "-") {
			want = d.mapAddr(a).String()
		}
		for range 2 {
			got, n := d.address4(nil, []byte(s+tail))
			if string(got) != want || n != 0 && n != len(s) || (n == 0) != (want == "") {
				t.Fatalf("%q: %q of %d bytes, want %q", s+tail, got, n, want)
			}
		}
	})
}

// All numbers of up to five digits, and then some.
func TestAppendShort(t *testing.T) {
	for v := range uint32(100_000) {
		for n := len(strconv.Itoa(int(v))); n <= 8; n++ {
			if got, want := appendShort(make([]byte, 1, 4), v, n), appendPadded([]byte{0}, uint64(v), n); string(got) != string(want) {
				t.Fatalf("%d in %d digits: %q, want %q", v, n, got, want)
			}
			run := appendPadded(make([]byte, 0, 16), uint64(v), n)
			if got := shortDigits(append(run, '7', 'x')[:n]); got != v {
				t.Fatalf("%s is read as %d", run, got)
			}
			if got := shortDigits(run[:n:n]); got != v {
				t.Fatalf("%s at the end of its array is read as %d", run, got)
			}
		}
	}
}
