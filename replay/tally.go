package replay

import (
	"maps"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Counts is what became of the records. Of each the sums hold at any time:
// Records = Planned + Refused, Planned = Sent + Shed, Sent = Answered + Errors.
type Counts struct {
	Records  uint64            `json:"records"`
	Planned  uint64            `json:"planned"`
	Sent     uint64            `json:"sent"`
	Answered uint64            `json:"answered"`
	Shed     map[string]uint64 `json:"shed"`
	Errors   map[string]uint64 `json:"errors"`
	Refused  map[string]uint64 `json:"refused"`

	Codes       map[int]uint64    `json:"codes"`       // answers by status, errors with a status included
	Differences map[string]uint64 `json:"differences"` // as Deps.Judge named them
	Missing     uint64            `json:"missing"`     // records that the capture says it lost
}

// Stats is an Engine's state at one moment.
type Stats struct {
	Counts
	Elapsed      time.Duration
	Position     int64 // Unix ns: arrival of the last record that was due, 0 before the first
	InFlight     int64
	InFlightPeak int64
	Backlog      int64 // requests due and not yet noted
	// LagP50, LagP99 and LagMax are of sent − planned.
	LagP50, LagP99, LagMax time.Duration
}

// tally adds up under one lock.
type tally struct {
	mu       sync.Mutex
	counts   Counts
	lag      *hdrhistogram.Histogram // µs
	examples map[string]int          // by shape
	elapsed  time.Duration           // set at the end

	anew  time.Duration // examples are wanted again after this time; 0: never
	since time.Time
}

// examplesAnew is after which time a live mirror shows examples again: files
// that hold the first ones are removed some day.
const examplesAnew = time.Hour

func (t *tally) init() {
	t.counts = Counts{
		Shed: map[string]uint64{}, Errors: map[string]uint64{}, Refused: map[string]uint64{},
		Codes: map[int]uint64{}, Differences: map[string]uint64{},
	}
	t.lag = hdrhistogram.New(1, int64(24*time.Hour/time.Microsecond), 3)
	t.examples = map[string]int{}
}

// Bounds of the examples: so many of each shape in any case, so many where the
// answers differ or failed, and shapes.
const (
	plainExamples  = 1
	otherExamples  = 20
	exampledShapes = 4096
)

func (t *tally) wantsExample(o *Outcome, differs bool) bool {
	if o.Refused != "" {
		return false
	}
	if t.anew > 0 && time.Since(t.since) >= t.anew {
		t.since = time.Now()
		clear(t.examples)
	}
	limit := plainExamples
	if differs || o.Err != "" || o.Status != o.SourceStatus {
		limit = otherExamples
	}
	n, known := t.examples[o.Shape]
	if n >= limit || !known && len(t.examples) >= exampledShapes {
		return false
	}
	t.examples[o.Shape] = n + 1
	return true
}

// add counts an outcome with its differences, and tells whether it should show an
// Example.
func (t *tally) add(o *Outcome, kinds []string) (example bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count(o, kinds)
	return t.wantsExample(o, len(kinds) > 0)
}

func (t *tally) count(o *Outcome, kinds []string) {
	c := &t.counts
	c.Records++
	switch {
	case o.Refused != "":
		c.Refused[o.Refused]++
		return
	case o.Shed != "":
		c.Planned++
		c.Shed[o.Shed]++
		return
	}
	c.Planned++
	c.Sent++
	if o.Err == "" {
		c.Answered++
	} else {
		c.Errors[o.Err]++
	}
	if o.Status != 0 {
		c.Codes[o.Status]++
	}
	for _, k := range kinds {
		c.Differences[k]++
	}
	lag := max(0, (o.Sent-o.Planned)/int64(time.Microsecond))
	_ = t.lag.RecordValue(min(lag, t.lag.HighestTrackableValue()))
}

func (t *tally) end(elapsed time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.elapsed = elapsed
}

// Stats is safe to call while Run runs, and after.
func (e *Engine) Stats() Stats {
	t := &e.tally
	t.mu.Lock()
	defer t.mu.Unlock()
	s := Stats{Counts: t.counts, Elapsed: t.elapsed, Position: e.position.Load()}
	s.Shed, s.Errors, s.Refused = maps.Clone(s.Shed), maps.Clone(s.Errors), maps.Clone(s.Refused)
	s.Codes, s.Differences = maps.Clone(s.Codes), maps.Clone(s.Differences)
	s.Missing = e.reader.gaps.Load()
	if began := e.began.Load(); s.Elapsed == 0 && began != nil {
		s.Elapsed = time.Since(*began)
	}
	s.InFlight, s.InFlightPeak = e.inFlight.now()
	s.Backlog, _ = e.backlog.now()
	us := func(v int64) time.Duration { return time.Duration(v) * time.Microsecond }
	s.LagP50, s.LagP99 = us(t.lag.ValueAtQuantile(50)), us(t.lag.ValueAtQuantile(99))
	s.LagMax = us(t.lag.Max())
	return s
}
