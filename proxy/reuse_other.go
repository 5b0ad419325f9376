//go:build !unix

package proxy

import (
	"errors"
	"net"
)

func sharePort(uintptr) error { return errors.New("reuse_port is not known on this system") }

func steerAway(net.Listener) error { return errors.ErrUnsupported }

// waiting is unknown on this system.
func waiting(net.Listener) bool { return false }
