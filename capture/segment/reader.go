package segment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"
)

// DefaultMaxBlock is the longest raw block that a Reader takes by default.
const DefaultMaxBlock = 64 << 20

// OnCorrupt says what a Reader does with damage inside a file.
type OnCorrupt int

// Policies.
const (
	Fail OnCorrupt = iota // Next returns a *CorruptError, and the same from then on
	Skip                  // goes on at the next sound block and counts what is missing
)

// ReadOption changes how a Reader works.
type ReadOption func(*Reader)

// WithOnCorrupt sets the policy; Fail is the default.
func WithOnCorrupt(p OnCorrupt) ReadOption { return func(r *Reader) { r.policy = p } }

// WithFollow reads a file that still grows: where no whole block follows, Next
// returns io.EOF, and the next call looks again. Complete says when it is over.
func WithFollow() ReadOption { return func(r *Reader) { r.follow = true } }

// WithMaxBlock bounds what one block may take in memory, raw and packed, instead
// of DefaultMaxBlock. A longer block is a *LimitError.
func WithMaxBlock(n int) ReadOption { return func(r *Reader) { r.maxBlock = int64(n) } }

// Missing counts what a Reader with policy Skip had to leave out.
type Missing struct {
	Places  int    // stretches of damage
	Bytes   int64  // their length
	Records uint64 // lines that the gap in the blocks' numbers says are lost
}

// input is what a Reader reads: an *os.File, or bytes in tests.
type input interface {
	io.ReaderAt
	Size() (int64, error)
	Busy() bool // a writer holds it
	Close() error
}

type diskFile struct{ *os.File }

func (f diskFile) Size() (int64, error) {
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

func (f diskFile) Busy() bool { return busy(f.File) }

// Reader reads one file from front to back. It is used by one goroutine.
type Reader struct {
	in       input
	path     string
	policy   OnCorrupt
	follow   bool
	maxBlock int64
	from, to int64 // blocks wholly outside are passed over

	size    int64
	begun   bool // the header was read, or skipped as damage
	anyMark bool // the header was damage: the first sound block tells the mark
	mark    uint32
	meta    Meta
	first   int64 // offset behind the header

	pos     int64  // of the next part
	seq     uint32 // that the next block must have
	index   uint64 // that its first line must have
	missing Missing
	damage  error // the first that was skipped
	done    bool  // the footer was reached
	err     error // for good

	footer   *Footer // once known
	footerAt int64

	identities []age.Identity
	sealer     *sealer
	locked     error // why sealed blocks cannot be opened

	dec    *zstd.Decoder
	packed []byte
	opened []byte // data frame of a sealed block
	raw    []byte
	rest   []byte // lines of raw not given yet
}

// Open opens a file. What cannot be a segment, or is of a newer version, is an
// error here; a file that is cut within its header, or empty, opens, has no Meta,
// and says so at the first Next. An open name whose writer has just closed the
// file finds the closed one.
func Open(path string, opts ...ReadOption) (*Reader, error) {
	f, err := os.Open(path)
	if final, open := strings.CutSuffix(path, openSuffix); open && errors.Is(err, fs.ErrNotExist) {
		path = final
		f, err = os.Open(path)
	}
	if err != nil {
		return nil, fmt.Errorf("open segment: %w", err)
	}
	if st, err := f.Stat(); err == nil && !st.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("open segment %s: not a regular file", path), f.Close())
	}
	return newReader(diskFile{f}, path, opts...)
}

func newReader(in input, path string, opts ...ReadOption) (*Reader, error) {
	r := &Reader{in: in, path: path, maxBlock: DefaultMaxBlock, from: math.MinInt64, to: math.MaxInt64}
	for _, o := range opts {
		o(r)
	}
	var err error
	if r.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxMemory(uint64(max(r.maxBlock, 1<<10))), zstd.WithDecodeAllCapLimit(true)); err == nil {
		r.size, err = in.Size()
	}
	if err == nil {
		err = r.begin()
	}
	if err != nil && !errors.Is(err, ErrTorn) && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// Close closes the file.
func (r *Reader) Close() error {
	if r.dec != nil {
		r.dec.Close()
	}
	return r.in.Close()
}

// Path is the name that was opened.
func (r *Reader) Path() string { return r.path }

// Meta is the file's header; its Format is 0 while there is none.
func (r *Reader) Meta() Meta { return r.meta }

// Complete says that the footer was reached: no more lines will ever come.
func (r *Reader) Complete() bool { return r.done }

// Missing counts what was skipped so far.
func (r *Reader) Missing() Missing { return r.missing }

// Next gives the next line, without its newline, valid until the next call.
// io.EOF: there are no more (or, with WithFollow, not yet). A *TornError comes
// after all whole lines. A file with an open name that ends after a whole block,
// or that a living writer holds, ends with io.EOF.
func (r *Reader) Next() ([]byte, error) {
	for len(r.rest) == 0 {
		if _, _, err := r.NextBlock(); err != nil {
			return nil, err
		}
	}
	end := bytes.IndexByte(r.rest, '\n') // every block ends with one: checked by decode
	line := r.rest[:end]
	r.rest = r.rest[end+1:]
	return line, nil
}

// NextBlock gives the next block and its lines, each with its newline, valid
// until the next call; lines of the block before that Next has not given are
// passed over. Errors are those of Next.
func (r *Reader) NextBlock() (BlockInfo, []byte, error) {
	r.rest = nil
	for {
		h, err := r.nextHeader()
		if err != nil {
			return BlockInfo{}, nil, err
		}
		wanted := h.Last >= r.from && h.First <= r.to
		if wanted {
			ok, err := r.load(h, true)
			if err != nil {
				return BlockInfo{}, nil, err
			}
			if !ok {
				continue
			}
		}
		r.pass(h)
		if wanted {
			r.rest = r.raw
			return h.BlockInfo, r.raw, nil
		}
	}
}

// pass goes behind a block.
func (r *Reader) pass(h blockHeader) {
	r.missing.Records += h.Index - r.index
	r.pos, r.seq, r.index = h.end(), h.Seq+1, h.Index+uint64(h.Records)
}

// nextHeader gives the header of the block at pos, or why there is none. Its
// data frame lies within the file and within the limit.
func (r *Reader) nextHeader() (blockHeader, error) {
	for {
		if err := r.begin(); err != nil {
			return blockHeader{}, err
		}
		h, why, err := r.part()
		if err != nil || why == "" {
			return h, err
		}
		if err := r.bad(r.pos, r.pos+1, why); err != nil {
			return blockHeader{}, err
		}
	}
}

// part reads the header at pos. why is empty for a block's; else it says what is
// wrong. At the file's end or at the footer err is io.EOF.
func (r *Reader) part() (h blockHeader, why string, err error) {
	if r.err != nil {
		return h, "", r.err
	}
	if r.done {
		return h, "", io.EOF
	}
	b := make([]byte, blockLen)
	n, err := r.read(b, r.pos)
	if err != nil {
		return h, "", err
	}
	if n == 0 && r.openName() {
		return h, "", io.EOF
	}
	b = b[:n]
	if len(b) >= tagEnd && hasTag(b, tagFooter) {
		why, err := r.atFooter(b)
		return h, why, err
	}
	h, ok := decodeBlockHeader(b, r.pos)
	switch {
	case n == 0:
		return h, "no footer", nil
	case n < blockLen:
		return h, "cut within a header", nil
	case !ok:
		return h, "neither a block nor a footer", nil
	}
	return r.fits(h)
}

// fits judges a header whose checksum holds.
func (r *Reader) fits(h blockHeader) (_ blockHeader, why string, err error) {
	switch {
	case r.anyMark:
		r.mark, r.anyMark = h.mark, false
	case h.mark != r.mark:
		return h, "block of another file", nil
	}
	if h.newer != "" {
		return h, "", r.fail(&VersionError{Path: r.path, Offset: r.pos, What: h.newer})
	}
	if h.end() > r.size {
		r.grown()
	}
	if h.end() > r.size {
		return h, "cut within a block", nil
	}
	if h.Seq < r.seq || h.Index < r.index || h.Records == 0 || h.RawLen < h.Records {
		return h, "block out of order", nil
	}
	if (h.Seq != r.seq || h.Index != r.index) && r.policy == Fail {
		return h, "", r.fail(&CorruptError{Path: r.path, Offset: r.pos, Why: "blocks are missing"})
	}
	if int64(h.RawLen) > r.maxBlock || int64(h.PackedLen) > r.maxBlock+r.maxBlock/64+1024 {
		return h, "", r.tooLong(h)
	}
	return h, "", nil
}

// tooLong fails whatever the policy: the block is sound, only the reader was
// told to be careful.
func (r *Reader) tooLong(h blockHeader) error {
	return r.fail(&LimitError{
		Path: r.path, Offset: h.Offset, What: "block",
		Length: int64(max(h.RawLen, h.PackedLen)), Limit: r.maxBlock,
	})
}

// load reads a block and, with unpack, its lines into raw. false: it is damaged,
// and pos is where reading goes on.
func (r *Reader) load(h blockHeader, unpack bool) (bool, error) {
	why, err := r.fetch(h, unpack)
	if err != nil || why == "" {
		return err == nil, err
	}
	return false, r.bad(h.Offset, h.end(), why)
}

// fetch is load for a block wherever it is; why says what is wrong with it.
func (r *Reader) fetch(h blockHeader, unpack bool) (why string, err error) {
	r.packed = room(r.packed, int(h.PackedLen))[:h.PackedLen]
	n, err := r.read(r.packed, h.Offset+blockLen)
	switch {
	case err != nil:
		return "", err
	case n < len(r.packed):
		return "cut within a block", nil
	case sum(r.packed) != h.sum:
		return "block has a wrong checksum", nil
	case !unpack:
		return "", nil
	case (h.kind == kindSealed) != (len(r.meta.Sealed) > 0):
		return "block is sealed and the file is not, or the other way round", nil
	case h.kind != kindSealed:
		return r.decode(h, r.packed), nil
	case r.sealer == nil:
		return "", r.fail(fmt.Errorf("%s%w", place(r.path, h.Offset), r.locked))
	}
	frame, ok := r.sealer.open(r.opened, r.packed, r.mark, h.BlockInfo)
	if !ok {
		return "block is not what was sealed", nil
	}
	r.opened = frame
	return r.decode(h, frame), nil
}

// room gives b, or something larger, with room for n bytes. It gives a little
// more than asked for, since blocks of a file differ by a line.
func room(b []byte, n int) []byte {
	if cap(b) < n {
		b = make([]byte, 0, n+n/16)
	}
	return b[:0]
}

// decode unpacks a data frame into raw and checks it against the header.
func (r *Reader) decode(h blockHeader, frame []byte) (why string) {
	r.raw = room(r.raw, int(h.RawLen))
	raw, err := r.dec.DecodeAll(frame, r.raw[:0:h.RawLen])
	if err != nil || len(raw) != int(h.RawLen) {
		return "block does not unpack"
	}
	if raw[len(raw)-1] != '\n' || bytes.Count(raw, []byte{'\n'}) != int(h.Records) {
		return "block has a wrong number of lines"
	}
	r.raw = r.raw[:len(raw)]
	return ""
}

// read reads what there is at offset, which may be less than b holds.
func (r *Reader) read(b []byte, offset int64) (int, error) {
	n := int(max(0, min(int64(len(b)), r.size-offset)))
	if n < len(b) && r.grown() {
		return r.read(b, offset)
	}
	got, err := r.in.ReadAt(b[:n], offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, r.fail(fmt.Errorf("segment %s: offset %d: %w", r.path, offset, err))
	}
	return got, nil // less than n: the file was cut while it is read
}

// grown looks at the size again.
func (r *Reader) grown() bool {
	size, err := r.in.Size()
	if err != nil || size <= r.size {
		return false
	}
	r.size = size
	return true
}

// fail ends reading for good.
func (r *Reader) fail(err error) error {
	r.err = err
	return err
}
