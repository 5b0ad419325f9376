package report

import (
	"cmp"
	"math"
	"slices"
)

// Change says whether a shape became slower or faster, and by how much. Ratio is
// the geometric mean of the pairwise ratio of the own time on the target (the
// response time but for the wait for an earlier request of the same connection)
// to the time on the source; Low and High are its 95 % confidence interval.
type Change struct {
	State   string  `json:"state"` // slower, faster, unchanged, too_few
	N       int64   `json:"n"`     // pairs
	Ratio   float64 `json:"ratio,omitempty"`
	Low     float64 `json:"low,omitempty"`
	High    float64 `json:"high,omitempty"`
	DeltaMS float64 `json:"delta_ms,omitempty"` // difference of the geometric means
	p       float64
}

// What a change must exceed to be called one: both of them. Below a
// millisecond the machine's scheduling speaks, not the cluster.
const (
	minRatio  = 1.05
	minDelta  = 1.0 // ms
	minPairs  = 20
	minBlocks = 5
	blocks    = 40
	alpha     = 0.05
)

// pairs gathers the same requests' times on both sides, in blocks of the run's
// time: requests close in time share the load of the moment and are not
// independent of each other, so the blocks are the sample.
type pairs struct {
	block [blocks]struct {
		n        float64
		src, tgt float64 // sums of ln(ms)
	}
	n int64
}

// add takes one pair of times in ns; at is its place in the run, 0 to 1.
func (p *pairs) add(at float64, source, target int64) {
	if source <= 0 || target <= 0 {
		return
	}
	i := min(max(int(at*blocks), 0), blocks-1)
	b := &p.block[i]
	b.n++
	b.src += math.Log(float64(source) / 1e6)
	b.tgt += math.Log(float64(target) / 1e6)
	p.n++
}

// change estimates the mean log ratio over the blocks, its standard error by the
// jackknife over blocks (a ratio estimator: sum of log ratios over sum of
// counts), and the probability of a ratio within the floor.
func (p *pairs) change() Change {
	c := Change{State: "too_few", N: p.n, p: 1}
	var n, src, tgt float64
	used := 0
	for _, b := range p.block {
		if b.n > 0 {
			used++
		}
		n, src, tgt = n+b.n, src+b.src, tgt+b.tgt
	}
	if p.n < minPairs || used < minBlocks {
		return c
	}
	mean := (tgt - src) / n
	var ss float64
	for _, b := range p.block {
		if b.n == 0 || b.n == n {
			continue
		}
		d := (tgt-b.tgt-src+b.src)/(n-b.n) - mean
		ss += d * d
	}
	k := float64(used)
	se := math.Max(math.Sqrt(ss*(k-1)/k), 1e-9)
	t := tQuantile975(used - 1)
	c.State = "unchanged"
	c.Ratio, c.Low, c.High = digits(math.Exp(mean)), digits(math.Exp(mean-t*se)), digits(math.Exp(mean+t*se))
	c.DeltaMS = digits(math.Exp(tgt/n) - math.Exp(src/n))
	c.p = 2 * upperTail((math.Abs(mean)-math.Log(minRatio))/se*1.96/t)
	return c
}

func digits(v float64) float64 { return math.Round(v*1000) / 1000 }

// upperTail is the probability that a standard normal exceeds z.
func upperTail(z float64) float64 { return 0.5 * math.Erfc(z/math.Sqrt2) }

// tQuantile975 is the 0.975 quantile of Student's t with df degrees of freedom,
// by the expansion of Abramowitz and Stegun 26.7.5; within 1 % from 3 on.
func tQuantile975(df int) float64 {
	const x = 1.959964
	n := float64(max(df, 1))
	x3, x5, x7 := x*x*x, x*x*x*x*x, x*x*x*x*x*x*x
	return x + (x3+x)/(4*n) + (5*x5+16*x3+3*x)/(96*n*n) + (3*x7+19*x5+17*x3-15*x)/(384*n*n*n)
}

// judge calls changes slower or faster where they exceed the floor, with
// Holm's correction for the number of shapes looked at.
func judge(changes []*Change) {
	var c []*Change
	for _, x := range changes {
		if x.State != "too_few" {
			c = append(c, x)
		}
	}
	slices.SortStableFunc(c, func(a, b *Change) int { return cmp.Compare(a.p, b.p) })
	for i, x := range c {
		if x.p > alpha/float64(len(c)-i) {
			return
		}
		switch {
		case x.Ratio >= minRatio && x.DeltaMS >= minDelta:
			x.State = "slower"
		case x.Ratio <= 1/minRatio && x.DeltaMS <= -minDelta:
			x.State = "faster"
		}
	}
}
