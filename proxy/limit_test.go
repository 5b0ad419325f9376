package proxy

import (
	"testing"
	"time"
)

// TestLimitNeverEarly: whenever it is asked, what it leaves is as long as was asked for.
func TestLimitNeverEarly(t *testing.T) {
	var l limit
	for i := range 1000 {
		d := time.Duration(1+i%7) * time.Minute
		l.at = l.at.Add(-time.Duration(i%31) * time.Second)
		before := time.Now()
		if at, _ := l.next(d); at.Sub(before) < d || time.Until(at) > d+d/8 {
			t.Fatalf("%d: %v left of %v", i, time.Until(at), d)
		}
	}
}

func TestLimit(t *testing.T) {
	var l limit
	if at, set := l.next(time.Hour); !set || time.Until(at) < time.Hour || time.Until(at) > 68*time.Minute {
		t.Errorf("first: %v, %v", at, set)
	}
	first := l.at
	if at, set := l.next(time.Hour); set || !at.Equal(first) {
		t.Errorf("at once: %v, %v", at, set)
	}
	l.at = l.at.Add(-7 * time.Minute)
	if _, set := l.next(time.Hour); set {
		t.Error("set anew within an eighth of the time")
	}
	l.at = l.at.Add(-time.Minute)
	if at, set := l.next(time.Hour); !set || at.Before(first) {
		t.Errorf("after an eighth: %v, %v", at, set)
	}
	if at, set := l.next(time.Minute); !set || time.Until(at) > 68*time.Second {
		t.Errorf("shorter: %v, %v", at, set)
	}
	l.at = time.Now().Add(-time.Second)
	if at, set := l.next(time.Minute); !set || time.Until(at) < 59*time.Second {
		t.Errorf("in the past: %v, %v", at, set)
	}
	if at, set := l.next(0); !set || !at.IsZero() {
		t.Errorf("none: %v, %v", at, set)
	}
	if _, set := l.next(0); set {
		t.Error("none again: set anew")
	}
}
