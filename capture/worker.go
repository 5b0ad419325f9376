package capture

import (
	"slices"
	"time"
)

const (
	// linger is how long a worker that was idle waits for more work: a few
	// wake-ups a second instead of one for every request.
	linger = 5 * time.Millisecond

	batchCount  = 64
	batchWeight = 512 << 10

	chunkSize = 256 << 10 // a chunk goes to the writer at this size
	chunkKeep = 2 << 20   // larger buffers are not used again; a bulk of 1 MB fits
)

// chunk carries encoded lines from a worker to the writer. Each line stands in
// buf without its sequence number, which only the writer knows, behind seqRoom
// free bytes for it.
type chunk struct {
	buf   []byte
	lines []lineRef
}

// chunksFor is how many chunks so many workers need: one in the hands of each, one
// for each on its way, and one that is written.
func chunksFor(workers int) int { return 2*workers + 1 }

type lineRef struct {
	start, end int // of what follows the sequence number
	time       int64
}

func (c *chunk) add(r *Record) (n int64) {
	var room [seqRoom]byte
	before := len(c.buf)
	// A body that is JSON grows by about a tenth; growing step by step would leave
	// several times a large body to the garbage collector.
	c.buf = slices.Grow(c.buf, seqRoom+512+len(r.Body)+len(r.Body)/8)
	c.buf = append(c.buf, room[:]...)
	start := len(c.buf)
	c.buf = appendRest(c.buf, r)
	c.lines = append(c.lines, lineRef{start, len(c.buf), r.Time})
	return int64(len(c.buf) - before)
}

// line is a line with its number put before it.
func (c *chunk) line(i int, seq uint64) []byte {
	l := c.lines[i]
	var head [seqRoom]byte
	h := appendSeq(head[:0], seq)
	start := l.start - len(h)
	copy(c.buf[start:], h)
	return c.buf[start:l.end]
}

func (c *chunk) reset() {
	c.buf, c.lines = c.buf[:0], c.lines[:0]
	if cap(c.buf) > chunkKeep {
		c.buf = nil
	}
}

// worker sanitises and encodes.
type worker struct {
	rec      *Recorder
	sanitize Sanitizer
	record   Record
	out      *chunk
	batch    []entry
	timer    *time.Timer
	lossy    bool   // the queue was when the batch was begun
	effort   effort // of the batch, if it was
	calm     int    // grows with efforts that were not crowded
}

func newWorker(r *Recorder) *worker {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &worker{rec: r, timer: t}
}

// run takes whatever there is, until the end.
func (w *worker) run() {
	for {
		w.batch = w.rec.queue.take(w.batch[:0], batchCount, batchWeight)
		if len(w.batch) > 0 {
			w.rec.timed(w.work)
			w.rest()
			continue
		}
		if !w.wait() {
			return
		}
	}
}

// runEager works while the load is light or the queue is pressed, and on what is left
// in the end. The writer may be behind too, as it steps back like the patient workers.
func (w *worker) runEager() {
	q := w.rec.queue
	for open := true; open; {
		select {
		case <-q.help:
			if !q.heavy() {
				w.linger()
			}
		case <-q.done:
			open = false
		}
		for {
			w.batch = q.takePressed(w.batch[:0], batchCount, batchWeight)
			if len(w.batch) == 0 {
				break
			}
			w.rec.timed(w.work)
			w.rec.scribe.catchUp()
			w.rest()
		}
	}
}

// work is done on the batch.
func (w *worker) work() {
	if w.lossy = w.rec.queue.lossy(); !w.lossy {
		w.calm = 0
	}
	for i, e := range w.batch {
		w.batch[i] = entry{}
		w.one(e)
	}
	w.send()
}

// wait returns when there is work, or false when there will be none any more.
func (w *worker) wait() bool {
	q := w.rec.queue
	select {
	case <-q.done:
		// Closed before the last look, or after it: only an empty queue ends.
		q.mu.Lock()
		defer q.mu.Unlock()
		return q.ring.Len() > 0
	default:
	}
	select {
	case <-q.wake:
	case <-q.done:
		return true
	}
	w.linger()
	return true
}

// linger waits a moment for more work to come together.
func (w *worker) linger() {
	w.timer.Reset(linger)
	defer w.timer.Stop()
	select {
	case <-w.timer.C:
	case <-w.rec.queue.hurry:
	case <-w.rec.queue.done:
	}
}

// one takes an exchange to its end: a line in the chunk, or a counted drop. The
// exchange is released, and the bytes that the queue is charged with become
// those of the line.
func (w *worker) one(e entry) {
	t := e.x.Time
	n, reason := int64(0), w.chunk()
	if reason == "" {
		n, reason = w.measured(e.x)
		w.rec.watch(reason != "")
	}
	w.rec.release(e.x)
	w.rec.queue.charge(n - e.weight)
	if cap(w.record.Body) > chunkKeep {
		w.record.Body = nil // one large request must not cost its size for ever
	}
	if reason != "" {
		w.rec.counts.drop(one(reason, t))
		return
	}
	if len(w.out.buf) >= chunkSize {
		w.send()
	}
}

// chunk makes sure that there is one to write to. It waits for the writer, not
// the other way round, and not when all is to be dropped.
func (w *worker) chunk() (drop string) {
	select {
	case <-w.rec.abort:
		return DropClosed
	default:
	}
	if w.out != nil {
		return ""
	}
	select {
	case w.out = <-w.rec.empty:
		return ""
	case <-w.rec.abort:
		return DropClosed
	}
}

// encode runs the Sanitizer and appends the line, n bytes long, to the chunk. A
// Sanitizer that panicked is not trusted any more.
func (w *worker) encode(x *Exchange) (n int64, drop string) {
	buf, lines := len(w.out.buf), len(w.out.lines)
	defer func() {
		if v := recover(); v != nil {
			w.rec.panicked(v)
			w.sanitize, w.record = nil, Record{}
			w.out.buf, w.out.lines = w.out.buf[:buf], w.out.lines[:lines]
			n, drop = 0, DropPanic
		}
	}()
	if w.sanitize == nil {
		w.sanitize = w.rec.make()
	}
	// A field that the Sanitizer leaves alone must not keep what the request
	// before had in it.
	w.record = Record{Header: w.record.Header[:0], Body: w.record.Body[:0], Handles: w.record.Handles[:0]}
	if drop = w.sanitize.Sanitize(&w.record, x); drop != "" {
		return 0, drop
	}
	w.record.Kind = KindRecord
	return w.out.add(&w.record), ""
}

// send hands the chunk over. There is always room: all chunks would fit. While the
// load is light the writer's thread, which steps back, is spared.
func (w *worker) send() {
	if w.out == nil || len(w.out.lines) == 0 {
		return
	}
	if w.rec.cfg.Nice > 0 && !w.rec.queue.heavy() && w.rec.scribe.writeNow(w.out) {
		w.out = nil
		return
	}
	w.rec.full <- w.out
	w.out = nil
}
