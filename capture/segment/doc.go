// Package segment keeps lines in compressed, checksummed, seekable blocks of a
// file that `zstd -dc` can read. It writes, rotates, retains, reads, verifies
// and repairs such files.
//
// It knows no Elasticsearch, no JSON inside a line and no personal data. What it
// cannot vouch for it does not deliver: a cut file (ErrTorn), a damaged one
// (ErrCorrupt) and one of a newer version (ErrVersion) are three different
// errors, and no length read from a file is trusted before it is bounded.
package segment
