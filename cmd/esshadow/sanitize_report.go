package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/capture/segment"
)

// Bounds of what report remembers.
const (
	maxReportFields   = 20000
	maxReportDistinct = 1 << 22 // pseudonyms of all fields together
	maxReportSize     = 1 << 10 // lengths that are told apart
)

func newSanitizeReport(s *streams) *cobra.Command {
	var top int
	var asJSON bool
	var identity string
	c := &cobra.Command{
		Use:   "report CAPTURE...",
		Short: "Count what a reader of a capture can learn: frequencies, lengths, what was dropped",
		Long: `report adds up, by field of documents and of queries, how many values there are and
how many different ones, the share of the most frequent one, the entropy in bits,
how many occur once, and how long they are. Equal pseudonyms stand for equal values:
a field with few of them, or with one that stands for half of all, can be guessed.

Then it says what the capture lacks: records dropped by reason, the share that a
replay can compare exactly, and the operations that were captured. Values are not
printed. A sealed capture needs --identity.`,
		Example: "  esshadow sanitize report capture/ --top 20",
		Args:    someArgs("capture"),
		RunE: func(_ *cobra.Command, paths []string) (err error) {
			if top < 0 {
				return usage("--top: want 0 (all) or more")
			}
			paths, in, err := fromStdin(s, paths, identity)
			if err != nil {
				return err
			}
			defer func() { err = in.done(err) }()
			ids, err := identities("--identity", identity, s.in)
			if err != nil {
				return err
			}
			rep, err := readExposure(paths, ids)
			if err != nil {
				return err
			}
			if top > 0 && len(rep.Fields) > top {
				rep.Left, rep.Fields = len(rep.Fields)-top, rep.Fields[:top]
			}
			if asJSON {
				return printJSON(s.out, rep)
			}
			return printExposure(s.out, rep)
		},
	}
	c.Flags().IntVar(&top, "top", 50, "fields to list, those with most values first; 0: all")
	identityFlag(c.Flags(), &identity)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// exposure is what a capture shows.
type exposure struct {
	Records  uint64               `json:"records"`
	Fields   []fieldExposure      `json:"fields"`
	Left     int                  `json:"fields_left_out,omitempty"`
	Fidelity capture.Fidelities   `json:"fidelity"`
	Broken   map[string]uint64    `json:"not_exact_by_reason"`
	Dropped  map[string]uint64    `json:"dropped"`
	ByOp     map[string]opOutcome `json:"operations"`
	Preset   string               `json:"preset"`
}

type opOutcome struct {
	Records uint64 `json:"records"`
	Exact   uint64 `json:"exact"`
}

// fieldExposure is one field; Field is "doc: path" or "query: path".
type fieldExposure struct {
	Field      string  `json:"field"`
	Values     uint64  `json:"values"`
	Distinct   int     `json:"distinct"`
	Full       bool    `json:"distinct_is_bound,omitempty"` // there are more than Distinct
	TopShare   float64 `json:"top_share"`
	Entropy    float64 `json:"entropy_bits"`
	Singletons int     `json:"singletons"`
	MinLength  int     `json:"min_length"`
	Median     int     `json:"median_length"`
	MaxLength  int     `json:"max_length"`
}

// fieldSums is what is counted for one field.
type fieldSums struct {
	values  uint64
	counts  map[uint64]uint32
	full    bool
	lengths map[int]uint64
}

// tally counts over a capture.
type tally struct {
	seed     maphash.Seed
	fields   map[string]*fieldSums
	distinct int
}

func readExposure(paths []string, ids segment.Identities) (*exposure, error) {
	src, err := capture.OpenSource(paths, capture.SourceOptions{MixedKeys: true, Identities: ids})
	if err != nil {
		return nil, err
	}
	defer func() { _ = src.Close() }()
	t := tally{seed: maphash.MakeSeed(), fields: map[string]*fieldSums{}}
	rep := &exposure{Broken: map[string]uint64{}, ByOp: map[string]opOutcome{}}
	for {
		rec, err := src.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if rec.Kind == capture.KindGap {
			continue
		}
		op := rep.ByOp[rec.Op]
		op.Records++
		if rec.Fidelity == capture.Exact {
			op.Exact++
		} else {
			rep.Broken[rec.Fidelity+" "+rec.FidWhy]++
		}
		rep.ByOp[rec.Op] = op
		t.record(rec)
	}
	st, err := capture.ReadStat(paths, capture.SourceOptions{Identities: ids})
	if err != nil {
		return nil, err
	}
	rep.Records, rep.Fidelity, rep.Dropped, rep.Preset = st.Records, st.Fidelity, st.Dropped, st.Preset
	rep.Fields = t.results()
	return rep, nil
}

// record counts the values of one body.
func (t *tally) record(rec *capture.Record) {
	switch rec.Op {
	case "bulk":
		doc := false // action lines and documents take turns, but for deletes
		for line := range bytes.Lines(rec.Body) {
			kind := "query: action"
			if doc {
				kind = "doc:"
			}
			t.json(kind, line)
			doc = !doc && !bytes.HasPrefix(bytes.TrimSpace(line), []byte(`{"delete"`))
		}
	case "index", "create", "update":
		t.json("doc:", rec.Body)
	default:
		t.json("query:", rec.Body)
	}
}

func (t *tally) json(kind string, text []byte) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	type level struct {
		object, key bool
		name        string
	}
	var open []level
	for {
		tok, err := dec.Token()
		if err != nil {
			return // the end, or a line that was kept with its fault
		}
		var top *level
		if len(open) > 0 {
			top = &open[len(open)-1]
		}
		value := ""
		switch v := tok.(type) {
		case json.Delim:
			if v == '{' || v == '[' {
				open = append(open, level{object: v == '{', key: v == '{'})
				continue
			}
			open = open[:len(open)-1]
			if len(open) > 0 {
				open[len(open)-1].key = open[len(open)-1].object
			}
			continue
		case string:
			if top != nil && top.object && top.key {
				top.name, top.key = v, false
				continue
			}
			value = v
		case json.Number:
			value = v.String()
		default:
			if top != nil {
				top.key = top.object
			}
			continue
		}
		path := kind
		for _, l := range open {
			if l.name != "" {
				path += " " + l.name
			}
		}
		t.value(path, value)
		if top != nil {
			top.key = top.object
		}
	}
}

func (t *tally) value(path, value string) {
	f := t.fields[path]
	if f == nil {
		if len(t.fields) >= maxReportFields {
			path = "other"
			f = t.fields[path]
		}
		if f == nil {
			f = &fieldSums{counts: map[uint64]uint32{}, lengths: map[int]uint64{}}
			t.fields[path] = f
		}
	}
	f.values++
	f.lengths[min(len(value), maxReportSize)]++
	h := maphash.String(t.seed, value)
	if _, known := f.counts[h]; !known {
		if t.distinct >= maxReportDistinct {
			f.full = true
			return
		}
		t.distinct++
	}
	f.counts[h]++
}

func (t *tally) results() []fieldExposure {
	out := make([]fieldExposure, 0, len(t.fields))
	for path, f := range t.fields {
		kind, rest, _ := strings.Cut(path, ":")
		if rest = strings.ReplaceAll(strings.TrimSpace(rest), " ", "."); rest != "" {
			kind += ": " + rest
		}
		e := fieldExposure{Field: kind, Values: f.values, Distinct: len(f.counts), Full: f.full}
		var top uint32
		for _, n := range f.counts {
			top = max(top, n)
			if n == 1 {
				e.Singletons++
			}
			p := float64(n) / float64(f.values)
			e.Entropy -= p * math.Log2(p)
		}
		e.TopShare = float64(top) / float64(f.values)
		e.MinLength, e.Median, e.MaxLength = lengthSpread(f.lengths, f.values)
		e.Entropy = math.Round(math.Abs(e.Entropy)*100) / 100
		e.TopShare = math.Round(e.TopShare*10000) / 10000
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b fieldExposure) int {
		return cmp.Or(cmp.Compare(b.Values, a.Values), cmp.Compare(a.Field, b.Field))
	})
	return out
}

func lengthSpread(lengths map[int]uint64, n uint64) (low, median, high int) {
	var all []int
	for l := range lengths {
		all = append(all, l)
	}
	slices.Sort(all)
	seen := uint64(0)
	for _, l := range all {
		if seen += lengths[l]; 2*seen >= n {
			median = l
			break
		}
	}
	return all[0], median, all[len(all)-1]
}

func printExposure(out io.Writer, r *exposure) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "VALUES\tDISTINCT\tTOP\tBITS\tONCE\tLENGTH\t  FIELD")
	for _, f := range r.Fields {
		more := ""
		if f.Full {
			more = "+"
		}
		fmt.Fprintf(w, "%d\t%d%s\t%.1f %%\t%.1f\t%d\t%d/%d/%d\t  %s\n", f.Values, f.Distinct, more, 100*f.TopShare, f.Entropy, f.Singletons, f.MinLength, f.Median, f.MaxLength, f.Field)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if r.Left > 0 {
		fmt.Fprintf(out, "and %d fields more: --top 0\n", r.Left)
	}
	all := max(r.Records, 1)
	fmt.Fprintf(out, "\nrecords: %d, preset %s\n", r.Records, r.Preset)
	fmt.Fprintf(out, "fidelity: exact %.1f %%, approx %.1f %%, broken %.1f %%%s\n", share(r.Fidelity.Exact, all), share(r.Fidelity.Approx, all), share(r.Fidelity.Broken, all), reasons(r.Broken))
	fmt.Fprintf(out, "dropped: %d%s\n", capture.Sum(r.Dropped), reasons(r.Dropped))
	ops := map[string]uint64{}
	for op, o := range r.ByOp {
		ops[fmt.Sprintf("%s (%.0f %% exact)", op, share(o.Exact, o.Records))] = o.Records
	}
	fmt.Fprintf(out, "operations: %s\n", counted(ops))
	return nil
}

func share(n, of uint64) float64 { return 100 * float64(n) / float64(max(of, 1)) }
