package segment

import "filippo.io/age"

// Written tells what one write has just put into the file.
type Written struct {
	Records uint64
	Raw     uint64 // bytes of the lines, newlines included
	Packed  uint64 // bytes of the file
}

type options struct {
	suffix    string
	open      Opener
	onWritten func(Written)
	onRepair  func(Report, error)
	drops     func() map[string]uint64
	free      func(dir string) (uint64, error)
	// recipients: blocks are sealed to them, if there are any.
	recipients []age.Recipient
}

// Option changes how a Writer works.
type Option func(*options)

// WithSuffix gives the files' suffix instead of SuffixCapture.
func WithSuffix(s string) Option { return func(o *options) { o.suffix = s } }

// WithOpener makes files by f instead of CreateFile.
func WithOpener(f Opener) Option { return func(o *options) { o.open = f } }

// WithDrops lets the Writer ask, each time it closes a file, for the caller's
// drop counters by reason, as totals since the Writer was made; the footer gets
// what came since the last one.
func WithDrops(f func() map[string]uint64) Option { return func(o *options) { o.drops = f } }

// WithFreeSpace asks f for the free bytes of a directory instead of FreeSpace.
func WithFreeSpace(f func(dir string) (uint64, error)) Option { return func(o *options) { o.free = f } }

// OnWritten calls f, on the caller's goroutine, after each block that was
// written: that is when lines count as captured.
func OnWritten(f func(Written)) Option { return func(o *options) { o.onWritten = f } }

// OnRepair calls f for each file that a crash left and NewWriter or Reopen
// closed, or failed to.
func OnRepair(f func(Report, error)) Option { return func(o *options) { o.onRepair = f } }
