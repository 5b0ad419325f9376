package capture

import (
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/esshadow/esshadow/capture/segment"
)

// Lines is where lines go: a *segment.Writer, or what a test puts in its place.
// One goroutine at a time uses it. Its methods mean what those of segment.Writer mean; so
// each line given to Append is, in the end, told to OnWritten, or counted in a
// segment.LostError. Err says whether lines can be written.
type Lines interface {
	Append(line []byte, time int64) error
	Tick(now time.Time) error
	Flush() error
	Rotate() error
	Reopen(now time.Time) error
	Err() error
	Close(drops map[string]uint64) error
}

// Report is what a Recorder wants of its Lines.
type Report struct {
	// Written is to be called, from within the call that wrote it, for each block
	// that is in the file.
	Written func(segment.Written)
	// Drops gives the totals by reason, for the footer.
	Drops func() map[string]uint64
}

// request is something to be done between two writes.
type request struct {
	do     func(Lines) error
	answer chan error
}

const (
	tickEvery = 100 * time.Millisecond // adds to the flush interval at most this
	gapsEvery = time.Second            // a gap line a reason at most this often

	lowRetry   = time.Second // while the disk is low
	firstRetry = time.Second // after a failure, doubled each time
	lastRetry  = 30 * time.Second
	grumble    = time.Minute // between complaints that change no state
)

// scribe writes: it numbers lines, tells gaps, and knows which lines are in the
// file. It has a goroutine; eager workers write in its place when it is behind.
type scribe struct {
	rec  *Recorder
	busy chan struct{} // full while somebody uses what follows

	lines Lines // nil until Open succeeds
	seq   uint64

	given, settled uint64    // lines given to lines; of these written or lost
	gaps           []gapLine // given and not settled
	from, to       int64     // times of the lines that are not settled

	retry    time.Duration
	next     time.Time // of the retry
	told     time.Time // when gaps were told
	grumbled time.Time
}

// gapLine is a gap line on its way, by its place among the lines given.
type gapLine struct {
	at  uint64
	gap Gap
}

func newScribe(r *Recorder) *scribe {
	return &scribe{rec: r, busy: make(chan struct{}, 1), retry: firstRetry}
}

func (s *scribe) run() {
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for {
		select {
		case c, ok := <-s.rec.full:
			if !ok {
				s.alone(func() { s.guard(s.finish) })
				return
			}
			s.alone(func() { s.write(c) })
		case now := <-tick.C:
			s.alone(func() { s.guard(func() { s.tick(now) }) })
		case q := <-s.rec.asked:
			err := errors.New("capture has failed")
			s.alone(func() { s.guard(func() { err = s.ask(q.do) }) })
			q.answer <- err
		}
	}
}

// alone does what only one may do at a time.
func (s *scribe) alone(do func()) {
	s.busy <- struct{}{}
	defer func() { <-s.busy }()
	s.rec.timed(do)
}

// writeNow writes a chunk in the caller's place, unless somebody else writes.
func (s *scribe) writeNow(c *chunk) bool {
	select {
	case s.busy <- struct{}{}:
	default:
		return false
	}
	defer func() { <-s.busy }()
	s.write(c)
	return true
}

// catchUp writes chunks while more than one waits and nobody else writes. An eager
// worker calls it: the writer's own thread may have to wait for a processor.
func (s *scribe) catchUp() {
	for len(s.rec.full) > 1 {
		select {
		case s.busy <- struct{}{}:
		default:
			return
		}
		select {
		case c := <-s.rec.full: // no worker has ended, so it is not closed
			s.rec.timed(func() { s.write(c) })
		default:
		}
		<-s.busy
	}
}

// guard lets a fault of ours in writing cost the capture and not the process:
// the writer is given up, what it held is lost, and tick begins another.
func (s *scribe) guard(do func()) {
	defer func() {
		if v := recover(); v != nil {
			s.rec.panicked(v)
			s.lines = nil
			if left := s.given - s.settled; left > 0 {
				s.lose(left, DropWriteFailed)
			}
			s.fail(StateFailed, errFault)
		}
	}()
	do()
}

var errFault = errors.New("fault in the writer")

// write writes the lines of a chunk, or counts them as dropped.
func (s *scribe) write(c *chunk) {
	for i := range c.lines {
		if reason := s.refusal(); reason != "" {
			s.rec.counts.drop(one(reason, c.lines[i].time))
			continue
		}
		s.seq++
		s.guard(func() { s.give(c.line(i, s.seq), c.lines[i].time) })
	}
	s.rec.queue.charge(-int64(len(c.buf)))
	c.reset()
	s.rec.empty <- c
}

// refusal is why a line cannot be written now. A pause is none: what was queued
// before it is written.
func (s *scribe) refusal() string {
	select {
	case <-s.rec.abort:
		return DropClosed
	default:
		return s.rec.diskState().dropReason()
	}
}

func (s *scribe) give(line []byte, t int64) {
	if s.given == s.settled {
		s.from, s.to = t, t
	}
	s.from, s.to = min(s.from, t), max(s.to, t)
	s.given++
	err := s.lines.Append(line, t)
	if errors.Is(err, segment.ErrLine) { // the newest was refused, the others wait
		s.given--
		s.rec.counts.drop(one(DropLineTooLong, t))
		return
	}
	s.check(err)
}

// written settles lines that are in the file.
func (s *scribe) written(w segment.Written) {
	gaps := s.settle(w.Records)
	s.rec.counts.capture(w.Records-uint64(len(gaps)), w.Raw, w.Packed)
	s.retry = firstRetry
}

// lose settles lines that will be in no file.
func (s *scribe) lose(n uint64, reason string) {
	gaps := s.settle(n)
	for _, g := range gaps {
		s.rec.counts.retell(g.gap)
	}
	s.rec.counts.drop(Gap{Reason: reason, Count: n - uint64(len(gaps)), From: s.from, To: s.to})
}

// settle takes the n oldest lines off those that wait, and returns which of them
// were gap lines.
func (s *scribe) settle(n uint64) []gapLine {
	s.settled += n
	i := 0
	for i < len(s.gaps) && s.gaps[i].at < s.settled {
		i++
	}
	settled := s.gaps[:i:i]
	s.gaps = s.gaps[i:]
	return settled
}

// check acts on what a call of lines came to.
func (s *scribe) check(err error) {
	reason, state := DropWriteFailed, StateFailed
	fault := s.lines.Err()
	if errors.Is(err, segment.ErrDiskLow) || errors.Is(fault, segment.ErrDiskLow) {
		reason, state = DropDiskLow, StateDiskLow
	}
	if n := min(segment.Lost(err), s.given-s.settled); n > 0 {
		s.lose(n, reason)
	}
	switch {
	case fault != nil:
		s.fail(state, fault)
	case err != nil:
		s.grumble(err)
	}
}

// fail stops writing until tick tries again.
func (s *scribe) fail(state State, err error) {
	now := time.Now()
	if state == StateDiskLow {
		s.next = now.Add(lowRetry)
	} else {
		s.next = now.Add(s.retry)
		s.retry = min(2*s.retry, lastRetry)
	}
	s.rec.setDisk(state, err)
}

// grumble logs what went wrong without hindering writing.
func (s *scribe) grumble(err error) {
	if now := time.Now(); now.Sub(s.grumbled) >= grumble {
		s.grumbled = now
		s.rec.log.Warn("capture writer reports a fault", zap.Error(err))
	}
}

// reopen tries to write, again or for the first time.
func (s *scribe) reopen(now time.Time) {
	if s.lines == nil {
		lines, err := s.rec.open(Report{Written: s.written, Drops: s.rec.counts.drops})
		if err != nil {
			s.fail(StateFailed, err)
			return
		}
		s.lines = lines
	} else if err := s.lines.Reopen(now); err != nil {
		s.check(err)
		return
	}
	if s.lines.Err() != nil {
		s.check(nil)
		return
	}
	s.rec.setDisk(StateOn, nil)
}

func (s *scribe) tick(now time.Time) {
	if s.rec.diskState() != StateOn {
		if now.Before(s.next) {
			return
		}
		s.reopen(now)
	}
	if s.rec.diskState() != StateOn {
		return
	}
	s.check(s.lines.Tick(now))
	if now.Sub(s.told) >= gapsEvery {
		s.told = now
		s.tellGaps()
	}
}

// tellGaps writes a line for each reason for which requests were dropped since
// the last time. What cannot be written now stays to be told.
func (s *scribe) tellGaps() {
	for _, reason := range s.rec.counts.untoldReasons() {
		if s.lines == nil || s.lines.Err() != nil {
			return
		}
		gap, ok := s.rec.counts.takeGap(reason)
		if !ok {
			continue
		}
		s.seq++
		s.gaps = append(s.gaps, gapLine{s.given, gap})
		s.give(AppendRecord(nil, &Record{Kind: KindGap, Seq: s.seq, Time: gap.To, Gap: &gap}), gap.To)
	}
}

func (s *scribe) ask(do func(Lines) error) error {
	if s.rec.diskState() != StateOn {
		return fmt.Errorf("capture cannot be written now: %w", s.rec.hindered())
	}
	err := do(s.lines)
	s.check(err)
	return err
}

// finish tells the last gaps and closes the file. All workers have ended.
func (s *scribe) finish() {
	if s.lines == nil {
		return
	}
	s.tellGaps()
	err := s.lines.Close(nil)
	s.check(err)
	if left := s.given - s.settled; left > 0 {
		s.lose(left, DropWriteFailed)
	}
	s.rec.err = err
}
