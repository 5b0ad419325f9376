package main

import "syscall"

// pageFaults is how many pages the kernel has given the process so far.
func pageFaults() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return int64(u.Minflt) //nolint:unconvert // int32 on some machines
}
