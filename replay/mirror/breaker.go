package mirror

import (
	"sync"
	"time"

	"github.com/esshadow/esshadow/replay"
)

// Breaker says whether the target gets requests.
type Breaker uint8

// The states of a breaker.
const (
	BreakerClosed   Breaker = iota // it gets them
	BreakerHalfOpen                // it gets one, whose answer decides
	BreakerOpen                    // it is left alone
	breakerStates
)

// Breakers lists the states.
func Breakers() []Breaker { return []Breaker{BreakerClosed, BreakerHalfOpen, BreakerOpen} }

// String is the state's name: closed, half_open, open.
func (b Breaker) String() string {
	return [breakerStates]string{"closed", "half_open", "open"}[min(b, breakerStates-1)]
}

// A failure weighs so much, and a 429 weighs 1: a target that says that it is
// busy is alive, but a long run of that is no use to anybody.
const failureWeight = 5

// inviteEvery is how often a request is let in to be the trial of a half-open
// breaker: one that never reaches the target must not block it for ever.
const inviteEvery = time.Second

// whyUnknown is why a breaker is open at the start: the target was not asked yet
// who it is.
const whyUnknown = "not_identified"

// breaker counts failures in a row. It reads no clock: it is told the time.
type breaker struct {
	limit     int // weight at which it opens
	wait, max time.Duration
	changed   func(from, to Breaker, why string)

	mu      sync.Mutex
	state   Breaker
	why     string // of the last opening
	weight  int    // of the failures in a row
	again   time.Duration
	until   time.Time // open until then at least
	invited time.Time
	trial   bool // a request is on its way whose answer decides
	known   bool // the target was identified once
	news    []change
}

// change is one of state that was not told yet.
type change struct {
	from, to Breaker
	why      string
}

func newBreaker(cfg *Config, changed func(from, to Breaker, why string)) *breaker {
	return &breaker{
		limit: cfg.BreakerFailures * failureWeight, wait: cfg.BreakerWait, max: cfg.BreakerMaxWait, again: cfg.BreakerWait,
		changed: changed, state: BreakerOpen, why: whyUnknown,
	}
}

// now tells the state, and why it is not closed.
func (b *breaker) now() (Breaker, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state == BreakerClosed {
		return b.state, ""
	}
	return b.state, b.why
}

// admits tells whether a new request may be taken in.
func (b *breaker) admits(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch b.state {
	case BreakerClosed:
		return true
	case BreakerHalfOpen:
		if b.trial || now.Sub(b.invited) < inviteEvery {
			return false
		}
		b.invited = now
		return true
	}
	return false
}

// begin tells whether a request may be sent now, and whether it is the trial. What
// may be sent is to be told to end.
func (b *breaker) begin() (may, trial bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch b.state {
	case BreakerClosed:
		return true, false
	case BreakerHalfOpen:
		if !b.trial {
			b.trial = true
			return true, true
		}
	}
	return false, false
}

// end takes what became of a request that begin let go: the class of its failure,
// "" where the target answered.
func (b *breaker) end(now time.Time, class string, trial bool) {
	defer b.tell()
	b.mu.Lock()
	defer b.mu.Unlock()
	if trial {
		b.trial = false
	}
	if class == replay.ErrCancelled || class == classNotSent {
		return
	}
	switch {
	case trial && b.state == BreakerHalfOpen && class == "":
		b.again, b.weight = b.wait, 0
		b.become(BreakerClosed, "")
	case trial && b.state == BreakerHalfOpen:
		b.open(now, class)
	case trial, b.state != BreakerClosed: // sent before it opened
	case class == "":
		b.weight = 0
	default:
		b.weight += failureWeight
		if class == replay.ErrThrottled {
			b.weight += 1 - failureWeight
		}
		if b.weight >= b.limit {
			b.open(now, class)
		}
	}
}

// due is when the target is to be asked again who it is; false while it need not
// be.
func (b *breaker) due() (time.Time, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.until, b.state == BreakerOpen
}

// asked takes the answer to that question: "" lets a request try, but for the
// first time, when nothing is known against the target.
func (b *breaker) asked(now time.Time, why string) {
	defer b.tell()
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.state != BreakerOpen:
	case why != "":
		b.open(now, why)
	case !b.known:
		b.known, b.again = true, b.wait
		b.become(BreakerClosed, "")
	default:
		b.invited = time.Time{}
		b.become(BreakerHalfOpen, b.why)
	}
}

// trip opens the breaker for a reason that is no answer's.
func (b *breaker) trip(now time.Time, why string) {
	defer b.tell()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open(now, why)
}

func (b *breaker) open(now time.Time, why string) {
	b.weight, b.until = 0, now.Add(b.again)
	b.again = min(2*b.again, b.max)
	b.become(BreakerOpen, why)
}

func (b *breaker) become(to Breaker, why string) {
	from := b.state
	news := from != to || to == BreakerOpen && why != b.why
	b.state, b.why = to, why
	if news {
		b.news = append(b.news, change{from, to, why})
	}
}

// tell tells what has changed. The lock is not held meanwhile: whoever logs it may
// have to wait, and clients ask for the lock.
func (b *breaker) tell() {
	b.mu.Lock()
	news := b.news
	b.news = nil
	b.mu.Unlock()
	for _, c := range news {
		b.changed(c.from, c.to, c.why)
	}
}
