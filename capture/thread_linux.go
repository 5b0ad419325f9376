package capture

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// stepBack gives the calling goroutine a thread of its own until it ends, and makes
// it nicer to others by n. There is no way back without a privilege.
func stepBack(n int) error {
	runtime.LockOSThread()
	was, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return err
	}
	const offset = 20 // the system call gives 20 - nice
	return unix.Setpriority(unix.PRIO_PROCESS, 0, min(offset-was+n, maxNice))
}

// threadTime is the processor time that the calling thread has had.
func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
