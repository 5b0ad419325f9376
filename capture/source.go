package capture

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/esshadow/esshadow/capture/segment"
)

// ErrMixedKeys says that captures were made with different pseudonym keys: the
// same name then has different pseudonyms in them.
var ErrMixedKeys = errors.New("captures were made with different keys")

// SourceOptions says what a Source reads. The zero value reads everything and
// stops at damage.
type SourceOptions struct {
	From, To  int64 // Unix ns; From is included, To is not; 0 is no bound
	OnCorrupt segment.OnCorrupt
	MixedKeys bool // allow captures with different key ids
	// Identities open sealed captures.
	Identities segment.Identities
	// MaxHeld bounds the unpacked bytes of blocks that overlap in time; beyond it
	// blocks are unpacked again when their next line is due. 0 is 256 MiB. At
	// least one block is held.
	MaxHeld int64
}

const defaultMaxHeld = 256 << 20

// connBits is where the number of the writer begins in a Conn of a Source.
const connBits = 40

// Info is what headers and footers say about the records of a Source.
type Info struct {
	Files    int
	Metas    []segment.Meta // of every file that has one
	Captures []string
	Writers  []string // as capture/writer
	KeyIDs   []string // "" among them stands for files without
	Records  uint64   // lines of the blocks that From and To touch, gap lines among them
	RawBytes uint64   // their bytes
	Bytes    int64    // of all files
	First    int64    // smallest time of these blocks, Unix ns; 0 without
	Last     int64
	Dropped  map[string]uint64 // what the footers count
}

// Missing counts what was left out of damaged files with segment.Skip.
type Missing struct {
	Blocks  int
	Lines   int    // lines that are no records
	Records uint64 // lost with blocks, and those lines
}

// Source gives the records of segment files in order of time, whichever files
// and writers they come from. It holds only blocks that overlap in time with
// the record that is next, within MaxHeld. One goroutine uses it.
//
// So that connections of several writers do not mix, the Conn of a record has
// the number of its writer (0 for the first) from bit 40 on.
type Source struct {
	opt      SourceOptions
	files    []*sourceFile
	waiting  []blockRef // not begun, by first time
	merge    merge
	info     Info
	missing  Missing
	warnings []error
	dec      Decoder
	record   Record
	last     []byte // line of the record given last
	err      error
}

// sourceFile is a file of which blocks are to come.
type sourceFile struct {
	path   string
	number int    // among all files
	writer uint64 // number of the writer
	left   int    // blocks that may still be needed
	reader *segment.Reader
	from   int64 // what reader was told
	next   int64 // number of the block that reader gives next, -1 if not known
}

type blockRef struct {
	file *sourceFile
	info segment.BlockInfo
}

// OpenSource looks at all segment files of paths (files, or directories of
// them). Files that are cut, or still written, are read as far as they go, and
// named by Warnings.
func OpenSource(paths []string, opt SourceOptions) (*Source, error) {
	files, err := segment.List(segment.SuffixCapture, paths...)
	if err != nil {
		return nil, fmt.Errorf("capture: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("capture: no segment files (*%s) in %s", segment.SuffixCapture, strings.Join(paths, ", "))
	}
	if opt.To == 0 {
		opt.To = math.MaxInt64
	}
	if opt.From == 0 {
		opt.From = math.MinInt64
	}
	if opt.MaxHeld <= 0 {
		opt.MaxHeld = defaultMaxHeld
	}
	s := &Source{opt: opt, info: Info{Files: len(files), Dropped: map[string]uint64{}}}
	s.merge.limit = opt.MaxHeld
	for i, path := range files {
		if err := s.look(path, i); err != nil {
			return nil, fmt.Errorf("capture: %w", err)
		}
	}
	if len(s.info.KeyIDs) > 1 && !opt.MixedKeys {
		return nil, fmt.Errorf("capture: %w: %s", ErrMixedKeys, keyNames(s.info.KeyIDs))
	}
	slices.SortFunc(s.waiting, compareBlocks)
	return s, nil
}

func keyNames(ids []string) string {
	names := make([]string, len(ids))
	for i, id := range ids {
		if names[i] = "key id " + id; id == "" {
			names[i] = "none"
		}
	}
	return strings.Join(names, ", ")
}

// look takes a file's header and block table.
func (s *Source) look(path string, number int) error {
	r, err := segment.Open(path, segment.WithOnCorrupt(s.opt.OnCorrupt), segment.WithIdentities(s.opt.Identities))
	if err != nil {
		return err
	}
	blocks, err := r.Index()
	switch {
	case errors.Is(err, segment.ErrTorn):
		s.warnings = append(s.warnings, err)
	case err != nil:
		return errors.Join(err, r.Close())
	}
	f := &sourceFile{path: path, number: number}
	if meta := r.Meta(); meta.Format != 0 {
		if meta.Kind != segment.KindCapture {
			return errors.Join(fmt.Errorf("segment %s: holds %q, not a capture", path, meta.Kind), r.Close())
		}
		f.writer = s.meta(meta)
	}
	if foot := r.Footer(); foot != nil {
		for reason, n := range foot.Drops {
			s.info.Dropped[reason] += n
		}
	}
	if st, err := os.Stat(r.Path()); err == nil {
		s.info.Bytes += st.Size()
	}
	s.files = append(s.files, f)
	s.blocks(f, blocks)
	return r.Close()
}

// meta notes a file's header and gives the number of its writer.
func (s *Source) meta(m segment.Meta) (writer uint64) {
	s.info.Metas = append(s.info.Metas, m)
	name := m.Capture + "/" + m.Writer
	add := func(to *[]string, v string) int {
		i := slices.Index(*to, v)
		if i < 0 {
			i = len(*to)
			*to = append(*to, v)
		}
		return i
	}
	add(&s.info.Captures, m.Capture)
	add(&s.info.KeyIDs, m.KeyID)
	return uint64(add(&s.info.Writers, name))
}

// blocks takes the blocks within From and To, and counts those that the numbers
// of the lines say are missing.
func (s *Source) blocks(f *sourceFile, blocks []segment.BlockInfo) {
	next := uint64(0)
	for _, b := range blocks {
		if b.Index > next {
			s.lost(1, b.Index-next)
		}
		next = b.Index + uint64(b.Records)
		if b.Last < s.opt.From || b.First >= s.opt.To {
			continue
		}
		if s.info.Records == 0 {
			s.info.First, s.info.Last = b.First, b.Last
		}
		s.info.First, s.info.Last = min(s.info.First, b.First), max(s.info.Last, b.Last)
		s.info.Records += uint64(b.Records)
		s.info.RawBytes += uint64(b.RawLen)
		s.waiting = append(s.waiting, blockRef{f, b})
		f.left++
	}
}

func (s *Source) lost(blocks int, records uint64) {
	s.missing.Blocks += blocks
	s.missing.Records += records
}

// Info says what is to come, without having read it.
func (s *Source) Info() Info { return s.info }

// Warnings are the files that end within a block, each with its place. All
// whole records of them are read.
func (s *Source) Warnings() []error { return s.warnings }

// Missing counts what damage has cost so far.
func (s *Source) Missing() Missing { return s.missing }

// Next gives the next record, valid until the next call. io.EOF: there are no
// more.
func (s *Source) Next() (*Record, error) {
	if err := s.Read(&s.record); err != nil {
		return nil, err
	}
	return &s.record, nil
}

// Line is the line of the record that Next or Read gave last, as it stands in the
// file, valid until the next call.
func (s *Source) Line() []byte { return s.last }

// Read reads the next record into r, which is the caller's; its slices are used
// again. io.EOF: there are no more.
func (s *Source) Read(r *Record) error {
	for s.err == nil {
		line, at, err := s.line()
		if err != nil {
			s.err = err
			break
		}
		if err := s.dec.Decode(line, r); err != nil {
			s.err = s.damaged(fmt.Errorf("segment %s: block at offset %d: %w", at.file.path, at.info.Offset, err))
			continue
		}
		if r.Time >= s.opt.From && r.Time < s.opt.To {
			r.Conn |= at.file.writer << connBits
			s.last = line
			return nil
		}
	}
	return s.err
}

// damaged is err, or nil where lines that are no records are passed over.
func (s *Source) damaged(err error) error {
	if s.opt.OnCorrupt != segment.Skip {
		return err
	}
	s.missing.Lines++
	s.missing.Records++
	return nil
}

// line gives the next line in order of time.
func (s *Source) line() ([]byte, blockRef, error) {
	for len(s.waiting) > 0 && (s.merge.empty() || s.waiting[0].info.First <= s.merge.time()) {
		b := s.waiting[0]
		s.waiting = s.waiting[1:]
		raw, err := s.load(b, s.merge.buffer())
		if err != nil {
			return nil, b, err
		}
		if raw == nil {
			if err := s.done(b); err != nil {
				return nil, b, err
			}
			continue
		}
		s.merge.add(b, raw)
	}
	if s.merge.empty() {
		return nil, blockRef{}, io.EOF
	}
	return s.merge.pop(s.load, s.done)
}

// load unpacks a block into dst. nil: it is damaged, and that is to be passed
// over.
func (s *Source) load(b blockRef, dst []byte) ([]byte, error) {
	raw, err := b.file.block(b.info, segment.WithOnCorrupt(s.opt.OnCorrupt), segment.WithIdentities(s.opt.Identities))
	switch {
	case err == nil:
		return append(dst[:0], raw...), nil
	case errors.Is(err, errNoBlock) && s.opt.OnCorrupt == segment.Skip:
		s.lost(1, uint64(b.info.Records))
		return nil, nil
	}
	return nil, fmt.Errorf("capture: %w", err)
}

// done is called when a block is not needed any more: the last one closes its
// file.
func (s *Source) done(b blockRef) error {
	if b.file.left--; b.file.left == 0 {
		return b.file.close()
	}
	return nil
}

// Close closes all files.
func (s *Source) Close() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.close())
	}
	s.waiting, s.merge, s.err = nil, merge{}, io.EOF
	return errors.Join(errs...)
}

var errNoBlock = errors.New("block is damaged or gone")

// block reads one block. Blocks are mostly asked for one after the other.
func (f *sourceFile) block(b segment.BlockInfo, opts ...segment.ReadOption) ([]byte, error) {
	if f.reader == nil {
		r, err := segment.Open(f.path, opts...)
		if err != nil {
			return nil, err
		}
		f.reader, f.next = r, -1
	}
	if f.next != int64(b.Seq) || b.Last < f.from {
		// The first block that ends no earlier is this one, or stands a little
		// before it.
		f.from = b.Last
		if err := f.reader.SeekTime(b.Last); err != nil {
			return nil, err
		}
	}
	for {
		info, raw, err := f.reader.NextBlock()
		if errors.Is(err, io.EOF) || err == nil && info.Offset > b.Offset {
			f.next = -1
			return nil, fmt.Errorf("segment %s: offset %d: %w", f.path, b.Offset, errNoBlock)
		}
		if err != nil {
			return nil, err
		}
		if info.Offset == b.Offset {
			f.next = int64(info.Seq) + 1
			return raw, nil
		}
	}
}

func (f *sourceFile) close() error {
	if f.reader == nil {
		return nil
	}
	err := f.reader.Close()
	f.reader = nil
	return err
}
