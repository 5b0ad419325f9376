// Package clients is the proof that the official Elasticsearch client works
// with the sandbox. It has tests only, and stands apart because that client is
// so large that fuzzing the sandbox would have to wait for it to be compiled.
package clients
