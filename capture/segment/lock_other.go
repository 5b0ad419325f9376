//go:build !windows && (!unix || aix || solaris || illumos)

package segment

import (
	"errors"
	"os"
)

// Without locks nobody can tell a writer's open file from one that a crash
// left, so none is repaired at start; `capture repair` does it on request.
func lock(*os.File, bool) error { return errors.ErrUnsupported }

func openDirLock(dir string) (*os.File, error) { return os.Open(dir) }

func lockShared(*os.File, bool) error { return errors.ErrUnsupported }

func busy(*os.File) bool { return false }

func syncDir(string) error { return nil }
