package replay

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/esshadow/esshadow/capture/segment"
)

func TestLockRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "run")
	first, err := LockRun(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, shared := range []bool{false, true} {
		if _, err := LockRun(dir, shared); !errors.Is(err, ErrRunBusy) {
			t.Errorf("a second one, shared %v: %v", shared, err)
		}
	}
	if err := errors.Join(first.Release(), first.Release()); err != nil {
		t.Error(err)
	}
	one, err := LockRun(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	two, err := LockRun(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := LockRun(dir, false); !errors.Is(err, ErrRunBusy) {
		t.Errorf("alone, while two share it: %v", err)
	}
	if err := errors.Join(one.Undo(), two.Release()); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(dir); err != nil {
		t.Errorf("Undo removed a directory that was there: %v", err)
	}
}

// Undo removes the directory that the lock made, unless it holds something.
func TestUndoRunLock(t *testing.T) {
	for _, full := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "run")
		l, err := LockRun(dir, false)
		if err != nil {
			t.Fatal(err)
		}
		if full {
			if err := os.WriteFile(filepath.Join(dir, "x"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Undo(); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(dir); os.IsNotExist(err) == full {
			t.Errorf("full %v: %v", full, err)
		}
	}
}

// Of many replays that begin at once in one directory, one gets it.
func TestOneRunADirectory(t *testing.T) {
	target := DefaultTarget()
	target.URL = "http://target"
	run := NewRun(time.Now(), "test", nil, Default(), target)
	dir := filepath.Join(t.TempDir(), "run")
	const many = 8
	var all sync.WaitGroup
	won := make(chan *segment.Writer, many)
	lost := make(chan error, many)
	for range many {
		all.Go(func() {
			w, err := CreateRunDir(dir, run)
			if err != nil {
				lost <- err
				return
			}
			won <- w
		})
	}
	all.Wait()
	if len(won) != 1 || len(lost) != many-1 {
		t.Fatalf("%d got the directory", len(won))
	}
	close(lost)
	for err := range lost {
		if !errors.Is(err, ErrRunBusy) && !errors.Is(err, ErrRunExists) {
			t.Error(err)
		}
	}
	if err := (<-won).Close(nil); err != nil {
		t.Error(err)
	}
}

// A run that cannot begin leaves nothing.
func TestFailedRunLeavesNothing(t *testing.T) {
	target := DefaultTarget()
	target.URL = "http://target"
	run := NewRun(time.Now(), "test", nil, Default(), target)
	dir := filepath.Join(t.TempDir(), "run")
	bad := segment.DefaultConfig()
	bad.BlockSize = -1
	if _, _, err := MirrorRunDir(dir, &run, bad); err == nil {
		t.Fatal("no error")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	if _, err := CreateRunDir(dir, run); err != nil {
		t.Errorf("the next run: %v", err)
	}
}
