package main

import (
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// harden keeps the memory of a process that holds what is not sanitised yet from
// the disk and from other processes of the user: no core dump, no attaching
// (PR_SET_DUMPABLE also keeps /proc/PID/mem to root). The trace of a crash shows
// one goroutine, and no values of its arguments matter there: Go prints addresses.
func harden() error {
	debug.SetTraceback("single")
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
}
