package main

import "runtime"

// widener gives the Go runtime a processor more for each of so many threads that step
// back for others: one that waits for a processor of the machine keeps the runtime's,
// which would be missing where clients are served. 0 takes them back. What the runtime
// would take by itself (a container's limit) is asked anew each time. Where the
// environment says GOMAXPROCS, that holds.
func widener(env func(string) (string, bool)) func(threads int) {
	if v, ok := env("GOMAXPROCS"); ok && v != "" {
		return func(int) {}
	}
	return func(threads int) {
		runtime.SetDefaultGOMAXPROCS()
		if threads > 0 {
			runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + threads)
		}
	}
}
