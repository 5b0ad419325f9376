// Package testenv says what a test may expect of the machine it runs on.
package testenv

import (
	"os"
	"path/filepath"
	"testing"
)

// Skip skips the test, or fails it where ESSHADOW_REQUIRE_ALL=1 says that
// everything must run.
func Skip(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("ESSHADOW_REQUIRE_ALL") == "1" {
		t.Fatalf("would skip, but ESSHADOW_REQUIRE_ALL=1: %s", why)
	}
	t.Skip(why)
}

// Corpus is the path of a file of the corpus of real requests, which is not
// part of the project; the test is skipped where there is none.
func Corpus(t testing.TB, file string) string {
	t.Helper()
	dir := os.Getenv("ESSHADOW_CORPUS")
	if dir == "" {
		Skip(t, "set ESSHADOW_CORPUS to the folder of the request corpus to run this test")
	}
	path := filepath.Join(dir, file)
	if _, err := os.Stat(path); err != nil {
		Skip(t, "ESSHADOW_CORPUS has no "+file)
	}
	return path
}
