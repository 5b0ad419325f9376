package segment

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// FreeSpace gives the bytes that an ordinary user may still write to the file
// system of dir; errors.ErrUnsupported where the operating system does not say.
func FreeSpace(dir string) (free uint64, err error) {
	p, err := windows.UTF16PtrFromString(dir)
	if err == nil {
		err = windows.GetDiskFreeSpaceEx(p, &free, nil, nil)
	}
	if err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return free, nil
}
