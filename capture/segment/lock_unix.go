//go:build unix && !aix && !solaris && !illumos

package segment

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lock takes the lock that says "this file is being written"; it goes with the
// last descriptor, so a killed process leaves none. A new file's lock is waited
// for, since only a reader's glance (busy) can hold it. errors.ErrUnsupported:
// the file system has no locks.
func lock(f *os.File, wait bool) error {
	how := unix.LOCK_EX
	if !wait {
		how |= unix.LOCK_NB
	}
	return lockError(flock(f, how))
}

// openDirLock opens what LockDir locks: the directory itself.
func openDirLock(dir string) (*os.File, error) { return os.Open(dir) }

// lockShared is lock, without waiting, alone or with others that share.
func lockShared(f *os.File, shared bool) error {
	how := unix.LOCK_EX
	if shared {
		how = unix.LOCK_SH
	}
	return lockError(flock(f, how|unix.LOCK_NB))
}

// busy says whether a writer holds the file's lock.
func busy(f *os.File) bool {
	err := flock(f, unix.LOCK_SH|unix.LOCK_NB)
	if err == nil {
		_ = flock(f, unix.LOCK_UN)
	}
	return errors.Is(err, unix.EWOULDBLOCK)
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func lockError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EWOULDBLOCK):
		return ErrBusy
	}
	return errors.ErrUnsupported
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	// Some network file systems refuse to sync a directory; they have nothing to sync.
	if err := d.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	return nil
}
