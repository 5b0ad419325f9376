package sandbox

import (
	"cmp"
	"math"
	"slices"
)

// topHits keeps the first limit hits in a heap whose root is the last of them.
type topHits struct {
	keys  []sortKey
	ties  Ties
	limit int
	heap  []found
}

// compare orders hits: by criteria or score, then so that no two are equal.
func (t *topHits) compare(a, b *found) int {
	if len(t.keys) == 0 {
		if c := cmp.Compare(b.score, a.score); c != 0 {
			return c
		}
	}
	for i := range t.keys {
		if c := t.keys[i].compare(&a.vals[i], &b.vals[i]); c != 0 {
			return c
		}
	}
	if t.ties == TiesByID {
		if c := cmp.Compare(a.d.id, b.d.id); c != 0 {
			return c
		}
	}
	if c := cmp.Compare(a.shard, b.shard); c != 0 {
		return c
	}
	return cmp.Compare(a.d.slot, b.d.slot)
}

// add takes a hit in; its vals are copied if it stays.
func (t *topHits) add(f found) {
	full := len(t.heap) >= t.limit
	if full && (t.limit == 0 || t.compare(&f, &t.heap[0]) > 0) {
		return
	}
	if !full {
		f.vals = slices.Clone(f.vals)
		t.heap = append(t.heap, f)
		if t.limit < math.MaxInt {
			t.up(len(t.heap) - 1)
		}
		return
	}
	f.vals = append(t.heap[0].vals[:0], f.vals...)
	t.heap[0] = f
	t.down(0)
}

func (t *topHits) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if t.compare(&t.heap[i], &t.heap[parent]) <= 0 {
			return
		}
		t.heap[i], t.heap[parent] = t.heap[parent], t.heap[i]
		i = parent
	}
}

func (t *topHits) down(i int) {
	for {
		last := i
		for k := 2*i + 1; k <= 2*i+2 && k < len(t.heap); k++ {
			if t.compare(&t.heap[k], &t.heap[last]) > 0 {
				last = k
			}
		}
		if last == i {
			return
		}
		t.heap[i], t.heap[last] = t.heap[last], t.heap[i]
		i = last
	}
}

func (t *topHits) sorted() []found {
	slices.SortFunc(t.heap, func(a, b found) int { return t.compare(&a, &b) })
	return t.heap
}
