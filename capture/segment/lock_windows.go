package segment

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// The lock is one byte far behind any file's end, since a lock on Windows keeps
// others from reading the bytes it covers.
func lockPlace() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 30} }

// lock takes the lock that says "this file is being written"; it goes with the
// process. A new file's lock is waited for, since only a reader's glance (busy)
// can hold it.
func lock(f *os.File, wait bool) error {
	flags := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK)
	if !wait {
		flags |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	return lockError(windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, lockPlace()))
}

// openDirLock opens what LockDir locks: a file in the directory, which cannot be
// locked itself.
func openDirLock(dir string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, LockFile), os.O_CREATE|os.O_RDWR, 0o600)
}

// lockShared is lock, without waiting, alone or with others that share.
func lockShared(f *os.File, shared bool) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if !shared {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	return lockError(windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, lockPlace()))
}

// busy says whether a writer holds the file's lock.
func busy(f *os.File) bool {
	h := windows.Handle(f.Fd())
	err := windows.LockFileEx(h, windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, lockPlace())
	if err == nil {
		_ = windows.UnlockFileEx(h, 0, 1, 0, lockPlace())
	}
	return errors.Is(lockError(err), ErrBusy)
}

func lockError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return ErrBusy
	}
	return errors.ErrUnsupported
}

// syncDir has nothing to do: NTFS journals names itself.
func syncDir(string) error { return nil }
