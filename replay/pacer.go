package replay

import (
	"context"
	"time"
)

// pacer sleeps. It may wake too early: its caller looks at the clock again.
// A pacer belongs to the goroutine that made it.
type pacer interface {
	sleep(ctx context.Context, d time.Duration)
	close()
}

// maxNap bounds one sleep of a pacer that cannot hear a context, so that an
// interrupt is heard soon.
const maxNap = 50 * time.Millisecond

// timerPacer sleeps on the runtime's timers, whose waits have the kernel's
// resolution of whole milliseconds where epoll or the like serves them.
type timerPacer struct{ timer *time.Timer }

func newTimerPacer() pacer { return &timerPacer{timer: time.NewTimer(0)} }

func (p *timerPacer) sleep(ctx context.Context, d time.Duration) {
	p.timer.Reset(d)
	select {
	case <-p.timer.C:
	case <-ctx.Done():
	}
}

func (p *timerPacer) close() { p.timer.Stop() }
