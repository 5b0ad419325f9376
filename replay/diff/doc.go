// Package diff says whether two answers to one request agree. It looks at
// Summaries only, is a pure function of them, and claims a difference only where
// the answers contradict each other: what one side did not say, or could not
// say exactly, is not comparable rather than different.
package diff
