package sandbox

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/esshadow/esshadow/internal/es"
)

// Faults are the bad days that an engine can be told to have. The same requests
// in the same order meet the same faults. The zero value has none.
type Faults struct {
	// Latency delays every answer.
	Latency time.Duration
	// Slow delays the searches of a shape; several that fit add up.
	Slow []SlowShape
	// DropEvery n: of the documents that are indexed, every n-th is
	// acknowledged but not kept. 0: none.
	DropEvery int
	// Drop says by id which documents are acknowledged but not kept.
	Drop func(id string) bool
	// RejectEvery n: every n-th request, GET / excepted, is answered 429.
	RejectEvery int
}

// SlowShape names searches by a clause that they hold.
type SlowShape struct {
	Agg   bool   // an aggregation, not a query clause
	Kind  string // "match", "terms"
	Field string // "" for any
	Delay time.Duration
}

// ParseSlowShape reads "match:title=50ms" or, for an aggregation,
// "agg:terms:brand=50ms". The field may be left out.
func ParseSlowShape(s string) (SlowShape, error) {
	what, delay, ok := strings.Cut(s, "=")
	d, err := time.ParseDuration(delay)
	if !ok || err != nil || d < 0 {
		return SlowShape{}, fmt.Errorf("slow shape %q: want kind:field=delay or agg:kind:field=delay", s)
	}
	out := SlowShape{Delay: d}
	what, out.Agg = strings.CutPrefix(what, "agg:")
	out.Kind, out.Field, _ = strings.Cut(what, ":")
	if out.Kind == "" {
		return SlowShape{}, fmt.Errorf("slow shape %q: no clause named", s)
	}
	return out, nil
}

// faultState counts what the deterministic faults go by.
type faultState struct {
	set      atomic.Pointer[Faults]
	indexed  atomic.Int64
	requests atomic.Int64
	thawAt   atomic.Int64 // unix ns; 0 when not frozen
}

// SetFaults replaces the faults, from the next request on; the counts that
// DropEvery and RejectEvery go by start again.
func (e *Engine) SetFaults(f Faults) {
	f.Slow = append([]SlowShape(nil), f.Slow...)
	e.faults.set.Store(&f)
	e.faults.indexed.Store(0)
	e.faults.requests.Store(0)
}

// Freeze stops answering for d from now on: requests wait, and go on when the
// time is over. A later Freeze may prolong, never shorten.
func (e *Engine) Freeze(d time.Duration) {
	until := time.Now().Add(d).UnixNano()
	for {
		old := e.faults.thawAt.Load()
		if old >= until || e.faults.thawAt.CompareAndSwap(old, until) {
			return
		}
	}
}

// suffer is what every request goes through first.
func (e *Engine) suffer(ctx context.Context, root bool) error {
	f := e.faults.set.Load()
	if f.RejectEvery > 0 && !root && e.faults.requests.Add(1)%int64(f.RejectEvery) == 0 {
		return failf(429, "es_rejected_execution_exception", "rejected execution of a request by a fault that the esshadow sandbox was told to have")
	}
	for {
		wait := time.Until(time.Unix(0, e.faults.thawAt.Load()))
		if e.faults.thawAt.Load() == 0 || wait <= 0 {
			break
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
	return pause(ctx, f.Latency)
}

// drops says whether the next document to be indexed is to be lost.
func (e *Engine) drops(id string) bool {
	f := e.faults.set.Load()
	if f.DropEvery > 0 && e.faults.indexed.Add(1)%int64(f.DropEvery) == 0 {
		return true
	}
	return f.Drop != nil && f.Drop(id)
}

// slow waits as long as the shape of a search asks for.
func (e *Engine) slow(ctx context.Context, body *node) error {
	var d time.Duration
	for _, s := range e.faults.set.Load().Slow {
		if s.fits(body) {
			d += s.Delay
		}
	}
	return pause(ctx, d)
}

func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("request given up: %w", ctx.Err())
	}
}

func (s SlowShape) fits(body *node) bool {
	if body == nil {
		return false
	}
	if s.Agg {
		return s.inside(body.get("aggs")) || s.inside(body.get("aggregations"))
	}
	return s.inside(body.get("query")) || s.inside(body.get("post_filter"))
}

// inside looks for the clause anywhere below n.
func (s SlowShape) inside(n *node) bool {
	if n == nil {
		return false
	}
	for i, kid := range n.kids {
		if n.kind == es.ObjectStart && n.keys[i] == s.Kind && s.names(kid) || s.inside(kid) {
			return true
		}
	}
	return false
}

// names says whether a clause's parameters are about the field.
func (s SlowShape) names(p *node) bool {
	if !p.isObject() {
		return false
	}
	if s.Field == "" || p.get(s.Field) != nil {
		return true
	}
	if f, ok := p.get("field").str(); ok && f == s.Field {
		return true
	}
	for _, f := range p.get("fields").strs() {
		if name, _, _ := strings.Cut(f, "^"); name == s.Field {
			return true
		}
	}
	return false
}
