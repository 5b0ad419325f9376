// Package sandbox is an embedded search engine for trying and testing
// esshadow: an in-memory index on bleve that speaks the part of the
// Elasticsearch HTTP API that a demo and tests need.
//
// It is not Elasticsearch and not for production: one process, memory only, no
// replicas, no security. It says so in its answer to GET / (build_flavor
// "sandbox", distribution "esshadow-sandbox", tagline). It sends the header
// X-Elastic-Product because the official clients refuse to work without it.
//
// What it promises: requests that it accepts are answered with the forms and
// the numbers that Elasticsearch would give; what it does not know it refuses
// with an error shaped as Elasticsearch's, never with a guess. Answers depend
// only on the requests that came before (given Options.Now), so two engines
// fed alike answer alike, scores included. What it refuses: scripts, nested
// documents, aliases, data streams, highlighting, custom analysers.
//
// Two differences are on purpose: a write is visible to the next search
// without a refresh, and every index has one shard.
package sandbox
