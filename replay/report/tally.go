package report

import (
	"github.com/esshadow/esshadow/replay"
	"github.com/esshadow/esshadow/replay/diff"
)

// sums counts outcomes for the run or one operation.
type sums struct {
	counts      Counts
	differences map[string]int
	response    latency
	service     latency
	first       latency
	source      latency
	took        latency
	sourceTook  latency
}

func newSums() *sums {
	s := &sums{differences: map[string]int{}}
	s.counts.Shed, s.counts.Errors, s.counts.Refused, s.counts.NotComparable = map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	for _, l := range []*latency{&s.response, &s.service, &s.first, &s.source, &s.took, &s.sourceTook} {
		l.digits = 3
	}
	return s
}

// add counts one outcome; v is its verdict, for an answered one.
func (s *sums) add(o *replay.Outcome, v diff.Verdict) {
	c := &s.counts
	c.Records++
	if o.Refused != "" {
		c.Refused[o.Refused]++
		return
	}
	c.Planned++
	if o.Shed != "" {
		c.Shed[o.Shed]++
		return
	}
	c.Sent++
	if sourceFailed(o) {
		c.SourceErrors++
	}
	if o.Err != "" {
		c.Errors[o.Err]++
		return
	}
	c.Answered++
	s.times(o)
	switch {
	case v.Why != "":
		c.NotComparable[string(v.Why)]++
	case v.Same():
		c.Compared++
		c.Same++
	default:
		c.Compared++
		c.Different++
		countKinds(s.differences, v)
	}
}

// turnedAway counts n requests without an outcome.
func (s *sums) turnedAway(t replay.Turned, n int) {
	c := &s.counts
	c.Records += n
	if !t.Shed {
		c.Refused[t.Reason] += n
		return
	}
	c.Planned += n
	c.Shed[t.Reason] += n
}

// countKinds counts each kind once per request.
func countKinds(into map[string]int, v diff.Verdict) {
	for i, f := range v.Findings {
		seen := false
		for _, g := range v.Findings[:i] {
			seen = seen || g.Kind == f.Kind
		}
		if !seen {
			into[string(f.Kind)]++
		}
	}
}

func (s *sums) times(o *replay.Outcome) {
	s.response.add(o.Done - o.Planned)
	s.service.add(o.Done - o.Sent)
	if o.First > 0 {
		s.first.add(o.First - o.Sent)
	}
	if o.SourceTook > 0 {
		s.source.add(o.SourceTook * 1000)
	}
	if o.Got != nil && o.Got.Took != nil {
		s.took.add(*o.Got.Took * 1e6)
	}
	if o.Want != nil && o.Want.Took != nil {
		s.sourceTook.add(*o.Want.Took * 1e6)
	}
}

func (s *sums) latencies() Latencies {
	return Latencies{
		Response: s.response.quantiles(), Service: s.service.quantiles(), FirstByte: s.first.quantiles(),
		Source: s.source.quantiles(), Took: s.took.quantiles(), SourceTook: s.sourceTook.quantiles(),
	}
}

// sourceFailed tells that the source failed in the sense in which a target's
// answer is an error.
func sourceFailed(o *replay.Outcome) bool {
	switch o.SourceStatus {
	case 0, 429, 502, 503, 504:
		return true
	}
	return false
}

// shapeSums counts outcomes of one query shape.
type shapeSums struct {
	shape    Shape
	response latency
	source   latency
	pairs    pairs
}

func newShapeSums(o *replay.Outcome) *shapeSums {
	s := &shapeSums{shape: Shape{ID: o.Shape, Op: o.Op, Index: o.Index, Differences: map[string]int{}}}
	s.response.digits, s.source.digits = 2, 2
	return s
}

// add counts one sent outcome; at is its place in the run, 0 to 1.
func (s *shapeSums) add(o *replay.Outcome, v diff.Verdict, at float64) {
	if o.Err != "" {
		s.shape.Errors++
		return
	}
	s.shape.N++
	s.response.add(o.Done - o.Planned)
	if o.SourceTook > 0 {
		s.source.add(o.SourceTook * 1000)
		own := ownTime(o)
		s.shape.TimeLost += float64(own-o.SourceTook*1000) / 1e9
		s.pairs.add(at, o.SourceTook*1000, own)
	}
	if len(v.Findings) > 0 {
		s.shape.Different++
		countKinds(s.shape.Differences, v)
	}
}

// ownTime is the response time but for the wait for an earlier request of the
// same connection: that wait is the doing of the earlier request's shape.
func ownTime(o *replay.Outcome) int64 { return o.Done - max(o.Planned, o.Ready) }

func (s *shapeSums) draw() Shape {
	out := s.shape
	out.Response, out.Source = s.response.quantiles(), s.source.quantiles()
	out.TimeLost = digits(out.TimeLost)
	out.Change = s.pairs.change()
	return out
}
