package segment

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// File is what a Writer needs of an open file. *os.File is one; tests bring
// others that fail.
type File interface {
	io.WriterAt
	Sync() error
	Truncate(size int64) error
	Close() error
}

// Opener makes a new file for a Writer. It must fail with fs.ErrExist where
// path exists.
type Opener func(path string) (File, error)

// CreateFile is the Opener of a Writer that is given no other: mode 0600, never
// over an existing file, locked against repair by others for as long as it is
// open, where the operating system has locks.
func CreateFile(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lock(f, true); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, errors.Join(err, f.Close())
	}
	// Between the two calls above another process may have taken the file for
	// the empty rest of a crash and removed it.
	if !samePath(f, path) {
		return nil, errors.Join(ErrGone, f.Close())
	}
	return f, nil
}

// LockFile is a file that LockDir may leave in a directory: it holds nothing, and
// is there only where directories themselves cannot be locked.
const LockFile = ".lock"

// LockDir takes a directory for this process until the Closer is closed or the
// process is gone, or with shared among those that share it too. It is a promise
// between callers: files in it can be written by anybody. The error is ErrBusy
// where another process has the directory; where the file system has no locks,
// nobody is kept from it.
func LockDir(dir string, shared bool) (io.Closer, error) {
	f, err := openDirLock(dir)
	if err != nil {
		return nil, err
	}
	if err := lockShared(f, shared); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// LockPath takes a file, which it makes (0600) where there is none, until the Closer is
// closed or the process is gone. The error is ErrBusy where somebody has it; where the
// file system has no locks, nobody is kept from it.
func LockPath(path string) (io.Closer, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lock(f, false); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, errors.Join(err, f.Close())
	}
	if !samePath(f, path) { // it was removed, and nobody else who comes finds this one
		return nil, errors.Join(ErrBusy, f.Close())
	}
	return f, nil
}

// samePath says whether path still names the open file.
func samePath(f *os.File, path string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Lstat(path)
	return err == nil && os.SameFile(a, b)
}

// inPlace says whether path still names the file. A name that cannot be looked at, as
// where a directory above it lets nobody in for a while, is taken for the file's; so is
// any name of a file that cannot say which one it is.
func inPlace(f File, path string) bool {
	at, err := os.Lstat(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) && !leadsNowhere(err)
	}
	known, ok := f.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return true
	}
	own, err := known.Stat()
	return err != nil || os.SameFile(own, at)
}

// exists says whether path names anything.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// publish gives a closed file its final name, never that of another file.
func publish(open, final string) error {
	if exists(final) {
		if !exists(open) {
			return nil // a repair of another process was faster
		}
		return fmt.Errorf("rename %s: %s exists", open, filepath.Base(final))
	}
	err := os.Rename(open, final)
	if errors.Is(err, fs.ErrNotExist) && exists(final) {
		return nil // it was faster in this moment
	}
	return err
}
