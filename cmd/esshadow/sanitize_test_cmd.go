package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/esshadow/esshadow/sanitize/canary"
)

func newSanitizeTest(s *streams) *cobra.Command {
	var r canaryRun
	var file string
	var asJSON, builtIn bool
	var kept []string
	c := &cobra.Command{
		Use:   "test",
		Short: "Send requests with marked values through the whole pipeline and look for the marks",
		Long: `test starts a proxy of this program before an upstream that it plays itself, sends
requests with a marked value in every position that the sanitiser knows (and
answers, and malformed requests), and looks for the marks in the capture, in the
log at level debug, and in the metrics, with a decoder that shares no code with the
sanitiser. All of it stays on 127.0.0.1 and in a directory that is removed.

A mark is KEPT by the preset, which is no leak and is not counted as absent, where
the policy states that it keeps all values of that class, and the record shows the
mark nowhere but in such values: index names (first in a path, in the actions of
_bulk, the headers of _msearch, the docs of _mget), and where no rule or schema says
otherwise JSON numbers (but ids, and those that look like a person's), strings that
are a date, and places of geo clauses. With --rules the rules of the file are
tested. Marks that a rule keeps on purpose are leaks to this test, as it cannot know
what was meant: name those cases with --kept.

Exit codes: 0 no mark was found but those that are kept; 3 leaks; 4 something could
not be decoded.`,
		Example: "  esshadow sanitize test\n  esshadow sanitize test --preset fidelity\n  esshadow sanitize test --rules rules.yaml --cases more-cases.ndjson",
		Args:    noArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if r.cases, err = canaryCases(s, file, builtIn || file == ""); err != nil {
				return err
			}
			if err := keptCases(r.cases, kept); err != nil {
				return err
			}
			r.presetGiven = said(c, s, "preset")
			dir, remove, err := tempDir()
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, remove()) }()
			r.dir = filepath.Join(dir, "capture")
			res, err := r.run(c.Context())
			if err != nil {
				return err
			}
			if asJSON {
				err = printJSON(s.out, res)
			} else {
				err = printCanaries(s.out, res)
			}
			return errors.Join(err, verdict(res.Leaked+res.NotDropped, res.Undecoded))
		},
	}
	f := c.Flags()
	f.StringVar(&r.preset, "preset", "strict", "sanitising preset to test")
	f.StringVar(&r.rules, "rules", "", "sanitising rules `file` to test")
	f.StringVar(&r.schema, "schema", "", "what 'esshadow schema pull' wrote of the source: `file`; before the one that the rules name")
	f.StringVar(&r.key, "key", "", "pseudonym key `file`; absent: a key for this run")
	f.StringVar(&file, "cases", "", "`file` of cases, one JSON object a line, instead of the built-in ones")
	f.StringSliceVar(&kept, "kept", nil, "`names` of cases whose value the preset or the rules keep on purpose")
	f.BoolVar(&builtIn, "built-in", false, "the built-in cases besides those of --cases")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func canaryCases(s *streams, file string, builtIn bool) (cases []canary.Case, err error) {
	if builtIn {
		if cases, err = canary.Cases(); err != nil {
			return nil, err
		}
	}
	if file == "" {
		return cases, nil
	}
	text, err := readInput(file, s.in)
	if err != nil {
		return nil, usage("--cases: %w", err)
	}
	more, err := canary.Read(bytes.NewReader(text))
	if err != nil {
		return nil, usage("--cases: %w", err)
	}
	if len(more) == 0 {
		return nil, usage("--cases: the file has none")
	}
	return append(cases, more...), nil
}

// keptCases marks the cases whose value is kept on purpose.
func keptCases(cases []canary.Case, names []string) error {
	for _, name := range names {
		found := false
		for i := range cases {
			if cases[i].Name == name {
				found = true
				cases[i].KeptIn = append(cases[i].KeptIn, canary.AnyPreset)
			}
		}
		if !found {
			return usage("--kept: there is no case %q", name)
		}
	}
	return nil
}

func printCanaries(out io.Writer, r *canaryResult) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, k := range r.KeptCases {
		fmt.Fprintf(w, "KEPT by the preset\t%s\t%s\t%s\t%s\n", k.Case, k.Position, k.Where, strings.Join(k.Classes, ", "))
	}
	for _, l := range r.Leaks {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", upper(l.What), l.Case, l.Position, l.Where, l.Way)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "preset %s, %d cases: %d absent, %d dropped, %d kept by design, %d KEPT by the preset, %d LEAKED, %d not dropped\n",
		r.Preset, r.Cases, r.Absent, r.Dropped, r.Kept, r.ByPolicy, r.Leaked, r.NotDropped)
	fmt.Fprintf(out, "looked through %d bytes of capture, %d of log, %d of metrics; %d places not decoded\n",
		r.Looked["capture"], r.Looked["log"], r.Looked["metrics"], r.Undecoded)
	fmt.Fprintf(out, "dropped in the capture: %s\n", counted(r.Reasons))
	return nil
}

// upper shouts what must be seen.
func upper(what string) string {
	if what == "leaked" {
		return "LEAKED"
	}
	return "NOT DROPPED"
}
