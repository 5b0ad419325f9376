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

// Only a lossy queue says in advance that it has no room. What was not held therefore
// is refused even when room came since, and counts as lost.
func TestRoomInAdvance(t *testing.T) {
	q := newQueue(8 << 20)
	q.pace.on, q.writesFirst = true, true
	x := func(n int) *Exchange { return &Exchange{Body: make([]byte, n), BodySize: int64(n)} }
	if refused := q.put(x(5<<20), true); refused != "" {
		t.Fatal(refused)
	}
	if !q.mayTake(100 << 20) {
		t.Error("no room although the queue is not lossy")
	}
	q.pace.lossy = true // it may hold shortQueue
	if q.mayTake(0) || q.mayTake(1<<20) {
		t.Error("room in a lossy queue that is full")
	}
	if got := q.take(nil, 1, 1); len(got) != 1 {
		t.Fatal("nothing to take")
	}
	q.charge(-(5<<20 + 256))
	if !q.mayTake(1 << 20) {
		t.Error("no room in an empty lossy queue")
	}
	before, held := q.pace, q.bytes()
	refused := q.put(&Exchange{Unheld: true, BodySize: 3 << 20, AnswerSize: 1 << 20}, true)
	const weight = 4<<20 + 256
	if refused != DropQueueFull || q.pace.refused-before.refused != weight || q.pace.offered-before.offered != weight {
		t.Errorf("an exchange that was not held: %q, %d of %d bytes refused", refused, q.pace.refused-before.refused, q.pace.offered-before.offered)
	}
	if q.bytes() != held || q.ring.Len() != 0 {
		t.Error("it is in the queue")
	}
}

// Each exchange that was not held is counted once, by the reason that it would have
// had, and released.
func TestUnheldExchangesAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Default()
		cfg.MaxBody = 1 << 20
		f := start(t, cfg, &memory{}, nil)
		if !f.Room(1 << 30) {
			t.Error("no room at the start")
		}
		unheld := func(target string, size int64, n uint64) *Exchange {
			x := f.exchange(target, n)
			x.Body, x.BodySize, x.Unheld = nil, size, true
			return x
		}
		hello := unheld("/", 0, 3)
		hello.Method = "GET"
		for _, x := range []*Exchange{unheld("/_bulk", 1<<20, 1), unheld("/_bulk", 1<<20+1, 2), hello, f.exchange("/_bulk", 4)} {
			f.Offer(x)
		}
		s := f.close(t, 4)
		if s.Captured != 1 || s.Dropped[DropQueueFull] != 1 || s.Dropped[DropBodyTooLarge] != 1 || Sum(s.Filtered) != 1 {
			t.Errorf("%+v", s)
		}
	})
}
