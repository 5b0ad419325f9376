package main

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// left is what lies in the directory for temporary files.
func left(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// No command leaves anything of what it put aside, be it done or refused.
func TestNothingIsLeftBehind(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		code int
	}{
		"sanitize test":          {[]string{"sanitize", "test"}, exitDone},
		"sanitize test, refused": {[]string{"sanitize", "test", "--preset", "nope"}, exitUsage},
		"standard input":         {[]string{"capture", "verify", "-"}, exitFailed},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("TMPDIR", dir)
			esshadow(t, nil, c.args...).want(t, c.code)
			if list := left(t, dir); len(list) > 0 {
				t.Errorf("left behind: %v", list)
			}
		})
	}
}

// A signal ends a command that waits for standard input, and nothing of what it read
// stays.
func TestNothingIsLeftBehindByASignal(t *testing.T) {
	dir := t.TempDir()
	p := startWith(t, func(c *exec.Cmd) {
		c.Env = append(os.Environ(), "TMPDIR="+dir)
		w, err := c.StdinPipe() // closed at the end only
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = w.Close() })
	}, "capture", "stat", "-")
	tick, late := time.NewTicker(10*time.Millisecond), time.After(20*time.Second)
	defer tick.Stop()
	for len(left(t, dir)) == 0 {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("nothing is put aside")
		}
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.code(10 * time.Second); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
	if list := left(t, dir); len(list) > 0 {
		t.Errorf("left behind: %v", list)
	}
}
