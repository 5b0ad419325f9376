package size

import "testing"

func TestParse(t *testing.T) {
	for in, want := range map[string]Size{
		"0": 0, "4096": 4096, "1B": 1, "1kB": 1000, "1KiB": 1024, "16MiB": 16 << 20, "16 mib": 16 << 20,
		"1.5GB": 1500000000, "2TiB": 2 << 40,
	} {
		if got, err := Parse(in); err != nil || got != want {
			t.Errorf("Parse(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "MiB", "-1", "1XB", "1e30GB", "NaN", "ten"} {
		if got, err := Parse(in); err == nil {
			t.Errorf("Parse(%q) = %d, want an error", in, got)
		}
	}
}

func TestStringRoundTrip(t *testing.T) {
	for _, s := range []Size{0, 1, 1000, 1024, 16 << 20, 1500000000, 123457} {
		if got, err := Parse(s.String()); err != nil || got != s {
			t.Errorf("Parse(%q) = %d, %v; want %d", s.String(), got, err, s)
		}
	}
}
