package testenv

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Guarded is a page of memory behind which nothing may be read or written: who does
// ends the test.
func Guarded(t testing.TB) []byte {
	t.Helper()
	page := os.Getpagesize()
	m, err := unix.Mmap(-1, 0, 2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(m) })
	if err := unix.Mprotect(m[page:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return m[:page:page]
}
