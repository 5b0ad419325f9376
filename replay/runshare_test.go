package replay

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/capture/segment"
	"github.com/esshadow/esshadow/internal/es"
)

func mirrorRun(at time.Time) Run {
	target := DefaultTarget()
	target.URL = "http://target"
	r := NewRun(at, "test", []string{"live traffic"}, Default(), target)
	r.Asked.Mirror = true
	return r
}

func statsOf(sent uint64) Stats {
	return Stats{Counts: Counts{
		Records: sent + 3, Planned: sent + 2, Sent: sent, Answered: sent,
		Shed: map[string]uint64{"queue_full": 2}, Refused: map[string]uint64{"write": 1}, Codes: map[int]uint64{200: sent},
	}, InFlightPeak: int64(sent), LagP99: time.Duration(sent) * time.Millisecond}
}

// Processes that begin, tell and end in one directory at once: each stands in run.json
// with what it said last, and the sums are those of all.
func TestProcessesShareRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	const many = 12
	start := time.Now().Add(-time.Hour)
	var all sync.WaitGroup
	failed := make(chan error, many)
	for i := range many {
		all.Go(func() {
			failed <- func() error {
				r := mirrorRun(start.Add(time.Duration(i) * time.Second))
				w, _, err := MirrorRunDir(dir, &r, segment.DefaultConfig())
				if err != nil {
					return err
				}
				for n := range 5 {
					r.Asked.InFlight = n
					if err := UpdateRun(dir, &r); err != nil {
						return err
					}
					if _, err := ReadRun(dir); err != nil {
						return err
					}
				}
				r.End(start.Add(time.Duration(100+i)*time.Minute), statsOf(uint64(i)), false, nil)
				if err := UpdateRun(dir, &r); err != nil {
					return err
				}
				return w.Close(nil)
			}()
		})
	}
	all.Wait()
	for range many {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	run, err := ReadRun(dir)
	if err != nil || len(run.Processes) != many {
		t.Fatalf("%d processes, %v", len(run.Processes), err)
	}
	const sent = many * (many - 1) / 2
	want := Counts{
		Records: sent + 3*many, Planned: sent + 2*many, Sent: sent, Answered: sent, Errors: map[string]uint64{}, Differences: map[string]uint64{},
		Shed: map[string]uint64{"queue_full": 2 * many}, Refused: map[string]uint64{"write": many}, Codes: map[int]uint64{200: sent},
	}
	if got := fmt.Sprint(run.Sums.Counts); got != fmt.Sprint(want) {
		t.Errorf("sums %s, want %v", got, want)
	}
	if run.Sums.InFlightMax != many-1 || run.Sums.LagMS.P99 != many-1 {
		t.Errorf("in flight %d, lag %+v", run.Sums.InFlightMax, run.Sums.LagMS)
	}
	if !run.Ended.Equal(start.Add((100 + many - 1) * time.Minute)) {
		t.Errorf("ended %v", run.Ended)
	}
	writers := map[string]bool{}
	for _, p := range run.Processes {
		writers[p.Writer] = true
		if p.Ended == nil || p.Sums == nil || p.Asked.InFlight != 4 {
			t.Errorf("process %+v", p)
		}
	}
	files, err := segment.List(segment.SuffixOutcomes, dir)
	if err != nil || len(files) != many || len(writers) != many {
		t.Errorf("%d files of %d writers, %v", len(files), len(writers), err)
	}
}

// A process that is refused leaves the one before as that told meanwhile.
func TestLeaveRunWhileAnotherEnds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	old, next := mirrorRun(time.Now().Add(-time.Hour)), mirrorRun(time.Now())
	old.Target = es.Identity{UUID: "t"}
	w, leaveOld, err := MirrorRunDir(dir, &old, segment.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	began := old.Started
	next.Asked.InFlight = 7
	w2, leave, err := MirrorRunDir(dir, &next, segment.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	if !next.Started.Equal(began) || next.Target.UUID != "t" {
		t.Errorf("the next one goes on with %v, %v", next.Started, next.Target)
	}
	if run, err := ReadRun(dir); err != nil || run.Asked.InFlight != 7 || run.Ended != nil || run.Writer != next.Writer {
		t.Errorf("%+v, %v", run, err)
	}
	old.End(time.Now(), statsOf(5), false, nil)
	if err := UpdateRun(dir, &old); err != nil {
		t.Fatal(err)
	}
	if run, err := ReadRun(dir); err != nil || run.Asked.InFlight != 7 || run.Ended != nil || run.Sums.Sent != 5 {
		t.Errorf("%+v, %v", run, err)
	}
	for _, w := range []*segment.Writer{w2, w} {
		if err := w.Close(nil); err != nil {
			t.Error(err)
		}
	}
	if err := leave(); err != nil {
		t.Error(err)
	}
	run, err := ReadRun(dir)
	if err != nil || run.Writer != old.Writer || run.Asked.InFlight != old.Asked.InFlight || run.Ended == nil || run.Sums.Sent != 5 {
		t.Errorf("%+v, %v", run, err)
	}
	if err := leaveOld(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// A directory that a version without Processes left is gone on with, and its sums stay.
func TestJoinOlderRun(t *testing.T) {
	dir := t.TempDir()
	old := mirrorRun(time.Now().Add(-time.Hour))
	old.Writer = "0badcafe"
	old.End(time.Now(), statsOf(5), false, nil)
	if err := WriteRun(dir, old); err != nil {
		t.Fatal(err)
	}
	r := mirrorRun(time.Now())
	w, _, err := MirrorRunDir(dir, &r, segment.DefaultConfig())
	if err != nil {
		t.Fatal(err)
	}
	r.End(time.Now(), statsOf(6), false, nil)
	if err := UpdateRun(dir, &r); err != nil {
		t.Fatal(err)
	}
	if run, err := ReadRun(dir); err != nil || run.Sums.Sent != 11 || len(run.Processes) != 2 || !run.Started.Equal(old.Started) {
		t.Errorf("%+v, %v", run, err)
	}
	if err := w.Close(nil); err != nil {
		t.Error(err)
	}
}

// Another run's directory is not touched, not even by a process that began in vain.
func TestOtherRunIsLeftAlone(t *testing.T) {
	for name, change := range map[string]func(*Run){
		"a replay":       func(r *Run) { r.Asked.Mirror = false },
		"another target": func(r *Run) { r.Asked.Target = "http://other" },
	} {
		dir := t.TempDir()
		other, r := mirrorRun(time.Now()), mirrorRun(time.Now())
		change(&other)
		if err := WriteRun(dir, other); err != nil {
			t.Fatal(err)
		}
		was, _ := os.ReadFile(filepath.Join(dir, RunFile))
		if _, _, err := MirrorRunDir(dir, &r, segment.DefaultConfig()); err == nil {
			t.Errorf("%s: gone on with", name)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Errorf("%s: %v, %v", name, left, err)
		}
		if err := UpdateRun(dir, &r); err == nil {
			t.Errorf("%s: changed", name)
		}
		if now, _ := os.ReadFile(filepath.Join(dir, RunFile)); string(now) != string(was) {
			t.Errorf("%s: %s", name, now)
		}
	}
}

// However many processes a run has had, and in whatever order they end, run.json stays
// bounded and its sums are those of all.
func TestProcessesAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []Run
		want, ended := uint64(0), map[string]bool{}
		for i := range rapid.IntRange(1, 3*maxProcesses).Draw(t, "processes") {
			r := mirrorRun(time.Unix(int64(i), 0))
			r.Writer = fmt.Sprint(i)
			all = withProcess(all, r)
			open := slices.DeleteFunc(slices.Clone(all), func(r Run) bool { return r.Writer == "" || ended[r.Writer] })
			if len(open) == 0 || rapid.IntRange(0, 3).Draw(t, "killed or later") == 0 {
				continue
			}
			r = open[rapid.IntRange(0, len(open)-1).Draw(t, "which")]
			sent := rapid.Uint64Range(0, 9).Draw(t, "sent")
			r.End(time.Unix(int64(i), 500), statsOf(sent), false, nil)
			all, want, ended[r.Writer] = withProcess(all, r), want+sent, true
		}
		run, merged := joined(all), uint64(0)
		for _, p := range run.Processes {
			merged += uint64(p.Merged)
		}
		if len(run.Processes) > maxProcesses || !run.Started.Equal(time.Unix(0, 0)) {
			t.Fatalf("%d processes from %v on", len(run.Processes), run.Started)
		}
		if run.Sums != nil && run.Sums.Sent != want || run.Sums == nil && len(ended) > 0 {
			t.Fatalf("%+v, want %d sent", run.Sums, want)
		}
		if again := joined(run.processes()); fmt.Sprintf("%+v", again.Processes) != fmt.Sprintf("%+v", run.Processes) || again.Sums != nil && !maps.Equal(again.Sums.Codes, run.Sums.Codes) {
			t.Fatal("it is another one when it is read again")
		}
	})
}
