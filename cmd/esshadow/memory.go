package main

import (
	"context"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"github.com/esshadow/esshadow/configs"
	"github.com/esshadow/esshadow/internal/size"
)

const (
	// memoryRest is for what of a proxy has no bound in bytes of its own:
	// connections, the sanitiser's tables, the writer's blocks, the program.
	memoryRest = 48 * size.MiB
	// memoryStep is what the limit moves by, for each move costs a moment.
	memoryStep = 4 * size.MiB

	memoryEvery = 100 * time.Millisecond // the limit is looked at
	easeEvery   = 10                     // looks, after which the collector's share is

	// The heap may always grow by this part of what lives in it before it is
	// collected, and by sparest at least.
	leastEase, mostEase = 0.25, 1.0
	sparest             = 16 * size.MiB
	// Beyond busyShare of the process's work the collector gets twice the room,
	// below idleShare it slowly loses it.
	busyShare, idleShare = 0.10, 0.05
)

// memoryWanted is what a proxy may use while it holds so many bytes: see gateway.held.
func memoryWanted(cfg *configs.Config, held int64) int64 {
	return int64(memoryRest+cfg.Proxy.PooledBytes) + held
}

// heapUse is what the Go runtime says of itself.
type heapUse struct {
	live, other   int64   // bytes: on the heap after the last collection, and besides the heap
	collect, work float64 // seconds of processor time: of collecting (not when there is nothing else to do), of all else
}

// memoryNeeded is the limit below which the collector would run for nothing.
func memoryNeeded(u heapUse, ease float64) int64 {
	return u.live + u.other + max(int64(sparest), int64(ease*float64(u.live)))
}

// eased is the part of the live heap that is to be spare, by what collecting took of
// the processor time since the last look.
func eased(ease, collect, work float64) float64 {
	if collect+work <= 0 {
		return ease
	}
	switch share := collect / (collect + work); {
	case share > busyShare:
		return min(mostEase, 2*ease)
	case share < idleShare:
		return max(leastEase, 0.9*ease)
	}
	return ease
}

// memory keeps the soft limit of the Go runtime close to what the process needs, so
// that garbage is collected before the heap has doubled. It is written by one
// goroutine.
type memory struct {
	wanted func() int64
	ease   float64
	before heapUse
	looks  int
	limit  int64 // that is in force; 0: none
}

// look sets the limit anew where it is a step away.
func (m *memory) look(u heapUse) {
	if m.looks++; m.looks%easeEvery == 0 {
		m.ease = eased(m.ease, u.collect-m.before.collect, u.work-m.before.work)
		m.before = u
	}
	limit := max(m.wanted(), memoryNeeded(u, m.ease))
	limit += int64(memoryStep) - limit%int64(memoryStep)
	if limit != m.limit {
		m.limit = limit
		debug.SetMemoryLimit(limit)
	}
}

// followMemory lets the soft limit follow what is wanted, until stop is called,
// which puts back what was. Where GOMEMLIMIT says something, off included, that holds.
func followMemory(env func(string) (string, bool), wanted func() int64) (stop func()) {
	if v, ok := env("GOMEMLIMIT"); ok && v != "" {
		return func() {}
	}
	m, read := memory{wanted: wanted, ease: leastEase}, newHeapReader()
	was := debug.SetMemoryLimit(-1)
	m.look(read())
	ctx, end := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		tick := time.NewTicker(memoryEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				m.look(read())
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		end()
		running.Wait()
		debug.SetMemoryLimit(was)
	}
}

// newHeapReader makes what asks the Go runtime; a metric that it does not know is 0.
func newHeapReader() func() heapUse {
	names := []string{
		"/gc/heap/live:bytes",
		"/memory/classes/total:bytes", "/memory/classes/heap/released:bytes", "/memory/classes/heap/objects:bytes",
		"/memory/classes/heap/free:bytes", "/memory/classes/heap/unused:bytes",
		"/cpu/classes/gc/total:cpu-seconds", "/cpu/classes/gc/mark/idle:cpu-seconds", "/cpu/classes/user:cpu-seconds",
	}
	samples := make([]metrics.Sample, len(names))
	for i, name := range names {
		samples[i].Name = name
	}
	bytes := func(i int) int64 {
		if samples[i].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return int64(min(samples[i].Value.Uint64(), math.MaxInt64))
	}
	seconds := func(i int) float64 {
		if samples[i].Value.Kind() != metrics.KindFloat64 {
			return 0
		}
		return samples[i].Value.Float64()
	}
	return func() heapUse {
		metrics.Read(samples)
		return heapUse{
			live: bytes(0), other: bytes(1) - bytes(2) - bytes(3) - bytes(4) - bytes(5),
			collect: seconds(6) - seconds(7), work: seconds(8),
		}
	}
}
