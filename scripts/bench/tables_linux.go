package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// rows are the measures of one load by variant, one a round.
type rows map[string][]measure

// column is one of a table; a cell is of a variant that was measured.
type column struct {
	head string
	cell func(name string) string
}

// table prints one load: medians over the rounds, and ratios, each of which is
// the median of the ratios within a round.
func (r *pairedRun) table(l load) {
	got := rows(r.results[l.name])
	columns := append(got.speed(l), got.cost(l)...)
	columns = append(
		columns,
		column{"failed", func(name string) string { return fmt.Sprint(bad(got[name])) }},
		column{"dropped", func(name string) string { return drops(name, got[name]) }},
	)
	t := grid{title: l.name, head: []string{""}}
	for _, c := range columns {
		t.head = append(t.head, c.head)
	}
	late, failed := time.Duration(0), uint64(0)
	for _, name := range variantNames() {
		if len(got[name]) == 0 {
			continue
		}
		row := []string{name}
		for _, c := range columns {
			row = append(row, c.cell(name))
		}
		t.rows = append(t.rows, row)
		failed += bad(got[name])
		for _, m := range got[name] {
			late = max(late, m.late99)
		}
	}
	t.print(r.out)
	if l.rate > 0 {
		_, _ = fmt.Fprintf(r.out, "The load was itself late by p99 %s at most (in a round), which is part of the latencies.\n", late.Round(time.Microsecond))
	}
	if failed > 0 {
		_, _ = fmt.Fprintln(r.out, "Some requests failed: the figures of their row are not to be trusted.")
	}
}

// speed has the columns of requests/s and latencies.
func (got rows) speed(l load) []column {
	out := []column{{"requests/s", got.median(measure.rate, "%.0f")}}
	if l.rate == 0 {
		out = append(out, got.to("× nginx", measure.rate, nginx), got.to("× ReverseProxy", measure.rate, reverse), got.to("× off", measure.rate, captureOff))
	}
	out = append(out, column{"p50 µs", got.median(measure.p50us, "%.0f")}, column{"p99 µs", got.median(measure.p99us, "%.0f")})
	if l.rate > 0 && len(got[direct]) > 0 {
		// Only at a rate: a full queue's waiting is no cost of a request.
		out = append(
			out,
			column{"added p50 µs", got.ofProxies(func(name string) string {
				return difference(got.all(name, measure.p50us), got.all(direct, measure.p50us))
			})},
			column{"× nginx's", got.ofProxies(func(name string) string { return ratio(got.added(name), got.added(nginx)) })},
		)
	}
	return append(out, got.to("p99 × nginx", measure.p99us, nginx), got.to("p99 × off", measure.p99us, captureOff))
}

// cost has the columns of processor and memory.
func (got rows) cost(l load) []column {
	out := []column{
		{"CPU µs/request", got.ofProxies(got.median(measure.cpuUs, "%.1f"))},
		{"× nginx", got.ofProxies(got.to("", measure.cpuUs, nginx).cell)},
		{"× off", got.ofProxies(got.to("", measure.cpuUs, captureOff).cell)},
	}
	if l.kind >= bulkMost {
		perMB := func(m measure) float64 { return m.cpuUs() / 1e3 / l.megabytes() }
		out = append(out, column{"CPU ms/MB", got.ofProxies(got.median(perMB, "%.2f"))})
	}
	return append(out, column{"peak RSS MB", got.ofProxies(got.median(measure.peakMB, "%.0f"))})
}

func (m measure) rate() float64   { return m.perSecond() }
func (m measure) p50us() float64  { return float64(m.p50) / 1e3 }
func (m measure) p99us() float64  { return float64(m.p99) / 1e3 }
func (m measure) cpuUs() float64  { return float64(m.cpu) / 1e3 }
func (m measure) peakMB() float64 { return float64(m.peak) / 1e6 }

// all is a figure of every round.
func (got rows) all(name string, of func(measure) float64) []float64 {
	out := make([]float64, len(got[name]))
	for i, m := range got[name] {
		out[i] = of(m)
	}
	return out
}

// added is what a variant adds to the median latency, by round.
func (got rows) added(name string) []float64 {
	out := got.all(name, measure.p50us)
	for i, d := range got.all(direct, measure.p50us) {
		if i < len(out) {
			out[i] -= d
		}
	}
	return out
}

func (got rows) median(of func(measure) float64, format string) func(string) string {
	return func(name string) string { return fmt.Sprintf(format, median(got.all(name, of))) }
}

// to is the ratio of a figure to another variant's.
func (got rows) to(head string, of func(measure) float64, other string) column {
	return column{head, func(name string) string { return ratio(got.all(name, of), got.all(other, of)) }}
}

// ofProxies leaves out the way without one.
func (got rows) ofProxies(cell func(string) string) func(string) string {
	return func(name string) string {
		if name == direct {
			return "–"
		}
		return cell(name)
	}
}

// bad sums what did not end well over the rounds.
func bad(ms []measure) (n uint64) {
	for _, m := range ms {
		n += m.errors + m.refused + m.reconnects
	}
	return n
}

// drops sums by reason what the capture lacks of all requests, those of the
// warm-ups too, over the rounds.
func drops(name string, ms []measure) string {
	if name != captureOn && name != captureNew {
		return "–"
	}
	sum, all := map[string]uint64{}, uint64(0)
	for _, m := range ms {
		all += m.all
		for reason, n := range m.dropped {
			sum[reason] += n
		}
	}
	if len(sum) == 0 {
		return "0"
	}
	var out []string
	for _, reason := range slices.Sorted(maps.Keys(sum)) {
		out = append(out, fmt.Sprintf("%d %s", sum[reason], reason))
	}
	return fmt.Sprintf("%s of %d", strings.Join(out, ", "), all)
}
