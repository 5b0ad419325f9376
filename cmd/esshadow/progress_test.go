package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/esshadow/esshadow/replay"
)

func TestProgressLines(t *testing.T) {
	const s = int64(time.Second)
	half := replay.Stats{Position: 150 * s, Elapsed: 50 * time.Second, InFlight: 3, LagP99: 1234567}
	half.Records, half.Sent, half.Errors, half.Differences = 500, 400, map[string]uint64{"timeout": 2, "reset": 1}, map[string]uint64{"total": 4}
	shed := half
	shed.Shed = map[string]uint64{"in_flight": 9}
	for name, x := range map[string]struct {
		d    progressDrawer
		s    replay.Stats
		want string
	}{
		"plain, in the middle": {
			progressDrawer{first: 100 * s, last: 200 * s, speed: 1},
			half,
			"esshadow replay:  50%, 50s left, 8/s, sent 400, in flight 3, lag p99 1.23ms, errors 3, differences 4",
		},
		"bar, at twice the speed": {
			progressDrawer{bar: true, first: 100 * s, last: 200 * s, speed: 2},
			half,
			"[############------------]  50%, 25s left, 8/s, sent 400, in flight 3, lag p99 1.23ms, errors 3, differences 4",
		},
		"without pauses, by records": {
			progressDrawer{first: 100 * s, last: 200 * s, speed: replay.Max, records: 2000},
			half,
			"esshadow replay:  25%, 2m30s left, 8/s, sent 400, in flight 3, lag p99 1.23ms, errors 3, differences 4",
		},
		"shedding is loud": {
			progressDrawer{first: 100 * s, last: 150 * s, speed: 1},
			shed,
			"esshadow replay: 100%, 8/s, sent 400, in flight 3, lag p99 1.23ms, errors 3, differences 4, SHED 9",
		},
		"before anything": {
			progressDrawer{first: 100 * s, last: 200 * s, speed: 1},
			replay.Stats{},
			"esshadow replay:   0%, 0/s, sent 0, in flight 0, lag p99 0s, errors 0, differences 0",
		},
		"a capture of one moment": {
			progressDrawer{first: 100 * s, last: 100 * s, speed: 1},
			replay.Stats{Position: 100 * s},
			"esshadow replay:   0%, 0/s, sent 0, in flight 0, lag p99 0s, errors 0, differences 0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := x.d.line(x.s); got != x.want {
				t.Errorf("got  %s\nwant %s", got, x.want)
			}
		})
	}
}

// The rate is that of the time since the line before.
func TestProgressRateIsRecent(t *testing.T) {
	var out bytes.Buffer
	d := progressDrawer{w: &out, first: 1, last: 2, speed: 1}
	a, b := replay.Stats{Elapsed: 10 * time.Second}, replay.Stats{Elapsed: 20 * time.Second}
	a.Sent, b.Sent = 1000, 1050
	d.draw(a)
	d.draw(b)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], ", 100/s") || !strings.Contains(lines[1], ", 5/s") {
		t.Errorf("lines %q", lines)
	}
}
