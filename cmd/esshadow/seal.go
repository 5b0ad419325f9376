package main

import (
	"bytes"
	"io"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/capture/segment"
	"github.com/esshadow/esshadow/replay"
)

// identities reads an age identity file; no path, no identities.
func identities(path string, stdin io.Reader) (segment.Identities, error) {
	if path == "" {
		return nil, nil
	}
	text, err := readInput(path, stdin)
	if err != nil {
		return nil, usage("--identity: %w", err)
	}
	defer clear(text)
	ids, err := segment.ParseIdentities(bytes.NewReader(text))
	if err != nil {
		return nil, usage("--identity: %s: %w", path, err)
	}
	return ids, nil
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
