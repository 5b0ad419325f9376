package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/esshadow/esshadow/sanitize/audit"
)

func newSanitizeAudit(s *streams) *cobra.Command {
	var words, identity string
	var asJSON, detect bool
	c := &cobra.Command{
		Use:   "audit CAPTURE...",
		Short: "Look for personal data, secrets and given words in a capture, with a decoder of its own",
		Long: `audit reads capture files without the code that made them: zstd frames, JSON, and
whatever is encoded in values (percent, JSON escapes, HTML entities, base64 at four
offsets, hexadecimal, gzip, zlib, zstd, within each other to a depth of four).

It looks for mail addresses, account numbers, tokens, keys and credentials, for
telephone, resident and card numbers, and for the words of --words, one a line:
names of customers, numbers, whatever must not be there. Words are kept in memory
only. A finding is printed as its position and a digest that is equal for equal
values of this run; the value itself is never printed.

Permuted digits look like a telephone or card number now and then. Such hits are
counted beside what chance gives, and are findings where chance does not explain
them; give the real numbers as words to be sure of them.

A sealed capture holds values as they came, and is looked into with --identity
alone; without it nothing in it can be decoded. Exit codes: 0 clean; 3 findings;
4 not everything could be decoded.`,
		Example: `  esshadow sanitize audit capture/
  psql -Atc 'select email from customer' | esshadow sanitize audit capture/ --words -`,
		Args: someArgs("capture"),
		RunE: func(_ *cobra.Command, paths []string) (err error) {
			opt := audit.Options{Detect: detect}
			if !detect && words == "" {
				return usage("--detect=false: without --words there is nothing to look for")
			}
			if words == "-" && identity == "-" {
				return usage("--words, --identity: one of them can be standard input, not both")
			}
			paths, in, err := fromStdin(s, paths, identity, words)
			if err != nil {
				return err
			}
			defer func() { err = in.done(err) }()
			ids, err := identities("--identity", identity, s.in)
			if err != nil {
				return err
			}
			if len(ids) > 0 {
				opt.Unseal = func(path string, line func([]byte)) error { return sealedLines(path, ids, line) }
			}
			if words != "" {
				if opt.Words, err = readWords(words, s.in); err != nil {
					return usage("--words: %w", err)
				}
			}
			return runAudit(s, in, opt, paths, asJSON)
		},
	}
	f := c.Flags()
	f.StringVar(&words, "words", "", "`file` of words that must not be there, one a line; - for standard input")
	identityFlag(f, &identity)
	f.BoolVar(&detect, "detect", true, "look for what looks like personal data or a secret")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// nameIn gives a report the names of files that people know.
func nameIn(in *copied, r *audit.Report) {
	for i := range r.Findings {
		r.Findings[i].Segment = in.name(r.Findings[i].Segment)
	}
	for i := range r.Troubles {
		r.Troubles[i].Segment = in.name(r.Troubles[i].Segment)
	}
	for i := range r.Chance {
		r.Chance[i].First.Segment = in.name(r.Chance[i].First.Segment)
	}
}

func runAudit(s *streams, in *copied, opt audit.Options, paths []string, asJSON bool) error {
	files, err := allFiles(paths)
	if err != nil {
		return err
	}
	scan, err := audit.New(opt)
	if err != nil {
		return &codeError{exitUsage, err}
	}
	for _, f := range files {
		if err := scan.File(f); err != nil {
			return err
		}
	}
	r := scan.Report()
	nameIn(in, &r)
	if opt.Unseal == nil && slices.ContainsFunc(r.Troubles, func(t audit.Trouble) bool { return strings.Contains(t.What, "is sealed") }) {
		s.note("the capture is sealed: --identity FILE opens it")
	}
	if asJSON {
		err = printJSON(s.out, r)
	} else {
		err = printAudit(s.out, r, len(opt.Words))
	}
	return errors.Join(err, verdict(r.Found, r.Undecoded))
}

func printAudit(out io.Writer, r audit.Report, words int) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if len(r.Findings) > 0 {
		fmt.Fprintln(w, "KIND\tSEQ\tFIELD\tENCODED\tDIGEST\tFILE")
	}
	for _, f := range r.Findings {
		printFinding(w, f)
	}
	for _, t := range r.Troubles {
		fmt.Fprintf(w, "not decoded\t%s\t%s\t\t\t%s\n", seqText(t.Seq), t.What, filepath.Base(t.Segment))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, c := range r.Chance {
		say := "chance explains them"
		switch {
		case c.Hits == 0:
			say = "none"
		case c.Beyond:
			say = fmt.Sprintf("FOUND, more than chance gives; the first in record %s at %s of %s", seqText(c.First.Seq), c.First.Field, c.First.Segment)
		}
		fmt.Fprintf(out, "%s: %d of %d numbers look like one, %.1f expected by chance: %s\n", c.Detector, c.Hits, c.Candidates, c.Expected, say)
	}
	fmt.Fprintf(out, "%d lines in %d files, %d words looked for: %d findings, %d places not decoded\n", r.Lines, r.Files, words, r.Found, r.Undecoded)
	return nil
}

func printFinding(w io.Writer, f audit.Finding) {
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", f.Kind, seqText(f.Seq), f.Field, orDash(f.Way), f.Digest, filepath.Base(f.Segment))
}

func seqText(seq int64) string {
	if seq < 0 {
		return "-"
	}
	return fmt.Sprint(seq)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
