package replay

import (
	"context"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// threadPacer sleeps in the kernel on a thread of its own, whose timer slack
// (50 µs by default) is the smallest there is. It wakes some 20 µs after the
// time asked for, where the runtime's timers take 0.5 to 1.1 ms.
type threadPacer struct{ slack int }

func newPacer() pacer {
	runtime.LockOSThread()
	slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err == nil {
		err = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	}
	if err != nil { // a sandbox that forbids it: the default slack is fine
		slack = 0
	}
	return &threadPacer{slack: slack}
}

func (p *threadPacer) sleep(ctx context.Context, d time.Duration) {
	if ctx.Err() != nil {
		return
	}
	t := unix.NsecToTimespec(int64(min(d, maxNap)))
	// A signal, of the runtime's own too, ends the sleep early: the caller looks
	// at the clock again in any case.
	_ = unix.Nanosleep(&t, nil)
}

func (p *threadPacer) close() {
	if p.slack > 0 {
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(p.slack), 0, 0, 0)
	}
	runtime.UnlockOSThread()
}
