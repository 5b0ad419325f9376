package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	reading := &reading{files: files, warnings: map[string]bool{}, turned: map[string]map[string]uint64{}, untold: map[string]bool{}}
	b, err := build(reading.outcomes, opt)
	if err != nil {
		return nil, err
	}
	b.turnedAway(reading.turned)
	r := b.report(run)
	r.Warnings = sortedKeys(reading.warnings)
	if n := reading.untoldFiles(); n > 0 && run.Asked.Mirror {
		r.Warnings = append(r.Warnings, fmt.Sprintf("outcome files that their writer has not closed: %d. What the mirror refused or shed without an outcome while it wrote them is not counted", n))
	}
	if run.Ended == nil {
		r.Warnings = append(r.Warnings, "the run did not end: it still goes on, or was killed")
	}
	if run.Failed != "" {
		r.Warnings = append(r.Warnings, "the run ended early: "+run.Failed)
	}
	return r, nil
}

// reading is what the outcome files of a run give besides outcomes.
type reading struct {
	files    []string
	warnings map[string]bool
	turned   map[string]map[string]uint64 // by file and reason: what a mirror turned away
	untold   map[string]bool              // files without that: still written to, or cut by a crash
}

// outcomes gives the outcomes of the files, each good until the next. A torn file
// gives what is whole, and a warning; a corrupt one is an error. One that
// retention removed meanwhile is left out.
func (r *reading) outcomes() iter.Seq2[*replay.Outcome, error] {
	return func(yield func(*replay.Outcome, error) bool) {
		for _, f := range r.files {
			if !r.file(f, yield) {
				return
			}
		}
	}
}

func (r *reading) file(path string, yield func(*replay.Outcome, error) bool) bool {
	in, err := segment.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		r.warnings[filepath.Base(path)+": removed or closed while it was read, and left out"] = true
		return true
	}
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
			r.turned[path] = in.Drops()
			r.untold[path] = !in.Complete() || in.Footer().Repaired
			return true
		case errors.Is(err, segment.ErrTorn):
			r.untold[path] = true
			r.warnings[err.Error()+": what is whole was counted"] = true
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

func (r *reading) untoldFiles() (n int) {
	for _, untold := range r.untold {
		if untold {
			n++
		}
	}
	return n
}

// turnedAway adds what a mirror turned away before it became an outcome: what its
// guards refuse by the operation alone, and what it shed.
func (b *builder) turnedAway(byFile map[string]map[string]uint64) {
	for _, counters := range byFile {
		for name, n := range counters {
			t, ok := replay.ParseTurned(name)
			if !ok {
				continue
			}
			b.all.turnedAway(t, int(n))
			if t.Op != "" {
				b.op(t.Op).turnedAway(t, int(n))
			}
		}
	}
}

// report draws what the builder counted.
func (b *builder) report(run replay.Run) *Report {
	r := &Report{
		Schema: Schema,
		Run: RunInfo{
			Started: stamp(&run.Started), Ended: stamp(run.Ended), Interrupted: run.Interrupted,
			Speed: run.Asked.Speed.String(), Capture: strings.Join(run.Asked.Capture, " "), Mirror: run.Asked.Mirror,
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
	r.Sender = sender(shedding(b.all.counts, run.Asked.Mirror), b.lag.quantiles(), b.ownLag.quantiles(), b.planned.seconds(), b.actual.seconds(), inFlight)
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
