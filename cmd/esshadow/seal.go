package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/capture/segment"
	"github.com/esshadow/esshadow/replay"
)

// identities reads an age identity file; no path, no identities.
func identities(named, path string, stdin io.Reader) (segment.Identities, error) {
	if path == "" {
		return nil, nil
	}
	text, err := readInput(path, stdin)
	if err != nil {
		return nil, usage("%s: %w", named, err)
	}
	defer clear(text)
	ids, err := segment.ParseIdentities(bytes.NewReader(text))
	if err != nil {
		return nil, usage("%s: %s: %w", named, path, err)
	}
	return ids, nil
}

// identityFlag is the flag of every command that reads captures.
func identityFlag(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "identity", "", "age identity `file` that opens a sealed capture; - for standard input")
}

// sealedHint says what to do where a capture is sealed and no identity was given,
// or not the one that opens it.
func sealedHint(err error) error {
	if errors.Is(err, segment.ErrSealed) {
		return fmt.Errorf("%w: give its age identity by --identity FILE", err)
	}
	return err
}

// unsealed is an error where a capture is sealed and the identities do not open it:
// found out by its first record, before anything is begun for it.
func unsealed(info capture.Info, paths []string, ids segment.Identities) error {
	if !slices.ContainsFunc(info.Metas, func(m segment.Meta) bool { return len(m.Sealed) > 0 }) {
		return nil
	}
	src, err := capture.OpenSource(paths, capture.SourceOptions{Identities: ids})
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }()
	if _, err = src.Next(); errors.Is(err, segment.ErrSealed) {
		return err
	}
	return nil // any other damage is the run's to report
}

// sealedLines reads the lines of a sealed file.
func sealedLines(path string, ids segment.Identities, line func([]byte)) error {
	r, err := segment.Open(path, segment.WithIdentities(ids))
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	for {
		l, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		line(l)
	}
}

// veilFor covers the outcomes of a sealed capture.
func veilFor(info capture.Info) (*replay.Veil, error) {
	for _, m := range info.Metas {
		if len(m.Sealed) > 0 {
			return replay.NewVeil()
		}
	}
	return nil, nil
}
