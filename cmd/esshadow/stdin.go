package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// onStdin is the path that stands for standard input.
const onStdin = "-"

// copied is the file in which the capture lies that came on standard input, if one did.
type copied struct {
	dir    string // "": none did
	remove func() error
}

// name is a text in which the file is called standard input: where it lies is nothing
// that anybody could look at.
func (c *copied) name(text string) string {
	if c.dir == "" {
		return text
	}
	return strings.ReplaceAll(text, c.dir+string(filepath.Separator), "")
}

// renamed is an error whose text is another.
type renamed struct {
	error
	text string
}

func (e *renamed) Error() string { return e.text }
func (e *renamed) Unwrap() error { return e.error }

// done removes the file, and gives err with its name.
func (c *copied) done(err error) error {
	if c.dir == "" {
		return err
	}
	_ = c.remove()
	if err == nil {
		return nil
	}
	return &renamed{err, c.name(err.Error())}
}

// fromStdin puts a file in the place of - among paths, with what comes on standard
// input: captures are read with jumps. It lasts until done is called. others are paths
// that would be read from there too.
func fromStdin(s *streams, paths []string, others ...string) (files []string, in *copied, err error) {
	at := slices.Index(paths, onStdin)
	if at < 0 {
		return paths, &copied{}, nil
	}
	if slices.Contains(paths[at+1:], onStdin) || slices.Contains(others, onStdin) {
		return nil, nil, usage("-: standard input can be read once only: give files for the rest")
	}
	in = &copied{}
	if in.dir, in.remove, err = tempDir(); err != nil {
		return nil, nil, fmt.Errorf("standard input: %w", err)
	}
	files = slices.Clone(paths)
	files[at] = filepath.Join(in.dir, "standard input")
	if err := spool(files[at], s.in); err != nil {
		return nil, nil, fmt.Errorf("standard input: %w", in.done(err))
	}
	return files, in, nil
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
