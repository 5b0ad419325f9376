// Package audit looks, with eyes of its own, for what must not be in a capture,
// a log or any other text: given words, and what looks like personal data or a
// secret.
//
// It shares no code with package sanitize, and none with the readers of segment
// files: what one side does not see, the other must not miss for the same
// reason. Text is looked at as it is, folded (case, Unicode NFKC, invisible
// characters), and decoded in all the ways that values travel in: percent
// encoding up to three times, JSON escapes, HTML entities, base64 and base64url
// at four offsets, hexadecimal, gzip, zlib and zstd, within each other to a
// depth of four.
//
// A finding says where it is and what kind it is, with a keyed digest; the value
// itself is in no result. What cannot be decoded is a trouble, never passed over.
// Digits that were permuted may look like a telephone or card number by chance,
// and package audit has no key to tell: such hits are counted beside what chance
// gives, and count as a finding where chance does not explain them.
package audit
