package capture

import (
	"strconv"

	"github.com/esshadow/esshadow/internal/es"
)

// AppendSummary appends s as encoding/json would, only without reflection: a
// summary stands in every line of a capture and twice in every line of a run.
func AppendSummary(dst []byte, s *es.Summary) []byte {
	w := fields{dst: append(dst, '{')}
	w.summary(s)
	return append(w.dst, '}')
}

// fields appends members to an object that was opened.
type fields struct {
	dst  []byte
	more bool // not the first member
}

func (w *fields) name(name string) {
	if w.more {
		w.dst = append(w.dst, ',')
	}
	w.more = true
	w.dst = append(append(append(w.dst, '"'), name...), '"', ':')
}

func (w *fields) int(name string, v int64) {
	w.name(name)
	w.dst = strconv.AppendInt(w.dst, v, 10)
}

func (w *fields) optInt64(name string, v *int64) {
	if v != nil {
		w.int(name, *v)
	}
}

func (w *fields) optInt(name string, v *int) {
	if v != nil {
		w.int(name, int64(*v))
	}
}

func (w *fields) nonZero(name string, v int64) {
	if v != 0 {
		w.int(name, v)
	}
}

func (w *fields) optBool(name string, v *bool) {
	if v != nil {
		w.name(name)
		w.dst = strconv.AppendBool(w.dst, *v)
	}
}

func (w *fields) string(name, v string) {
	w.name(name)
	w.dst = appendString(w.dst, v)
}

func (w *fields) text(name, v string) {
	if v != "" {
		w.string(name, v)
	}
}

func (w *fields) strings(name string, v []string) {
	list(w, name, len(v), func(i int) { w.dst = appendString(w.dst, v[i]) })
}

func (w *fields) ints(name string, v []int64) {
	list(w, name, len(v), func(i int) { w.dst = strconv.AppendInt(w.dst, v[i], 10) })
}

// list appends an array of n elements, unless n is 0.
func list(w *fields, name string, n int, elem func(int)) {
	if n == 0 {
		return
	}
	w.name(name)
	w.dst = append(w.dst, '[')
	for i := range n {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		elem(i)
	}
	w.dst = append(w.dst, ']')
}

// object appends an object as a value.
func (w *fields) object(members func()) {
	w.dst = append(w.dst, '{')
	w.more = false
	members()
	w.dst = append(w.dst, '}')
	w.more = true
}

func (w *fields) summary(s *es.Summary) {
	w.optInt64("took", s.Took)
	w.optBool("timed_out", s.TimedOut)
	w.optBool("early", s.Early)
	w.optBool("partial", s.Partial)
	w.optBool("running", s.Running)
	if s.Shards != nil {
		w.name("shards")
		w.object(func() { w.shards(s.Shards) })
	}
	if s.Total != nil {
		w.name("total")
		w.object(func() {
			w.int("value", s.Total.Value)
			w.string("relation", s.Total.Relation)
		})
	}
	w.optInt("hits", s.Hits)
	w.strings("ids", s.IDs)
	list(w, "aggs", len(s.Aggs), func(i int) { w.object(func() { w.agg(&s.Aggs[i]) }) })
	list(w, "bulk", len(s.Bulk), func(i int) { w.object(func() { w.bulk(&s.Bulk[i]) }) })
	list(w, "items", len(s.Items), func(i int) {
		w.object(func() {
			w.int("status", int64(s.Items[i].Status))
			w.summary(&s.Items[i].Summary)
		})
	})
	w.optInt64("count", s.Count)
	w.optInt("found", s.Found)
	w.optInt("missed", s.Missed)
	w.optInt("failed", s.Failed)
	if s.Work != nil {
		w.name("work")
		w.object(func() { w.work(s.Work) })
	}
	w.text("result", s.Result)
	w.text("error", s.Error)
	w.text("root", s.Root)
	w.strings("cut", s.Cut)
	w.text("unreadable", s.Unreadable)
}

func (w *fields) shards(s *es.Shards) {
	w.int("total", int64(s.Total))
	w.int("ok", int64(s.Successful))
	w.nonZero("skipped", int64(s.Skipped))
	w.nonZero("failed", int64(s.Failed))
}

func (w *fields) work(k *es.Work) {
	w.int("total", k.Total)
	w.nonZero("created", k.Created)
	w.nonZero("updated", k.Updated)
	w.nonZero("deleted", k.Deleted)
	w.nonZero("noops", k.Noops)
	w.nonZero("conflicts", k.Conflicts)
}

func (w *fields) agg(a *es.Agg) {
	w.string("path", a.Path)
	w.int("buckets", int64(a.Buckets))
	w.ints("counts", a.Counts)
	w.optInt64("other", a.Other)
	if a.Unordered {
		w.optBool("unordered", &a.Unordered)
	}
}

func (w *fields) bulk(b *es.BulkCount) {
	w.string("op", b.Op)
	w.int("status", int64(b.Status))
	w.text("error", b.Error)
	w.int("n", int64(b.N))
}
