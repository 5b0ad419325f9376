package replay

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/esshadow/esshadow/capture/segment"
	"github.com/esshadow/esshadow/internal/es"
)

// RunSchema names the form of run.json.
const RunSchema = "esshadow.run/1"

// RunFile is the name of a run's description in its directory.
const RunFile = "run.json"

// Run is run.json: what was asked for, by which program on which machine, and
// how it went. It holds no secret. It is written when the run starts, without
// Ended and Sums, and again when it ends.
type Run struct {
	Schema      string      `json:"schema"`
	Started     time.Time   `json:"started"`
	Ended       *time.Time  `json:"ended,omitempty"` // nil: runs, or was killed
	Interrupted bool        `json:"interrupted,omitempty"`
	Failed      string      `json:"failed,omitempty"` // why the run ended early
	Asked       Asked       `json:"asked"`
	Versions    Versions    `json:"versions"`
	Machine     Machine     `json:"machine"`
	Source      es.Identity `json:"source"`
	Target      es.Identity `json:"target"`
	Preset      string      `json:"preset,omitempty"` // the capture's
	KeyID       string      `json:"key_id,omitempty"`
	Writer      string      `json:"writer,omitempty"` // names the process that writes, where several follow each other
	Sums        *Sums       `json:"sums,omitempty"`
}

// Asked is what the user asked for.
type Asked struct {
	Capture     []string    `json:"capture"`
	Mirror      bool        `json:"mirror,omitempty"` // of live traffic: there is no capture
	Sample      float64     `json:"sample,omitempty"` // part of the connections that a mirror sends
	Target      string      `json:"target"`
	Auth        string      `json:"auth"` // none, basic or api_key
	Speed       Speed       `json:"speed"`
	From        *time.Time  `json:"from,omitempty"`
	To          *time.Time  `json:"to,omitempty"`
	DurationS   float64     `json:"duration_s,omitempty"`
	Writes      bool        `json:"writes"`
	SameIndex   bool        `json:"same_index,omitempty"`
	IndexMap    []IndexRule `json:"index_map,omitempty"`
	InFlight    int         `json:"in_flight"`
	Connections int         `json:"connections"`
	TimeoutS    float64     `json:"timeout_s"`
}

// Versions are of what sent the requests.
type Versions struct {
	Esshadow string `json:"esshadow"`
	Go       string `json:"go"`
}

// Machine is where the replay ran.
type Machine struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPUs int    `json:"cpus"`
}

// Sums is the end of a run.
type Sums struct {
	Counts
	ElapsedS    float64 `json:"elapsed_s"`
	InFlightMax int64   `json:"in_flight_max"`
	LagMS       struct {
		P50 float64 `json:"p50"`
		P99 float64 `json:"p99"`
		Max float64 `json:"max"`
	} `json:"lag_ms"`
}

// NewRun describes a run that starts now. The caller adds Source, Target and
// what it knows of the capture.
func NewRun(now time.Time, version string, captures []string, cfg Config, target TargetConfig) Run {
	r := Run{
		Schema: RunSchema, Started: now.UTC(),
		Versions: Versions{Esshadow: version, Go: runtime.Version()},
		Machine:  Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.GOMAXPROCS(0)},
		Asked: Asked{
			Capture: captures, Target: target.URL, Auth: target.authName(), Speed: cfg.Speed,
			DurationS: cfg.Window.Duration.Seconds(),
			Writes:    cfg.Writes, SameIndex: cfg.SameIndex, IndexMap: cfg.IndexMap,
			InFlight: cfg.InFlight, Connections: target.Connections, TimeoutS: target.Timeout.Seconds(),
		},
	}
	if cfg.Window.From != 0 {
		t := time.Unix(0, cfg.Window.From).UTC()
		r.Asked.From = &t
	}
	if cfg.Window.To != 0 {
		t := time.Unix(0, cfg.Window.To).UTC()
		r.Asked.To = &t
	}
	return r
}

func (cfg *TargetConfig) authName() string {
	switch {
	case cfg.APIKey != "":
		return "api_key"
	case cfg.User != "":
		return "basic"
	}
	return "none"
}

// End puts the run's end into it.
func (r *Run) End(now time.Time, s Stats, interrupted bool, err error) {
	t := now.UTC()
	r.Ended, r.Interrupted = &t, interrupted
	if err != nil {
		r.Failed = err.Error()
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	sums := &Sums{Counts: s.Counts, ElapsedS: s.Elapsed.Seconds(), InFlightMax: s.InFlightPeak}
	sums.LagMS.P50, sums.LagMS.P99, sums.LagMS.Max = ms(s.LagP50), ms(s.LagP99), ms(s.LagMax)
	r.Sums = sums
}

// ErrRunExists says that a directory holds files already: no run overwrites
// anything.
var ErrRunExists = errors.New("the run directory is not empty")

// CreateRunDir makes the directory of a run (0700), or takes an empty one,
// writes run.json and opens the outcome file.
func CreateRunDir(dir string, r Run) (*segment.Writer, error) {
	lock, err := LockRun(dir, false) // until the directory holds run.json: of two that begin at once, one is refused
	if err != nil {
		return nil, err
	}
	w, err := createRun(dir, r)
	if err != nil {
		return nil, errors.Join(err, lock.Undo())
	}
	return w, lock.Release()
}

func createRun(dir string, r Run) (*segment.Writer, error) {
	d, err := lookAtRunDir(dir)
	if err != nil {
		return nil, err
	}
	if !d.empty {
		return nil, fmt.Errorf("%w: %s", ErrRunExists, dir)
	}
	cfg := segment.DefaultConfig()
	cfg.MinFree, cfg.RotateAge = 0, 0
	w, _, err := d.begin(&r, cfg)
	return w, err
}

// MirrorRunDir is CreateRunDir for a live mirror, whose process may be followed
// by another: a directory that holds a mirror's run to the same target is gone on
// with. r takes over when that run began. files says how outcome files are
// rotated and kept. undo puts the directory back to what it was, for a process that
// is refused before it has anything to tell; the Writer must be closed.
func MirrorRunDir(dir string, r *Run, files segment.Config, opts ...segment.Option) (w *segment.Writer, undo func() error, err error) {
	d, err := lookAtRunDir(dir)
	if err != nil {
		return nil, nil, err
	}
	if !d.empty {
		old, err := ReadRun(dir)
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("%w: %w", ErrRunExists, err)
		case !old.Asked.Mirror || old.Asked.Target != r.Asked.Target:
			return nil, nil, fmt.Errorf("%w: %s holds another run, want one of a mirror to the same target", ErrRunExists, dir)
		}
		d.old = &old
		r.Started = old.Started
		if r.Source.UUID == "" {
			r.Source = old.Source
		}
		if r.Target.UUID == "" {
			r.Target = old.Target
		}
	}
	return d.begin(r, files, opts...)
}

// runDir is a run's directory as it was found.
type runDir struct {
	path  string
	empty bool
	old   *Run // that it held
}

func lookAtRunDir(dir string) (d runDir, err error) {
	d = runDir{path: dir}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return d, fmt.Errorf("run directory: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return d, fmt.Errorf("run directory: %w", err)
	}
	left := slices.DeleteFunc(entries, func(e os.DirEntry) bool { return e.Name() == RunFile+newSuffix || e.Name() == segment.LockFile })
	d.empty = len(left) == 0
	return d, nil
}

// undo takes away what the writer of that id made, and puts back the run that
// was there.
func (d runDir) undo(writer string) error {
	files, err := segment.List(segment.SuffixOutcomes, d.path)
	errs := []error{err}
	for _, path := range files {
		if name, ok := segment.ParseName(path); ok && name.Writer == writer {
			errs = append(errs, os.Remove(path))
		}
	}
	now, err := ReadRun(d.path)
	switch {
	case err == nil && now.Writer != writer: // another process goes on with it
	case d.old != nil:
		errs = append(errs, WriteRun(d.path, *d.old))
	case err == nil:
		errs = append(errs, os.Remove(filepath.Join(d.path, RunFile)))
	}
	return errors.Join(errs...)
}

// begin writes run.json and opens an outcome file, or leaves nothing behind.
func (d runDir) begin(r *Run, files segment.Config, opts ...segment.Option) (w *segment.Writer, undo func() error, err error) {
	id, err := randomID()
	if err != nil {
		return nil, nil, fmt.Errorf("run directory: %w", err)
	}
	r.Writer = id
	undo = func() error { return d.undo(id) }
	if err := WriteRun(d.path, *r); err != nil {
		return nil, nil, errors.Join(err, undo())
	}
	files.Dir = d.path
	meta := segment.Meta{
		Kind: segment.KindOutcomes, Capture: "run", Writer: id, Encoding: "ndjson/1", KeyID: r.KeyID, Preset: r.Preset,
		Source: &segment.Source{UUID: r.Target.UUID, Version: r.Target.Version, Flavor: r.Target.Flavor},
	}
	w, err = segment.NewWriter(files, meta, time.Now(), append([]segment.Option{segment.WithSuffix(segment.SuffixOutcomes)}, opts...)...)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("run directory: %w", err), undo())
	}
	return w, undo, nil
}

func randomID() (string, error) {
	var b [4]byte
	_, err := rand.Read(b[:])
	return hex.EncodeToString(b[:]), err
}

// WriteRun writes run.json whole: a reader sees the old one or the new one.
func WriteRun(dir string, r Run) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", RunFile, err)
	}
	tmp := filepath.Join(dir, RunFile+newSuffix)
	if err = writeSynced(tmp, append(text, '\n')); err == nil {
		err = os.Rename(tmp, filepath.Join(dir, RunFile))
	}
	if err != nil {
		_ = os.Remove(tmp)
		return fmt.Errorf("%s: %w", RunFile, err)
	}
	return nil
}

// newSuffix follows a file's name until the file is whole.
const newSuffix = ".new"

// writeSynced writes a file that is on the disk before it gets its name: a mirror
// has to find a whole one after a crash.
func writeSynced(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// ReadRun reads a run directory's run.json.
func ReadRun(dir string) (Run, error) {
	var r Run
	text, err := os.ReadFile(filepath.Join(dir, RunFile))
	if errors.Is(err, fs.ErrNotExist) {
		return r, fmt.Errorf("%s holds no %s: not a run directory", dir, RunFile)
	}
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("%s: %w", filepath.Join(dir, RunFile), err)
	}
	if r.Schema != RunSchema {
		return r, fmt.Errorf("%s: schema %q, this program reads %q", filepath.Join(dir, RunFile), r.Schema, RunSchema)
	}
	return r, nil
}
