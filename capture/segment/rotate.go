package segment

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// How often Tick looks whether the file is still where it was made, and whether
// closed files are due to go.
const (
	lookEvery   = time.Second
	retainEvery = time.Minute
)

// Tick does what is due at now: cut a block that is FlushInterval old, sync,
// rotate, remove old files. Call it several times in a FlushInterval: a line is
// in the file at most one FlushInterval and one call's distance after Append.
func (w *Writer) Tick(now time.Time) error {
	if now.After(w.now) {
		w.now = now
	}
	if w.closed || w.file == nil {
		return w.err
	}
	var errs []error
	if w.block.Records > 0 && w.due(w.since, w.cfg.FlushInterval) {
		errs = append(errs, w.cut())
	}
	if w.file != nil && w.dirty && w.cfg.Sync == SyncInterval && w.due(w.synced, w.cfg.SyncInterval) {
		errs = append(errs, w.sync())
	}
	if w.file != nil && w.due(w.looked, lookEvery) {
		errs = append(errs, w.look())
	}
	if w.file != nil && w.cfg.RotateAge > 0 && w.due(w.start, w.cfg.RotateAge) {
		errs = append(errs, w.Rotate())
	}
	if w.due(w.retained, retainEvery) {
		errs = append(errs, w.retain())
	}
	return errors.Join(errs...)
}

func (w *Writer) due(since time.Time, d time.Duration) bool { return w.now.Sub(since) >= d }

// Rotate writes the pending lines, closes the file and begins the next. A file
// without lines stays.
func (w *Writer) Rotate() error {
	if w.closed {
		return ErrClosed
	}
	began := w.number
	err := w.cut()
	if w.file == nil || w.number != began || len(w.table.Blocks) == 0 {
		return err
	}
	return errors.Join(err, w.rotate())
}

func (w *Writer) rotate() error {
	err := w.finish()
	if openErr := w.begin(); openErr != nil {
		w.err = openErr
		err = errors.Join(err, openErr)
	}
	return errors.Join(err, w.retain())
}

// Reopen makes the Writer ready after a failure: it asks for room and, where the
// file was given up, repairs that and begins the next. Lines are written again
// if Err is nil after it.
func (w *Writer) Reopen(now time.Time) error {
	if now.After(w.now) {
		w.now = now
	}
	if w.closed {
		return ErrClosed
	}
	var gone error // holds the lines that are lost with the file
	if w.file != nil {
		gone = w.look()
	}
	if w.file == nil {
		w.err = w.prepare()
	} else {
		w.err = w.room(int64(w.cfg.BlockSize))
	}
	if w.err == nil && Lost(gone) == 0 {
		return nil
	}
	return errors.Join(gone, w.err)
}

// prepare makes the directory, closes what a crash left, and begins a file.
func (w *Writer) prepare() error {
	if err := os.MkdirAll(w.cfg.Dir, 0o700); err != nil {
		return err
	}
	if err := w.floorKnown(); err != nil {
		return err
	}
	last, lastName, err := w.leftovers()
	if err != nil {
		return err
	}
	w.number, w.meta.Previous = max(w.number, last), lastName
	if err := w.room(maxMeta); err != nil {
		return err
	}
	return w.begin()
}

func (w *Writer) floorKnown() error {
	if w.cfg.MinFree == 0 {
		return nil
	}
	if _, err := w.opt.free(w.cfg.Dir); err != nil {
		return fmt.Errorf("min_free cannot be kept (0 switches it off): %w", err)
	}
	return nil
}

// leftovers repairs open files that nobody writes and finds this writer's last
// number and file.
func (w *Writer) leftovers() (last uint64, name string, err error) {
	files, err := listDir(w.cfg.Dir, w.opt.suffix)
	if err != nil {
		return 0, "", err
	}
	for _, path := range files {
		n, ok := ParseName(path)
		if !ok {
			continue
		}
		if n.Open {
			w.repairLeft(path)
		}
		if n.Capture == w.meta.Capture && n.Writer == w.meta.Writer && n.Number > last {
			last, name = n.Number, strings.TrimSuffix(filepath.Base(path), openSuffix)
		}
	}
	return last, name, nil
}

func (w *Writer) repairLeft(path string) {
	report, err := repair(path, true)
	if errors.Is(err, ErrBusy) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrNotExist) {
		return // somebody writes it, or nobody can know
	}
	w.opt.onRepair(report, err)
}

// begin makes the next file and writes its header.
func (w *Writer) begin() error {
	w.file = nil
	n := Name{Capture: w.meta.Capture, Writer: w.meta.Writer, Start: w.now.UTC(), Suffix: w.opt.suffix}
	for tries := 0; ; tries++ {
		w.number++
		n.Number = w.number
		w.final = filepath.Join(w.cfg.Dir, n.String())
		w.path = w.final + openSuffix
		f, err := w.create()
		if err == nil {
			w.file = f
			break
		}
		if taken := errors.Is(err, fs.ErrExist) || errors.Is(err, ErrGone); !taken || tries == 100 {
			return fmt.Errorf("new segment: %w", err)
		}
	}
	w.start, w.off, w.dirty, w.synced, w.looked = w.now, 0, false, w.now, w.now
	w.table = Footer{Blocks: w.table.Blocks[:0]}
	w.stats.Files++
	return w.header()
}

func (w *Writer) create() (File, error) {
	if exists(w.final) {
		return nil, fs.ErrExist
	}
	return w.opt.open(w.path)
}

// header writes the file's header; a file that cannot take it is removed.
func (w *Writer) header() error {
	m := w.meta
	m.Created = w.start.UTC().Truncate(time.Millisecond)
	var err error
	if len(w.opt.recipients) > 0 {
		w.sealer, m.Sealed, err = wrapKey(w.opt.recipients)
	}
	var b []byte
	var mark uint32
	if err == nil {
		b, mark, err = appendFileHeader(nil, m)
	}
	if err == nil {
		w.mark = mark
		err = w.write(b)
	}
	if err == nil && w.cfg.Sync != SyncNone {
		err = syncDir(w.cfg.Dir)
	}
	if err != nil {
		previous := w.meta.Previous
		w.abandon(err)
		w.meta.Previous = previous
		_ = os.Remove(w.path)
		return err
	}
	w.err = nil
	return nil
}

// abandon closes the file as it is. It keeps its open name, and Reopen or the
// next start repairs it.
func (w *Writer) abandon(err error) {
	if w.file == nil {
		return
	}
	_ = w.file.Close()
	w.file, w.err = nil, err
	w.meta.Previous = filepath.Base(w.final)
}

// sync forces the file to the disk. After a failure nobody knows which pages
// were lost, and a second sync would succeed without them: the file is given up.
func (w *Writer) sync() error {
	if err := w.file.Sync(); err != nil {
		err = fmt.Errorf("segment %s: sync: %w", w.path, err)
		w.abandon(err)
		return w.lose(err)
	}
	w.dirty, w.synced = false, w.now
	return nil
}

// look finds out that the file, or its directory, was taken away or that another
// stands in its place: writes to it succeed, and nobody would ever read them.
func (w *Writer) look() error {
	w.looked = w.now
	if err := w.mislaid(); err != nil {
		return w.lose(err)
	}
	return nil
}

// mislaid gives a file up that its path does not name any more.
func (w *Writer) mislaid() error {
	if inPlace(w.file, w.path) {
		return nil
	}
	err := fmt.Errorf("segment %s: %w", w.path, ErrGone)
	w.abandon(err)
	return err
}

// finish writes the footer, forces the file to the disk and gives it its name.
func (w *Writer) finish() error {
	if err := w.mislaid(); err != nil {
		return err // what stands there now is not for us to name
	}
	totals := w.opt.drops()
	w.table.Drops = since(totals, w.dropped)
	b, err := appendFooter(nil, w.mark, &w.table)
	if err == nil {
		err = w.write(b)
	}
	if err == nil && w.cfg.Sync != SyncNone {
		err = w.sync()
	}
	if err != nil {
		w.abandon(err)
		return err
	}
	w.dropped = maps.Clone(totals)
	f := w.file
	w.file = nil
	// Closed before renamed, since some systems rename no open file.
	if err = f.Close(); err == nil {
		err = publish(w.path, w.final)
	}
	if err == nil && w.cfg.Sync != SyncNone {
		err = syncDir(w.cfg.Dir)
	}
	w.meta.Previous = filepath.Base(w.final)
	if err != nil {
		return fmt.Errorf("close segment: %w", err)
	}
	return nil
}

// since is what counters gained over before, without zeros.
func since(now, before map[string]uint64) map[string]uint64 {
	out := map[string]uint64{}
	for reason, n := range now {
		if n > before[reason] {
			out[reason] = n - before[reason]
		}
	}
	return out
}
