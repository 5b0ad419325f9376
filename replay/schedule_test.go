package replay

import (
	"fmt"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDueGaps(t *testing.T) {
	for speed, want := range map[Speed]time.Duration{
		0.1: 20 * time.Second, 0.5: 4 * time.Second, 1: 2 * time.Second, 1.5: 1333333333 * time.Nanosecond,
		2: time.Second, 6: 333333333 * time.Nanosecond, Max: 0,
	} {
		t.Run(fmt.Sprint(speed), func(t *testing.T) {
			for i := range int64(5) {
				due := Due(i*int64(2*time.Second), speed)
				if diff := due - i*int64(want); diff < -i || diff > i {
					t.Errorf("record %d is due after %v, want %v", i, time.Duration(due), time.Duration(i)*want)
				}
			}
		})
	}
}

func TestDueBounds(t *testing.T) {
	for name, c := range map[string]struct {
		offset int64
		speed  Speed
		want   int64
	}{
		"out of order":           {-5, 1, 0},
		"out of order, slow":     {-5, 0.1, 0},
		"beyond the end of time": {math.MaxInt64, 0.1, math.MaxInt64},
		"the end of time":        {math.MaxInt64, 1, math.MaxInt64},
		"exact at speed 1":       {1<<62 + 1, 1, 1<<62 + 1},
		"420 s at 7":             {420e9, 7, 60e9},
	} {
		if got := Due(c.offset, c.speed); got != c.want {
			t.Errorf("%s: Due(%d, %v) = %d, want %d", name, c.offset, c.speed, got, c.want)
		}
	}
}

func TestDueNeverGoesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
		speed := Speed(rapid.Float64Range(1e-6, 1e6).Draw(t, "speed"))
		if a > b {
			a, b = b, a
		}
		if x, y := Due(a, speed), Due(b, speed); x > y || x < 0 {
			t.Fatalf("Due(%d) = %d > Due(%d) = %d at %v", a, x, b, y, speed)
		}
	})
}

func TestParseSpeed(t *testing.T) {
	for in, want := range map[string]Speed{"1": 1, "0.5": 0.5, "1.5": 1.5, "4x": 4, "max": Max, "MAX": Max, "1e3": 1000} {
		got, err := ParseSpeed(in)
		if err != nil || got != want {
			t.Errorf("ParseSpeed(%q) = %v, %v; want %v", in, got, err, want)
		}
		if again, err := ParseSpeed(got.String()); err != nil || again != got {
			t.Errorf("ParseSpeed(%q) = %v, %v; want %v", got.String(), again, err, got)
		}
	}
	for _, in := range []string{"", "0", "-1", "x", "NaN", "Inf", "200%", "1e9", "1e-9", "fast"} {
		if got, err := ParseSpeed(in); err == nil {
			t.Errorf("ParseSpeed(%q) = %v, want an error", in, got)
		}
	}
}

func TestMoment(t *testing.T) {
	const first, last = int64(1_000_000e9), int64(1_000_600e9)
	for in, want := range map[string]int64{
		"+5m": first + 300e9, "+0s": first, "-1m": last - 60e9, "1970-01-12T13:46:40Z": first, "-0s": first,
	} {
		m, err := ParseMoment(in)
		if err != nil || m.At(first, last) != want {
			t.Errorf("ParseMoment(%q) = %+v, %v: at %d, want %d", in, m, err, m.At(first, last), want)
		}
	}
	for _, in := range []string{"", "5m", "+5", "yesterday", "2026-01-01"} {
		if m, err := ParseMoment(in); err == nil {
			t.Errorf("ParseMoment(%q) = %+v, want an error", in, m)
		}
	}
}

func TestWindow(t *testing.T) {
	for name, c := range map[string]struct {
		w    Window
		want string // sides of the times 10…15
	}{
		"open":                          {Window{}, "iiiiii"},
		"from":                          {Window{From: 12}, "bbiiii"},
		"to":                            {Window{To: 12}, "iiaaaa"},
		"both":                          {Window{From: 11, To: 14}, "biiiaa"},
		"duration from the first":       {Window{Duration: 2}, "iiaaaa"},
		"duration after from":           {Window{From: 12, Duration: 3}, "bbiiia"},
		"to before the duration is up":  {Window{To: 11, Duration: 3}, "iaaaaa"},
		"duration ends before to":       {Window{From: 11, To: 15, Duration: 1}, "biaaaa"},
		"duration beyond the last time": {Window{Duration: math.MaxInt64}, "iiiiii"},
	} {
		got := ""
		for at := int64(10); at < 16; at++ {
			got += string("bia"[c.w.place(at)+1])
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
