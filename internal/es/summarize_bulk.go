package es

import (
	"slices"
	"strings"
)

// bulkMember reads a member of a _bulk answer.
func (z *Summarizer) bulkMember(s *summaryCell, key []byte) {
	c := &z.c
	if string(key) != "items" {
		c.skip()
		return
	}
	if !c.enter(ArrayStart) {
		return
	}
	z.bulk = z.bulk[:0]
	z.like.forget()
	cut := false
	for k, ok := c.element(); ok; k, ok = c.element() {
		if k.Kind != ObjectStart {
			c.leave(k)
			continue
		}
		if z.like.follow(c) {
			z.bulk[z.like.count].N++
			continue
		}
		start, ops, at := c.pos, 0, -1
		for op := c.member(); op != nil; op = c.member() {
			at = z.countBulk(z.bulkItem(bulkOp(op)))
			cut = at < 0 || cut
			ops++
		}
		if c.err == nil && ops == 1 && at >= 0 {
			z.like.learn(c.in, start, c.pos, at)
		}
	}
	s.Bulk = append([]BulkCount(nil), z.bulk...)
	slices.SortFunc(s.Bulk, compareBulk)
	if cut {
		s.Cut = append(s.Cut, CutBulk)
	}
}

// bulkItem reads what became of one item.
func (z *Summarizer) bulkItem(op string) BulkCount {
	c, b := &z.c, BulkCount{Op: op, N: 1}
	if !c.enter(ObjectStart) {
		return b
	}
	store := ""
	for key := c.member(); key != nil; key = c.member() {
		switch string(key) {
		case "status":
			n, _ := c.number()
			b.Status = int(n)
		case "error":
			b.Error, _ = z.errorType()
		case "failure_store":
			switch string(c.str()) {
			case "used":
				store = "failure_store_used"
			case "failed":
				store = "failure_store_failed"
			}
		default:
			c.skip()
		}
	}
	if b.Error == "" {
		b.Error = store
	}
	return b
}

func bulkOp(key []byte) string {
	switch string(key) {
	case "index":
		return "index"
	case "create":
		return "create"
	case "update":
		return "update"
	case "delete":
		return "delete"
	}
	return "other"
}

// countBulk tells where b is counted, -1 where there was no room for it.
func (z *Summarizer) countBulk(b BulkCount) (at int) {
	for i := range z.bulk {
		if at := &z.bulk[i]; at.Op == b.Op && at.Status == b.Status && at.Error == b.Error {
			at.N++
			return i
		}
	}
	if len(z.bulk) >= MaxBulk {
		return -1
	}
	z.bulk = append(z.bulk, b)
	return len(z.bulk) - 1
}

func compareBulk(a, b BulkCount) int {
	switch {
	case a.Op != b.Op:
		return strings.Compare(a.Op, b.Op)
	case a.Status != b.Status:
		return a.Status - b.Status
	}
	return strings.Compare(a.Error, b.Error)
}
