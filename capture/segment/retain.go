package segment

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"
)

// kept is a file that retention may weigh.
type kept struct {
	path  string
	name  Name
	size  int64
	mtime time.Time
}

// expired picks the files that must go, oldest first: while all are larger than
// KeepSize, while there are more closed ones than KeepFiles, and those whose
// last write is KeepAge ago. Open files count for the size but never go.
func expired(files []kept, cfg Config, now time.Time) (gone []kept) {
	var total int64
	closed := 0
	for _, f := range files {
		total += f.size
		if !f.name.Open {
			closed++
		}
	}
	slices.SortFunc(files, func(a, b kept) int {
		return cmp.Or(a.name.Start.Compare(b.name.Start), cmp.Compare(a.path, b.path))
	})
	for _, f := range files {
		large := cfg.KeepSize > 0 && total > int64(cfg.KeepSize)
		many := cfg.KeepFiles > 0 && closed > cfg.KeepFiles
		old := cfg.KeepAge > 0 && now.Sub(f.mtime) >= cfg.KeepAge
		if f.name.Open || !large && !many && !old {
			continue
		}
		gone = append(gone, f)
		total -= f.size
		closed--
	}
	return gone
}

// retain removes the files of the directory that are due to go, whoever wrote
// them. A file whose name this package did not make is never touched.
func (w *Writer) retain() error {
	w.retained = w.now
	if w.cfg.KeepSize == 0 && w.cfg.KeepAge == 0 && w.cfg.KeepFiles == 0 {
		return nil
	}
	files, err := w.weigh()
	if err != nil {
		return fmt.Errorf("retention: %w", err)
	}
	var errs []error
	for _, f := range expired(files, w.cfg, w.now) {
		switch err := os.Remove(f.path); {
		case err == nil:
			w.stats.Deleted++
		case !errors.Is(err, fs.ErrNotExist): // another writer's retention was faster
			errs = append(errs, fmt.Errorf("retention: %w", err))
		}
	}
	return errors.Join(errs...)
}

func (w *Writer) weigh() (files []kept, err error) {
	paths, err := listDir(w.cfg.Dir, w.opt.suffix)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		name, ok := ParseName(path)
		if !ok {
			continue
		}
		st, err := os.Lstat(path)
		if err != nil || !st.Mode().IsRegular() {
			continue
		}
		files = append(files, kept{path: path, name: name, size: st.Size(), mtime: st.ModTime()})
	}
	return files, nil
}
