// Package capture turns what the proxy saw into lines of a capture, and reads
// them back. An Exchange comes in, is filtered, sanitised by a Sanitizer that
// the caller brings, encoded and written in blocks by package segment; a Source
// gives the Records of many segments in order of time.
//
// It never makes a client wait, never dials, and never puts a byte of a request
// or an answer into a file or a log line except through the Sanitizer. What it
// does not write it counts, by reason.
package capture
