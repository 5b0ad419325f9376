package replay

import (
	"testing"

	"pgregory.net/rapid"
)

func TestTurnedNames(t *testing.T) {
	for name, want := range map[string]Turned{
		"refused.write@bulk": {Reason: "write", Op: "bulk"},
		"shed.paused@search": {Shed: true, Reason: "paused", Op: "search"},
		"shed.paused":        {Shed: true, Reason: "paused"}, // of files without operations
	} {
		got, ok := ParseTurned(name)
		if !ok || got != want || got.String() != name {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
	}
	if _, ok := ParseTurned("queue_full"); ok {
		t.Error("a drop of a capture is no Turned")
	}
	rapid.Check(t, func(t *rapid.T) {
		x := Turned{
			Shed: rapid.Bool().Draw(t, "shed"), Reason: rapid.StringMatching(`[a-z0-9_]+`).Draw(t, "reason"),
			Op: rapid.StringMatching(`[a-z_]*`).Draw(t, "op"),
		}
		if got, ok := ParseTurned(x.String()); !ok || got != x {
			t.Fatalf("%+v becomes %+v", x, got)
		}
	})
}
