package capture

import (
	"math"
	"slices"

	"github.com/esshadow/esshadow/internal/es"
)

// slab hands out values that the parts of summaries point to, many from one
// allocation; one that is kept keeps its neighbours' few bytes too.
type slab[T any] struct{ free []T }

func (s *slab[T]) next() *T {
	if len(s.free) == 0 {
		s.free = make([]T, 64)
	}
	v := &s.free[0]
	s.free = s.free[1:]
	return v
}

// summary reads a Summary as AppendSummary wrote it.
func (d *Decoder) summary(s *es.Summary) error {
	return d.object("summary", func(name []byte) error { return d.summaryField(name, s) })
}

// optSummary reads a Summary into the one that v points to, whose lists are used
// again, or into a new one; null takes it away.
func (d *Decoder) optSummary(place string, v **es.Summary) error {
	_, ok, err := d.take(es.ObjectStart)
	if !ok {
		*v = nil
		return at(place, at("summary", err))
	}
	if *v == nil {
		*v = new(es.Summary)
	}
	s := *v
	*s = es.Summary{IDs: s.IDs[:0], Aggs: s.Aggs[:0], Cut: s.Cut[:0]}
	err = d.members(func(name []byte) error { return d.summaryField(name, s) })
	return at(place, at("summary", err))
}

func (d *Decoder) summaryField(name []byte, s *es.Summary) error {
	switch string(name) {
	case "took":
		return d.optInt64("took", &s.Took)
	case "timed_out":
		return d.optBool("timed_out", &s.TimedOut)
	case "early":
		return d.optBool("early", &s.Early)
	case "partial":
		return d.optBool("partial", &s.Partial)
	case "running":
		return d.optBool("running", &s.Running)
	case "shards":
		s.Shards = d.shardSets.next()
		return d.shards(s.Shards)
	case "total":
		s.Total = d.totals.next()
		return d.total(s.Total)
	case "hits":
		return d.optInt("hits", &s.Hits)
	case "ids":
		return d.strings("ids", &s.IDs)
	}
	return d.summaryParts(name, s)
}

func (d *Decoder) summaryParts(name []byte, s *es.Summary) error {
	switch string(name) {
	case "aggs":
		return d.aggs(s)
	case "bulk":
		return d.bulk(s)
	case "items":
		return d.items(s)
	case "count":
		return d.optInt64("count", &s.Count)
	case "found":
		return d.optInt("found", &s.Found)
	case "missed":
		return d.optInt("missed", &s.Missed)
	case "failed":
		return d.optInt("failed", &s.Failed)
	case "work":
		s.Work = new(es.Work)
		return d.work(s.Work)
	case "result":
		return d.word("result", &s.Result)
	case "error":
		return d.word("error", &s.Error)
	case "root":
		return d.word("root", &s.Root)
	case "cut":
		return d.strings("cut", &s.Cut)
	case "unreadable":
		return d.word("unreadable", &s.Unreadable)
	}
	return d.skip()
}

func (d *Decoder) shards(s *es.Shards) error {
	return d.object("shards", func(name []byte) error {
		switch string(name) {
		case "total":
			return d.narrow("total", &s.Total)
		case "ok":
			return d.narrow("ok", &s.Successful)
		case "skipped":
			return d.narrow("skipped", &s.Skipped)
		case "failed":
			return d.narrow("failed", &s.Failed)
		}
		return d.skip()
	})
}

func (d *Decoder) total(t *es.Total) error {
	return d.object("total", func(name []byte) error {
		switch string(name) {
		case "value":
			return d.int("value", &t.Value)
		case "relation":
			return d.word("relation", &t.Relation)
		}
		return d.skip()
	})
}

func (d *Decoder) work(w *es.Work) error {
	return d.object("work", func(name []byte) error {
		switch string(name) {
		case "total":
			return d.int("total", &w.Total)
		case "created":
			return d.int("created", &w.Created)
		case "updated":
			return d.int("updated", &w.Updated)
		case "deleted":
			return d.int("deleted", &w.Deleted)
		case "noops":
			return d.int("noops", &w.Noops)
		case "conflicts":
			return d.int("conflicts", &w.Conflicts)
		}
		return d.skip()
	})
}

func (d *Decoder) aggs(s *es.Summary) error {
	s.Aggs = s.Aggs[:0]
	return d.objects("aggs", func() func([]byte) error {
		n := len(s.Aggs)
		s.Aggs = slices.Grow(s.Aggs, 1)[:n+1]
		a := &s.Aggs[n]
		*a = es.Agg{Counts: a.Counts[:0]}
		return func(name []byte) error {
			switch string(name) {
			case "path":
				return d.word("path", &a.Path)
			case "buckets":
				return d.narrow("buckets", &a.Buckets)
			case "counts":
				return d.ints("counts", &a.Counts)
			case "other":
				return d.optInt64("other", &a.Other)
			case "unordered":
				return d.bool("unordered", &a.Unordered)
			}
			return d.skip()
		}
	})
}

func (d *Decoder) bulk(s *es.Summary) error {
	s.Bulk = nil
	return d.objects("bulk", func() func([]byte) error {
		s.Bulk = append(s.Bulk, es.BulkCount{})
		b := &s.Bulk[len(s.Bulk)-1]
		return func(name []byte) error {
			switch string(name) {
			case "op":
				return d.word("op", &b.Op)
			case "status":
				return d.narrow("status", &b.Status)
			case "error":
				return d.word("error", &b.Error)
			case "n":
				return d.narrow("n", &b.N)
			}
			return d.skip()
		}
	})
}

func (d *Decoder) items(s *es.Summary) error {
	s.Items = nil
	return d.objects("items", func() func([]byte) error {
		s.Items = append(s.Items, es.Item{})
		item := &s.Items[len(s.Items)-1]
		return func(name []byte) error {
			if string(name) == "status" {
				return d.narrow("status", &item.Status)
			}
			return d.summaryField(name, &item.Summary)
		}
	})
}

// objects reads an array of objects; begin makes room for one and returns what
// takes its members.
func (d *Decoder) objects(place string, begin func() func([]byte) error) error {
	return d.array(place, func(k es.Token) error {
		if k.Kind != es.ObjectStart {
			return errType
		}
		return d.members(begin())
	})
}

// strings reads a list of texts, all of them into one string.
func (d *Decoder) strings(place string, v *[]string) error {
	*v = (*v)[:0]
	d.list, d.ends = d.list[:0], d.ends[:0]
	err := d.array(place, func(k es.Token) error {
		b, err := d.textOf(k)
		d.list = append(d.list, b...)
		d.ends = append(d.ends, len(d.list))
		return err
	})
	if len(d.ends) == 0 {
		return err
	}
	all, from := string(d.list), 0
	*v = slices.Grow(*v, len(d.ends))
	for _, end := range d.ends {
		*v = append(*v, all[from:end])
		from = end
	}
	return err
}

func (d *Decoder) ints(place string, v *[]int64) error {
	*v = (*v)[:0]
	return d.array(place, func(k es.Token) error {
		if cap(*v) == 0 {
			*v = make([]int64, 0, 8)
		}
		n, err := d.intOf(k)
		*v = append(*v, n)
		return err
	})
}

func (d *Decoder) optInt64(place string, v **int64) error {
	k, ok, err := d.take(es.Number)
	*v = nil
	if ok {
		*v = d.int64s.next()
		**v, err = d.intOf(k)
	}
	return at(place, err)
}

func (d *Decoder) optInt(place string, v **int) error {
	k, ok, err := d.take(es.Number)
	*v = nil
	if ok {
		*v = d.plains.next()
		err = d.narrowOf(k, *v)
	}
	return at(place, err)
}

func (d *Decoder) narrow(place string, v *int) error {
	k, ok, err := d.take(es.Number)
	if ok {
		err = d.narrowOf(k, v)
	}
	return at(place, err)
}

func (d *Decoder) narrowOf(k es.Token, v *int) error {
	n, err := d.intOf(k)
	if err == nil && (n < math.MinInt || n > math.MaxInt) {
		err = errNumber
	}
	*v = int(n)
	return err
}

func (d *Decoder) optBool(place string, v **bool) error {
	b, ok, err := d.boolean()
	*v = nil
	if ok {
		*v = d.bools.next()
		**v = b
	}
	return at(place, err)
}

func (d *Decoder) bool(place string, v *bool) error {
	b, _, err := d.boolean()
	*v = b
	return at(place, err)
}

func (d *Decoder) boolean() (v, ok bool, err error) {
	k, err := d.tok.Next()
	switch {
	case err != nil:
		return false, false, err
	case k.Kind == es.True || k.Kind == es.False:
		return k.Kind == es.True, true, nil
	case k.Kind != es.Null:
		return false, false, errType
	}
	return false, false, nil
}
