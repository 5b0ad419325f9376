//go:build !linux && !darwin && !freebsd && !dragonfly && !windows

package segment

import "errors"

// FreeSpace gives the bytes that an ordinary user may still write to the file
// system of dir; errors.ErrUnsupported where the operating system does not say.
func FreeSpace(string) (uint64, error) { return 0, errors.ErrUnsupported }
