//go:build unix

package sanitize

import (
	"time"

	"golang.org/x/sys/unix"
)

// cpuTime is user and system time of all threads; 0 where it cannot be told.
func cpuTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
