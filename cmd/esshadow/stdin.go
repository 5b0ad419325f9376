package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// onStdin is the path that stands for standard input.
const onStdin = "-"

// fromStdin puts a file in the place of - among paths, with what comes on standard
// input: captures are read with jumps. It lasts until done is called. others are paths
// that would be read from there too.
func fromStdin(s *streams, paths []string, others ...string) (files []string, done func(), err error) {
	at := slices.Index(paths, onStdin)
	if at < 0 {
		return paths, func() {}, nil
	}
	if slices.Contains(paths[at+1:], onStdin) || slices.Contains(others, onStdin) {
		return nil, nil, usage("-: standard input can be read once only: give files for the rest")
	}
	dir, remove, err := tempDir()
	if err != nil {
		return nil, nil, fmt.Errorf("standard input: %w", err)
	}
	done = func() { _ = remove() }
	files = slices.Clone(paths)
	files[at] = filepath.Join(dir, "standard-input.ndjson.zst")
	if err := spool(files[at], s.in); err != nil {
		done()
		return nil, nil, fmt.Errorf("standard input: %w", err)
	}
	return files, done, nil
}

func spool(path string, from io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}

// notFromStdin refuses - where only files do.
func notFromStdin(paths []string, why string) error {
	if slices.Contains(paths, onStdin) {
		return usage("-: %s: give files or directories", why)
	}
	return nil
}
