package capture

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/esshadow/esshadow/capture/segment"
)

// Stat is what a capture holds, as `capture stat --json` prints it.
type Stat struct {
	Segments  int               `json:"segments"`
	Records   uint64            `json:"records"` // requests; gap lines are none
	First     *time.Time        `json:"first"`   // arrivals, UTC; null without records
	Last      *time.Time        `json:"last"`
	BytesFile int64             `json:"bytes_file"`
	BytesRaw  uint64            `json:"bytes_raw"`
	ByOp      map[string]uint64 `json:"by_op"`
	ByStatus  map[string]uint64 `json:"by_status"` // "0" had no answer
	Fidelity  Fidelities        `json:"fidelity"`
	Dropped   map[string]uint64 `json:"dropped"`
	Gaps      uint64            `json:"gaps"` // gap lines
	Torn      int               `json:"torn"` // files that end within a block
	Writers   int               `json:"writers"`
	Preset    string            `json:"preset"`
	KeyID     string            `json:"key_id"`
	Source    StatSource        `json:"source"`
	// Schema is the hash of the schema that the sanitiser knew fields by; absent
	// without one.
	Schema string `json:"schema,omitempty"`
	// Missing is what damage has cost, with segment.Skip; absent without damage.
	Missing uint64 `json:"missing,omitempty"`
}

// Fidelities counts records by their fidelity.
type Fidelities struct {
	Exact  uint64 `json:"exact"`
	Approx uint64 `json:"approx"`
	Broken uint64 `json:"broken"`
}

// StatSource is the cluster that was captured.
type StatSource struct {
	Flavor  string `json:"flavor"`
	Version string `json:"version"`
	UUID    string `json:"uuid"`
}

// maxNames bounds the operations and states that are told apart: they come from
// a file.
const (
	maxNames  = 256
	nameOther = "other"
)

// ReadStat reads all of paths and adds up. Where files disagree (preset, key,
// source), the names stand side by side, separated by commas. From and To of opt
// choose records and gap lines, not what the footers count.
func ReadStat(paths []string, opt SourceOptions) (Stat, error) {
	opt.MixedKeys = true
	s, err := OpenSource(paths, opt)
	if err != nil {
		return Stat{}, err
	}
	st, told := newStat(s), map[string]uint64{}
	var first, last int64
	for {
		r, err := s.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return st, errors.Join(err, s.Close())
		}
		if r.Kind == KindGap {
			st.Gaps++
			count(told, r.Gap.Reason, r.Gap.Count)
			continue
		}
		if last = r.Time; st.Records == 0 {
			first = r.Time
		}
		st.add(r)
	}
	if st.Records > 0 {
		a, b := time.Unix(0, first).UTC(), time.Unix(0, last).UTC()
		st.First, st.Last = &a, &b
	}
	// Gap lines and footers count the same drops. A line may be lost with its
	// block, and a footer is missing after a crash: the larger sum is right.
	for reason, n := range told {
		st.Dropped[reason] = max(st.Dropped[reason], n)
	}
	st.Missing = s.Missing().Records
	return st, s.Close()
}

func newStat(s *Source) Stat {
	i := s.Info()
	st := Stat{
		Segments: i.Files, BytesFile: i.Bytes, BytesRaw: i.RawBytes, Writers: len(i.Writers), Torn: len(s.Warnings()),
		ByOp: map[string]uint64{}, ByStatus: map[string]uint64{}, Dropped: map[string]uint64{},
	}
	for reason, n := range i.Dropped {
		count(st.Dropped, reason, n)
	}
	for _, m := range i.Metas {
		beside(&st.Preset, m.Preset)
		beside(&st.Schema, m.Schema)
		beside(&st.KeyID, m.KeyID)
		if m.Source == nil {
			m.Source = &segment.Source{}
		}
		beside(&st.Source.Flavor, m.Source.Flavor)
		beside(&st.Source.Version, m.Source.Version)
		beside(&st.Source.UUID, m.Source.UUID)
	}
	return st
}

// beside adds a name to a list of names, once.
func beside(names *string, name string) {
	switch {
	case name == "" || containsName(*names, name):
	case *names == "":
		*names = name
	default:
		*names += "," + name
	}
}

func (st *Stat) add(r *Record) {
	st.Records++
	count(st.ByOp, r.Op, 1)
	count(st.ByStatus, strconv.Itoa(r.Status), 1)
	switch r.Fidelity {
	case Exact:
		st.Fidelity.Exact++
	case Approx:
		st.Fidelity.Approx++
	case Broken:
		st.Fidelity.Broken++
	}
}

func count(in map[string]uint64, name string, n uint64) {
	if _, known := in[name]; !known && len(in) >= maxNames {
		name = nameOther
	}
	in[name] += n
}

func containsName(names, name string) bool {
	for known := range strings.SplitSeq(names, ",") {
		if known == name {
			return true
		}
	}
	return false
}
