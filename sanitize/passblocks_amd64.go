package sanitize

import "golang.org/x/sys/cpu"

// passesBlocks tells that there is a passBlocks here.
func passesBlocks() bool { return cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 }

// passBlocks is cleanBlock for one block after the other, up to the first that is not
// plain ASCII, has an escape or a long run of digits, or holds a run that has to be
// looked at more closely; passblocks_amd64.s.
//
//go:noescape
func passBlocks(a *passScan)
