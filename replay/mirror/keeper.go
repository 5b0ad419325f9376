package mirror

import (
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.uber.org/zap"

	"github.com/esshadow/esshadow/capture/segment"
	"github.com/esshadow/esshadow/replay"
)

// Disk says whether outcomes can be written.
type Disk uint8

// The states of Disk.
const (
	DiskOn     Disk = iota
	DiskLow         // free space is below the floor; on again by itself
	DiskFailed      // cannot write; tried again, and on again by itself
	diskStates
)

// Disks lists the states.
func Disks() []Disk { return []Disk{DiskOn, DiskLow, DiskFailed} }

// String is the state's name: on, disk_low, failed.
func (d Disk) String() string {
	return [diskStates]string{"on", "disk_low", "failed"}[min(d, diskStates-1)]
}

// outcomeFiles is what the keeper needs of a segment.Writer.
type outcomeFiles interface {
	replay.Lines
	Err() error
	Reopen(now time.Time) error
}

const (
	tickEvery = 100 * time.Millisecond
	retryWait = time.Second // after a failure, doubled each time
	retryMax  = 30 * time.Second
)

// keeper writes outcome lines as long as that is possible. That it is not is
// counted and told, and no reason to send nothing.
type keeper struct {
	log  *zap.Logger
	open func() (outcomeFiles, error)

	written atomic.Uint64 // in the files
	lost    atomic.Uint64
	disk    atomic.Uint32

	mu     sync.Mutex   // held while the disk is written to, for however long that takes
	files  outcomeFiles // nil until they could be opened
	retry  time.Duration
	next   time.Time
	closed bool
}

var _ replay.Lines = (*keeper)(nil)

func newKeeper(log *zap.Logger) *keeper { return &keeper{log: log, retry: retryWait} }

// begin opens the files, whose Writer calls wrote from within its calls. A disk
// that is full is no error: it is tried again.
func (k *keeper) begin(open func() (outcomeFiles, error)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open = open
	files, err := open()
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		k.became(err)
		return nil
	}
	if err != nil {
		return err
	}
	k.files = files
	k.check(nil)
	return nil
}

// wrote is segment.OnWritten; the lock is held.
func (k *keeper) wrote(w segment.Written) {
	k.written.Add(w.Records)
	k.retry = retryWait
}

// Append implements replay.Lines. It never fails.
func (k *keeper) Append(line []byte, t int64) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed || k.files == nil || k.files.Err() != nil {
		k.lost.Add(1)
		return nil
	}
	k.check(k.files.Append(line, t))
	return nil
}

// Tick implements replay.Lines: the keeper has a clock of its own, since files
// have to be flushed when nothing comes, too.
func (k *keeper) Tick(time.Time) error { return nil }

// tick does what is due.
func (k *keeper) tick(now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return
	}
	switch {
	case k.files != nil && k.files.Err() == nil:
		k.check(k.files.Tick(now))
	case now.Before(k.next):
	case k.files != nil:
		k.check(k.files.Reopen(now))
	default:
		files, err := k.open()
		if err != nil {
			k.became(err)
			return
		}
		k.files = files
		k.check(nil)
	}
}

// check counts what a call lost, and notes whether it can go on.
func (k *keeper) check(err error) {
	k.lost.Add(segment.Lost(err))
	k.became(k.files.Err())
}

// became notes why nothing can be written, or with nil that it can.
func (k *keeper) became(fault error) {
	disk := DiskOn
	switch {
	case errors.Is(fault, segment.ErrDiskLow):
		disk = DiskLow
		k.next = time.Now().Add(retryWait)
	case fault != nil:
		disk = DiskFailed
		k.next = time.Now().Add(k.retry)
		k.retry = min(2*k.retry, retryMax)
	}
	if k.disk.Swap(uint32(disk)) == uint32(disk) {
		return
	}
	if disk == DiskOn {
		k.log.Info("mirror writes outcomes again")
		return
	}
	k.log.Warn("mirror cannot write outcomes, and goes on without", zap.Stringer("state", disk), zap.Error(fault))
}

// Close implements replay.Lines: the engine has nothing more to write. What
// could not be written is counted, and no failure of the run.
func (k *keeper) Close(map[string]uint64) error { return nil }

// end closes the files.
func (k *keeper) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return
	}
	k.closed = true
	if k.files == nil {
		return
	}
	err := k.files.Close(nil)
	k.lost.Add(segment.Lost(err))
	if err != nil {
		k.log.Warn("mirror's outcome file cannot be closed", zap.Error(err))
	}
}

// run ticks until stop is closed.
func (k *keeper) run(stop <-chan struct{}) {
	t := time.NewTicker(tickEvery)
	defer t.Stop()
	for {
		select {
		case now := <-t.C:
			k.tick(now)
		case <-stop:
			return
		}
	}
}

func (k *keeper) stats() (written, lost uint64, disk Disk) {
	return k.written.Load(), k.lost.Load(), Disk(k.disk.Load())
}
