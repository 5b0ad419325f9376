package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/esshadow/esshadow/capture"
)

// windowKeys are the names of the settings that choose a window.
type windowKeys struct{ from, to string }

// nothingThere is an error where a window of a capture holds no record: it says which
// setting is at fault, and what there is. all is what the whole capture holds.
func (k windowKeys) nothingThere(paths []string, opt capture.SourceOptions, all capture.Info) error {
	src, err := capture.OpenSource(paths, opt)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }()
	for {
		rec, err := src.Next()
		if err == nil && rec.Kind == capture.KindGap {
			continue
		}
		if !errors.Is(err, io.EOF) {
			return nil // a record, or damage, which whoever reads on will tell
		}
		break
	}
	if all.Records == 0 {
		return errors.New("the capture holds no records")
	}
	key := k.from
	if opt.From == 0 || opt.To != 0 && opt.To <= all.First {
		key = k.to
	}
	exact := func(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339Nano) }
	return fmt.Errorf("%s: no record lies in that window: the capture goes from %s to %s", key, exact(all.First), exact(all.Last))
}
