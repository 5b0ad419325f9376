package main

import (
	"context"
	"errors"
	"os"

	"github.com/esshadow/esshadow/capture/segment"
)

// abandon closes what a proxy began that never served, and takes the files away
// again: they hold nothing, and a run directory would be another run's to the
// command that is corrected.
func (g *gateway) abandon(dir string) error {
	var errs []error
	if g.mirror != nil {
		errs = append(errs, g.mirror.Abandon())
	}
	if g.recorder == nil {
		return errors.Join(errs...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), captureClose)
	defer cancel()
	_, err := g.recorder.Close(ctx)
	return errors.Join(append(errs, err, removeWritten(dir, g.writer))...)
}

// removeWritten removes the capture files of one writer.
func removeWritten(dir, writer string) error {
	files, err := segment.List(segment.SuffixCapture, dir)
	errs := []error{err}
	for _, path := range files {
		if name, ok := segment.ParseName(path); ok && name.Writer == writer {
			errs = append(errs, os.Remove(path))
		}
	}
	return errors.Join(errs...)
}
