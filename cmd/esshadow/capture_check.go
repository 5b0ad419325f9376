package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/esshadow/esshadow/capture/segment"
)

func newCaptureVerify(s *streams) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "verify PATH...",
		Short:   "Check every frame, checksum and sequence of segment files",
		Example: "  esshadow capture verify capture/",
		Args:    someArgs("path"),
		RunE: func(_ *cobra.Command, paths []string) (err error) {
			paths, in, err := fromStdin(s, paths)
			if err != nil {
				return err
			}
			defer func() { err = in.done(err) }()
			return eachFile(s, in, paths, asJSON, func(path string) (segment.Report, error) { return segment.Verify(path) })
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
and gives the file its final name. A healthy file is not touched. Damage in front
of whole blocks stays, as nobody can bring back what it took: it is told, and the
exit code is 1.`,
		Example: "  esshadow capture repair capture/",
		Args:    someArgs("path"),
		RunE: func(_ *cobra.Command, paths []string) error {
			if err := notFromStdin(paths, "what comes on standard input cannot be repaired in its place"); err != nil {
				return err
			}
			return eachFile(s, &copied{}, paths, asJSON, repairFile)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// repairFile repairs a file. Damage that stays is an error: verify would call the
// file corrupt still.
func repairFile(path string) (segment.Report, error) {
	rep, err := segment.Repair(path)
	if m := rep.Missing; err == nil && m.Places > 0 {
		err = fmt.Errorf("segment %s: corrupt: %d bytes within the file are damaged and %d records lost, which no repair brings back; --on-corrupt skip reads the other %d",
			rep.Path, m.Bytes, m.Records, rep.Records)
	}
	return rep, err
}

// fileResult is what verify and repair print of a file as JSON.
type fileResult struct {
	File   string      `json:"file"`
	OK     bool        `json:"ok"`
	Error  string      `json:"error,omitempty"`
	Report foundInFile `json:"report"`
}

// foundInFile is a segment.Report with the names and units of capture ls and stat.
type foundInFile struct {
	File    string            `json:"file"` // now: repair gives an open one its final name
	Meta    segment.Meta      `json:"meta"`
	Closed  bool              `json:"closed"` // it has a footer
	Live    bool              `json:"live"`   // a writer holds it
	Records uint64            `json:"records"`
	Blocks  uint64            `json:"blocks"`
	Bytes   int64             `json:"bytes_file"`
	Raw     uint64            `json:"bytes_raw"`
	Packed  uint64            `json:"bytes_packed"`
	First   string            `json:"first,omitempty"`
	Last    string            `json:"last,omitempty"`
	Dropped map[string]uint64 `json:"dropped,omitempty"`

	Damage   damage `json:"damage"` // within the file
	Torn     bool   `json:"torn"`
	TornAt   int64  `json:"torn_at,omitempty"`
	Repaired bool   `json:"repaired"` // by this repair or an earlier one
	Changed  bool   `json:"changed"`  // by this one
	Removed  bool   `json:"removed"`  // it held nothing whole
	Cut      int64  `json:"bytes_cut,omitempty"`
}

type damage struct {
	Places  int    `json:"places"`
	Bytes   int64  `json:"bytes"`
	Records uint64 `json:"records"`
}

func describeFile(r segment.Report) foundInFile {
	f := foundInFile{
		File: r.Path, Meta: r.Meta, Closed: r.Closed, Live: r.Live, Records: r.Records, Blocks: r.Blocks,
		Bytes: r.Size, Raw: r.Raw, Packed: r.Packed, Dropped: r.Drops, Damage: damage(r.Missing),
		Torn: r.Torn, TornAt: r.TornAt, Repaired: r.Repaired, Changed: r.Changed, Removed: r.Removed, Cut: r.Cut,
	}
	if r.Records > 0 {
		f.First, f.Last = stamp(r.First), stamp(r.Last)
	}
	return f
}

// eachFile does one thing with every file and prints what came of it. One bad
// file does not keep the others from being looked at.
func eachFile(s *streams, in *copied, paths []string, asJSON bool, do func(string) (segment.Report, error)) error {
	files, err := captureFiles(paths)
	if err != nil {
		return err
	}
	results := make([]fileResult, 0, len(files))
	bad := 0
	for _, f := range files {
		rep, err := do(f)
		rep.Path = in.name(rep.Path)
		res := fileResult{File: in.name(f), OK: err == nil, Report: describeFile(rep)}
		if err != nil {
			bad++
			res.Error = in.name(err.Error())
		}
		results = append(results, res)
		switch {
		case asJSON:
		case err != nil:
			fmt.Fprintf(s.out, "%s: %s\n", filepath.Base(f), res.Error)
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
