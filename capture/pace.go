package capture

import "time"

// Workers come in two kinds where Config.Nice is in force. The patient ones have
// threads that give way to all else that wants the processors; what they cannot do
// waits in the queue. The eager ones are of ordinary priority.
//
// Small requests are done with before anybody notices: as long as no other come, the
// eager workers do them all. With the first large one, which takes a processor for
// milliseconds, the load is heavy: from then on the patient ones work, and the eager
// ones only while the queue is pressed: half full, many requests in it, or the oldest
// late. So a capture that can keep up loses nothing, and costs clients no more than it must.
//
// Where more is lost than captured although the eager ones work, their work is
// futile: clients are slowed down for a capture that has holes anyway. Then the
// queue is lossy until less is lost: the patient ones go on with what is left over,
// and no more is queued than they take in half a second, so that what is captured
// is not late besides. Then they rest after each effort, unless most of several show that
// processors are free: even the nicest thread takes turns, caches and memory from clients,
// and keeps a processor for milliseconds while clients wait for the others.
const (
	paceEvery   = 100 * time.Millisecond // a tick
	lateTicks   = 5                      // an exchange that waits for so long is late
	paceWindow  = 3                      // ticks over which losses are looked at
	shortQueue  = 4 << 20                // bytes that a lossy queue has at least
	firstProbe  = 15 * time.Second       // after that long an eager worker tries again
	lastProbe   = 2 * time.Minute        // doubled up to this while it is in vain
	fallenPart  = 4                      // of what was too much is what can perhaps be captured
	ebbWindows  = 3                      // as many with no more end the wait for that try
	pressedPart = 2                      // of the limit is where the queue is pressed
	pressedMany = 512                    // requests are, too: small ones that wait are cold in the caches
	largeWeight = 64 << 10               // bytes of an exchange that makes the load heavy
	calmTicks   = 100                    // after so many without one it is light again

	crowdedPart = 8  // of its processor time is what a crowded worker waits besides at least
	restFactor  = 64 // times its processor time is what it rests while it is not calm
	mostCalm    = 8  // the last halving leaves nothing; then one crowded effort alone changes nothing
	lessCalm    = 3  // halvings that a crowded effort takes back
)

// pace is what a queue knows of how well it is emptied. The queue's lock guards it.
type pace struct {
	on    bool   // there are eager workers
	tick  uint32 // counts
	heavy bool   // the patient ones work
	large uint32 // the tick of the last large exchange

	offered, refused int64             // bytes in this tick
	lately           [paceWindow]flows // the last ticks, in turn
	taken            int64             // bytes that patient workers took in this window

	rate  int64 // bytes that patient workers take in a second, smoothed
	lossy bool
	rest  time.Duration // of being lossy, until the next probe
	probe time.Duration // the last rest's whole length
	flood int64         // bytes that were offered in a window when it became so
	ebb   int           // windows in a row in which far less was

	resting int // workers that leave the processors to others: nobody is called in their place
}

// flows are bytes of exchanges within a time.
type flows struct{ offered, refused int64 }

// next ends a tick, and judges what came lately. It tells whether the queue became
// lossy, which it may at any tick, or ceased to be, which it does at the end of a window.
func (p *pace) next() (changed bool) {
	p.tick++
	p.heavy = p.heavy && p.tick-p.large <= calmTicks
	if !p.on {
		return false
	}
	p.lately[p.tick%paceWindow] = flows{p.offered, p.refused}
	p.offered, p.refused = 0, 0
	var sum flows
	for _, f := range p.lately {
		sum.offered, sum.refused = sum.offered+f.offered, sum.refused+f.refused
	}
	was := p.lossy
	if was {
		p.rest -= paceEvery
	}
	if !was && sum.refused > sum.offered/2 {
		p.lossy = true
		p.flood, p.ebb = max(sum.offered, paceWindow*p.lately[p.tick%paceWindow].offered), 0 // it may have begun just now
		p.probe = min(max(2*p.probe, firstProbe), lastProbe)
		p.rest = p.probe
	}
	if p.tick%paceWindow == 0 {
		p.endWindow(sum, was)
	}
	return was != p.lossy
}

// endWindow looks at what came in a window, at whose last tick the queue was lossy
// already, or not.
func (p *pace) endWindow(sum flows, was bool) {
	p.rate = (p.rate + p.taken*int64(time.Second/paceEvery)/paceWindow) / 2
	p.taken = 0
	switch {
	case was:
		if p.ebb++; sum.offered > p.flood/fallenPart {
			p.ebb = 0
		}
		if p.lossy = sum.refused > sum.offered/4 && p.rest > 0 && p.ebb < ebbWindows; !p.lossy {
			p.lately = [paceWindow]flows{} // the next try is judged by itself
		}
	case sum.refused == 0:
		p.probe = max(0, p.probe-paceWindow*paceEvery) // forgotten as slowly as it grew
	}
}

// meet notes an exchange of that weight. It tells whether the load became heavy.
func (p *pace) meet(weight int64) (changed bool) {
	p.offered += weight
	if !p.on || weight < largeWeight {
		return false
	}
	changed = !p.heavy
	p.heavy, p.large = true, p.tick
	return changed
}

// patient tells that the patient workers have the queue for themselves, unless it is
// pressed.
func (p *pace) patient() bool { return !p.on || p.heavy }

// limit is how many bytes of the queue's limit may be held now.
func (p *pace) limit(limit int64) int64 {
	if !p.lossy {
		return limit
	}
	return min(limit, max(shortQueue, p.rate/2))
}

// keepPace tells the queue the time and calls eager workers when it is pressed. While
// the load is heavy, the patient ones' threads have processors of the Go runtime besides,
// but not in a lossy queue: there they rest, and with more threads than processors
// clients' goroutines would only be in each other's way.
func (r *Recorder) keepPace() {
	tick := time.NewTicker(paceEvery)
	defer tick.Stop()
	wide := false
	for {
		if w := r.queue.wide(); w != wide {
			wide = w
			r.widen(wide)
		}
		select {
		case <-r.queue.done:
			if wide {
				r.widen(false)
			}
			return
		case <-tick.C:
			r.queue.nextTick()
		}
	}
}

func (r *Recorder) widen(on bool) {
	switch {
	case r.wide == nil:
	case on:
		r.wide(r.threads)
	default:
		r.wide(0)
	}
}

func (q *queue) heavy() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.pace.heavy
}

// wide says that patient workers are at work and wait for processors.
func (q *queue) wide() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.pace.heavy && !q.pace.lossy
}

// nextTick is called each paceEvery.
func (q *queue) nextTick() {
	q.mu.Lock()
	q.pace.next()
	pressed := q.pressed()
	q.mu.Unlock()
	if pressed {
		signal(q.help)
	}
}

// pressed says that an eager worker should take from the queue. q.mu is held.
func (q *queue) pressed() bool {
	first, ok := q.ring.First()
	if !ok || !q.pace.on {
		return false
	}
	late := q.pace.tick-first.tick >= lateTicks && q.pace.resting == 0
	return q.closed || !q.pace.heavy || q.full() || late
}

func (q *queue) addResting(n int) {
	q.mu.Lock()
	q.pace.resting += n
	q.mu.Unlock()
}

// full says that the queue holds so much that only eager workers can keep it from
// overflowing, and that they can. q.mu is held.
func (q *queue) full() bool {
	return q.pace.on && !q.pace.lossy && (q.held >= q.limit/pressedPart || q.ring.Len() >= pressedMany)
}

// lossy says that more is lost than captured. See pace.
func (q *queue) lossy() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.pace.lossy
}

// effort is what sanitising took: processor time of the thread, and time that passed.
type effort struct{ cpu, wall time.Duration }

// crowded says that others wanted the processor, too.
func (e effort) crowded() bool { return e.wall > e.cpu+e.cpu/crowdedPart }

// rest is how long a worker leaves the processors to others after an effort: half as long
// by each degree of calm. One effort alone says little, for a worker may have a processor
// for itself while clients wait for the others, and may wait for one where most are free.
func (e effort) rest(calm int) time.Duration { return time.Duration(restFactor>>calm) * e.cpu }

// rest follows on work that was done while the queue was lossy. It ends early when the
// queue is lossy no more.
func (w *worker) rest() {
	if w.effort.wall == 0 {
		return
	}
	if w.effort.crowded() {
		w.calm = max(w.calm-lessCalm, 0)
	} else {
		w.calm = min(w.calm+1, mostCalm)
	}
	left := w.effort.rest(w.calm)
	w.effort = effort{}
	q := w.rec.queue
	q.addResting(1)
	defer q.addResting(-1)
	for left > 0 && q.lossy() {
		d := min(left, paceEvery)
		left -= d
		w.timer.Reset(d)
		select {
		case <-w.timer.C:
		case <-q.done:
			w.timer.Stop()
			return
		}
	}
}

// measured is encode; while the queue is lossy it notes the effort.
func (w *worker) measured(x *Exchange) (n int64, drop string) {
	if !w.lossy {
		return w.encode(x)
	}
	cpu, wall := threadTime(), time.Now()
	defer func() {
		w.effort.cpu += threadTime() - cpu
		w.effort.wall += time.Since(wall)
	}()
	return w.encode(x)
}
