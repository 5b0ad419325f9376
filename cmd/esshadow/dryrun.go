package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/replay"
)

// dryRun prints what a replay would send. The target is not asked anything.
func (r *replayCmd) dryRun(ctx context.Context, src *capture.Source) error {
	d, err := replay.Plan(ctx, r.set.cfg.Replay.Config, src, es.Identity{})
	if err != nil {
		return err
	}
	for _, w := range src.Warnings() {
		r.s.note("esshadow replay: warning: %v", w)
	}
	w := tabwriter.NewWriter(r.s.out, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(w, name+"\t"+format+"\n", args...) }
	row("records", "%d = planned %d + refused %d%s", d.Records, d.Planned, capture.Sum(d.Refused), reasons(d.Refused))
	if d.Records > 0 {
		row("time", "%s to %s", stamp(d.First), stamp(d.Last))
	}
	row("speed", "%s: %s, %.1f requests/s on average, %d in the busiest second", r.set.cfg.Replay.Speed, d.Span.Round(time.Millisecond), d.Rate(), d.PeakRate)
	row("bodies", "%d bytes", d.Bodies)
	if d.Handles > 0 {
		row("handles", "%d requests need a scroll, PIT or async id that the target is to give", d.Handles)
	}
	if d.Missing > 0 {
		row("missing", "%d records that the capture says it lost", d.Missing)
	}
	if d.Backward > 0 {
		row("order", "%d records are older than the one before them; they are sent at once", d.Backward)
	}
	for _, op := range slices.Sorted(maps.Keys(d.Ops)) {
		row("  "+op, "planned %d, refused %d", d.Ops[op].Planned, d.Ops[op].Refused)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, x := range d.Examples {
		body := strings.ReplaceAll(strings.TrimSpace(x.Body), "\n", " ")
		if _, err := fmt.Fprintf(r.s.out, "%s %s %.160s\n", x.Method, x.Target, body); err != nil {
			return err
		}
	}
	return nil
}
