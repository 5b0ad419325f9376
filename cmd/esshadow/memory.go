package main

import (
	"runtime"
	"runtime/debug"

	"github.com/esshadow/esshadow/configs"
	"github.com/esshadow/esshadow/internal/size"
)

// memoryRest is for what of a proxy has no bound in bytes of its own:
// connections, the sanitiser's tables, the writer's blocks, the program.
const memoryRest = 128 * size.MiB

// memoryBound is the sum of all that a proxy may hold by its configuration.
func memoryBound(cfg *configs.Config) int64 {
	n := memoryRest + cfg.Proxy.BodyMemory + cfg.Proxy.PooledBytes
	if cfg.Capture.Files.Dir != "" {
		workers := cfg.Capture.Workers
		if workers == 0 {
			workers = max(1, runtime.GOMAXPROCS(0)/2)
		}
		n += cfg.Capture.Queue + size.Size(2*workers)*cfg.Capture.MaxBody // see capture.Config.Queue
	}
	if cfg.Mirror.On() {
		n += cfg.Mirror.Queue + cfg.Mirror.Target.AnswerMemory + 2*cfg.Capture.MaxBody // one request while it is sanitised
	}
	return int64(n)
}

// boundMemory makes memoryBound the soft limit of the Go runtime: nearing it,
// garbage is collected before the heap has doubled. All that may live is in the
// limit, so that it never makes the collector run for nothing. Where GOMEMLIMIT
// says something, off included, that holds. rebound takes another configuration,
// restore puts back what was.
func boundMemory(env func(string) (string, bool), cfg *configs.Config) (rebound func(*configs.Config), restore func()) {
	if v, ok := env("GOMEMLIMIT"); ok && v != "" {
		return func(*configs.Config) {}, func() {}
	}
	was := debug.SetMemoryLimit(memoryBound(cfg))
	return func(cfg *configs.Config) { debug.SetMemoryLimit(memoryBound(cfg)) }, func() { debug.SetMemoryLimit(was) }
}
