package mirror

import (
	"maps"
	"slices"
	"sync"

	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/replay"
)

// Reasons to shed a request that might have been sent. The engine's own come on
// top.
const (
	ShedLoop         = "loop"           // a mirror sent it
	ShedPaused       = "paused"         // switched off for the time being
	ShedBreaker      = "breaker_open"   // the target is left alone
	ShedInFlight     = "in_flight"      // as many are held as the bound allows
	ShedQueueFull    = "queue_full"     // they hold as many bytes as the bound allows
	ShedBodyTooLarge = "body_too_large" // its body was not kept
	ShedClosed       = "closed"         // the mirror was closing, or closed
	ShedPanic        = replay.Fault     // a fault of ours; the request was let go
)

// RefusedInfo is the guard's reason for GET /, by which clients greet a cluster: it
// is no traffic to compare.
const RefusedInfo = "info"

// door counts what never reaches the engine.
type door struct {
	mu         sync.Mutex
	offered    uint64
	sampledOut uint64
	turned     map[replay.Turned]uint64
	inside     map[string]int64 // requests that the engine has and no outcome of, by operation
}

func newDoor() *door { return &door{turned: map[replay.Turned]uint64{}, inside: map[string]int64{}} }

func (d *door) offer() {
	d.mu.Lock()
	d.offered++
	d.mu.Unlock()
}

func (d *door) sampleOut() {
	d.mu.Lock()
	d.sampledOut++
	d.mu.Unlock()
}

func (d *door) refuse(reason string, op es.Op) {
	d.mu.Lock()
	d.turned[replay.Turned{Reason: reason, Op: op.String()}]++
	d.mu.Unlock()
}

func (d *door) drop(reason string, op es.Op) {
	d.mu.Lock()
	d.turned[replay.Turned{Shed: true, Reason: reason, Op: op.String()}]++
	d.mu.Unlock()
}

// pass counts a request that the engine gets, by 1, and one whose outcome it
// gives, by -1.
func (d *door) pass(op string, n int64) {
	d.mu.Lock()
	d.inside[op] += n
	d.mu.Unlock()
}

// forsake sheds what the engine has and did not reach. A request that a fault of
// ours stopped may have come out under another operation than it went in.
func (d *door) forsake(reason string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var left int64
	for _, n := range d.inside {
		left += n
	}
	for _, op := range slices.Sorted(maps.Keys(d.inside)) {
		n := min(d.inside[op], left)
		if n <= 0 {
			continue
		}
		d.turned[replay.Turned{Shed: true, Reason: reason, Op: op}] += uint64(n)
		left -= n
	}
	clear(d.inside)
}

// counters are what no outcome line tells of, by name.
func (d *door) counters() map[string]uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make(map[string]uint64, len(d.turned))
	for t, n := range d.turned {
		out[t.String()] = n
	}
	return out
}

// addCounts adds it to what the engine counted.
func (d *door) addCounts(c *replay.Counts) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for t, n := range d.turned {
		c.Records += n
		if !t.Shed {
			c.Refused[t.Reason] += n
			continue
		}
		c.Planned += n
		c.Shed[t.Reason] += n
	}
}

// Stats are a mirror's sums at one moment. At any moment
// Offered = SampledOut + Refused + Shed + Sent + Pending, and Pending is 0 once
// Close has returned.
type Stats struct {
	Offered    uint64
	SampledOut uint64
	Refused    map[string]uint64 // by guards, at the door and in the engine
	Shed       map[string]uint64
	Sent       uint64
	Answered   uint64
	Errors     map[string]uint64
	Codes      map[int]uint64
	// Differences counts what the engine's Judge named.
	Differences map[string]uint64
	Pending     uint64

	QueueBytes int64 // requests held, in bytes and in number
	InFlight   int

	Written, Lost uint64 // outcome lines in the files, and those that could not be written
	Disk          Disk   // whether outcomes can be written

	Paused  bool
	Closed  bool
	Breaker Breaker
	Why     string      // the breaker is not closed
	Target  es.Identity // zero: not known yet
}

// States lists what Stats.State says.
func States() []string { return []string{"on", "paused", "off"} }

// State is on, paused or off in one word.
func (s *Stats) State() string {
	switch {
	case s.Closed:
		return "off"
	case s.Paused:
		return "paused"
	}
	return "on"
}

// Stats are safe to ask for at any time.
func (m *Mirror) Stats() Stats {
	e := m.engine.Stats() // before the door: what is in it came through there
	s := Stats{
		Refused: e.Refused, Shed: e.Shed, Sent: e.Sent, Answered: e.Answered, Errors: e.Errors, Codes: e.Codes,
		Differences: e.Differences, Paused: m.paused.Load(), Closed: m.closed.Load(), Target: m.who(),
	}
	s.Breaker, s.Why = m.breaker.now()
	s.QueueBytes, s.InFlight = m.queue.now()
	s.Written, s.Lost, s.Disk = m.keeper.stats()
	m.door.addTo(&s)
	return s
}

// MemoryBytes is Stats.QueueBytes and what it takes to make a request of the
// largest exchange of late, which the queue does not count: its body as it is sent,
// what the sanitiser makes of it, and that grows by doubling.
func (m *Mirror) MemoryBytes() int64 {
	held, _ := m.queue.now()
	return held + 4*m.largest.Load()
}

// took notes the size of an exchange. The largest one is forgotten by and by.
func (m *Mirror) took(size int64) {
	last := m.largest.Load()
	m.largest.Store(max(size, last-(last+63)/64))
}

func (d *door) addTo(s *Stats) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s.Offered, s.SampledOut = d.offered, d.sampledOut
	for t, n := range d.turned {
		if t.Shed {
			s.Shed[t.Reason] += n
		} else {
			s.Refused[t.Reason] += n
		}
	}
	if gone := s.SampledOut + sum(s.Refused) + sum(s.Shed) + s.Sent; gone < s.Offered {
		s.Pending = s.Offered - gone
	}
}

func sum(m map[string]uint64) (n uint64) {
	for v := range maps.Values(m) {
		n += v
	}
	return n
}
