package capture

import "runtime"

// canStepBack tries on a thread that ends with it.
func canStepBack(nice int) error {
	tried := make(chan error)
	go func() { tried <- stepBack(nice) }()
	return <-tried
}

// timed does some work of capture and counts the processor time that it took.
func (r *Recorder) timed(work func()) {
	runtime.LockOSThread() // or the time would be that of two threads
	defer runtime.UnlockOSThread()
	before := threadTime()
	defer func() { r.cpu.Add(int64(threadTime() - before)) }()
	work()
}

// stepBack does work on a thread that gives way, where Config.Nice is in force.
// That it could is known; should it fail nevertheless, the work is done all the same.
func (r *Recorder) stepBack(work func()) {
	if r.cfg.Nice > 0 {
		_ = stepBack(r.cfg.Nice)
	}
	work()
}
