package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/internal/size"
	"github.com/esshadow/esshadow/sanitize"
)

func newSanitizeFilter(s *streams) *cobra.Command {
	var r rulesFlags
	var format string
	var skip bool
	line := size.Size(256 << 20)
	c := &cobra.Command{
		Use:   "filter",
		Short: "Sanitise a dump of documents, so that sanitised queries match them",
		Long: `filter reads documents from standard input and writes them sanitised to standard
output, with the same key and rules as a capture: a target that is loaded with
them answers the capture's queries as the source answered the originals.

--format bulk takes _bulk NDJSON, --format elasticdump the lines of elasticdump's
types data, mapping, settings, analyzer, alias, index, template, index_template and
component_template. The framing stays as it is: one line in, one line out, in
order. A line that cannot be sanitised is left out and counted by its reason; so is
a setting, an option or a rule of analysis that is not known.

Exit codes: 0 all lines were written; 4 some were left out, unless --skip-bad.`,
		Example: `  elasticdump --input http://source:9200/x --output $ --type data | esshadow sanitize filter --format elasticdump --key key > x.data
  esshadow sanitize filter --key key --rules rules.yaml < dump.ndjson > sanitised.ndjson`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if r.key == "" {
				return usage("--key: documents only match a capture that was made with the same key")
			}
			p, err := r.pipeline(c, s)
			if err != nil {
				return err
			}
			f, err := newDumpFilter(p, format, s.out, int(line))
			if err != nil {
				return err
			}
			return f.run(c.Context(), s, skip)
		},
	}
	r.add(c)
	f := c.Flags()
	f.Lookup("key").Usage = "pseudonym key `file`, the one that the capture is made with"
	f.StringVar(&format, "format", "bulk", "bulk or elasticdump")
	f.Var(&line, "max-line", "longest line; longer ones are left out")
	f.BoolVar(&skip, "skip-bad", false, "exit with 0 although lines were left out")
	return c
}

// dumpFilter rewrites a dump line by line.
type dumpFilter struct {
	worker  *sanitize.Worker
	out     *bufio.Writer
	max     int
	format  string
	lines   uint64
	written uint64
	bad     map[string]uint64
	why     map[string]uint64 // members that were left out of lines

	rec   capture.Record
	bulk  es.BulkReader
	names map[string]string
	body  []byte
}

// Reasons of the filter's own.
const (
	badLineTooLong = "line_too_long"
	badFraming     = "ndjson"
	badJSON        = "json"
	badMember      = "unknown_key"
)

func newDumpFilter(p *sanitize.Pipeline, format string, out io.Writer, max int) (*dumpFilter, error) {
	if format != "bulk" && format != "elasticdump" {
		return nil, usage("--format: %q is none of bulk, elasticdump", format)
	}
	return &dumpFilter{
		worker: p.Worker(), out: bufio.NewWriterSize(out, 1<<20), max: max, format: format,
		bad: map[string]uint64{}, why: map[string]uint64{}, names: map[string]string{},
	}, nil
}

func (f *dumpFilter) run(ctx context.Context, s *streams, skip bool) error {
	in := bufio.NewReaderSize(s.in, 1<<20)
	read := f.bulkItem
	if f.format == "elasticdump" {
		read = f.dumpLine
	}
	for {
		if err := ctx.Err(); err != nil {
			_ = f.out.Flush()
			return &codeError{code: exitInterrupted}
		}
		err := read(in)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return errors.Join(err, f.out.Flush())
		}
	}
	if err := f.out.Flush(); err != nil {
		return err
	}
	s.note("esshadow filter: %d lines read, %d written, %d left out%s%s", f.lines, f.written, capture.Sum(f.bad), reasons(f.bad), f.cut())
	if len(f.bad) > 0 && !skip {
		return &codeError{code: exitUndecoded}
	}
	return nil
}

func (f *dumpFilter) cut() string {
	if len(f.why) == 0 {
		return ""
	}
	return "; members left out of lines:" + reasons(f.why)
}

// line reads one line without its end; ok is false for one beyond the bound,
// which is read to its end. ended tells whether a line end was there.
func (f *dumpFilter) line(in *bufio.Reader) (line []byte, ended, ok bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) <= f.max {
			line = append(line, part...)
		} else {
			ok = true // too long, until returned
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) == 0 && !ok:
			return nil, false, false, io.EOF
		case err != nil && !errors.Is(err, io.EOF):
			return nil, false, false, err
		}
		f.lines++
		rest, ended := bytes.CutSuffix(line, []byte{'\n'})
		return rest, ended, !ok, nil
	}
}

// bulkItem handles one action and its document.
func (f *dumpFilter) bulkItem(in *bufio.Reader) error {
	action, _, fits, err := f.line(in)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(action)) == 0 && fits {
		f.written++
		return f.put(action)
	}
	item := append(action, '\n')
	n := uint64(1)
	hasDoc, ok := f.action(item)
	if hasDoc {
		doc, _, docFits, err := f.line(in)
		if errors.Is(err, io.EOF) {
			f.bad[badFraming]++
			return io.EOF
		}
		if err != nil {
			return err
		}
		item = append(append(item, doc...), '\n')
		n, fits = 2, fits && docFits
	}
	switch {
	case !fits:
		f.bad[badLineTooLong] += n
		return nil
	case !ok:
		f.bad[badFraming] += n
		return nil
	}
	out, drop := f.sanitise(item)
	if drop != "" {
		f.bad[drop] += n
		return nil
	}
	f.written += n
	_, err = f.out.Write(out)
	return err
}

// action tells what an action line says: whether a document follows. Where it
// cannot be read, the next line is looked upon as its document, which keeps a
// document from being taken for an action.
func (f *dumpFilter) action(line []byte) (hasDoc, ok bool) {
	f.bulk.Reset(line)
	it, err := f.bulk.Next()
	if err != nil {
		return true, false
	}
	return it.Op != es.BulkDelete && it.Word != es.BulkDelete, true
}

// sanitise runs lines of _bulk through the sanitiser. The result is good until
// the next call.
func (f *dumpFilter) sanitise(body []byte) ([]byte, string) {
	x := capture.Exchange{
		Method: "POST", Target: "/_bulk", Body: body, BodySize: int64(len(body)),
		Header: []capture.Header{{Name: "Content-Type", Value: "application/x-ndjson"}},
	}
	if drop := f.worker.Sanitize(&f.rec, &x); drop != "" {
		return nil, drop
	}
	return f.rec.Body, ""
}

func (f *dumpFilter) put(line []byte) error {
	if _, err := f.out.Write(line); err != nil {
		return err
	}
	return f.out.WriteByte('\n')
}

// name is the form of a field's name, of one level.
func (f *dumpFilter) name(field string) (string, bool) {
	return f.asked("n"+field, func() []byte { return es.AppendQuoted(append(f.body[:0], `{"index":{}}`+"\n{"...), []byte(field)) }, ":1}\n", func(out []byte) string {
		_, doc, _ := bytes.Cut(out, []byte{'\n'})
		return firstString(doc)
	})
}

// index is the form of an index name.
func (f *dumpFilter) index(name string) (string, bool) {
	return f.asked("i"+name, func() []byte { return es.AppendQuoted(append(f.body[:0], `{"index":{"_index":`...), []byte(name)) }, "}}\n{}\n", func(out []byte) string {
		_, value, _ := bytes.Cut(out, []byte(`"_index":`))
		return firstString(value)
	})
}

// maxNames bounds the names that are remembered.
const maxNames = 1 << 16

// asked runs a name through the sanitiser at its place and remembers the answer.
func (f *dumpFilter) asked(id string, begin func() []byte, end string, read func([]byte) string) (string, bool) {
	if got, ok := f.names[id]; ok {
		return got, true
	}
	f.body = append(begin(), end...)
	out, drop := f.sanitise(f.body)
	if drop != "" {
		return "", false
	}
	got := read(out)
	if len(f.names) < maxNames {
		f.names[id] = got
	}
	return got, true
}

// firstString is the text of the first string of a JSON text.
func firstString(text []byte) string {
	var t es.Tokens
	t.Reset(text)
	for {
		k, err := t.Next()
		if err != nil || k.Kind == es.End {
			return ""
		}
		if k.Kind == es.String || k.Kind == es.Key {
			s, _ := es.Unquote(nil, t.Raw(k))
			return string(s)
		}
	}
}

func (f *dumpFilter) skipped(what string) { f.why[what]++ }
