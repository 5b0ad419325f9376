// Package size reads and prints byte counts the way people write them.
package size

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes. In text it is a number with an optional unit:
// kB, MB, GB, TB (powers of 1000, IEC 80000-13), KiB, MiB, GiB, TiB (powers of
// 1024) or B; the letter case of the unit does not matter.
type Size int64

// Units, largest first.
const (
	KiB Size = 1 << (10 * (iota + 1))
	MiB
	GiB
	TiB
)

type unit struct {
	name string
	size float64
}

func units() []unit {
	return []unit{
		{"TiB", float64(TiB)},
		{"GiB", float64(GiB)},
		{"MiB", float64(MiB)},
		{"KiB", float64(KiB)},
		{"TB", 1e12},
		{"GB", 1e9},
		{"MB", 1e6},
		{"kB", 1e3},
		{"B", 1},
	}
}

// Parse reads a size such as 16MiB, 1.5GB or 4096.
func Parse(s string) (Size, error) {
	num, factor := strings.TrimSpace(s), 1.0
	for _, u := range units() {
		if len(num) > len(u.name) && strings.EqualFold(num[len(num)-len(u.name):], u.name) {
			num, factor = strings.TrimSpace(num[:len(num)-len(u.name)]), u.size
			break
		}
	}
	n, err := strconv.ParseFloat(num, 64)
	if err != nil || n < 0 || n*factor >= math.MaxInt64 || math.IsNaN(n) {
		return 0, fmt.Errorf("size %q: want a number with an optional unit, such as 16MiB or 1GB", s)
	}
	return Size(n * factor), nil
}

// String is the shortest exact form.
func (s Size) String() string {
	for _, u := range units() {
		if n := int64(u.size); n > 1 && s != 0 && int64(s)%n == 0 {
			return strconv.FormatInt(int64(s)/n, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Size) UnmarshalText(b []byte) (err error) {
	*s, err = Parse(string(b))
	return err
}

// MarshalText implements encoding.TextMarshaler.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Set and Type make a Size a command-line flag value.
func (s *Size) Set(v string) error { return s.UnmarshalText([]byte(v)) }

// Type names the value in help texts.
func (*Size) Type() string { return "size" }
