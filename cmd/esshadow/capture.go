package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/capture/segment"
	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/replay"
)

func newCaptureCmd(s *streams) *cobra.Command {
	c := &cobra.Command{
		Use:     "capture",
		Short:   "Look after the files of a capture",
		Example: "  esshadow capture stat /var/lib/esshadow\n  esshadow capture cat --op search --limit 3 /var/lib/esshadow | jq .",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newCaptureLs(s), newCaptureCat(s), newCaptureStat(s), newCaptureVerify(s), newCaptureRepair(s))
	return c
}

// captureFiles lists what paths hold, captures and outcomes alike.
func captureFiles(paths []string) ([]string, error) {
	files, err := segment.List("", paths...)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no segment files in %v", paths)
	}
	return files, nil
}

// listed is one line of capture ls.
type listed struct {
	File     string `json:"file"`
	Records  uint64 `json:"records"`
	First    string `json:"first,omitempty"`
	Last     string `json:"last,omitempty"`
	Bytes    int64  `json:"bytes_file"`
	Raw      uint64 `json:"bytes_raw"`
	Complete bool   `json:"complete"`
	Problem  string `json:"problem,omitempty"`
}

func newCaptureLs(s *streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "ls PATH...",
		Short:   "List segment files with their times and sizes",
		Example: "  esshadow capture ls /var/lib/esshadow",
		Args:    someArgs("path"),
		RunE: func(_ *cobra.Command, paths []string) error {
			files, err := captureFiles(paths)
			if err != nil {
				return err
			}
			all := make([]listed, len(files))
			for i, f := range files {
				all[i] = list(f)
			}
			if asJSON {
				return printJSON(s.out, all)
			}
			w := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "RECORDS\tFIRST\tLAST\tBYTES\tRAW\tFILE\t")
			for _, l := range all {
				state := l.Problem
				if state == "" && !l.Complete {
					state = "open, or cut: esshadow capture repair"
				}
				fmt.Fprintf(w, "%d\t%s\t%s\t%d\t%d\t%s\t%s\n", l.Records, l.First, l.Last, l.Bytes, l.Raw, l.File, state)
			}
			return w.Flush()
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func list(path string) listed {
	l := listed{File: path}
	st, err := os.Stat(path)
	if err != nil {
		l.Problem = err.Error()
		return l
	}
	l.Bytes = st.Size()
	r, err := segment.Open(path)
	if err != nil {
		l.Problem = err.Error()
		return l
	}
	defer func() { _ = r.Close() }()
	blocks, err := r.Index()
	if err != nil && !errors.Is(err, segment.ErrTorn) {
		l.Problem = err.Error()
	}
	var first, last int64
	for i, b := range blocks {
		if i == 0 || b.First < first {
			first = b.First
		}
		last = max(last, b.Last)
		l.Records += uint64(b.Records)
		l.Raw += uint64(b.RawLen)
	}
	if len(blocks) > 0 {
		l.First, l.Last = stamp(first), stamp(last)
	}
	l.Complete = err == nil && r.Footer() != nil
	return l
}

func stamp(ns int64) string { return time.Unix(0, ns).UTC().Format(time.RFC3339) }

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// catCmd is what capture cat is asked for.
type catCmd struct {
	from, to, op string
	limit        int
	skip         bool
}

func newCaptureCat(s *streams) *cobra.Command {
	var q catCmd
	c := &cobra.Command{
		Use:   "cat PATH...",
		Short: "Print records as NDJSON, in order of time",
		Example: `  esshadow capture cat --op bulk --limit 1 capture/ | jq .
  esshadow capture cat --from +5m --to +6m capture/ > minute.ndjson`,
		Args: someArgs("path"),
		RunE: func(_ *cobra.Command, paths []string) error { return q.run(s, paths) },
	}
	f := c.Flags()
	f.StringVar(&q.from, "from", "", "begin at this `time`: RFC 3339, +5m after the first record, -1h before the last")
	f.StringVar(&q.to, "to", "", "end at this `time`, likewise")
	f.StringVar(&q.op, "op", "", "only this operation, such as search or bulk")
	f.IntVar(&q.limit, "limit", 0, "stop after so many records; 0: all")
	f.StringVar(new(string), "on-corrupt", "error", "error, or skip to the next whole block")
	f.Bool("json", true, "records are always JSON")
	_ = f.MarkHidden("json")
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		if q.limit < 0 {
			return usage("--limit: want 0 (all) or more")
		}
		return onCorrupt(c, &q.skip)
	}
	return c
}

func onCorrupt(c *cobra.Command, skip *bool) error {
	switch v := c.Flag("on-corrupt").Value.String(); v {
	case "error":
	case "skip":
		*skip = true
	default:
		return usage("--on-corrupt: %q is none of error, skip", v)
	}
	return nil
}

func (q *catCmd) options(paths []string) (capture.SourceOptions, error) {
	opt := capture.SourceOptions{MixedKeys: true}
	if q.skip {
		opt.OnCorrupt = segment.Skip
	}
	if q.op != "" {
		if _, ok := es.ParseOp(q.op); !ok {
			return opt, usage("--op: %q is no operation", q.op)
		}
	}
	if q.from == "" && q.to == "" {
		return opt, nil
	}
	src, err := capture.OpenSource(paths, opt)
	if err != nil {
		return opt, err
	}
	info := src.Info()
	if err := src.Close(); err != nil {
		return opt, err
	}
	for _, x := range []struct {
		flag, text string
		to         *int64
	}{{"--from", q.from, &opt.From}, {"--to", q.to, &opt.To}} {
		if x.text == "" {
			continue
		}
		m, err := replay.ParseMoment(x.text)
		if err != nil {
			return opt, usage("%s: %w", x.flag, err)
		}
		*x.to = m.At(info.First, info.Last)
	}
	return opt, nil
}

func (q *catCmd) run(s *streams, paths []string) error {
	opt, err := q.options(paths)
	if err != nil {
		return err
	}
	src, err := capture.OpenSource(paths, opt)
	if err != nil {
		return err
	}
	defer func() { _ = src.Close() }()
	out := bufio.NewWriterSize(s.out, 64<<10)
	if err := errors.Join(q.print(src, out), out.Flush()); err != nil {
		return err
	}
	return warned(s, src)
}

// print writes the records that were asked for.
func (q *catCmd) print(src *capture.Source, out io.Writer) error {
	var line []byte
	for n := 0; q.limit == 0 || n < q.limit; {
		r, err := src.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if q.op != "" && r.Op != q.op {
			continue
		}
		n++
		line = append(capture.AppendRecord(line[:0], r), '\n')
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// warned tells of files that are cut, and makes that the exit code.
func warned(s *streams, src *capture.Source) error {
	for _, w := range src.Warnings() {
		s.note("esshadow capture: warning: %v", w)
	}
	if m := src.Missing(); m.Records > 0 || m.Blocks > 0 {
		s.note("esshadow capture: warning: %d records are lost in %d damaged blocks", m.Records, m.Blocks)
	}
	for _, w := range src.Warnings() {
		if errors.Is(w, segment.ErrTorn) {
			return &codeError{code: exitFailed}
		}
	}
	return nil
}

func newCaptureStat(s *streams) *cobra.Command {
	var asJSON, skip bool
	c := &cobra.Command{
		Use:     "stat PATH...",
		Short:   "Count what a capture holds, and what it lacks",
		Example: "  esshadow capture stat --json capture/ | jq .by_op",
		Args:    someArgs("path"),
		PreRunE: func(c *cobra.Command, _ []string) error { return onCorrupt(c, &skip) },
		RunE: func(_ *cobra.Command, paths []string) error {
			opt := capture.SourceOptions{}
			if skip {
				opt.OnCorrupt = segment.Skip
			}
			st, err := capture.ReadStat(paths, opt)
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(s.out, st)
			}
			return printStat(s.out, st)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().StringVar(new(string), "on-corrupt", "error", "error, or skip to the next whole block")
	return c
}

func printStat(out io.Writer, st capture.Stat) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(w, name+"\t"+format+"\n", args...) }
	row("segments", "%d by %d writers, %d torn", st.Segments, st.Writers, st.Torn)
	row("records", "%d", st.Records)
	if st.First != nil && st.Last != nil {
		row("time", "%s to %s (%s)", st.First.Format(time.RFC3339Nano), st.Last.Format(time.RFC3339Nano), st.Last.Sub(*st.First).Round(time.Millisecond))
	}
	row("bytes", "%d in files, %d of lines", st.BytesFile, st.BytesRaw)
	row("operations", "%s", reasons(st.ByOp))
	row("status", "%s", reasons(st.ByStatus))
	row("fidelity", "exact %d, approx %d, broken %d", st.Fidelity.Exact, st.Fidelity.Approx, st.Fidelity.Broken)
	row("dropped", "%d%s", capture.Sum(st.Dropped), reasons(st.Dropped))
	row("preset", "%s, key %s", st.Preset, st.KeyID)
	row("source", "%s %s %s", st.Source.Flavor, st.Source.Version, st.Source.UUID)
	return w.Flush()
}

func newCaptureVerify(s *streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "verify PATH...",
		Short:   "Check every frame, checksum and sequence of segment files",
		Example: "  esshadow capture verify capture/",
		Args:    someArgs("path"),
		RunE: func(_ *cobra.Command, paths []string) error {
			return eachFile(s, paths, asJSON, func(path string) (segment.Report, error) { return segment.Verify(path) })
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func newCaptureRepair(s *streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "repair PATH...",
		Short: "Make cut segment files whole: what cannot be read goes, the rest is closed",
		Long: `repair cuts a file after its last whole block, writes the footer that is missing
and gives the file its final name. A healthy file is not touched.`,
		Example: "  esshadow capture repair capture/",
		Args:    someArgs("path"),
		RunE: func(_ *cobra.Command, paths []string) error {
			return eachFile(s, paths, asJSON, segment.Repair)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// eachFile does one thing with every file and prints what came of it. One bad
// file does not keep the others from being looked at.
func eachFile(s *streams, paths []string, asJSON bool, do func(string) (segment.Report, error)) error {
	files, err := captureFiles(paths)
	if err != nil {
		return err
	}
	type result struct {
		File   string         `json:"file"`
		OK     bool           `json:"ok"`
		Error  string         `json:"error,omitempty"`
		Report segment.Report `json:"report"`
	}
	results := make([]result, 0, len(files))
	bad := 0
	for _, f := range files {
		rep, err := do(f)
		res := result{File: f, OK: err == nil, Report: rep}
		if err != nil {
			bad++
			res.Error = err.Error()
		}
		results = append(results, res)
		switch {
		case asJSON:
		case err != nil:
			fmt.Fprintf(s.out, "%s: %v\n", filepath.Base(f), err)
		default:
			fmt.Fprintf(s.out, "%s: ok: %s\n", filepath.Base(f), describe(rep))
		}
	}
	if asJSON {
		if err := printJSON(s.out, results); err != nil {
			return err
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d files are not whole", bad, len(files))
	}
	return nil
}

// describe is a file's report in one line.
func describe(r segment.Report) string {
	text := fmt.Sprintf("%d records in %d blocks", r.Records, r.Blocks)
	switch {
	case r.Removed:
		text = "held nothing whole, removed"
	case r.Changed:
		text += fmt.Sprintf("; %d bytes cut off, closed as %s", r.Cut, filepath.Base(r.Path))
	case r.Repaired:
		text += "; repaired before"
	}
	return text
}
