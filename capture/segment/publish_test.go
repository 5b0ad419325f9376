package segment

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// A writer that closes its file and a repair that finds it in that moment both give it
// its name: whoever comes second finds it done.
func TestPublishTwiceAtOnce(t *testing.T) {
	dir := t.TempDir()
	open, final := filepath.Join(dir, "a.open"), filepath.Join(dir, "a")
	for range 500 {
		if err := os.WriteFile(open, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		var both sync.WaitGroup
		failed := make(chan error, 2)
		for range 2 {
			both.Go(func() { failed <- publish(open, final) })
		}
		both.Wait()
		for range 2 {
			if err := <-failed; err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Remove(final); err != nil {
			t.Fatal(err)
		}
	}
	if err := publish(open, final); err == nil {
		t.Error("a file that is not there got its name")
	}
}
