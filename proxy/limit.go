package proxy

import "time"

// limit is a deadline of a connection. Setting one costs the runtime a timer; so it is
// set later than it need be, by an eighth of the time, and set anew only when that has
// passed: what waits is never cut short.
type limit struct{ at time.Time }

// next is the deadline for waiting d from now on, and up to an eighth longer; set tells
// that it has to be set, and is all of that eighth away: the one that is set does not do.
func (l *limit) next(d time.Duration) (at time.Time, set bool) { return l.from(time.Now(), d) }

// from is next where it is known what time it is.
func (l *limit) from(now time.Time, d time.Duration) (at time.Time, set bool) {
	if d <= 0 {
		set = !l.at.IsZero()
		l.at = time.Time{}
		return l.at, set
	}
	if left := l.at.Sub(now); left >= d && left <= d+d/8 {
		return l.at, false
	}
	l.at = now.Add(d + d/8)
	return l.at, true
}
