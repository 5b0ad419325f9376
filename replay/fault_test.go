package replay

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/esshadow/esshadow/internal/es"
)

// A fault of ours costs a mirror the request at hand, which is counted, and not
// the process, which serves clients.
func TestLiveSurvivesFaults(t *testing.T) {
	const secret = "petunia"
	second := func(n *atomic.Int32) {
		if n.Add(1) == 2 {
			panic(secret)
		}
	}
	for name, c := range map[string]struct {
		set  func(d *Deps, n *atomic.Int32)
		shed bool
	}{
		"planning": {func(d *Deps, n *atomic.Int32) { d.Who = func() es.Identity { second(n); return es.Identity{} } }, true},
		"sending":  {func(d *Deps, n *atomic.Int32) { d.Target = &keptTarget{send: func(*Shot) { second(n) }} }, true},
		"reading": {func(d *Deps, n *atomic.Int32) {
			d.Mapper.ID = func(dst, id []byte) []byte { second(n); return append(dst, id...) }
		}, false},
		"judging": {func(d *Deps, n *atomic.Int32) { d.Judge = func(*Outcome) []string { second(n); return nil } }, false},
	} {
		t.Run(name, func(t *testing.T) {
			lines := &memoryLines{}
			var n, done atomic.Int32
			feed := &liveList{}
			for i := range 3 {
				feed.list = append(feed.list, liveSearch(i, &Told{Shape: "sh", Method: "POST", Target: "/told/_search"}, func() { done.Add(1) }))
			}
			core, logs := observer.New(zap.InfoLevel)
			d := Deps{Feed: feed, Lines: lines, Log: zap.New(core), Target: &keptTarget{send: func(*Shot) {}, body: oneHit}}
			c.set(&d, &n)
			cfg := Default()
			cfg.InFlight, cfg.InFlightMemory = 0, 0
			e := New(cfg, d)
			if err := e.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			checkSums(t, e.Stats(), lines.outcomes)
			s := e.Stats()
			counted := s.Errors[Fault]
			if c.shed {
				counted = s.Shed[Fault]
			}
			if counted != 1 || s.Answered != 2 || s.Records != 3 || done.Load() != 3 || len(lines.outcomes) != 3 {
				t.Errorf("%+v, %d done, %d outcomes", s.Counts, done.Load(), len(lines.outcomes))
			}
			if told := fmt.Sprintf("%+v %+v", logs.All(), lines.outcomes); logs.Len() != 1 || strings.Contains(told, secret) {
				t.Errorf("%d log entries, or the panic's value in %s", logs.Len(), told)
			}
		})
	}
}

// A replay that meets a fault ends: nobody else suffers from it.
func TestReplayEndsWithAFault(t *testing.T) {
	e := New(Default(), Deps{})
	defer func() {
		if recover() == nil {
			t.Error("the panic is gone")
		}
	}()
	defer e.survive(func() { t.Error("it goes on") })
	panic(context.Canceled)
}

const oneHit = `{"took":1,"timed_out":false,"_shards":{"total":1,"successful":1,"failed":0},"hits":{"total":{"value":1,"relation":"eq"},"hits":[{"_index":"i","_id":"1"}]}}`
