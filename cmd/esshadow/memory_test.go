package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/esshadow/esshadow/configs"
	"github.com/esshadow/esshadow/internal/size"
)

func TestMemoryWanted(t *testing.T) {
	cfg := configs.Default()
	cfg.Proxy.PooledBytes = 10 * size.MiB
	if got, want := memoryWanted(&cfg, 1000), int64((48+10)*size.MiB)+1000; got != want {
		t.Errorf("%d, want %d", got, want)
	}
}

// What lives may always grow by a part of itself before it is collected, however
// little is wanted.
func TestMemoryNeeded(t *testing.T) {
	const mib = int64(size.MiB)
	for _, c := range []struct{ live, other, want int64 }{
		{0, 0, 16 * mib},
		{40 * mib, 5 * mib, 61 * mib},
		{400 * mib, 5 * mib, 505 * mib},
	} {
		if got := memoryNeeded(heapUse{live: c.live, other: c.other}, leastEase); got != c.want {
			t.Errorf("live %d, other %d: %d, want %d", c.live, c.other, got, c.want)
		}
	}
	if got, want := memoryNeeded(heapUse{live: 400 * mib}, mostEase), 800*mib; got != want {
		t.Errorf("with most ease %d, want %d", got, want)
	}
}

func TestEased(t *testing.T) {
	for _, c := range []struct {
		name                      string
		ease, collect, work, want float64
	}{
		{"nothing happened", 0.5, 0, 0, 0.5},
		{"busy", 0.25, 2, 8, 0.5},
		{"busy with all the room there is", 1, 2, 8, 1},
		{"between", 0.5, 7, 93, 0.5},
		{"idle", 0.5, 1, 99, 0.45},
		{"idle with the least", 0.25, 1, 99, 0.25},
	} {
		if got := eased(c.ease, c.collect, c.work); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// The limit follows what is wanted up and down, in steps, and never falls below
// what lives.
func TestMemoryFollows(t *testing.T) {
	was := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(was) })
	const mib = int64(size.MiB)
	wanted := 100 * mib
	m := memory{wanted: func() int64 { return wanted }, ease: leastEase}
	for _, c := range []struct{ wanted, live, want int64 }{
		{100*mib + 1, mib, 104 * mib},
		{300*mib + 1, mib, 304 * mib},
		{100*mib + 1, mib, 104 * mib},
		{102*mib + 1, mib, 104 * mib},
		{100*mib + 1, 400 * mib, 504 * mib},
	} {
		wanted = c.wanted
		m.look(heapUse{live: c.live})
		if got := debug.SetMemoryLimit(-1); got != c.want {
			t.Errorf("wanted %d, live %d: limit %d, want %d", c.wanted, c.live, got, c.want)
		}
	}
	m.look(heapUse{live: 400 * mib, collect: 1, work: 1}) // the 6th look
	for range 3 {
		m.look(heapUse{live: 400 * mib, collect: 1, work: 1})
	}
	if m.ease != leastEase {
		t.Errorf("ease %v before its time", m.ease)
	}
	m.look(heapUse{live: 400 * mib, collect: 1, work: 1}) // the 10th
	if m.ease != 2*leastEase {
		t.Errorf("ease %v after half the time was spent on collecting", m.ease)
	}
}

func TestFollowMemory(t *testing.T) {
	was := debug.SetMemoryLimit(math.MaxInt64)
	t.Cleanup(func() { debug.SetMemoryLimit(was) })
	limit := ""
	env := func(name string) (string, bool) { return limit, name == "GOMEMLIMIT" }
	stop := followMemory(env, func() int64 { return int64(size.TiB) })
	if got := debug.SetMemoryLimit(-1); got <= int64(size.TiB) || got > int64(size.TiB+memoryStep) {
		t.Errorf("limit %d", got)
	}
	if stop(); debug.SetMemoryLimit(-1) != math.MaxInt64 {
		t.Error("the limit is still there")
	}
	for _, limit = range []string{"1TiB", "off"} { // the runtime has read it
		stop = followMemory(env, func() int64 { return 1 })
		if debug.SetMemoryLimit(-1) != math.MaxInt64 {
			t.Errorf("GOMEMLIMIT=%s does not win: %d", limit, debug.SetMemoryLimit(-1))
		}
		stop()
	}
}

// Every number of the runtime that the limit depends on is one that it knows.
func TestHeapReader(t *testing.T) {
	read := newHeapReader()
	runtime.GC()
	if u := read(); u.live <= 0 || u.other <= 0 || u.collect <= 0 || u.work <= 0 {
		t.Errorf("%+v", u)
	}
}
