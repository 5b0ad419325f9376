// Package report adds up the outcomes of a run and draws what they say: counts,
// errors before latencies, latencies before opinions, and differences with
// examples, for the whole run, each operation and each query shape.
//
// It reads a run directory and nothing else, and does not change it. Where the
// run cannot carry a statement (too few samples, a sender that was late, a
// capture that does not fit the target) it says so instead of making one.
package report
