package replay

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/esshadow/esshadow/capture/segment"
	"github.com/esshadow/esshadow/internal/es"
)

// MirrorRunDir is CreateRunDir for a live mirror, whose process may be followed
// by another: a directory that holds a mirror's run to the same target is gone on
// with. r takes over when that run began. files says how outcome files are
// rotated and kept. undo takes away what this process put there, for one that is
// refused before it has anything to tell; the Writer must be closed.
func MirrorRunDir(dir string, r *Run, files segment.Config, opts ...segment.Option) (w *segment.Writer, undo func() error, err error) {
	if _, err := mirrorProcesses(dir, r); err != nil { // before anything is put there
		return nil, nil, err
	}
	undo = func() error { return leaveRun(dir, r.Writer) }
	began := *r
	err = alone(dir, func() error { return joinRunDir(dir, r) })
	if err == nil {
		w, err = r.open(dir, files, opts...)
	}
	if err != nil {
		err = errors.Join(err, undo())
		*r = began
		return nil, nil, err
	}
	return w, undo, nil
}

// mirrorProcesses are those of the run that a directory holds, none if it is empty, and
// an error if it is not one that r can go on with.
func mirrorProcesses(dir string, r *Run) ([]Run, error) {
	d, err := lookAtRunDir(dir)
	if err != nil || d.empty {
		return nil, err
	}
	old, err := ReadRun(dir)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrRunExists, err)
	case !old.Asked.Mirror || old.Asked.Target != r.Asked.Target:
		return nil, fmt.Errorf("%w: %s holds another run, want one of a mirror to the same target", ErrRunExists, dir)
	}
	return old.processes(), nil
}

// joinRunDir puts a process into run.json, beside those that were there.
func joinRunDir(dir string, r *Run) error {
	all, err := mirrorProcesses(dir, r)
	if err != nil {
		return err
	}
	if err := r.name(); err != nil {
		return err
	}
	whole := joined(withProcess(all, *r))
	r.Started, r.Source, r.Target = whole.Started, known(r.Source, whole.Source), known(r.Target, whole.Target)
	return WriteRun(dir, whole)
}

// UpdateRun makes run.json say what a mirror's process says of itself now, and leaves
// there what others said.
func UpdateRun(dir string, r *Run) error {
	if err := r.name(); err != nil {
		return err
	}
	return alone(dir, func() error {
		all, err := mirrorProcesses(dir, r)
		if _, broken := ReadRun(dir); err != nil && broken == nil {
			return err // it is another run's
		}
		return WriteRun(dir, joined(withProcess(all, *r)))
	})
}

// name gives a process its name, unless it has one.
func (r *Run) name() (err error) {
	if r.Writer != "" {
		return nil
	}
	if r.Writer, err = randomID(); err != nil {
		return fmt.Errorf("run directory: %w", err)
	}
	return nil
}

// leaveRun takes a process out of run.json, and its outcome files away.
func leaveRun(dir, writer string) error {
	if writer == "" {
		return nil
	}
	files, err := segment.List(segment.SuffixOutcomes, dir)
	errs := []error{err}
	for _, path := range files {
		if name, ok := segment.ParseName(path); ok && name.Writer == writer {
			errs = append(errs, os.Remove(path))
		}
	}
	last := false
	errs = append(errs, alone(dir, func() error {
		now, err := ReadRun(dir)
		if err != nil {
			return nil // there is nothing to leave
		}
		all := now.processes()
		rest := slices.DeleteFunc(slices.Clone(all), func(p Run) bool { return p.Writer == writer })
		if last = len(rest) == 0; last {
			return os.Remove(filepath.Join(dir, RunFile))
		}
		return WriteRun(dir, joined(rest))
	}))
	if last {
		_ = os.Remove(filepath.Join(dir, RunFile+lockSuffix)) // who waits for it makes another
	}
	return errors.Join(errs...)
}

// lockSuffix follows the name of run.json in that of the file that keeps processes from
// changing it at the same time. The directory's lock is none for that: they share it.
const lockSuffix = ".lock"

// lockWait bounds the wait for another process that changes run.json, lockPoll is how
// often it is tried.
const (
	lockWait = 5 * time.Second
	lockPoll = 5 * time.Millisecond
)

// alone calls change while no other process changes run.json.
func alone(dir string, change func() error) error {
	lock, err := waitLock(filepath.Join(dir, RunFile+lockSuffix))
	if errors.Is(err, segment.ErrBusy) {
		return fmt.Errorf("%s: %w for %s", RunFile, err, lockWait)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", RunFile, err)
	}
	return errors.Join(change(), lock.Close())
}

func waitLock(path string) (io.Closer, error) {
	end := time.NewTimer(lockWait)
	defer end.Stop()
	for {
		lock, err := segment.LockPath(path)
		if !errors.Is(err, segment.ErrBusy) {
			return lock, err
		}
		poll := time.NewTimer(lockPoll)
		select {
		case <-poll.C:
		case <-end.C:
			poll.Stop()
			return nil, err
		}
	}
}

// processes are those of a run, one where it does not list them.
func (r Run) processes() []Run {
	if r.Processes != nil {
		return r.Processes
	}
	return []Run{r}
}

// maxProcesses bounds what run.json lists: the oldest become one.
const maxProcesses = 32

// withProcess puts a process behind those of a run, or what it says in place of what it
// said before; when it began stays as it said first.
func withProcess(all []Run, r Run) []Run {
	all = slices.Clone(all)
	r.Schema, r.Processes = "", nil
	at := slices.IndexFunc(all, func(p Run) bool { return p.Writer == r.Writer })
	if at >= 0 {
		r.Started = all[at].Started
		all[at] = r
	} else {
		all = append(all, r)
	}
	for len(all) > maxProcesses {
		both := joined(all[:2])
		both.Merged = max(1, all[0].Merged) + max(1, all[1].Merged)
		both.Schema, both.Writer, both.Processes = "", "", nil
		all = slices.Concat([]Run{both}, all[2:])
	}
	return all
}

// joined describes a run by its processes, of which there is one at least.
func joined(all []Run) Run {
	r := all[len(all)-1]
	r.Schema, r.Processes = RunSchema, slices.Clone(all)
	r.Started, r.Merged, r.Sums = all[0].Started, 0, nil
	for i := range r.Processes {
		p := &r.Processes[i]
		p.Schema = ""
		if r.Ended != nil && p.Ended != nil && p.Ended.After(*r.Ended) {
			r.Ended = p.Ended // it took leave for longer than the one that followed it ran
		}
		r.Sums = addSums(r.Sums, p.Sums)
	}
	for _, p := range slices.Backward(all) {
		r.Source, r.Target = known(r.Source, p.Source), known(r.Target, p.Target)
	}
	return r
}

func known(id, other es.Identity) es.Identity {
	if id.UUID == "" {
		return other
	}
	return id
}

// addSums is both together; nil is nothing. Of the times it has the longest: a
// percentile of all is not above the highest of the parts.
func addSums(a, b *Sums) *Sums {
	if a == nil || b == nil {
		if a == nil {
			a = b
		}
		return a
	}
	s := *a
	s.Counts = a.plus(b.Counts)
	s.ElapsedS += b.ElapsedS
	s.InFlightMax = max(a.InFlightMax, b.InFlightMax)
	s.LagMS.P50, s.LagMS.P99, s.LagMS.Max = max(a.LagMS.P50, b.LagMS.P50), max(a.LagMS.P99, b.LagMS.P99), max(a.LagMS.Max, b.LagMS.Max)
	return &s
}

func (c Counts) plus(o Counts) Counts {
	return Counts{
		Records: c.Records + o.Records, Planned: c.Planned + o.Planned, Sent: c.Sent + o.Sent, Answered: c.Answered + o.Answered,
		Shed: added(c.Shed, o.Shed), Errors: added(c.Errors, o.Errors), Refused: added(c.Refused, o.Refused),
		Codes: added(c.Codes, o.Codes), Differences: added(c.Differences, o.Differences), Missing: c.Missing + o.Missing,
	}
}

func added[K comparable](a, b map[K]uint64) map[K]uint64 {
	out := maps.Clone(a)
	if out == nil {
		out = map[K]uint64{}
	}
	for k, n := range b {
		out[k] += n
	}
	return out
}
