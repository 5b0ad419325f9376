// Package canary holds requests and answers with marked values, canaries, in
// every position that a value can have, and what must become of each: the
// program sends them through its own pipeline and looks for the marks afterwards.
//
// The values are invented; addresses, card and account numbers are those that
// documentation uses. positions.ndjson has one case for each kind of object of
// the sanitiser's tables, written by a test of package sanitize; cases.ndjson is
// written by hand: URLs, headers, encodings, writings of values, answers, and
// requests that are malformed.
//
// It makes marks for probing a running proxy, too, and keeps of them what is
// needed to recognise them but not the marks.
package canary
