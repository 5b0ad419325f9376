package replay

import (
	"testing"

	"github.com/esshadow/esshadow/internal/es"
)

// discardLines encodes outcomes and forgets them.
type discardLines struct{ memoryLines }

func (*discardLines) Append([]byte, int64) error { return nil }

// BenchmarkReplayMax is a whole replay without pauses, client and server in one
// process.
func BenchmarkReplayMax(b *testing.B) {
	addr := serve(b, answerSearch)
	cfg := Default()
	cfg.Speed, cfg.InFlight = Max, 64
	target := client(b, addr, nil)
	e := New(cfg, Deps{Source: searches(b.N, 0, 64), Target: target, Lines: &discardLines{}})
	b.ReportAllocs()
	b.ResetTimer()
	if err := e.Run(b.Context()); err != nil {
		b.Fatal(err)
	}
	if s := e.Stats(); s.Answered != uint64(b.N) {
		b.Fatalf("%+v", s.Counts)
	}
}

func BenchmarkPlan(b *testing.B) {
	cfg := Default()
	cfg.Speed = Max
	if _, err := Plan(b.Context(), cfg, searches(b.N, 0, 64), es.Identity{}); err != nil {
		b.Fatal(err)
	}
}
