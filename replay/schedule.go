package replay

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Speed is how many seconds of the capture are replayed in one second. Max
// means without pauses: as fast as the in-flight bound lets the next one start.
type Speed float64

// Max is the Speed without pauses.
const Max Speed = 0

// ParseSpeed reads a factor such as 1, 0.5 or 4x, or "max".
func ParseSpeed(s string) (Speed, error) {
	if strings.EqualFold(s, "max") {
		return Max, nil
	}
	f, err := strconv.ParseFloat(strings.TrimSuffix(s, "x"), 64)
	if err != nil || !(f >= 1e-6 && f <= 1e6) {
		return 0, fmt.Errorf("speed %q: want a factor from 0.000001 to 1000000, such as 1, 0.5 or 4x, or max", s)
	}
	return Speed(f), nil
}

// String is the form that ParseSpeed reads.
func (s Speed) String() string {
	if s == Max {
		return "max"
	}
	return strconv.FormatFloat(float64(s), 'g', -1, 64)
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Speed) UnmarshalText(b []byte) (err error) {
	*s, err = ParseSpeed(string(b))
	return err
}

// MarshalText implements encoding.TextMarshaler.
func (s Speed) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Set and Type make a Speed a command-line flag value.
func (s *Speed) Set(v string) error { return s.UnmarshalText([]byte(v)) }

// Type names the value in help texts.
func (*Speed) Type() string { return "speed" }

// Due is when a request is due, in ns after the run's start, that arrived
// offset ns after the capture's first one. It depends on nothing else, so no
// lateness of an earlier request can add to it. Records that are out of order
// (offset below 0) are due at once, and what would not fit is due at the end of
// time. At Max everything is due at once.
func Due(offset int64, speed Speed) int64 {
	switch {
	case offset <= 0 || speed == Max:
		return 0
	case speed == 1:
		return offset
	}
	due := math.Round(float64(offset) / float64(speed))
	if due >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(due)
}

// Moment is a point of a capture's time: an instant, or so long after its first
// or before its last record.
type Moment struct {
	Unix      int64 // ns, where neither of the others is set
	FromFirst time.Duration
	FromLast  time.Duration
	relative  bool
}

// ParseMoment reads an RFC 3339 time, or +5m for five minutes after the first
// record, or -1h for one hour before the last.
func ParseMoment(s string) (Moment, error) {
	if strings.HasPrefix(s, "+") || strings.HasPrefix(s, "-") {
		d, err := time.ParseDuration(s)
		if err != nil {
			return Moment{}, fmt.Errorf("time %q: want RFC 3339, or a duration such as +5m or -1h", s)
		}
		if s[0] == '-' {
			return Moment{FromLast: d, relative: true}, nil
		}
		return Moment{FromFirst: d, relative: true}, nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return Moment{}, fmt.Errorf("time %q: want RFC 3339, or a duration such as +5m or -1h", s)
	}
	return Moment{Unix: t.UnixNano()}, nil
}

// At is the Moment in Unix ns, in a capture whose first and last record came at
// the times given. last is used only by a Moment before the end.
func (m Moment) At(first, last int64) int64 {
	switch {
	case !m.relative:
		return m.Unix
	case m.FromLast != 0:
		return addClamped(last, int64(m.FromLast))
	}
	return addClamped(first, int64(m.FromFirst))
}

// Window chooses records by arrival: from From (inclusive) up to To (exclusive),
// and no more than Duration of captured time. Zero values choose everything.
// Times are Unix ns.
type Window struct {
	From, To int64
	Duration time.Duration
}

type side int8

const (
	before side = iota - 1
	inside
	after
)

// place says where t lies. The first record that is not before the window
// opens it, so that Duration counts from From, or from the first record where
// there is no From.
func (w *Window) place(t int64) side {
	if t < w.From {
		return before
	}
	if w.Duration > 0 {
		from := w.From
		if from == 0 {
			from, w.From = t, t
		}
		if end := addClamped(from, int64(w.Duration)); w.To == 0 || end < w.To {
			w.To = end
		}
		w.Duration = 0
	}
	if w.To != 0 && t >= w.To {
		return after
	}
	return inside
}

func addClamped(a, b int64) int64 {
	switch c := a + b; {
	case b > 0 && c < a:
		return math.MaxInt64
	case b < 0 && c > a:
		return math.MinInt64
	default:
		return c
	}
}
