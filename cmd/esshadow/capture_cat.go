package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/capture/segment"
	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/replay"
)

// catCmd is what capture cat is asked for.
type catCmd struct {
	from, to, op string
	identity     string
	limit        int
	skip         bool
}

func newCaptureCat(s *streams) *cobra.Command {
	var q catCmd
	c := &cobra.Command{
		Use:   "cat PATH...",
		Short: "Print records as NDJSON, in order of time",
		Long: `cat prints the records of segment files and of directories of them; - is a segment
file on standard input.`,
		Example: `  esshadow capture cat --op bulk --limit 1 capture/ | jq .
  esshadow capture cat --from +5m --to +6m capture/ > minute.ndjson
  ssh es1 cat /var/lib/esshadow/x.ndjson.zst | esshadow capture cat -`,
		Args: someArgs("path"),
		RunE: func(_ *cobra.Command, paths []string) error { return q.run(s, paths) },
	}
	f := c.Flags()
	f.StringVar(&q.from, "from", "", "begin at this `time`: RFC 3339, +5m after the first record, -1h before the last")
	f.StringVar(&q.to, "to", "", "end at this `time`, likewise")
	f.StringVar(&q.op, "op", "", "only this operation, such as search or bulk")
	f.IntVar(&q.limit, "limit", 0, "stop after so many records; 0: all")
	identityFlag(f, &q.identity)
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

func (q *catCmd) options(s *streams, paths []string) (opt capture.SourceOptions, err error) {
	opt.MixedKeys = true
	if opt.Identities, err = identities("--identity", q.identity, s.in); err != nil {
		return opt, err
	}
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
	if opt.To != 0 && opt.To <= opt.From {
		return opt, usage("--to: want a time after --from")
	}
	return opt, windowKeys{"--from", "--to"}.nothingThere(paths, opt, info)
}

func (q *catCmd) run(s *streams, paths []string) (err error) {
	paths, in, err := fromStdin(s, paths, q.identity)
	if err != nil {
		return err
	}
	defer func() { err = in.done(err) }()
	opt, err := q.options(s, paths)
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
	return warned(s, in, src)
}

// print writes the records that were asked for.
func (q *catCmd) print(src *capture.Source, out io.Writer) error {
	var line []byte
	others := map[string]uint64{}
	for n := 0; q.limit == 0 || n < q.limit; {
		r, err := src.Next()
		if errors.Is(err, io.EOF) {
			if n == 0 && len(others) > 0 {
				return fmt.Errorf("--op: no record is of %s: there are %s", q.op, counted(others))
			}
			return nil
		}
		if err != nil {
			return err
		}
		if q.op != "" && r.Op != q.op {
			if r.Kind != capture.KindGap {
				others[r.Op]++
			}
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
func warned(s *streams, in *copied, src *capture.Source) error {
	for _, w := range src.Warnings() {
		s.note("esshadow capture: warning: %s", in.name(w.Error()))
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
