package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/capture/segment"
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

// captureFiles lists what paths hold, captures and outcomes alike, and leaves
// other files of a directory alone.
func captureFiles(paths []string) ([]string, error) {
	var files []string
	for _, suffix := range []string{segment.SuffixCapture, segment.SuffixOutcomes} {
		found, err := segment.List(suffix, paths...)
		if err != nil {
			return nil, err
		}
		for _, f := range found { // a path that is a file is found each time
			if !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
	}
	return files, someFiles(files, paths)
}

// allFiles lists what paths hold, whatever its name.
func allFiles(paths []string) ([]string, error) {
	files, err := segment.List("", paths...)
	if err != nil {
		return nil, err
	}
	return files, someFiles(files, paths)
}

func someFiles(files, paths []string) error {
	if len(files) == 0 {
		return fmt.Errorf("no segment files in %s", strings.Join(paths, ", "))
	}
	return nil
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
		Use:   "ls PATH...",
		Short: "List segment files with their times and sizes",
		Long: `ls lists segment files by what their headers, footers and blocks say; what the
blocks hold is looked at by 'esshadow capture verify'. All files are listed; where
one of them cannot be read to its end, the last column says why, and the exit code
is 1. A file that is open, or that a crash cut, is no such fault.`,
		Example: "  esshadow capture ls /var/lib/esshadow",
		Args:    someArgs("path"),
		RunE: func(_ *cobra.Command, paths []string) (err error) {
			paths, in, err := fromStdin(s, paths)
			if err != nil {
				return err
			}
			defer func() { err = in.done(err) }()
			files, err := captureFiles(paths)
			if err != nil {
				return err
			}
			all := make([]listed, len(files))
			for i, f := range files {
				all[i] = list(f)
				all[i].File, all[i].Problem = in.name(f), in.name(all[i].Problem)
			}
			if asJSON {
				return errors.Join(printJSON(s.out, all), unreadable(all))
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
			return errors.Join(w.Flush(), unreadable(all))
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// unreadable says how many of the listed files have a problem.
func unreadable(all []listed) error {
	bad := 0
	for _, l := range all {
		if l.Problem != "" {
			bad++
		}
	}
	if bad == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d files cannot be read to their end: 'esshadow capture verify' says more", bad, len(all))
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

func newCaptureStat(s *streams) *cobra.Command {
	var asJSON, skip bool
	var identity string
	c := &cobra.Command{
		Use:     "stat PATH...",
		Short:   "Count what a capture holds, and what it lacks",
		Example: "  esshadow capture stat --json capture/ | jq .by_op",
		Args:    someArgs("path"),
		PreRunE: func(c *cobra.Command, _ []string) error { return onCorrupt(c, &skip) },
		RunE: func(_ *cobra.Command, paths []string) (err error) {
			paths, in, err := fromStdin(s, paths, identity)
			if err != nil {
				return err
			}
			defer func() { err = in.done(err) }()
			ids, err := identities("--identity", identity, s.in)
			if err != nil {
				return err
			}
			opt := capture.SourceOptions{Identities: ids}
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
	identityFlag(c.Flags(), &identity)
	c.Flags().StringVar(new(string), "on-corrupt", "error", "error, or skip to the next whole block")
	return c
}

func printStat(out io.Writer, st capture.Stat) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) { fmt.Fprintf(w, name+"\t"+format+"\n", args...) }
	row("segments", "%d, writers %d, torn %d", st.Segments, st.Writers, st.Torn)
	row("records", "%d", st.Records)
	if st.Missing > 0 {
		row("missing", "%d, lost to damage", st.Missing)
	}
	if st.First != nil && st.Last != nil {
		row("time", "%s to %s (%s)", st.First.Format(time.RFC3339Nano), st.Last.Format(time.RFC3339Nano), st.Last.Sub(*st.First).Round(time.Millisecond))
	}
	row("bytes", "%d in files, %d of lines", st.BytesFile, st.BytesRaw)
	row("operations", "%s", counted(st.ByOp))
	row("status", "%s", counted(st.ByStatus))
	row("fidelity", "exact %d, approx %d, broken %d", st.Fidelity.Exact, st.Fidelity.Approx, st.Fidelity.Broken)
	row("dropped", "%d%s", capture.Sum(st.Dropped), reasons(st.Dropped))
	row("preset", "%s, key %s", cmp.Or(st.Preset, "-"), cmp.Or(st.KeyID, "-"))
	if st.Schema != "" {
		row("schema", "%s", st.Schema)
	}
	row("source", "%s", cmp.Or(strings.Join(strings.Fields(st.Source.Flavor+" "+st.Source.Version+" "+st.Source.UUID), " "), "-"))
	return w.Flush()
}
