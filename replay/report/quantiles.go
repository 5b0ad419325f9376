package report

import (
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Quantiles are the figures of one latency in milliseconds. A percentile that
// the sample is too small to carry is nil: the p-th needs 1/(1-p) values.
type Quantiles struct {
	N    int64    `json:"n"`
	Min  *float64 `json:"min"`
	Mean *float64 `json:"mean"`
	P50  *float64 `json:"p50"`
	P90  *float64 `json:"p90"`
	P95  *float64 `json:"p95"`
	P99  *float64 `json:"p99"`
	P999 *float64 `json:"p999"`
	Max  *float64 `json:"max"`
}

// Histograms count microseconds from 1 to an hour; what lies outside is counted
// at the nearer end. Minimum, mean and maximum are exact.
const (
	lowest  = 1
	highest = 3600 * 1000 * 1000
)

// latency collects one kind of latency. digits is the number of significant
// decimal digits its histogram keeps: 3 digits take 188 kB, 2 take 27 kB.
type latency struct {
	digits int
	h      *hdrhistogram.Histogram
	n      int64
	sum    float64 // ms
	min    float64
	max    float64
}

// add takes a latency in nanoseconds.
func (l *latency) add(ns int64) {
	if l.h == nil {
		l.h = hdrhistogram.New(lowest, highest, l.digits)
		l.min, l.max = math.Inf(1), math.Inf(-1)
	}
	ms := float64(ns) / 1e6
	l.n++
	l.sum += ms
	l.min, l.max = math.Min(l.min, ms), math.Max(l.max, ms)
	us := min(max(ns/1000, lowest), highest)
	_ = l.h.RecordValue(us) // inside the bounds by the line above
}

// quantiles draws the figures.
func (l *latency) quantiles() Quantiles {
	q := Quantiles{N: l.n}
	if l.n == 0 {
		return q
	}
	mean := l.sum / float64(l.n)
	q.Min, q.Mean, q.Max = round(l.min), round(mean), round(l.max)
	q.P50, q.P90, q.P95 = l.at(50), l.at(90), l.at(95)
	q.P99, q.P999 = l.at(99), l.at(99.9)
	return q
}

func (l *latency) at(percent float64) *float64 {
	if need := 100 / (100 - percent); percent > 50 && float64(l.n) < math.Round(need) {
		return nil
	}
	return round(min(max(float64(l.h.ValueAtQuantile(percent))/1000, l.min), l.max))
}

// round keeps a microsecond.
func round(ms float64) *float64 {
	v := math.Round(ms*1000) / 1000
	return &v
}
