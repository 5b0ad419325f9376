package sanitize

import (
	"net/netip"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDatesAreRecognised(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int
	}{
		{"2024-05-01", 10},
		{"2024/05/01", 10},
		{"2024.05.01", 10},
		{"01/05/2024", 10},
		{"31.12.1999", 10},
		{"2024-05-01T10:11:12.123Z", 24},
		{"2024-05-01T10:11:12+02:00", 25},
		{"2024-05-01 10:11:12,5", 21},
		{"2024-05-01T10:11:12.123456789-0800", 34},
		{"2024-05-01T10Z", 14},
		{"2024-05-01T", 11},
		{"2024-05-01 12 apples", 10},
		{"2024-05-01||/d", 10},
		{"2024-13-01", 0},
		{"2024-05-32", 0},
		{"0024-05-01", 0},
		{"2024-05-01x", 0},
		{"2024-05-011", 0},
		{"2024-5-1", 0},
		{"31/31/1999", 0},
		{"20240501", 0},
		{"2024-05/01", 0},
		{"", 0},
		{"2024-05-0", 0},
		{"2024-05-01北", 0},
	} {
		if got := dateLen([]byte(c.in)); got != c.want {
			t.Errorf("%q: %d, want %d", c.in, got, c.want)
		}
	}
}

// TestCivil compares with package time over eight centuries.
func TestCivil(t *testing.T) {
	first := time.Date(1599, 12, 30, 0, 0, 0, 0, time.UTC)
	n0 := dayNumber(1599, 12, 30)
	for i := range 800 * 366 {
		d := first.AddDate(0, 0, i)
		y, m, day := civil(n0 + i)
		if y != d.Year() || m != int(d.Month()) || day != d.Day() || dayNumber(y, m, day) != n0+i {
			t.Fatalf("day %d: %d-%d-%d, want %s", i, y, m, day, d)
		}
	}
}

// TestDateShift: order, distance and day of the week stay, also inside of text.
func TestDateShift(t *testing.T) {
	d := newWorker(t, preset(PresetStrict)).text
	if d.shift >= 0 || d.shift%7 != 0 {
		t.Errorf("shift is %d days", d.shift)
	}
	for _, s := range []string{"1987-03-14", "2024-02-29", "2000-01-01"} {
		in, _ := time.Parse(time.DateOnly, s)
		out, err := time.Parse(time.DateOnly, string(d.text(nil, []byte(s))))
		if err != nil || int(out.Sub(in).Hours()/24) != d.shift {
			t.Errorf("%s became %s", s, out)
		}
		text := string(d.text(nil, []byte("0 on "+s+"T10:00:00Z, 0")))
		if text != "0 on "+out.Format(time.DateOnly)+"T10:00:00Z, 0" {
			t.Errorf("in text %s became %q", s, text)
		}
	}
}

// TestAddresses: two addresses share as long a prefix as before.
func TestAddresses(t *testing.T) {
	d := newWorker(t, preset(PresetFidelity)).text
	common := func(a, b []byte) int {
		for i := range 8 * len(a) {
			if (a[i/8]^b[i/8])>>(7-i%8)&1 != 0 {
				return i
			}
		}
		return 8 * len(a)
	}
	for _, size := range []int{4, 16} {
		bytes := rapid.SliceOfN(rapid.Byte(), size, size)
		rapid.Check(t, func(t *rapid.T) {
			a, b := bytes.Draw(t, "a"), bytes.Draw(t, "b")
			n := rapid.IntRange(0, size).Draw(t, "shared")
			copy(b[:n], a[:n])
			x, _ := netip.AddrFromSlice(a)
			y, _ := netip.AddrFromSlice(b)
			p, q := d.mapAddr(x).AsSlice(), d.mapAddr(y).AsSlice()
			if common(p, q) != common(a, b) {
				t.Fatalf("%s and %s share %d bits, their pseudonyms %d", x, y, common(a, b), common(p, q))
			}
		})
	}
}

func TestAddressForms(t *testing.T) {
	d := newWorker(t, preset(PresetFidelity)).text
	m := func(s string) string { return string(d.text(nil, []byte(s))) }
	v4, v6 := m("203.0.113.77"), m("2001:db8::c0de:77")
	if _, err := netip.ParseAddr(v4); err != nil || v4 == "203.0.113.77" {
		t.Errorf("v4 became %s", v4)
	}
	if a, err := netip.ParseAddr(v6); err != nil || !a.Is6() {
		t.Errorf("v6 became %s", v6)
	}
	net := netip.MustParsePrefix(m("203.0.113.0/25"))
	if net.Bits() != 25 || net.Masked() != net || !net.Contains(netip.MustParseAddr(v4)) {
		t.Errorf("the network became %s, its address %s", net, v4)
	}
	for in, want := range map[string]string{
		"::ffff:203.0.113.77":                     "::ffff:" + v4,
		"2001:0DB8:0000:0000:0000:0000:C0DE:0077": v6,
		"203.0.113.77:9200":                       v4 + ":" + m("9200"),
		"at 203.0.113.77.":                        "at " + v4 + ".",
		"[203.0.113.77]":                          "[" + v4 + "]",
		"203.0.113.77,203.0.113.77":               v4 + "," + v4,
		"203.0.113.77/33":                         v4 + "/" + m("33"),
	} {
		if got := m(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestUUID(t *testing.T) {
	d := newWorker(t, preset(PresetFidelity)).text
	m := func(s string) string { return string(d.text(nil, []byte(s))) }
	low, up := "8f14e45f-ceea-467f-9a0c-0123456789ab", "8F14E45F-CEEA-467F-9A0C-0123456789AB"
	got := m(low)
	if uuidLen([]byte(got)) != 36 || got == low || got[14] != '4' || got[19] != '9' {
		t.Errorf("became %s", got)
	}
	if m(up) == got || len(m("id="+low+";")) < 36+13+2 {
		t.Errorf("%s, %s", m(up), m("id="+low+";"))
	}
}

func TestPlaces(t *testing.T) {
	for in, want := range map[string]bool{
		"48.208176,16.373819": true, "-33.9, 18.4": true, "POINT (16.3 48.2)": true, "BBOX (16.3, 16.5, 48.3, 48.1)": true,
		"POLYGON ((1 2, 3.5 -4, 1 2))": true, "multipoint(1 2)": true,
		"4821,16": false, "anna": false, "POINT": false, "POINT of sale (1)": false, "1.5": false, "1.2,3.4,5.6": false, "": false,
	} {
		if isPlace([]byte(in)) != want {
			t.Errorf("%q: %v", in, !want)
		}
	}
}
