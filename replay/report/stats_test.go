package report

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestQuantilesAgainstSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	l := latency{digits: 3}
	var all []float64
	for range 20000 {
		ns := int64(math.Exp(rng.NormFloat64()*1.5+14)) + 1000
		l.add(ns)
		all = append(all, float64(ns)/1e6)
	}
	slices.Sort(all)
	q := l.quantiles()
	for name, c := range map[string]struct {
		got *float64
		p   float64
	}{"p50": {q.P50, 0.5}, "p90": {q.P90, 0.9}, "p95": {q.P95, 0.95}, "p99": {q.P99, 0.99}, "p99.9": {q.P999, 0.999}} {
		want := all[int(math.Ceil(c.p*float64(len(all))))-1]
		if math.Abs(*c.got-want) > 0.002*want+0.001 {
			t.Errorf("%s = %v, sorting says %v", name, *c.got, want)
		}
	}
	if *q.Max != digits(all[len(all)-1]) || *q.Min != digits(all[0]) || q.N != 20000 {
		t.Errorf("min %v max %v n %d, want %v %v", *q.Min, *q.Max, q.N, all[0], all[len(all)-1])
	}
}

func TestQuantilesSayNothingOfSmallSamples(t *testing.T) {
	for _, c := range []struct {
		n                        int
		p50, p90, p95, p99, p999 bool
	}{{0, false, false, false, false, false}, {1, true, false, false, false, false}, {10, true, true, false, false, false}, {20, true, true, true, false, false}, {100, true, true, true, true, false}, {1000, true, true, true, true, true}} {
		l := latency{digits: 3}
		for range c.n {
			l.add(int64(time.Millisecond))
		}
		q := l.quantiles()
		for name, x := range map[string][2]bool{
			"p50": {q.P50 != nil, c.p50}, "p90": {q.P90 != nil, c.p90}, "p95": {q.P95 != nil, c.p95},
			"p99": {q.P99 != nil, c.p99}, "p99.9": {q.P999 != nil, c.p999},
		} {
			if x[0] != x[1] {
				t.Errorf("n=%d: %s given: %v, want %v", c.n, name, x[0], x[1])
			}
		}
	}
}

func TestLatencyOutsideTheHistogramIsCounted(t *testing.T) {
	l := latency{digits: 3}
	l.add(0)
	l.add(int64(3 * time.Hour))
	q := l.quantiles()
	if q.N != 2 || *q.Min != 0 || *q.Max != float64((3*time.Hour)/time.Millisecond) {
		t.Errorf("got %+v", q)
	}
}

// simulate gives pairs whose target takes factor times as long, with noise that
// the requests of one moment share.
func simulate(seed uint64, n int, factor float64) *pairs {
	rng := rand.New(rand.NewPCG(seed, 7))
	p := &pairs{}
	load := 0.0
	for i := range n {
		load = 0.99*load + 0.05*rng.NormFloat64()
		src := 8 * math.Exp(load+0.4*rng.NormFloat64())
		tgt := 8 * factor * math.Exp(0.4*rng.NormFloat64()+0.99*load)
		p.add(float64(i)/float64(n), int64(src*1e6), int64(tgt*1e6))
	}
	return p
}

func judged(p *pairs) Change {
	c := p.change()
	judge([]*Change{&c})
	return c
}

func TestChange(t *testing.T) {
	for name, c := range map[string]struct {
		p    *pairs
		want string
	}{
		"no pairs":          {&pairs{}, "too_few"},
		"few pairs":         {simulate(1, minPairs-1, 3), "too_few"},
		"the same":          {simulate(2, 2000, 1), "unchanged"},
		"two per cent":      {simulate(3, 2000, 1.02), "unchanged"},
		"half as long more": {simulate(4, 2000, 1.5), "slower"},
		"a third less":      {simulate(5, 2000, 0.66), "faster"},
		"thrice, few":       {simulate(6, 60, 3), "slower"},
	} {
		if got := judged(c.p); got.State != c.want {
			t.Errorf("%s: %+v, want %s", name, got, c.want)
		}
	}
}

// Microseconds are not a matter for anyone, however sure they are.
func TestChangeBelowAMillisecondIsNone(t *testing.T) {
	p := &pairs{}
	for i := range 1000 {
		p.add(float64(i)/1000, 200_000, 600_000)
	}
	if got := judged(p); got.State != "unchanged" || got.Ratio < 2.9 {
		t.Errorf("got %+v", got)
	}
}

func TestFalseAlarmsAreRare(t *testing.T) {
	alarms := 0
	const runs, shapes = 50, 20
	for r := range runs {
		all := make([]Change, shapes)
		ptrs := make([]*Change, shapes)
		for i := range all {
			all[i] = simulate(uint64(1000*r+i), 400, 1).change()
			ptrs[i] = &all[i]
		}
		judge(ptrs)
		for _, c := range all {
			if c.State != "unchanged" {
				alarms++
			}
		}
	}
	if alarms > runs/10 {
		t.Errorf("%d false alarms in %d runs of %d shapes", alarms, runs, shapes)
	}
}

func TestTQuantile(t *testing.T) {
	for df, want := range map[int]float64{4: 2.776, 9: 2.262, 19: 2.093, 39: 2.023, 1000: 1.962} {
		if got := tQuantile975(df); math.Abs(got-want) > 0.01*want {
			t.Errorf("df %d: %v, want %v", df, got, want)
		}
	}
}
