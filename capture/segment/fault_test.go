package segment

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// disk is a directory's disk that has bad days; the files are real.
type disk struct {
	room        int  // bytes that may still be written; below 0: no bound
	silent      bool // a write over the room is said to be short without an error
	badSync     bool
	badTruncate bool
	badOpen     error
	opened      int
}

type sickFile struct {
	File
	d *disk
}

func (d *disk) open(path string) (File, error) {
	if d.badOpen != nil {
		return nil, d.badOpen
	}
	d.opened++
	f, err := CreateFile(path)
	if err != nil {
		return nil, err
	}
	return sickFile{f, d}, nil
}

func (f sickFile) WriteAt(b []byte, off int64) (int, error) {
	if f.d.room < 0 || len(b) <= f.d.room {
		if f.d.room >= 0 {
			f.d.room -= len(b)
		}
		return f.File.WriteAt(b, off)
	}
	n, _ := f.File.WriteAt(b[:f.d.room], off)
	f.d.room = 0
	if f.d.silent {
		return n, nil
	}
	return n, syscall.ENOSPC
}

func (f sickFile) Sync() error {
	if f.d.badSync {
		return syscall.EIO
	}
	return f.File.Sync()
}

func (f sickFile) Truncate(n int64) error {
	if f.d.badTruncate {
		return syscall.EIO
	}
	return f.File.Truncate(n)
}

func plenty(string) (uint64, error) { return 1 << 40, nil }

// ledger counts what happened to the lines of a run.
type ledger struct {
	offered, written, lost uint64
}

func (l *ledger) done(d Written)  { l.written += d.Records }
func (l *ledger) fault(err error) { l.lost += Lost(err) }

// balanced is the invariant that every line is somewhere.
func (l *ledger) balanced(t *testing.T, w *Writer) {
	t.Helper()
	s := w.Stats()
	if l.offered != l.written+l.lost+s.Pending || s.Records != l.written || s.Lost != l.lost {
		t.Errorf("%+v does not add up, stats %+v", *l, s)
	}
}

// The disk is full at byte n of the run, for every n, and has room again later.
func TestDiskFullAtEveryByte(t *testing.T) {
	_, _, footer := smallFile(t)
	end := int(footer.Blocks[3].end()) + 400
	// A short write without an error takes the same way as one with.
	step := map[string]int{"error": 1, "short write": 7, "cannot cut": 1}
	for name, sick := range map[string]disk{
		"error": {}, "short write": {silent: true}, "cannot cut": {badTruncate: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 0; n < end && !t.Failed(); n += step[name] {
				d := sick
				d.room = n
				dir := filepath.Join(t.TempDir(), "d")
				runOnFullDisk(t, &d, dir)
				if t.Failed() {
					t.Fatalf("full at byte %d", n)
				}
				_ = os.RemoveAll(dir)
			}
		})
	}
}

func runOnFullDisk(t *testing.T, d *disk, dir string) {
	var l ledger
	w, err := NewWriter(testConfig(dir), testMeta(), day, WithOpener(d.open), WithFreeSpace(plenty), OnWritten(l.done))
	if err != nil { // no room for the header
		if len(files(t, dir)) != 0 {
			t.Errorf("left %v", files(t, dir))
		}
		return
	}
	its := items(24)
	offer := func(its []item) {
		for i, it := range its {
			l.offered++
			l.fault(w.Append([]byte(it.Line), it.T))
			if i%3 == 2 {
				l.fault(w.Flush())
			}
		}
		l.balanced(t, w)
	}
	offer(its[:12])
	l.fault(w.Rotate()) // the footer may be what finds the disk full
	hurt := w.Err() != nil
	d.room, d.badTruncate = -1, false
	l.fault(w.Reopen(day.Add(time.Second)))
	if w.Err() != nil {
		t.Fatalf("does not come back: %v", w.Err())
	}
	before := l.lost
	offer(its[12:])
	if l.lost != before {
		t.Error("lost lines after it came back")
	}
	l.fault(w.Close(map[string]uint64{"write_failed": l.lost}))
	l.balanced(t, w)
	if l.lost > 0 && w.Stats().Pending != 0 || hurt && l.lost == 0 && d.opened < 2 {
		t.Errorf("stats %+v", w.Stats())
	}
	checkDir(t, dir, its, l)
}

// checkDir: after a repair every file is sound, and together they hold exactly
// the lines that were said to be written, in order.
func checkDir(t *testing.T, dir string, its []item, l ledger) {
	t.Helper()
	paths, err := List(SuffixCapture, dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	var drops uint64
	for _, path := range paths {
		if strings.HasSuffix(path, openSuffix) {
			report, err := Repair(path)
			if err != nil {
				t.Errorf("repair: %v", err)
			}
			path = report.Path
		}
		report, err := Verify(path)
		if err != nil {
			t.Errorf("verify: %v", err)
		}
		drops += report.Drops["write_failed"]
		part, err := readAll(path)
		if err != nil {
			t.Error(err)
		}
		got = append(got, part...)
	}
	if uint64(len(got)) != l.written || drops != l.lost {
		t.Errorf("files hold %d lines and say %d lost: %+v", len(got), drops, l)
	}
	at := 0
	for _, it := range its {
		if at < len(got) && got[at] == it.Line {
			at++
		}
	}
	if at != len(got) {
		t.Errorf("line %d of %d is wrong or out of order", at, len(got))
	}
}

// After a failed sync the file is not trusted any more: the next one begins.
func TestFailedSync(t *testing.T) {
	for _, policy := range []SyncPolicy{SyncBlock, SyncInterval} {
		t.Run(string(policy), func(t *testing.T) {
			d := &disk{room: -1}
			dir := t.TempDir()
			cfg := testConfig(dir)
			cfg.Sync = policy
			var l ledger
			w := newWriter(t, cfg, WithOpener(d.open), WithFreeSpace(plenty), OnWritten(l.done))
			its := items(9)
			offer := func(its []item) {
				for _, it := range its {
					l.offered++
					l.fault(w.Append([]byte(it.Line), it.T))
				}
				l.fault(w.Flush())
				l.fault(w.Tick(w.now.Add(cfg.SyncInterval)))
			}
			offer(its[:3])
			d.badSync = true
			offer(its[3:6])
			if !errors.Is(w.Err(), syscall.EIO) || w.Stats().Path != "" {
				t.Fatalf("writer goes on: %v", w.Err())
			}
			l.offered++
			err := w.Append([]byte("x"), 0)
			l.fault(err)
			if Lost(err) != 1 || !errors.Is(err, syscall.EIO) {
				t.Errorf("append to a failed writer: %v", err)
			}
			d.badSync = false
			l.fault(w.Reopen(w.now))
			offer(its[6:])
			l.fault(w.Close(map[string]uint64{"write_failed": l.lost}))
			l.balanced(t, w)
			same(t, "number of files", len(files(t, dir)), 2)
			checkDir(t, dir, its, l)
		})
	}
}

// Below the floor nothing is written; above it again capture goes on, in the
// same file.
func TestDiskFloor(t *testing.T) {
	free := uint64(10 << 20)
	cfg := testConfig(t.TempDir())
	cfg.MinFree = 8 << 20
	var l ledger
	w := newWriter(t, cfg, WithFreeSpace(func(string) (uint64, error) { return free, nil }), OnWritten(l.done))
	its := items(9)
	for i, it := range its {
		free = []uint64{10 << 20, 1 << 20, 9 << 20}[i/3]
		l.offered++
		l.fault(w.Append([]byte(it.Line), it.T))
		if i == 8 {
			l.fault(w.Reopen(day))
			if w.Err() != nil {
				t.Fatal(w.Err())
			}
		}
		if i%3 == 2 {
			l.fault(w.Flush())
			if low := i == 5; low != errors.Is(w.Err(), ErrDiskLow) {
				t.Errorf("line %d: %v", i, w.Err())
			}
		}
	}
	if err := w.Reopen(day); err != nil {
		t.Error(err)
	}
	if l != (ledger{offered: 9, written: 6, lost: 3}) {
		t.Errorf("%+v", l)
	}
	if err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
	got, err := readAll(w.final)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "lines", got, append(lines(its[:3]), lines(its[6:])...))
}

// A disk that is too full at start is no reason not to start.
func TestDiskLowAtStart(t *testing.T) {
	free := uint64(0)
	cfg := testConfig(t.TempDir())
	w, err := NewWriter(cfg, testMeta(), day, WithFreeSpace(func(string) (uint64, error) { return free, nil }))
	if err != nil || !errors.Is(w.Err(), ErrDiskLow) {
		t.Fatal(err, w.Err())
	}
	if err := w.Append([]byte("x"), 1); Lost(err) != 1 || !errors.Is(err, ErrDiskLow) {
		t.Errorf("append: %v", err)
	}
	if err := w.Tick(day.Add(time.Hour)); !errors.Is(err, ErrDiskLow) {
		t.Errorf("tick: %v", err)
	}
	free = 1 << 40
	if err := w.Reopen(day.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Append([]byte("y"), 1), w.Close(nil)); err != nil {
		t.Fatal(err)
	}
	got, err := readAll(w.final)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "lines", got, []string{"y"})
}

func TestFloorNeedsAnOSThatTells(t *testing.T) {
	deaf := WithFreeSpace(func(string) (uint64, error) { return 0, errors.ErrUnsupported })
	cfg := testConfig(t.TempDir())
	w := newWriter(t, cfg, deaf) // no floor: nothing to know
	fill(t, w, items(3), 1)
	if err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
	cfg.MinFree = 1
	if _, err := NewWriter(cfg, testMeta(), day, deaf); err == nil || !strings.Contains(err.Error(), "min_free") {
		t.Errorf("with a floor: %v", err)
	}
}

func TestFreeSpace(t *testing.T) {
	free, err := FreeSpace(t.TempDir())
	if errors.Is(err, errors.ErrUnsupported) {
		t.Log("this system does not say how much is free")
		return
	}
	if err != nil || free == 0 {
		t.Errorf("%d bytes free, %v", free, err)
	}
	if _, err := FreeSpace(filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("free space of a directory that is not there")
	}
}

// A directory that is taken away while it is written to is noticed, and made again.
func TestDirectoryTakenAway(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	var l ledger
	w := newWriter(t, testConfig(dir), WithFreeSpace(plenty), OnWritten(l.done))
	its := items(6)
	for _, it := range its[:3] {
		l.offered++
		l.fault(w.Append([]byte(it.Line), it.T))
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Log("this system keeps open files where they are:", err)
		return
	}
	l.fault(w.Reopen(day)) // asked before a Tick has looked
	l.balanced(t, w)
	same(t, "lost", l.lost, uint64(3))
	for _, it := range its[3:] {
		l.offered++
		l.fault(w.Append([]byte(it.Line), it.T))
	}
	if err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
	got, err := readAll(w.final)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "lines", got, lines(its[3:]))
}

func TestTickNoticesAFileTakenAway(t *testing.T) {
	dir := t.TempDir()
	w := newWriter(t, testConfig(dir))
	if err := os.Remove(w.path); err != nil {
		t.Log("this system keeps open files where they are:", err)
		return
	}
	if err := w.Tick(day.Add(lookEvery)); !errors.Is(err, ErrGone) || !errors.Is(w.Err(), ErrGone) {
		t.Errorf("tick: %v", err)
	}
}

// What stands in the place of the file, or of a directory above it, is noticed before
// the next block is written, and never given the name of a whole file.
func TestAnotherFileInItsPlace(t *testing.T) {
	replaced := map[string]func(dir, path string) error{
		"the directory by a file": func(dir, _ string) error {
			return errors.Join(os.Rename(dir, dir+".old"), os.WriteFile(dir, nil, 0o600))
		},
		"the directory by a link to itself": func(dir, _ string) error {
			return errors.Join(os.Rename(dir, dir+".old"), os.Symlink(dir, dir))
		},
		"the directory by a copy": func(dir, _ string) error {
			return errors.Join(os.Rename(dir, dir+".old"), os.CopyFS(dir, os.DirFS(dir+".old")))
		},
		"the file by a copy": func(_, path string) error {
			b, err := os.ReadFile(path)
			return errors.Join(err, os.Remove(path), os.WriteFile(path, b, 0o600))
		},
	}
	for name, replace := range replaced {
		for how, write := range map[string]func(*Writer) error{
			"flush": (*Writer).Flush, "rotate": (*Writer).Rotate,
			"tick":  func(w *Writer) error { return w.Tick(day.Add(lookEvery)) },
			"close": func(w *Writer) error { return w.Close(nil) },
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "d")
				l := ledger{offered: 5}
				w := newWriter(t, testConfig(dir), WithFreeSpace(plenty), OnWritten(l.done))
				its := items(5)
				fill(t, w, its[:3], 0)
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
				fill(t, w, its[3:], 0)
				final := w.final
				if err := replace(dir, w.path); err != nil {
					t.Log("this system keeps open files where they are:", err)
					return
				}
				err := write(w)
				l.fault(err)
				if !errors.Is(err, ErrGone) {
					t.Errorf("%v", err)
				}
				if exists(final) {
					t.Error("what was put there has the name of a whole file")
				}
				same(t, "lost", l.lost, uint64(2))
				l.balanced(t, w)
			})
		}
	}
	t.Run("rotate with nothing pending", func(t *testing.T) {
		w := newWriter(t, testConfig(t.TempDir()))
		fill(t, w, items(2), 0)
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		final := w.final
		if err := replaced["the file by a copy"]("", w.path); err != nil {
			t.Log("this system keeps open files where they are:", err)
			return
		}
		if err := w.Rotate(); !errors.Is(err, ErrGone) || exists(final) || w.Err() != nil {
			t.Errorf("%v, then %v", err, w.Err())
		}
	})
}

// Where no next file can be made, lines are refused until Reopen can.
func TestCannotBeginTheNextFile(t *testing.T) {
	d := &disk{room: -1}
	dir := t.TempDir()
	w := newWriter(t, testConfig(dir), WithOpener(d.open), WithFreeSpace(plenty))
	its := items(4)
	fill(t, w, its[:2], 0)
	d.badOpen = &fs.PathError{Op: "open", Path: "x", Err: syscall.EMFILE}
	if err := w.Rotate(); !errors.Is(err, syscall.EMFILE) || Lost(err) != 0 {
		t.Errorf("rotate: %v", err)
	}
	if err := w.Append([]byte("lost"), 1); Lost(err) != 1 || !errors.Is(err, syscall.EMFILE) {
		t.Errorf("append: %v", err)
	}
	if err := w.Reopen(day); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("reopen: %v", err)
	}
	d.badOpen = nil
	if err := w.Reopen(day); err != nil {
		t.Fatal(err)
	}
	fill(t, w, its[2:], 0)
	if err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
	checkDir(t, dir, its, ledger{written: 4})
}
