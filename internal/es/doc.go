// Package es holds every fact that esshadow knows about the Elasticsearch and
// OpenSearch HTTP API: which operation a request line asks for, how _bulk and
// _msearch bodies are framed, what an answer says, and which shape a query has.
//
// Bytes go in, values come out. Nothing here reads a clock, a file, a socket or
// the environment, nothing is kept between calls, and no input makes it panic.
// What personal data is, and what becomes of it, is not decided here.
package es
