package proxy

import (
	"testing"
	"time"
)

func TestLimit(t *testing.T) {
	var l limit
	if at, set := l.next(time.Hour); !set || time.Until(at) < 59*time.Minute || time.Until(at) > time.Hour {
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
	if at, set := l.next(time.Minute); !set || time.Until(at) > time.Minute {
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
