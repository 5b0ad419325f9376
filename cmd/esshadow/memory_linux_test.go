package main

import (
	"math"
	"runtime/debug"
	"syscall"
	"testing"
)

// Memory that the runtime gave back to the kernel and needs again costs a page fault
// each: work that a higher limit would have spared, so it counts as collecting.
func TestPageFaultsCountAsCollecting(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // what the runtime says of its own time moves with a collection only
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64))
	read := newHeapReader()
	const pages = 4096
	fresh, err := syscall.Mmap(-1, 0, pages*4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(fresh) }()
	const noHugePages = 15 // MADV_NOHUGEPAGE
	_ = syscall.Madvise(fresh, noHugePages)
	before, faults := read(), pageFaults()
	for i := 0; i < len(fresh); i += 4096 {
		fresh[i] = 1
	}
	faults = pageFaults() - faults
	after := read()
	if faults < 8 {
		t.Fatalf("%d page faults for %d pages", faults, pages)
	}
	if got, want := after.collect-before.collect, float64(faults)*faultCost; got < 0.99*want {
		t.Errorf("%d page faults count as %v s of collecting, want %v", faults, got, want)
	}
}
