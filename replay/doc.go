// Package replay sends the records of a capture to a target: when (schedule),
// what (rewrite), whether (guard) and how (engine, target), and notes of each
// request what was planned and what came (Outcome).
//
// It judges nothing: no answer is compared here. It never sends what a guard
// refuses, never repeats a request, and lateness of one send never delays the
// next one's due time.
package replay
