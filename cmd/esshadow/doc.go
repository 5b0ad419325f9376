// Command esshadow captures the traffic of an Elasticsearch or OpenSearch
// cluster through a proxy, sanitised, replays it against another cluster, and
// reports what became slower or answers differently.
//
// This package only joins the others: one file a command, flags, signals and
// exit codes.
package main
