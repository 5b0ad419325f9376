package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is to be read and is not there is one mistake, whoever reads it: it is told with
// the path, and with one code.
func TestInputsThatAreNotThere(t *testing.T) {
	empty, other := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "note.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(other, "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	marks := filepath.Join(t.TempDir(), "marks")
	esshadow(t, nil, "sanitize", "canary", "send", "--via", newEngine(t).url, "--marks", marks)
	for _, command := range []string{
		"capture ls", "capture cat", "capture stat", "capture verify", "capture repair", "sanitize audit", "sanitize report",
		"sanitize canary verify --marks " + marks, "report", "replay --target http://127.0.0.1:1", "replay --dry-run --target http://127.0.0.1:1",
	} {
		for _, path := range []string{filepath.Join(empty, "absent"), empty, other} {
			if path == other && (strings.Contains(command, "audit") || strings.Contains(command, "canary")) {
				continue // they look into files of any name
			}
			r := esshadow(t, nil, append(strings.Fields(command), path)...).want(t, exitFailed, path)
			if r.out != "" {
				t.Errorf("%s %s: %s", command, path, r.out)
			}
		}
	}
	esshadow(t, nil, "help").want(t, exitDone)
	esshadow(t, nil, "help", "capture", "ls").want(t, exitDone)
}
