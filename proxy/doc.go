// Package proxy stands between live clients and the source cluster: it passes
// requests and answers through unchanged, and offers a copy of both to a Tap.
//
// It promises that what it passes on is what came: method, target, header
// names with their spelling, values and order, and body, both ways. It answers
// for itself only where it has to, in the shape of an Elasticsearch error with
// a type that starts with "proxy_".
//
// It refuses to do more. It never waits for the Tap, never looks into a body,
// never writes a file, never sends a request a second time once a byte of it
// may have left, and never passes on a request whose framing two servers could
// read in two ways.
//
// fasthttp accepts, parses and keeps connections on both sides. Heads go out
// through code of this package, since fasthttp's own writer changes the order
// and the spelling of headers and adds some.
package proxy
