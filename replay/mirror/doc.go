// Package mirror sends a copy of live requests to a second cluster, from memory,
// by the replay engine: the guards, the rewriting, the ids of scrolls and PITs
// and the outcome files are a replay's.
//
// It takes exchanges from the proxy without ever making it wait: what exceeds a
// bound is shed and counted. What it sends is the request as its client sent it,
// without credentials; what it writes or tells is what the sanitiser made of it.
// A target that fails is left alone for a while; a target that is the source, or
// a proxy, gets nothing.
package mirror
