package proxy

import "time"

// limit is a deadline of a connection. Setting one costs the runtime a timer; so it is
// set anew only when more than an eighth of the time has passed since the last time.
type limit struct{ at time.Time }

// next is the deadline for waiting d from now on; set tells whether it has to be set,
// as the one that is set does for now.
func (l *limit) next(d time.Duration) (at time.Time, set bool) {
	if d <= 0 {
		set = !l.at.IsZero()
		l.at = time.Time{}
		return l.at, set
	}
	now := time.Now()
	if left := l.at.Sub(now); left > d-d/8 && left <= d {
		return l.at, false
	}
	l.at = now.Add(d)
	return l.at, true
}
