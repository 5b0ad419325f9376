package segment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Repair makes of a file that a crash left a whole one: it cuts off what follows
// the last whole block, writes a footer and gives it its final name. A sound
// file is not touched (one that only lacks its name gets that), and damage with
// sound blocks behind it stays where it is, counted in Missing. A file with an
// open name that holds no whole header holds no line either and is removed.
// ErrBusy: a living writer holds it.
func Repair(path string) (Report, error) { return repair(path, false) }

// repair with needLock does nothing where locks do not work.
func repair(path string, needLock bool) (Report, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return Report{Path: path}, fmt.Errorf("repair segment: %w", err)
	}
	defer f.Close()
	if err := lock(f, false); err != nil && (needLock || !errors.Is(err, errors.ErrUnsupported)) {
		return Report{Path: path}, fmt.Errorf("repair segment %s: %w", path, err)
	}
	report, err := repairFile(f, path)
	if err != nil {
		return report, err
	}
	return report, finishRepair(f, &report)
}

// unlocked is a file whose lock we hold ourselves.
type unlocked struct{ diskFile }

func (unlocked) Busy() bool   { return false }
func (unlocked) Close() error { return nil }

// repairFile gives the file a footer where it has none.
func repairFile(f *os.File, path string) (Report, error) {
	r, err := newReader(unlocked{diskFile{f}}, path, WithOnCorrupt(Skip))
	if err != nil {
		return Report{Path: path}, err
	}
	defer r.Close()
	report, found, err := r.survey(false)
	if err != nil && !errors.Is(err, ErrTorn) && !errors.Is(err, ErrCorrupt) {
		return report, err
	}
	switch {
	case !r.begun && r.openName():
		report.Removed, report.Changed, report.Cut = true, true, report.Size
		return report, nil
	case !r.begun:
		return report, err
	case !r.done:
		return report, closeFile(f, r, &report, found)
	case found.end < report.Size:
		return report, errors.Join(cutFile(f, &report, found.end), f.Sync())
	}
	return report, nil
}

// cutFile cuts off what follows end.
func cutFile(f *os.File, report *Report, end int64) error {
	report.Changed, report.Cut = true, report.Size-end
	report.Size, report.Torn = end, false
	if err := f.Truncate(end); err != nil {
		return fmt.Errorf("repair segment: %w", err)
	}
	return nil
}

func closeFile(f *os.File, r *Reader, report *Report, found survey) error {
	found.table.Repaired = true
	footer, err := appendFooter(nil, r.mark, &found.table)
	if err != nil {
		return fmt.Errorf("repair segment: %w", err)
	}
	if err := cutFile(f, report, found.end); err != nil {
		return err
	}
	if _, err := f.WriteAt(footer, found.end); err != nil {
		return fmt.Errorf("repair segment: %w", err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("repair segment: %w", err)
	}
	report.Closed, report.Repaired = true, true
	report.Size += int64(len(footer))
	return nil
}

// finishRepair removes the file or gives it its final name.
func finishRepair(f *os.File, report *Report) error {
	final, open := strings.CutSuffix(report.Path, openSuffix)
	if !open {
		return nil
	}
	var err error
	if report.Removed {
		err = removeLocked(f, report.Path)
	} else if err = f.Close(); err == nil {
		report.Changed = true
		err = publish(report.Path, final)
		report.Path = final
	}
	if err == nil {
		err = syncDir(filepath.Dir(final))
	}
	if err != nil {
		return fmt.Errorf("repair segment: %w", err)
	}
	return nil
}

// removeLocked removes the file before the lock goes, so that a writer that has
// just made it and waits for the lock sees that it is gone. Where an open file
// cannot be removed, it goes after.
func removeLocked(f *os.File, path string) error {
	if os.Remove(path) == nil {
		return f.Close()
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Remove(path)
}
