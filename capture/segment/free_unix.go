//go:build linux || darwin || freebsd || dragonfly

package segment

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// FreeSpace gives the bytes that an ordinary user may still write to the file
// system of dir; errors.ErrUnsupported where the operating system does not say.
func FreeSpace(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	if int64(st.Bavail) < 0 { // signed on the BSDs, where root may overdraw
		return 0, nil
	}
	return uint64(st.Bavail) * uint64(st.Bsize), nil //nolint:unconvert // signed on the BSDs
}
