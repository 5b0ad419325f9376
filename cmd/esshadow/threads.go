package main

import "runtime"

// widen gives the Go runtime a processor more for each of so many threads that step
// back for others: one that waits for a processor of the machine keeps the runtime's,
// which would be missing where clients are served. What the runtime would take by
// itself (a container's limit) is asked anew each time. Where the environment says
// GOMAXPROCS, that holds. restore puts back what was.
func widen(env func(string) (string, bool), threads int) (restore func()) {
	if v, ok := env("GOMAXPROCS"); threads == 0 || ok && v != "" {
		return func() {}
	}
	runtime.SetDefaultGOMAXPROCS()
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + threads)
	return runtime.SetDefaultGOMAXPROCS
}
