package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// How much the text report shows.
const (
	textShapes   = 12
	textExamples = 3 // of each kind
	textWidth    = 100
)

// Text draws the report for a terminal: plain UTF-8, no colours.
func (r *Report) Text(w io.Writer) error {
	t := &textWriter{w: w}
	t.head(r)
	t.verdict(r)
	t.counts(r)
	t.latencies(r)
	t.differences(r)
	t.operations(r)
	t.shapes(r)
	for _, warn := range r.Warnings {
		t.line("warning: %s", warn)
	}
	return t.err
}

// textWriter keeps the first error of many writes.
type textWriter struct {
	w   io.Writer
	err error
}

func (t *textWriter) line(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format+"\n", args...)
	}
}

// table writes rows of cells, aligned; all but the first column to the right.
func (t *textWriter) table(rows [][]string) {
	if t.err != nil || len(rows) == 0 {
		return
	}
	width := make([]int, 0, 12)
	for _, r := range rows {
		for i, c := range r {
			if i == len(width) {
				width = append(width, 0)
			}
			width[i] = max(width[i], len([]rune(c)))
		}
	}
	for _, r := range rows {
		var b strings.Builder
		b.WriteString(" ")
		for i, c := range r {
			pad := strings.Repeat(" ", width[i]-len([]rune(c)))
			if i == 0 {
				b.WriteString(" " + c + pad)
			} else {
				b.WriteString("  " + pad + c)
			}
		}
		t.line("%s", strings.TrimRight(b.String(), " "))
	}
}

func (t *textWriter) head(r *Report) {
	state := ""
	if r.Run.Interrupted {
		state = "  INTERRUPTED: what follows is the part that ran"
	}
	if r.Run.Mirror {
		t.line("esshadow mirror of %s since %s%s", r.Run.Capture, r.Run.Started, state)
	} else {
		t.line("esshadow replay of %s at speed %s, %s%s", r.Run.Capture, r.Run.Speed, r.Run.Started, state)
	}
	if t.err != nil {
		return
	}
	tw := tabwriter.NewWriter(t.w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(tw, "  source\t%s\n  target\t%s\n", r.Run.Source, r.Run.Target)
	t.err = tw.Flush()
}

// String names a cluster in one line.
func (i Identity) String() string {
	if i.Flavor == "" && i.UUID == "" {
		return "not known"
	}
	s := strings.TrimSpace(i.Flavor + " " + i.Version)
	if i.UUID != "" {
		s += " (" + i.UUID + ")"
	}
	return s
}

func (t *textWriter) verdict(r *Report) {
	t.line("")
	t.line("VERDICT  %s", strings.ToUpper(r.Verdict.State))
	for _, why := range r.Verdict.Reasons {
		t.line("  - %s", why)
	}
}

func (t *textWriter) counts(r *Report) {
	c := r.Counts
	t.line("")
	t.line("COUNTS")
	t.line("  records %d = planned %d + refused %d%s", c.Records, c.Planned, total(c.Refused), inBrackets(c.Refused))
	t.line("  planned %d = sent %d + shed %d%s", c.Planned, c.Sent, total(c.Shed), inBrackets(c.Shed))
	t.line("  sent %d = answered %d + errors %d%s; the source failed %d of them", c.Sent, c.Answered, total(c.Errors), inBrackets(c.Errors), c.SourceErrors)
	t.line("  answered %d = same %d + different %d + not comparable %d%s", c.Answered, c.Same, c.Different, total(c.NotComparable), inBrackets(c.NotComparable))
	s := r.Sender
	t.line("  sender %s: lag p50 %s p99 %s max %s ms; %.2f s planned, %.2f s taken; at most %d in flight",
		s.State, ms(s.Lag.P50), ms(s.Lag.P99), ms(s.Lag.Max), s.SpanPlanned, s.SpanActual, s.InFlightMax)
}

func inBrackets(m map[string]int) string {
	if len(m) == 0 {
		return ""
	}
	return " (" + list(m) + ")"
}

// ms writes a figure of a latency; "-" where the sample is too small.
func ms(v *float64) string {
	switch {
	case v == nil:
		return "-"
	case *v >= 100:
		return fmt.Sprintf("%.0f", *v)
	case *v >= 10:
		return fmt.Sprintf("%.1f", *v)
	}
	return fmt.Sprintf("%.2f", *v)
}

func (t *textWriter) latencies(r *Report) {
	t.line("")
	t.line("LATENCY in ms (response from the planned time, service from the sending)")
	rows := [][]string{{"", "n", "min", "mean", "p50", "p90", "p95", "p99", "p99.9", "max"}}
	l := r.Latency
	for _, x := range []struct {
		name string
		q    Quantiles
	}{
		{"response", l.Response},
		{"service", l.Service},
		{"first byte", l.FirstByte},
		{"source", l.Source},
		{"took", l.Took},
		{"source took", l.SourceTook},
	} {
		if x.q.N > 0 {
			q := x.q
			rows = append(rows, []string{x.name, fmt.Sprint(q.N), ms(q.Min), ms(q.Mean), ms(q.P50), ms(q.P90), ms(q.P95), ms(q.P99), ms(q.P999), ms(q.Max)})
		}
	}
	t.table(rows)
}

func (t *textWriter) differences(r *Report) {
	if r.Counts.Different == 0 {
		return
	}
	t.line("")
	t.line("DIFFERENCES in %d of %d compared answers", r.Counts.Different, r.Counts.Compared)
	for _, kind := range sortedKeys(r.Differences) {
		t.line("  %s: %d", kind, r.Differences[kind])
		n := 0
		for _, e := range r.Examples {
			if e.Kind != kind || n == textExamples {
				continue
			}
			n++
			t.line("    source %s, target %s", cut(e.Want, 60), cut(e.Got, 60))
			if e.Sample != nil {
				t.line("      %s", cut(e.Sample.String(), textWidth))
			}
		}
	}
}

// String is the request in one line.
func (s *Sample) String() string {
	out := s.Method + " " + s.Target
	if s.Body != "" {
		out += " " + strings.ReplaceAll(strings.TrimSpace(s.Body), "\n", " ")
	}
	return out
}

func cut(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

func (t *textWriter) operations(r *Report) {
	t.line("")
	t.line("OPERATIONS")
	rows := [][]string{{"", "records", "answered", "errors", "different", "source p50", "response p50", "p95", "p99"}}
	for _, o := range r.Operations {
		l := o.Latency
		rows = append(rows, []string{
			o.Op, fmt.Sprint(o.Counts.Records), fmt.Sprint(o.Counts.Answered), fmt.Sprint(total(o.Counts.Errors)), fmt.Sprint(o.Counts.Different),
			ms(l.Source.P50), ms(l.Response.P50), ms(l.Response.P95), ms(l.Response.P99),
		})
	}
	t.table(rows)
}

func (t *textWriter) shapes(r *Report) {
	if len(r.Shapes) == 0 {
		return
	}
	t.line("")
	t.line("SHAPES by time lost against the source (%d in all)", len(r.Shapes)+r.Folded)
	rows := [][]string{{"", "n", "differ", "errors", "source p50", "response p50", "p95", "ratio", "lost s"}}
	var names []string
	for _, s := range r.Shapes[:min(len(r.Shapes), textShapes)] {
		mark := s.Change.State
		if mark == "unchanged" {
			mark = ""
		}
		ratio := "-"
		if s.Change.Ratio > 0 {
			ratio = fmt.Sprintf("%.2f", s.Change.Ratio)
		}
		rows = append(rows, []string{
			fmt.Sprintf("%d %s", len(names)+1, mark), fmt.Sprint(s.N), fmt.Sprint(s.Different), fmt.Sprint(s.Errors),
			ms(s.Source.P50), ms(s.Response.P50), ms(s.Response.P95), ratio, fmt.Sprintf("%.2f", s.TimeLost),
		})
		names = append(names, s.Shape)
	}
	t.table(rows)
	for i, n := range names {
		t.line("  %2d %s", i+1, cut(n, textWidth))
	}
}
