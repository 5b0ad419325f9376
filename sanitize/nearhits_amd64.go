package sanitize

// scansHits tells that there is a nearHits here.
const scansHits = true

// nearHits does the part of nearBlock that is the same again and again: separators, and
// runs of lower case that are found in the first or the second place for them and are
// known to the post-check. It goes on from at until it meets anything else.
//
//go:noescape
func nearHits(a *nearScan)

// nearAhead finds out where nearHits will look, and has the memory there fetched: most of
// what to look up a run costs is to wait for it, and one wait is enough for a block.
//
//go:noescape
func nearAhead(a *nearScan)
