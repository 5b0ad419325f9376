package proxy

import (
	"sync/atomic"
	"time"
)

// maxNodes is the number of bits that remember which nodes were tried.
const maxNodes = 64

// nodes are the upstreams in their turns.
type nodes struct {
	all  []*upstream
	next atomic.Uint32
}

// pick is the node whose turn it is among those not tried yet: the next healthy
// one, or with least the healthy one with the fewest requests on their way, else
// the one whose pause ends first.
func (s *nodes) pick(tried uint64, least bool) *upstream {
	now := int64(0) // asked for only where a node has a pause
	start := int(s.next.Add(1) - 1)
	var last, idlest *upstream
	for i := range s.all {
		k := (start + i) % len(s.all)
		if tried&(1<<k) != 0 {
			continue
		}
		n := s.all[k]
		at := n.retryAt.Load()
		if at > 0 && now == 0 {
			now = time.Now().UnixNano()
		}
		if at <= now && !least {
			return n
		}
		if at <= now {
			if idlest == nil || n.active.Load() < idlest.active.Load() {
				idlest = n
			}
			continue
		}
		if last == nil || at < last.retryAt.Load() {
			last = n
		}
	}
	if idlest != nil {
		return idlest
	}
	return last
}

func (s *nodes) mark(tried uint64, n *upstream) uint64 {
	for k, o := range s.all {
		if o == n {
			return tried | 1<<k
		}
	}
	return tried
}

// believedUp is the number of nodes that last answered, or were never used.
func (s *nodes) believedUp() (up int) {
	for _, n := range s.all {
		if n.retryAt.Load() == 0 {
			up++
		}
	}
	return up
}
