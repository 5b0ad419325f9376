package report

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/replay"
	"github.com/esshadow/esshadow/replay/diff"
)

// Bounds of a report.
const (
	maxShapes   = 500 // further ones are counted under "other"
	maxExamples = 5   // of each kind of difference
	otherShape  = "other"
)

// Options of a report.
type Options struct {
	Tolerances diff.Tolerances
}

// builder adds up outcomes. They are read twice: first for what the whole run
// says (its span, whether the capture fits the target, which shapes are worth a
// line of their own), then to count.
type builder struct {
	opt      Options
	scan     scan
	all      *sums
	lag      latency
	ownLag   latency
	ops      map[string]*sums
	shapes   map[string]*shapeSums
	keep     map[string]bool
	examples map[string][]Example
	samples  map[string]*Sample // by shape id
	texts    map[string]string
	actual   span
	planned  span
}

// span is the first and the last of some times. A run's first request is due at
// 0, which is a time as any other.
type span struct {
	first, last int64
	any         bool
}

func (s *span) add(t int64) {
	if !s.any {
		s.first, s.last, s.any = t, t, true
		return
	}
	s.first, s.last = min(s.first, t), max(s.last, t)
}

func (s *span) seconds() float64 { return digits(float64(s.last-s.first) / 1e9) }

// scan is what the first reading finds.
type scan struct {
	records   int
	due       span
	shapeTime map[string]int64 // time spent by shape, for the choice of shapes
	had       int              // compared searches that found something at the source
	vanished  int              // of these, those that found nothing at the target
}

// vanishedShare is the share of searches with hits at the source and none at the
// target from which the two are said to hold different data.
const (
	vanishedShare = 0.8
	vanishedMin   = 20
)

func (s *scan) strangers() bool {
	return s.had >= vanishedMin && float64(s.vanished) >= vanishedShare*float64(s.had)
}

func (s *scan) add(o *replay.Outcome) {
	s.records++
	if o.Refused != "" {
		return
	}
	s.due.add(o.Planned)
	if o.Shed != "" || o.Err != "" {
		return
	}
	s.shapeTime[shapeKey(o)] += o.Done - o.Planned
	if o.Want == nil || o.Got == nil || o.Want.Total == nil || o.Got.Total == nil {
		return
	}
	if o.Want.Total.Value > 0 && o.Fidelity != "broken" {
		s.had++
		if o.Got.Total.Value == 0 {
			s.vanished++
		}
	}
}

// chosen are the shapes that get a line of their own: those that cost most time.
func (s *scan) chosen() map[string]bool {
	ids := make([]string, 0, len(s.shapeTime))
	for id := range s.shapeTime {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(s.shapeTime[b], s.shapeTime[a]), cmp.Compare(a, b))
	})
	keep := map[string]bool{}
	for _, id := range ids[:min(len(ids), maxShapes)] {
		keep[id] = true
	}
	return keep
}

// outcomes opens the outcomes of a run for one reading.
type outcomes func() iter.Seq2[*replay.Outcome, error]

func build(open outcomes, opt Options) (*builder, error) {
	b := &builder{
		opt: opt, all: newSums(), ops: map[string]*sums{}, shapes: map[string]*shapeSums{},
		examples: map[string][]Example{}, samples: map[string]*Sample{}, texts: map[string]string{},
	}
	b.lag.digits, b.ownLag.digits = 3, 3
	b.scan.shapeTime = map[string]int64{}
	for o, err := range open() {
		if err != nil {
			return nil, err
		}
		b.scan.add(o)
	}
	b.keep = b.scan.chosen()
	for o, err := range open() {
		if err != nil {
			return nil, err
		}
		b.add(o)
	}
	return b, nil
}

// Pseudonyms is the reason for not comparing a pseudonymised capture's answers
// with those of a target that holds other data, as a restored snapshot does.
const Pseudonyms diff.Why = "target_holds_other_data"

func (b *builder) verdict(o *replay.Outcome) diff.Verdict {
	if o.Refused != "" || o.Shed != "" || o.Err != "" {
		return diff.Verdict{}
	}
	v := diff.Compare(diff.Answer{Status: o.SourceStatus, Summary: o.Want}, diff.Answer{Status: o.Status, Summary: o.Got},
		diff.Ask{ExactTotal: o.ExactTotal, Sorted: o.Sorted, TerminateAfter: o.TerminateAfter, Fidelity: o.Fidelity, FidWhy: o.FidWhy}, b.opt.Tolerances)
	if len(v.Findings) > 0 && b.scan.strangers() && !v.Has(diff.Status) {
		return diff.Verdict{Why: Pseudonyms}
	}
	return v
}

func (b *builder) add(o *replay.Outcome) {
	v := b.verdict(o)
	b.all.add(o, v)
	b.op(o.Op).add(o, v)
	b.sample(o)
	if o.Refused != "" || o.Shed != "" {
		return
	}
	b.planned.add(o.Planned)
	b.actual.add(o.Sent)
	b.lag.add(max(o.Sent-o.Planned, 0))
	b.ownLag.add(max(o.Sent-max(o.Planned, o.Ready), 0))
	b.shape(o).add(o, v, b.place(o))
	b.remember(o, v)
}

func (b *builder) op(name string) *sums {
	if b.ops[name] == nil {
		b.ops[name] = newSums()
	}
	return b.ops[name]
}

// place is where in the run an outcome was due, 0 to 1.
func (b *builder) place(o *replay.Outcome) float64 {
	return float64(o.Planned-b.scan.due.first) / float64(max(b.scan.due.last-b.scan.due.first, 1))
}

// shapeKey is the shape's id. Requests that a mirror's sanitiser dropped have none:
// they count by operation.
func shapeKey(o *replay.Outcome) string { return cmp.Or(o.Shape, o.Op) }

func (b *builder) shape(o *replay.Outcome) *shapeSums {
	id := shapeKey(o)
	if !b.keep[id] && len(b.keep) >= maxShapes {
		id = otherShape
	}
	s := b.shapes[id]
	if s == nil {
		s = newShapeSums(o)
		if id == otherShape {
			s.shape.ID, s.shape.Index, s.shape.Op = otherShape, "", ""
		}
		b.shapes[id] = s
	}
	return s
}

// sample keeps the first request of each shape.
func (b *builder) sample(o *replay.Outcome) {
	if o.Example == nil || b.samples[o.Shape] != nil {
		return
	}
	b.samples[o.Shape] = &Sample{Method: o.Example.Method, Target: o.Example.Target, Body: o.Example.Body}
	b.texts[o.Shape] = o.Example.Shape
}

func (b *builder) remember(o *replay.Outcome, v diff.Verdict) {
	for _, f := range v.Findings {
		list := b.examples[string(f.Kind)]
		if len(list) >= maxExamples || len(list) > 0 && list[len(list)-1].Seq == o.Seq {
			continue
		}
		e := Example{Kind: string(f.Kind), Seq: o.Seq, Op: o.Op, Shape: o.Shape, Want: f.Want, Got: f.Got}
		if o.Example != nil {
			e.Sample = &Sample{Method: o.Example.Method, Target: o.Example.Target, Body: o.Example.Body}
		}
		b.examples[string(f.Kind)] = append(list, e)
	}
}

// text is the readable form of a shape; runs without one fall back on what the
// example says, or on the identifier.
func (b *builder) text(s Shape) string {
	if s.ID == "" {
		return s.Op + ": dropped by the sanitiser"
	}
	if t := b.texts[s.ID]; t != "" {
		return t
	}
	if x := b.samples[s.ID]; x != nil {
		r := es.Classify(x.Method, x.Target)
		return es.Fingerprint(r.Op, r.Index, r.Query, []byte(x.Body)).Text
	}
	return fmt.Sprintf("%s %s", s.Op, s.ID)
}

func (b *builder) drawShapes() []Shape {
	out := make([]Shape, 0, len(b.shapes))
	for _, s := range b.shapes {
		d := s.draw()
		d.Shape, d.Example = b.text(d), b.samples[d.ID]
		if d.ID == otherShape {
			d.Shape, d.Example = "all other shapes", nil
		}
		out = append(out, d)
	}
	slices.SortFunc(out, func(x, y Shape) int {
		return cmp.Or(cmp.Compare(y.TimeLost, x.TimeLost), cmp.Compare(y.N, x.N), cmp.Compare(x.ID, y.ID))
	})
	changes := make([]*Change, len(out))
	for i := range out {
		changes[i] = &out[i].Change
	}
	judge(changes)
	return out
}

func (b *builder) drawOperations() []Operation {
	out := []Operation{} // none is [] in JSON, not null
	for op, s := range b.ops {
		out = append(out, Operation{Op: op, Counts: s.counts, Latency: s.latencies(), Differences: s.differences})
	}
	slices.SortFunc(out, func(x, y Operation) int {
		return cmp.Or(cmp.Compare(y.Counts.Records, x.Counts.Records), cmp.Compare(x.Op, y.Op))
	})
	return out
}

func (b *builder) drawExamples() []Example {
	out := []Example{}
	for _, kind := range sortedKeys(b.examples) {
		out = append(out, b.examples[kind]...)
	}
	return out
}
