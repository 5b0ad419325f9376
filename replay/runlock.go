package replay

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/esshadow/esshadow/capture/segment"
)

// ErrRunBusy says that another process writes to a run directory.
var ErrRunBusy = errors.New("another process writes to the run directory")

// RunLock keeps a run's directory for one process, until Release or the end of
// the process, however that comes.
type RunLock struct {
	dir  string
	made bool // the directory was not there
	held io.Closer
}

// LockRun makes a run's directory (0700) and takes it. shared lets others take it
// that share it too: of two processes, one of which follows the other, both write
// for a while. The error wraps ErrRunBusy where another process has it.
func LockRun(dir string, shared bool) (*RunLock, error) {
	_, err := os.Lstat(dir)
	l := &RunLock{dir: dir, made: errors.Is(err, fs.ErrNotExist)}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("run directory: %w", err)
	}
	l.held, err = segment.LockDir(dir, shared)
	switch {
	case errors.Is(err, segment.ErrBusy):
		return nil, fmt.Errorf("%w: %s", ErrRunBusy, dir)
	case err != nil:
		return nil, fmt.Errorf("run directory: %w", err)
	}
	return l, nil
}

// Release lets others take the directory; once is enough.
func (l *RunLock) Release() error {
	if l.held == nil {
		return nil
	}
	held := l.held
	l.held = nil
	return held.Close()
}

// Undo is Release, and removes a directory that LockRun made and that holds
// nothing.
func (l *RunLock) Undo() error {
	err := l.Release()
	if l.made {
		_ = os.Remove(filepath.Join(l.dir, segment.LockFile))
		_ = os.Remove(filepath.Join(l.dir, RunFile+lockSuffix))
		_ = os.Remove(l.dir) // it may hold something by now
	}
	return err
}
