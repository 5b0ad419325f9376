package report

import (
	"fmt"
	"slices"
	"strings"
)

// States of the sender.
const (
	Healthy   = "healthy"
	Late      = "late"
	Saturated = "saturated"
)

// lateP99 is the send lag in ms from which a sender is called late: twice what
// an idle machine's timers cost is well below it.
const lateP99 = 10.0

// shedCancelled is the reason for shedding that an interrupt gives: it says
// nothing of the sender.
const shedCancelled = "cancelled"

// saturatedP99 is the lag in ms from which the schedule was not kept at all.
const saturatedP99 = 1000.0

// sender judges whether the replayer kept its own schedule. own is the lag but
// for the wait for earlier requests of the same connection, which is the
// target's doing. What was shed has no latency, so that any shedding makes the
// latencies of the rest too good.
func sender(shed map[string]int, lag, own Quantiles, planned, actual float64, inFlight int) Sender {
	s := Sender{State: Healthy, Lag: lag, SpanPlanned: planned, SpanActual: actual, InFlightMax: inFlight}
	late := own.Max
	if own.P99 != nil {
		late = own.P99
	}
	switch {
	case total(shed) > shed[shedCancelled] || late != nil && *late > saturatedP99:
		s.State = Saturated
	case late != nil && *late > lateP99:
		s.State = Late
	}
	return s
}

// mirrorShed is the share of requests that a mirror may shed for lack of room
// before its latencies are called unusable: it runs for weeks, and what it sheds
// in a bad minute says little of them.
const mirrorShed = 0.01

// shedding is what speaks against the sender of what was shed. Of a mirror, what it
// shed because its target was sick or because it was told to is no lack of room.
func shedding(c Counts, mirror bool) map[string]int {
	if !mirror {
		return c.Shed
	}
	room := map[string]int{}
	for _, reason := range []string{"in_flight", "queue_full", "local_limit"} {
		if n := c.Shed[reason]; n > 0 {
			room[reason] = n
		}
	}
	if float64(total(room)) > mirrorShed*float64(c.Planned) {
		return room
	}
	return nil
}

// States of a verdict.
const (
	Same         = "same"
	Worse        = "worse"
	Better       = "better"
	Different    = "different"
	Inconclusive = "inconclusive"
)

// judgeRun draws the opinion: what forbids one comes first, then errors, then
// slower shapes, then differences, then faster shapes.
func judgeRun(r *Report, strangers bool) Verdict {
	var v Verdict
	say := func(format string, args ...any) { v.Reasons = append(v.Reasons, fmt.Sprintf(format, args...)) }
	blocked := forbids(r, strangers, say)
	worse, better := false, false
	if n, src := total(r.Counts.Errors), r.Counts.SourceErrors; n > src && float64(n-src) > 0.001*float64(r.Counts.Sent) {
		worse = true
		say("%d of %d requests failed (%s); %d at the source", n, r.Counts.Sent, list(r.Counts.Errors), src)
	}
	for _, s := range r.Shapes {
		switch s.Change.State {
		case "slower":
			worse = true
			say("slower: %s: %.2f times the source's time (%.2f to %.2f, +%.1f ms, n=%d)",
				s.Shape, s.Change.Ratio, s.Change.Low, s.Change.High, s.Change.DeltaMS, s.Change.N)
		case "faster":
			better = true
		}
	}
	if r.Counts.Different > 0 {
		say("%d of %d compared answers differ (%s)", r.Counts.Different, r.Counts.Compared, list(r.Differences))
	}
	switch {
	case blocked:
		v.State = Inconclusive
	case worse:
		v.State = Worse
	case r.Counts.Different > 0:
		v.State = Different
	case better:
		v.State = Better
		say("no shape is slower, %d are faster", countState(r.Shapes, "faster"))
	default:
		v.State = Same
		say("%d answers compared, none differs; no shape is slower", r.Counts.Compared)
	}
	return v
}

// forbids states what keeps the run from carrying an opinion.
func forbids(r *Report, strangers bool, say func(string, ...any)) bool {
	n := 0
	block := func(format string, args ...any) {
		n++
		say(format, args...)
	}
	if r.Counts.Answered == 0 {
		block("no request was answered")
	}
	if r.Sender.State == Saturated {
		block("the sender was saturated (%d requests shed, %.1f s instead of %.1f s): latencies are not usable",
			total(r.Counts.Shed), r.Sender.SpanActual, r.Sender.SpanPlanned)
	}
	switch {
	case strangers && r.Run.Mirror:
		block("the target holds other data than the source: most searches that found something find nothing")
	case strangers:
		block("the target holds other data than the capture was made for: most searches that found something find nothing. " +
			"A pseudonymised capture needs a target loaded with documents sanitised under the same key")
	}
	if r.Counts.Answered > 0 && r.Counts.Compared == 0 && !strangers {
		block("no answer could be compared (%s)", list(r.Counts.NotComparable))
	}
	return n > 0
}

func countState(shapes []Shape, state string) int {
	n := 0
	for _, s := range shapes {
		if s.Change.State == state {
			n++
		}
	}
	return n
}

func total(m map[string]int) int {
	n := 0
	for _, v := range m {
		n += v
	}
	return n
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// list writes a map of counts, largest first.
func list(m map[string]int) string {
	keys := sortedKeys(m)
	slices.SortStableFunc(keys, func(a, b string) int { return m[b] - m[a] })
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = fmt.Sprintf("%s %d", k, m[k])
	}
	return strings.Join(parts, ", ")
}
