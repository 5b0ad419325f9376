//go:build unix

package segment

import (
	"errors"
	"syscall"
)

// leadsNowhere says that on the way to a name stands what is no directory.
func leadsNowhere(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP)
}

// tooLarge says that the file may not grow, though another may.
func tooLarge(err error) bool { return errors.Is(err, syscall.EFBIG) }
