package capture

import (
	"bytes"
	"fmt"
	"testing"
	"testing/synctest"
)

// fill offers n requests of 32 KiB while nothing is taken from the queue, and
// says how many found room.
func (f *fixture) fill(target string, n int, seq *uint64) (taken int) {
	for range n {
		*seq++
		x := f.exchange(target, *seq)
		x.Body = bytes.Repeat([]byte("x"), 32<<10)
		x.BodySize = int64(len(x.Body))
		before := Sum(f.Stats().Dropped)
		f.Offer(x)
		if Sum(f.Stats().Dropped) == before {
			taken++
		}
	}
	return taken
}

// A queue that searches have filled takes writes, and one that writes have
// filled takes neither; what is dropped is counted by the same reason.
func TestWritesGoFirst(t *testing.T) {
	const full, quarter = 31, 8 // of 32 KiB and a little in 1 MiB; 23 are left to searches
	for _, tc := range []struct {
		priority, first, then string
		firstTaken, thenTaken int
	}{
		{PriorityWrites, "/i/_search", "/_bulk", full - quarter, quarter},
		{PriorityWrites, "/i/_search", "/i/_update_by_query", full - quarter, quarter},
		{PriorityWrites, "/i/_search", "/i/_msearch", full - quarter, 0},
		{PriorityWrites, "/i/_doc/1", "/i/_search", full, 0},
		{PriorityNone, "/i/_search", "/_bulk", full, 0},
	} {
		t.Run(fmt.Sprint(tc.priority, tc.first, tc.then), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := Default()
				cfg.Queue, cfg.MaxBody, cfg.Workers, cfg.Priority = 1<<20, 64<<10, 1, tc.priority
				gate := make(chan struct{})
				f := start(t, cfg, &memory{}, gate)
				seq := uint64(0)
				first := f.fill(tc.first, 100, &seq)
				then := f.fill(tc.then, 100, &seq)
				if first != tc.firstTaken || then != tc.thenTaken {
					t.Errorf("%d, then %d, want %d, then %d", first, then, tc.firstTaken, tc.thenTaken)
				}
				if s := f.Stats(); s.Dropped[DropQueueFull] != seq-uint64(first+then) || len(s.Dropped) != 1 {
					t.Errorf("%+v", s)
				}
				close(gate)
				if s := f.close(t, seq); s.Captured != uint64(first+then) {
					t.Errorf("at the end: %+v", s)
				}
			})
		})
	}
}

// What fits the queue is taken while it is empty, be it a write or not; and a
// reload changes what goes first.
func TestReserveOfAQueue(t *testing.T) {
	q := newQueue(1000)
	large := &Exchange{Body: make([]byte, 600)} // 256 on top
	for _, tc := range []struct {
		name  string
		held  int64
		first bool // writes
		write bool
		want  string
	}{
		{"a read as large as the rest of all", 0, true, false, ""},
		{"a read that would use the reserve", 1, true, false, DropQueueFull},
		{"a write that uses the reserve", 144, true, true, ""},
		{"a write beyond the bound", 145, true, true, DropQueueFull},
		{"a read where all are alike", 144, false, false, ""},
		{"a read beyond the bound", 145, false, false, DropQueueFull},
	} {
		q.setLimit(1000, tc.first)
		q.held = tc.held
		if got := q.put(large, tc.write); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}
