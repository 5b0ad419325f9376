package main

import (
	"runtime"
	"testing"
)

func TestWidener(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	runtime.SetDefaultGOMAXPROCS() // whatever the test was told
	said := map[string]string{}
	env := func(name string) (string, bool) { v, ok := said[name]; return v, ok }
	was := runtime.GOMAXPROCS(0)
	wide := widener(env)
	for _, threads := range []int{3, 3, 0, 1, 0, 0} {
		if wide(threads); runtime.GOMAXPROCS(0) != was+threads {
			t.Errorf("%d processors, want %d", runtime.GOMAXPROCS(0), was+threads)
		}
	}
	said["GOMAXPROCS"] = "1"
	if widener(env)(3); runtime.GOMAXPROCS(0) != was {
		t.Errorf("GOMAXPROCS does not win: %d", runtime.GOMAXPROCS(0))
	}
}
