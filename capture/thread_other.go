//go:build !linux

package capture

import (
	"errors"
	"time"
)

// stepBack cannot be done on this system: a priority is the whole process's.
func stepBack(int) error { return errors.ErrUnsupported }

// threadTime is unknown on this system.
func threadTime() time.Duration { return 0 }
