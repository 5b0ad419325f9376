package es

import (
	"bytes"
	"math"
	"strconv"
	"time"
)

// ranges writes a range clause: its field, which ends it has, and, where the
// width can be told, the power of ten of it.
func (f *Fingerprinter) ranges(n int32) {
	t := &f.tree
	f.write("(")
	defer f.write(")")
	c := f.fieldOf(n)
	if c == none {
		return
	}
	f.field(t.key(c))
	low, high := none, none
	if t.is(c, ObjectStart) {
		for b := t.at(c).first; b != none; b = t.at(b).next {
			switch string(t.key(b)) {
			case "gte", "gt", "from", "ge":
				low = f.bound(b)
			case "lte", "lt", "to", "le":
				high = f.bound(b)
			}
		}
	}
	switch {
	case low != none && high != none:
		f.width(low, high)
	case low != none:
		f.write(" >")
	case high != none:
		f.write(" <")
	}
}

// bound is b unless it is null, which means no bound.
func (f *Fingerprinter) bound(b int32) int32 {
	if f.tree.is(b, Null) {
		return none
	}
	return b
}

func (f *Fingerprinter) width(low, high int32) {
	t := &f.tree
	if t.is(low, Number) && t.is(high, Number) {
		a, err1 := strconv.ParseFloat(string(t.value(low)), 64)
		b, err2 := strconv.ParseFloat(string(t.value(high)), 64)
		if w := b - a; err1 == nil && err2 == nil && w >= 0 && w < math.MaxInt64/2 {
			f.amount("", int64(w))
		}
		return
	}
	if !t.is(low, String) || !t.is(high, String) {
		return
	}
	a, ok1 := instant(t.value(low))
	b, ok2 := instant(t.value(high))
	if ok1 && ok2 && a.now == b.now && b.at >= a.at {
		f.duration(b.at - a.at)
	}
}

// duration writes seconds as their largest unit and the power of ten of that.
func (f *Fingerprinter) duration(s int64) {
	unit, n := "s", s
	switch {
	case s >= 86400:
		unit, n = "d", s/86400
	case s >= 3600:
		unit, n = "h", s/3600
	case s >= 60:
		unit, n = "m", s/60
	}
	f.amount("", n)
	f.write(unit)
}

// moment is a time in seconds: after the Unix epoch, or after now.
type moment struct {
	at  int64
	now bool
}

// instant reads a date or date maths. Rounding ("/d") does not count.
func instant(b []byte) (m moment, ok bool) {
	if rest, found := bytes.CutPrefix(b, []byte("now")); found {
		at, ok := maths(rest)
		return moment{at, true}, ok
	}
	date, rest, _ := bytes.Cut(b, []byte("||"))
	if len(date) < 10 || len(date) > 40 {
		return moment{}, false
	}
	for _, layout := range [...]string{time.RFC3339Nano, "2006-01-02", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05", "2006-01-02T15:04"} {
		if d, err := time.Parse(layout, string(date)); err == nil {
			at, ok := maths(rest)
			return moment{at: d.Unix() + at}, ok
		}
	}
	return moment{}, false
}

// maths is the sum of "+1d-2h/d" in seconds.
func maths(b []byte) (sum int64, ok bool) {
	for len(b) > 0 {
		sign := int64(1)
		switch b[0] {
		case '-':
			sign = -1
		case '+':
		case '/':
			if len(b) < 2 || unitSeconds(b[1]) == 0 {
				return 0, false
			}
			b = b[2:]
			continue
		default:
			return 0, false
		}
		end := digitsEnd(b, 1)
		n := int64(1)
		if end > 1 {
			var err error
			if n, err = strconv.ParseInt(string(b[1:end]), 10, 32); err != nil {
				return 0, false
			}
		}
		if end >= len(b) || unitSeconds(b[end]) == 0 {
			return 0, false
		}
		sum += sign * n * unitSeconds(b[end])
		b = b[end+1:]
	}
	return sum, true
}

func unitSeconds(c byte) int64 {
	switch c {
	case 'y':
		return 365 * 86400
	case 'M':
		return 30 * 86400
	case 'w':
		return 7 * 86400
	case 'd':
		return 86400
	case 'h', 'H':
		return 3600
	case 'm':
		return 60
	case 's':
		return 1
	}
	return 0
}
