//go:build !linux

package main

import "time"

// monotonic is unknown where there is no systemd.
func monotonic() time.Duration { return 0 }
