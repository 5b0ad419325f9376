package sandbox

import (
	"math"
	"slices"
)

// metrics is everything that the metric aggregations tell of a field.
type metrics struct {
	n        int64
	min, max float64
	sum      float64
	date     bool
	distinct map[value]struct{}
}

func (g *aggregation) metrics(sets []docSet) metrics {
	m := metrics{min: math.Inf(1), max: math.Inf(-1)}
	if g.kind == "cardinality" {
		m.distinct = map[value]struct{}{}
	}
	for _, s := range sets {
		f := g.field(s.ix)
		if f == nil {
			continue
		}
		m.date = m.date || f.typ == date
		for _, d := range s.docs {
			for _, v := range d.values(f) {
				m.n++
				m.sum += v.f
				m.min, m.max = min(m.min, v.f), max(m.max, v.f)
				if m.distinct != nil {
					m.distinct[v] = struct{}{}
				}
			}
		}
	}
	return m
}

// of is one number of the metrics; NaN where there is none.
func (m metrics) of(kind string) float64 {
	switch kind {
	case "value_count", "count":
		return float64(m.n)
	case "sum":
		return m.sum
	case "cardinality":
		return float64(len(m.distinct))
	}
	if m.n == 0 {
		return math.NaN()
	}
	switch kind {
	case "min":
		return m.min
	case "max":
		return m.max
	case "avg":
		return m.sum / float64(m.n)
	}
	return math.NaN()
}

func (g *aggregation) appendMetric(b []byte, sets []docSet) []byte {
	m := g.metrics(sets)
	switch g.kind {
	case "value_count", "cardinality":
		return append(appendInt(append(b, `{"value":`...), int64(m.of(g.kind))), '}')
	case "stats":
		b = appendInt(append(b, `{"count":`...), m.n)
		for _, k := range []string{"min", "max", "avg", "sum"} {
			b = append(append(append(b, `,"`...), k...), `":`...)
			b = appendNumber(b, m.of(k))
		}
		return append(b, '}')
	}
	v := m.of(g.kind)
	b = appendNumber(append(b, `{"value":`...), v)
	if m.date && !math.IsNaN(v) && slices.Contains([]string{"min", "max", "avg"}, g.kind) {
		b = appendString(append(b, `,"value_as_string":`...), dateText(int64(v)))
	}
	return append(b, '}')
}

func appendNumber(b []byte, f float64) []byte {
	if math.IsNaN(f) {
		return append(b, "null"...)
	}
	return appendFloat(b, f)
}
