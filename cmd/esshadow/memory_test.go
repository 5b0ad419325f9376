package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/esshadow/esshadow/configs"
	"github.com/esshadow/esshadow/internal/size"
)

func TestMemoryBound(t *testing.T) {
	cfg := configs.Default()
	cfg.Proxy.BodyMemory, cfg.Proxy.PooledBytes = 100*size.MiB, 10*size.MiB
	cfg.Capture.Queue, cfg.Capture.MaxBody, cfg.Capture.Workers = 1000*size.MiB, 50*size.MiB, 3
	if got, want := memoryBound(&cfg), int64((128+100+10)*size.MiB); got != want {
		t.Errorf("without capture %d, want %d", got, want)
	}
	cfg.Capture.Files.Dir = "x"
	if got, want := memoryBound(&cfg), int64((128+100+10+1000+2*50*3)*size.MiB); got != want {
		t.Errorf("with capture %d, want %d", got, want)
	}
	cfg.Capture.Workers = 0
	if got, want := memoryBound(&cfg), int64((128+100+10+1000+2*50*size.Size(max(1, runtime.GOMAXPROCS(0)/2)))*size.MiB); got != want {
		t.Errorf("with as many workers as fit %d, want %d", got, want)
	}
}

func TestBoundMemory(t *testing.T) {
	was := debug.SetMemoryLimit(math.MaxInt64)
	t.Cleanup(func() { debug.SetMemoryLimit(was) })
	cfg, limit := configs.Default(), ""
	env := func(name string) (string, bool) { return limit, name == "GOMEMLIMIT" }
	rebound, restore := boundMemory(env, &cfg)
	if got := debug.SetMemoryLimit(-1); got != memoryBound(&cfg) {
		t.Errorf("limit %d, want %d", got, memoryBound(&cfg))
	}
	cfg.Proxy.BodyMemory *= 2
	if rebound(&cfg); debug.SetMemoryLimit(-1) != memoryBound(&cfg) {
		t.Errorf("limit %d after a reload, want %d", debug.SetMemoryLimit(-1), memoryBound(&cfg))
	}
	if restore(); debug.SetMemoryLimit(-1) != math.MaxInt64 {
		t.Error("the limit is still there")
	}

	for _, limit = range []string{"1TiB", "off"} { // the runtime has read it
		rebound, restore = boundMemory(env, &cfg)
		if rebound(&cfg); debug.SetMemoryLimit(-1) != math.MaxInt64 {
			t.Errorf("GOMEMLIMIT=%s does not win: %d", limit, debug.SetMemoryLimit(-1))
		}
		restore()
	}
}
