package sandbox

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (a *aggregator) histogram(b []byte, g *aggregation, sets []docSet) ([]byte, error) {
	step, err := g.p.float("interval", 0)
	if err != nil {
		return nil, err
	}
	offset, err := g.p.float("offset", 0)
	if err != nil {
		return nil, err
	}
	if step <= 0 {
		return nil, illegal("[interval] must be >0 for histogram aggregation [%s]", g.name)
	}
	h := histogram{
		floor: func(v *value) float64 { return math.Floor((v.f - offset) / step) },
		next:  func(k float64) float64 { return k + 1 },
		key: func(b []byte, k float64) []byte {
			return append(appendFloat(append(b, `"key":`...), k*step+offset), ',')
		},
	}
	return a.steps(b, g, sets, h)
}

// histogram says how values fall into buckets, and how buckets follow.
type histogram struct {
	floor func(*value) float64
	next  func(float64) float64
	key   func(b []byte, k float64) []byte
}

func (a *aggregator) steps(b []byte, g *aggregation, sets []docSet, h histogram) ([]byte, error) {
	least, err := g.p.integer("min_doc_count", 0)
	if err != nil {
		return nil, err
	}
	order, err := g.order("_key", false)
	if err != nil {
		return nil, err
	}
	all := map[float64]*bucket{}
	low, high := math.Inf(1), math.Inf(-1)
	for i, s := range sets {
		f := g.field(s.ix)
		for _, d := range s.docs {
			vs := d.values(f)
			for j := range vs {
				key := h.floor(&vs[j])
				if slices.ContainsFunc(vs[:j], func(v value) bool { return h.floor(&v) == key }) {
					continue
				}
				k := all[key]
				if k == nil {
					k = &bucket{key: value{f: key}}
					all[key] = k
					low, high = min(low, key), max(high, key)
				}
				k.add(i, sets, d, len(g.subs) > 0)
			}
		}
	}
	if least == 0 {
		for k, n := low, 0; k < high; k, n = h.next(k), n+1 {
			if n > maxBuckets {
				return nil, tooManyBuckets()
			}
			if all[k] == nil {
				all[k] = &bucket{key: value{f: k}}
			}
		}
	}
	list := make([]*bucket, 0, len(all))
	for _, k := range all {
		if k.count >= int64(least) {
			list = append(list, k)
		}
	}
	if err := order.sort(list, g); err != nil {
		return nil, err
	}
	b = append(b, `{"buckets":[`...)
	for i, k := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = h.key(append(b, '{'), k.key.f)
		if b, err = a.body(b, g, k, sets); err != nil {
			return nil, err
		}
	}
	return append(b, "]}"...), nil
}

func (a *aggregator) dateHistogram(b []byte, g *aggregation, sets []docSet) ([]byte, error) {
	zone, err := timeZone(g.p)
	if err != nil {
		return nil, err
	}
	form := "2006-01-02T15:04:05.000Z07:00"
	if s, ok := g.p.get("format").str(); ok {
		if form, ok = javaForm(s); !ok {
			return nil, unsupported("this date format")
		}
	}
	h, err := dateSteps(g, zone)
	if err != nil {
		return nil, err
	}
	h.key = func(b []byte, k float64) []byte {
		text := time.UnixMilli(int64(k)).In(zone).Format(form)
		b = appendString(append(b, `"key_as_string":`...), text)
		return append(appendInt(append(b, `,"key":`...), int64(k)), ',')
	}
	return a.steps(b, g, sets, h)
}

func timeZone(p *node) (*time.Location, error) {
	s, ok := p.get("time_zone").str()
	if !ok || s == "Z" || s == "UTC" {
		return time.UTC, nil
	}
	if t, err := time.Parse("-07:00", s); err == nil {
		_, secs := t.Zone()
		return time.FixedZone("", secs), nil
	}
	loc, err := time.LoadLocation(s)
	if err != nil || s == "Local" {
		return nil, illegal("Unknown time-zone ID: %s", s)
	}
	return loc, nil
}

func dateSteps(g *aggregation, zone *time.Location) (histogram, error) {
	fixed, isFixed := g.p.get("fixed_interval").str()
	calendar, isCalendar := g.p.get("calendar_interval").str()
	switch {
	case isFixed == isCalendar:
		return histogram{}, illegal("Invalid interval specified, must be non-null and non-empty, of [fixed_interval] and [calendar_interval] exactly one")
	case isFixed:
		d, err := fixedInterval(fixed)
		if err != nil {
			return histogram{}, err
		}
		step := d.Milliseconds()
		return histogram{
			floor: func(v *value) float64 {
				_, secs := time.UnixMilli(v.n).In(zone).Zone()
				shift := int64(secs) * 1000
				local := v.n + shift
				return float64(local - mod(local, step) - shift)
			},
			next: func(k float64) float64 { return k + float64(step) },
		}, nil
	}
	unit, ok := map[string]byte{
		"minute": 'm', "1m": 'm', "hour": 'h', "1h": 'h', "day": 'd', "1d": 'd', "week": 'w', "1w": 'w',
		"month": 'M', "1M": 'M', "quarter": 'q', "1q": 'q', "year": 'y', "1y": 'y',
	}[calendar]
	if !ok {
		return histogram{}, illegal("The supplied interval [%s] could not be parsed as a calendar interval.", calendar)
	}
	start := func(t time.Time) float64 {
		f, _ := floorUnit(t.In(zone), unit)
		return float64(f.UnixMilli())
	}
	return histogram{
		floor: func(v *value) float64 { return start(time.UnixMilli(v.n)) },
		next: func(k float64) float64 {
			t := time.UnixMilli(int64(k)).In(zone)
			if unit == 'q' {
				return float64(addMonths(t, 3).UnixMilli())
			}
			next, _ := addUnit(t, 1, unit)
			return float64(next.UnixMilli())
		},
	}, nil
}

func mod(a, b int64) int64 {
	m := a % b
	if m < 0 {
		m += b
	}
	return m
}

func fixedInterval(s string) (time.Duration, error) {
	for _, u := range []struct {
		suffix string
		d      time.Duration
	}{{"ms", time.Millisecond}, {"s", time.Second}, {"m", time.Minute}, {"h", time.Hour}, {"d", 24 * time.Hour}} {
		num, ok := strings.CutSuffix(s, u.suffix)
		n, err := strconv.Atoi(num)
		if ok && err == nil && n > 0 && int64(n) < math.MaxInt64/int64(u.d) {
			return time.Duration(n) * u.d, nil
		}
	}
	return 0, illegal("failed to parse setting [date_histogram.fixedInterval] with value [%s] as a time value", s)
}
