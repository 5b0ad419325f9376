package main

import (
	"runtime"
	"testing"
)

func TestWiden(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	runtime.SetDefaultGOMAXPROCS() // whatever the test was told
	said := map[string]string{}
	env := func(name string) (string, bool) { v, ok := said[name]; return v, ok }
	was := runtime.GOMAXPROCS(0)
	restore := widen(env, 3)
	if got := runtime.GOMAXPROCS(0); got != was+3 {
		t.Errorf("%d processors, want %d", got, was+3)
	}
	if restore(); runtime.GOMAXPROCS(0) != was {
		t.Errorf("%d processors afterwards, want %d", runtime.GOMAXPROCS(0), was)
	}
	if restore = widen(env, 0); runtime.GOMAXPROCS(0) != was {
		t.Errorf("%d processors without threads, want %d", runtime.GOMAXPROCS(0), was)
	}
	restore()
	said["GOMAXPROCS"] = "1"
	if restore = widen(env, 3); runtime.GOMAXPROCS(0) != was {
		t.Errorf("GOMAXPROCS does not win: %d", runtime.GOMAXPROCS(0))
	}
	restore()
}
