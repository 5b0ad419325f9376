package capture

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Reasons for which a Recorder itself drops a request. A Sanitizer's reasons
// come on top.
const (
	DropQueueFull    = "queue_full"     // the byte bound of the queue
	DropBodyTooLarge = "body_too_large" // beyond Config.MaxBody
	DropDiskLow      = "disk_low"       // free space below the floor
	DropWriteFailed  = "write_failed"   // the capture cannot be written
	DropPaused       = "paused"         // switched off for the time being
	DropClosed       = "closed"         // the recorder is closing, or closed
	DropPanic        = "panic"          // a fault of ours; the request was let go
	DropLineTooLong  = "line_too_long"  // longer than what the file takes
)

// maxReasons bounds the map of reasons: they are metric labels.
const (
	maxReasons = 64
	dropOther  = "other"
)

// tally counts what became of every exchange, so that at any moment
//
//	received = captured + filtered + sampled out + dropped + pending
//
// One short lock instead of many atomics keeps a snapshot exact. It is never
// held while anything else is done.
type tally struct {
	mu         sync.Mutex
	sealed     bool
	received   uint64
	captured   uint64
	sampledOut uint64
	filtered   map[string]uint64
	dropped    map[string]uint64
	raw        uint64
	packed     uint64
	untold     map[string]Gap // drops that no gap line tells of yet
}

func newTally() *tally {
	return &tally{filtered: map[string]uint64{}, dropped: map[string]uint64{}, untold: map[string]Gap{}}
}

func (t *tally) receive() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.sealed {
		t.received++
	}
}

func (t *tally) filter(reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.sealed {
		t.filtered[reason]++
	}
}

func (t *tally) sampleOut() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.sealed {
		t.sampledOut++
	}
}

// drop counts gap.Count requests as dropped, and remembers that a gap line has
// to say so.
func (t *tally) drop(gap Gap) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sealed || gap.Count == 0 {
		return
	}
	if _, known := t.dropped[gap.Reason]; !known && len(t.dropped) >= maxReasons {
		gap.Reason = dropOther
	}
	t.dropped[gap.Reason] += gap.Count
	t.remember(gap)
}

// retell takes a gap back whose line was lost.
func (t *tally) retell(gap Gap) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remember(gap)
}

func (t *tally) remember(gap Gap) {
	if old, ok := t.untold[gap.Reason]; ok {
		gap.Count += old.Count
		gap.From, gap.To = min(gap.From, old.From), max(gap.To, old.To)
	}
	t.untold[gap.Reason] = gap
}

// untoldReasons are those that gap lines have to tell of, in order.
func (t *tally) untoldReasons() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.untold))
}

// takeGap hands out what a gap line has to tell of a reason, and forgets it.
func (t *tally) takeGap(reason string) (Gap, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	gap, ok := t.untold[reason]
	delete(t.untold, reason)
	return gap, ok
}

func (t *tally) capture(records, raw, packed uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.raw += raw
	t.packed += packed
	if !t.sealed {
		t.captured += records
	}
}

// seal counts all that is pending as dropped for reason and ends counting.
func (t *tally) seal(reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.pending(); n > 0 && !t.sealed {
		t.dropped[reason] += n
	}
	t.sealed = true
}

func (t *tally) pending() uint64 {
	n := t.received - t.captured - t.sampledOut
	for _, v := range t.filtered {
		n -= v
	}
	for _, v := range t.dropped {
		n -= v
	}
	return n
}

func (t *tally) drops() map[string]uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.dropped)
}

// Stats are the sums of a Recorder. At any moment
// Received = Captured + Filtered + SampledOut + Dropped + Pending, and Pending
// is 0 once Close has returned.
type Stats struct {
	Received   uint64
	Captured   uint64 // the block that holds it has been written to the file
	Filtered   map[string]uint64
	SampledOut uint64
	Dropped    map[string]uint64
	Pending    uint64

	QueueBytes   int64  // exchanges queued or in work, and encoded lines that wait
	RawBytes     uint64 // lines written, before compression
	WrittenBytes uint64 // bytes written to files
	// CPU is the processor time of sanitising, encoding and writing, without that of
	// collecting their garbage. It is known on Linux, and 0 elsewhere.
	CPU   time.Duration
	State State
	Why   error // why nothing can be written now; nil: it can
}

func (t *tally) stats() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Stats{
		Received: t.received, Captured: t.captured, SampledOut: t.sampledOut, Pending: t.pending(),
		Filtered: maps.Clone(t.filtered), Dropped: maps.Clone(t.dropped),
		RawBytes: t.raw, WrittenBytes: t.packed,
	}
}

// Sum adds up the counts of a map of reasons.
func Sum(byReason map[string]uint64) (n uint64) {
	for _, v := range byReason {
		n += v
	}
	return n
}
