//go:build !linux

package main

import "runtime/debug"

// harden keeps the trace of a crash to one goroutine. Core dumps are left to the
// system's settings.
func harden() error {
	debug.SetTraceback("single")
	return nil
}
