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
	Schema      string      `json:"schema,omitempty"`
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
	Writer      string      `json:"writer,omitempty"` // names the process in its outcome files' names
	Sums        *Sums       `json:"sums,omitempty"`
	// Processes of a mirror that followed each other in the directory, as they came. The
	// rest of the description is that of the newest, from when the first began, with the
	// sums of all. The first may stand for several: Merged.
	Processes []Run `json:"processes,omitempty"`
	Merged    int   `json:"merged,omitempty"`
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
	if err := r.name(); err != nil {
		return nil, err
	}
	if err := WriteRun(dir, r); err != nil {
		return nil, err
	}
	w, err := r.open(dir, cfg)
	if err != nil {
		return nil, errors.Join(err, os.Remove(filepath.Join(dir, RunFile)))
	}
	return w, nil
}

// runDir is a run's directory as it was found.
type runDir struct {
	path  string
	empty bool
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
	left := slices.DeleteFunc(entries, func(e os.DirEntry) bool {
		return slices.Contains([]string{RunFile + newSuffix, RunFile + lockSuffix, segment.LockFile}, e.Name())
	})
	d.empty = len(left) == 0
	return d, nil
}

// open opens the outcome file of a run's process.
func (r *Run) open(dir string, files segment.Config, opts ...segment.Option) (*segment.Writer, error) {
	files.Dir = dir
	meta := segment.Meta{
		Kind: segment.KindOutcomes, Capture: "run", Writer: r.Writer, Encoding: "ndjson/1", KeyID: r.KeyID, Preset: r.Preset,
		Source: &segment.Source{UUID: r.Target.UUID, Version: r.Target.Version, Flavor: r.Target.Flavor},
	}
	w, err := segment.NewWriter(files, meta, time.Now(), append([]segment.Option{segment.WithSuffix(segment.SuffixOutcomes)}, opts...)...)
	if err != nil {
		return nil, fmt.Errorf("run directory: %w", err)
	}
	return w, nil
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
