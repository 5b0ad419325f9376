// Package sanitize is the only way from an Exchange to a Record. A Pipeline is
// built from a Config and a Key; its Workers replace what may be personal in a
// request by keyed pseudonyms, so that the same value gets the same pseudonym
// in a document, a query, an id and a URL, and replayed queries still match
// documents that were sanitised with the same key.
//
// It denies by default: a clause, a parameter, an operation or a content type
// that it does not know drops the record, and never the live request, with a
// reason from the fixed list that Reasons gives. It stores nothing of an answer
// but its Summary, keeps no table from values to pseudonyms on any disk, and
// never logs. What comes out is pseudonymised, not anonymous: docs/sanitize.md
// says what can still be read off it.
package sanitize
