package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"
	"time"

	"github.com/esshadow/esshadow/capture/segment"
	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/replay"
)

// Load reads a run directory and adds it up.
func Load(dir string, opt Options) (*Report, error) {
	run, err := replay.ReadRun(dir)
	if err != nil {
		return nil, err
	}
	files, err := segment.List(segment.SuffixOutcomes, dir)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s holds no outcome files", dir)
	}
	warnings := map[string]bool{}
	b, err := build(func() iter.Seq2[*replay.Outcome, error] { return read(files, warnings) }, opt)
	if err != nil {
		return nil, err
	}
	r := b.report(run)
	r.Warnings = sortedKeys(warnings)
	if run.Ended == nil {
		r.Warnings = append(r.Warnings, "the run did not end: it still goes on, or was killed")
	}
	if run.Failed != "" {
		r.Warnings = append(r.Warnings, "the run ended early: "+run.Failed)
	}
	return r, nil
}

// read gives the outcomes of files, each good until the next. A torn file gives what is whole, and a
// warning; a corrupt one is an error.
func read(files []string, warnings map[string]bool) iter.Seq2[*replay.Outcome, error] {
	return func(yield func(*replay.Outcome, error) bool) {
		for _, f := range files {
			if !readFile(f, warnings, yield) {
				return
			}
		}
	}
}

func readFile(path string, warnings map[string]bool, yield func(*replay.Outcome, error) bool) bool {
	in, err := segment.Open(path)
	if err != nil {
		return yield(nil, err) && false
	}
	defer func() { _ = in.Close() }()
	var d replay.OutcomeDecoder
	o := new(replay.Outcome)
	for n := 1; ; n++ {
		line, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return true
		case errors.Is(err, segment.ErrTorn):
			warnings[err.Error()+": what is whole was counted"] = true
			return true
		case err != nil:
			return yield(nil, err) && false
		}
		if err := d.Decode(line, o); err != nil {
			return yield(nil, fmt.Errorf("%s: line %d: not an outcome: %w", filepath.Base(path), n, err)) && false
		}
		if !yield(o, nil) {
			return false
		}
	}
}

// report draws what the builder counted.
func (b *builder) report(run replay.Run) *Report {
	r := &Report{
		Schema: Schema,
		Run: RunInfo{
			Started: stamp(&run.Started), Ended: stamp(run.Ended), Interrupted: run.Interrupted,
			Speed: run.Asked.Speed.String(), Capture: strings.Join(run.Asked.Capture, " "),
			Source: identity(run.Source), Target: identity(run.Target), Version: run.Versions.Esshadow,
		},
		Counts: b.all.counts, Latency: b.all.latencies(), Differences: b.all.differences,
		Examples: b.drawExamples(), Operations: b.drawOperations(), Shapes: b.drawShapes(),
		Folded: max(len(b.scan.shapeTime)-maxShapes, 0), Gates: []Gate{},
	}
	inFlight := 0
	if run.Sums != nil {
		inFlight = int(run.Sums.InFlightMax)
	}
	r.Sender = sender(b.all.counts, b.lag.quantiles(), b.ownLag.quantiles(), b.planned.seconds(), b.actual.seconds(), inFlight)
	r.Verdict = judgeRun(r, b.scan.strangers())
	return r
}

func stamp(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func identity(id es.Identity) Identity {
	return Identity{Flavor: id.Flavor, Version: id.Version, UUID: id.UUID}
}

// JSON writes the report in its fixed form.
func (r *Report) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}
