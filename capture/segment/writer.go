package segment

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/klauspost/compress/zstd"
)

// Writer writes lines to files, one at a time, in blocks. It has no goroutine
// and reads no clock: its one caller appends and calls Tick, which does what is
// due. Compression and writing happen on the caller's goroutine.
//
// Any method may return a *LostError (see there), joined with others. Whether
// the Writer can still write is what Err says, not whether a method failed.
type Writer struct {
	cfg  Config
	meta Meta
	opt  options
	enc  *zstd.Encoder

	now     time.Time // of the last Tick
	file    File      // nil while there is none
	path    string    // of file
	final   string    // path when closed
	start   time.Time // of file
	mark    uint32
	sealer  *sealer // of file; nil: blocks are plain
	off     int64   // where the next block goes
	table   Footer  // of file
	number  uint64  // of file
	dropped map[string]uint64

	raw   []byte // pending lines
	block BlockInfo
	since time.Time // when the pending block was begun
	out   []byte    // reused

	dirty    bool // something was written after the last sync
	synced   time.Time
	looked   time.Time // when the path was last looked at
	retained time.Time

	err    error
	closed bool
	stats  Stats
}

// Stats are the sums of a Writer's life. Sizes are bytes.
type Stats struct {
	Records uint64 // lines written: in a file, though perhaps not yet on the disk
	Raw     uint64 // their bytes, newlines included
	Packed  uint64 // bytes of files, headers and footers included
	Blocks  uint64
	Lost    uint64 // lines given up
	Pending uint64 // lines in no file yet
	Files   uint64 // files begun
	Deleted uint64 // files removed by retention
	Path    string // of the file being written; empty while there is none
}

// NewWriter repairs the files that a crash left in cfg.Dir (those with the
// suffix that no living writer holds), begins the next one and returns a Writer
// at time now. Existing files are never written to. Where the disk is too full to
// begin, it returns a Writer whose Err is ErrDiskLow and which Reopen starts.
func NewWriter(cfg Config, meta Meta, now time.Time, opts ...Option) (*Writer, error) {
	w := &Writer{cfg: cfg, meta: meta, now: now, synced: now, looked: now, dropped: map[string]uint64{}}
	w.opt = options{
		suffix: SuffixCapture, open: CreateFile, onWritten: func(Written) {}, onRepair: func(Report, error) {},
		drops: func() map[string]uint64 { return nil }, free: FreeSpace,
	}
	for _, o := range opts {
		o(&w.opt)
	}
	if err := w.check(); err != nil {
		return nil, fmt.Errorf("segment writer: %w", err)
	}
	var err error
	if w.enc, err = newEncoder(cfg); err != nil {
		return nil, fmt.Errorf("segment writer: %w", err)
	}
	if w.err = w.prepare(); w.err != nil && !errors.Is(w.err, ErrDiskLow) {
		return nil, fmt.Errorf("segment writer: %w", w.err)
	}
	return w, nil
}

// newEncoder makes the compressor. Its window, which is memory for good, need not
// be larger than a block. It has twice that for what it looks back on: with less, it
// would move all of it down for every 128 KiB of a line that is longer than the window.
func newEncoder(cfg Config) (*zstd.Encoder, error) {
	window := 1 << 20
	for window < int(cfg.BlockSize) && window < 8<<20 {
		window *= 2
	}
	level, _ := cfg.Level.zstd()
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true), zstd.WithSingleSegment(true),
		zstd.WithLowerEncoderMem(false), zstd.WithWindowSize(window), zstd.WithEncoderLevel(level))
}

func (w *Writer) check() error {
	errs := []error{w.cfg.Validate()}
	if w.cfg.Dir == "" {
		errs = append(errs, errors.New("dir: is empty"))
	}
	if !validName(w.meta.Capture, true) {
		errs = append(errs, errors.New("capture id: want 1 to 64 of A-Z a-z 0-9 _ - and no - in front"))
	}
	if !validName(w.meta.Writer, false) {
		errs = append(errs, errors.New("writer id: want 1 to 64 of A-Z a-z 0-9 _"))
	}
	if n, ok := ParseName(Name{Capture: "c", Writer: "w", Suffix: w.opt.suffix}.String()); !ok || n.Suffix != w.opt.suffix {
		errs = append(errs, fmt.Errorf("suffix: %q is none of %s, %s", w.opt.suffix, SuffixCapture, SuffixOutcomes))
	}
	return errors.Join(errs...)
}

// Append takes a line without its newline, whose time is t (Unix ns), and
// copies it. nil: the line is pending or written. An error with a *LostError
// counts every line that was lost by the call, this one too if it was.
func (w *Writer) Append(line []byte, t int64) error {
	switch {
	case w.closed:
		return w.refuse(line, ErrClosed)
	case w.file == nil:
		return w.refuse(line, w.err)
	case int64(len(line)) >= int64(w.cfg.MaxLine):
		return w.refuse(line, fmt.Errorf("%w: %d bytes, at most %v", ErrLine, len(line), w.cfg.MaxLine))
	case bytes.IndexByte(line, '\n') >= 0:
		return w.refuse(line, fmt.Errorf("%w: newline inside", ErrLine))
	}
	var err error
	if len(w.raw) > 0 && len(w.raw)+len(line) >= int(w.cfg.BlockSize) {
		if err = w.cut(); w.file == nil {
			return errors.Join(err, w.refuse(line, w.err))
		}
	}
	w.add(line, t)
	if len(w.raw) >= int(w.cfg.BlockSize) {
		err = errors.Join(err, w.cut())
	}
	return err
}

func (w *Writer) add(line []byte, t int64) {
	b := &w.block
	if b.Records == 0 {
		b.First, b.Last, w.since = t, t, w.now
	}
	b.First, b.Last = min(b.First, t), max(b.Last, t)
	b.Records++
	w.raw = append(append(w.raw, line...), '\n')
}

// refuse loses one line that is not pending.
func (w *Writer) refuse(line []byte, err error) error {
	w.stats.Lost++
	return &LostError{Records: 1, Raw: uint64(len(line)) + 1, Err: err}
}

// lose gives up the pending lines.
func (w *Writer) lose(err error) error {
	w.err = err
	if w.block.Records == 0 {
		return err
	}
	lost := &LostError{Records: uint64(w.block.Records), Raw: uint64(len(w.raw)), Err: err}
	w.stats.Lost += lost.Records
	w.clear()
	return lost
}

// clear empties the pending block and gives back the memory of a giant line.
func (w *Writer) clear() {
	keep := 2 * int(w.cfg.BlockSize)
	if w.raw = w.raw[:0]; cap(w.raw) > keep {
		w.raw = nil
	}
	if w.out = w.out[:0]; cap(w.out) > keep {
		w.out = nil
	}
	w.block = BlockInfo{}
}

// Flush writes the pending lines as a block of their own.
func (w *Writer) Flush() error { return w.cut() }

// cut writes the pending block, then rotates if the file is full.
func (w *Writer) cut() error {
	if w.block.Records == 0 {
		return nil
	}
	if w.file == nil {
		return w.lose(w.err)
	}
	if err := w.look(); err != nil {
		return err
	}
	if err := w.room(int64(len(w.raw)) + blockLen); err != nil {
		return w.lose(err)
	}
	closed, err := w.put()
	if err != nil {
		return errors.Join(closed, w.lose(err))
	}
	w.wrote()
	if w.cfg.Sync == SyncBlock {
		err = w.sync()
	}
	full := w.cfg.RotateSize > 0 && w.off >= int64(w.cfg.RotateSize) || len(w.table.Blocks) >= maxBlocks
	if full && w.file != nil {
		err = errors.Join(err, w.rotate())
	}
	return errors.Join(closed, err)
}

// put writes the pending lines as a block. Where the system lets the file grow no
// further, as by a limit of the process or of the file system, it goes into the next
// one; closed is what closing this one came to.
func (w *Writer) put() (closed, err error) {
	w.pack()
	err = w.write(w.out)
	if !tooLarge(err) || w.file == nil || len(w.table.Blocks) == 0 {
		return nil, err
	}
	closed = w.rotate()
	if w.file == nil {
		return closed, w.err
	}
	w.pack()
	return closed, w.write(w.out)
}

// pack makes header and data frame of the pending lines in out.
func (w *Writer) pack() {
	b := &w.block
	b.Offset, b.Seq, b.Index = w.off, uint32(len(w.table.Blocks)), w.table.next()
	w.out = append(w.out[:0], make([]byte, blockLen)...)
	w.out = w.enc.EncodeAll(w.raw, w.out)
	b.RawLen = uint32(len(w.raw))
	kind := uint16(kindZstd)
	if w.sealer != nil {
		kind = kindSealed
		w.out = w.sealer.seal(w.out, blockLen, w.mark, *b)
	}
	b.PackedLen = uint32(len(w.out) - blockLen)
	putBlockHeader(w.out, kind, w.mark, *b)
}

// wrote counts the block that is now in the file.
func (w *Writer) wrote() {
	done := Written{Records: uint64(w.block.Records), Raw: uint64(len(w.raw)), Packed: uint64(len(w.out))}
	w.table.add(w.block)
	w.stats.Records += done.Records
	w.stats.Raw += done.Raw
	w.stats.Blocks++
	w.err = nil
	w.clear()
	w.opt.onWritten(done)
}

// write puts b behind the last part. What was written of it when it fails is cut
// off again, so that the file stays whole; where even that fails the file is
// given up.
func (w *Writer) write(b []byte) error {
	n, err := w.file.WriteAt(b, w.off)
	if err == nil && n == len(b) {
		w.off += int64(n)
		w.stats.Packed += uint64(n)
		w.dirty = true
		return nil
	}
	if err == nil {
		err = errors.New("short write")
	}
	err = fmt.Errorf("segment %s: offset %d: write: %w", w.path, w.off, err)
	if cutErr := w.file.Truncate(w.off); cutErr != nil {
		w.abandon(err)
	}
	return err
}

// room says whether need more bytes may be written.
func (w *Writer) room(need int64) error {
	free, err := w.opt.free(w.cfg.Dir)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil
	case err != nil:
		return err
	case free < uint64(max(need, int64(w.cfg.MinFree))):
		return fmt.Errorf("%w: %d bytes free, want %d", ErrDiskLow, free, max(need, int64(w.cfg.MinFree)))
	}
	return nil
}

// Err is nil while lines can be written, else why the last write failed:
// ErrDiskLow below the floor, anything else a fault. A later success or Reopen
// clears it.
func (w *Writer) Err() error { return w.err }

// Stats are the sums so far.
func (w *Writer) Stats() Stats {
	s := w.stats
	s.Pending = uint64(w.block.Records)
	if w.file != nil {
		s.Path = w.path
	}
	return s
}

// Close writes the pending lines and the footer, with the drop counters (totals
// since the Writer was made; nil: as WithDrops says), and gives the file its
// name. The Writer takes no more lines.
func (w *Writer) Close(drops map[string]uint64) error {
	if w.closed {
		return nil
	}
	err := w.cut()
	w.closed = true
	if drops != nil {
		drops = maps.Clone(drops)
		w.opt.drops = func() map[string]uint64 { return drops }
	}
	if w.file != nil {
		err = errors.Join(err, w.finish())
	}
	_ = w.enc.Close()
	return err
}
