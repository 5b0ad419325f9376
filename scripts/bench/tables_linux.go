package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// table prints one load: medians over the rounds, and ratios, each of which is
// the median of the ratios within a round.
func (r *pairedRun) table(l load) {
	got := r.results[l.name]
	t := grid{title: l.name, head: []string{
		"", "requests/s", "× nginx", "p50 µs", "p99 µs", "added p50 µs", "p99 × nginx", "CPU µs/request", "× nginx", "× off", "peak RSS MB", "failed", "dropped",
	}}
	late, failed := time.Duration(0), uint64(0)
	for _, name := range []string{direct, nginx, captureOff, captureOn} {
		ms := got[name]
		if len(ms) == 0 {
			continue
		}
		rate := column(ms, measure.rate)
		row := []string{
			name, fmt.Sprintf("%.0f", median(rate)), ratio(rate, column(got[nginx], measure.rate)),
			fmt.Sprintf("%.0f", median(column(ms, measure.p50us))), fmt.Sprintf("%.0f", median(column(ms, measure.p99us))),
			difference(column(ms, measure.p50us), column(got[direct], measure.p50us)),
			ratio(column(ms, measure.p99us), column(got[nginx], measure.p99us)),
		}
		if name == direct || l.rate == 0 {
			row[5] = "–" // a full queue's waiting is no cost of a request
		}
		if name == direct {
			row = append(row, "–", "–", "–", "–")
		} else {
			cpu := column(ms, measure.cpuUs)
			row = append(row, fmt.Sprintf("%.1f", median(cpu)), ratio(cpu, column(got[nginx], measure.cpuUs)),
				ratio(cpu, column(got[captureOff], measure.cpuUs)), fmt.Sprintf("%.0f", median(column(ms, measure.peakMB))))
		}
		row = append(row, fmt.Sprint(bad(ms)), drops(name, ms))
		t.rows = append(t.rows, row)
		failed += bad(ms)
		for _, m := range ms {
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

func (m measure) rate() float64   { return m.perSecond() }
func (m measure) p50us() float64  { return float64(m.p50) / 1e3 }
func (m measure) p99us() float64  { return float64(m.p99) / 1e3 }
func (m measure) cpuUs() float64  { return float64(m.cpu) / 1e3 }
func (m measure) peakMB() float64 { return float64(m.peak) / 1e6 }

func column(ms []measure, of func(measure) float64) []float64 {
	out := make([]float64, len(ms))
	for i, m := range ms {
		out[i] = of(m)
	}
	return out
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
	if name != captureOn {
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
