package segment

import (
	"errors"
	"io"
	"math"
	"slices"
)

// Footer gives the file's footer, wherever reading is; nil while there is none.
func (r *Reader) Footer() *Footer {
	if r.footer == nil && r.begin() == nil {
		r.footer, r.footerAt = r.tail()
	}
	return r.footer
}

// SeekTime is SetRange(t, no end).
func (r *Reader) SeekTime(t int64) error { return r.SetRange(t, math.MaxInt64) }

// SetRange starts reading again, counters at zero, and from now on passes over
// blocks that lie wholly outside of from and to (Unix ns, both included): with a
// footer by its table, without one by the blocks' headers. Lines of a block that
// lies partly inside all come: their times are the caller's to know.
func (r *Reader) SetRange(from, to int64) error {
	r.from, r.to = from, to
	r.rest, r.err, r.done = nil, nil, false
	r.missing, r.damage = Missing{}, nil
	if err := r.begin(); err != nil {
		if errors.Is(err, ErrTorn) || errors.Is(err, io.EOF) {
			return nil // Next says it
		}
		return err
	}
	r.pos, r.seq, r.index = r.first, 0, 0
	if f := r.Footer(); f != nil {
		r.jump(f)
	}
	return nil
}

// jump goes to the first block within the range, or to the footer.
func (r *Reader) jump(f *Footer) {
	i := slices.IndexFunc(f.Blocks, func(b BlockInfo) bool { return b.Last >= r.from && b.First <= r.to })
	switch {
	case i == 0: // from the front, so that what is wrong there is seen
	case i > 0:
		r.pos, r.seq, r.index = f.Blocks[i].Offset, f.Blocks[i].Seq, f.Blocks[i].Index
	default:
		r.pos, r.index = r.footerAt, f.next()
	}
}

// Index lists the blocks of the whole file without unpacking them: from the
// footer, or by walking their headers; then it may end early, with Next's error
// beside what it found.
func (r *Reader) Index() ([]BlockInfo, error) {
	if f := r.Footer(); f != nil {
		return f.Blocks, nil
	}
	if err := r.begin(); err != nil {
		return nil, ignoreEOF(err)
	}
	c := *r
	c.pos, c.seq, c.index, c.err, c.done = c.first, 0, 0, nil, false
	var blocks []BlockInfo
	for {
		h, err := c.nextHeader()
		if err != nil {
			return blocks, ignoreEOF(err)
		}
		c.pass(h)
		blocks = append(blocks, h.BlockInfo)
	}
}

// ReadBlock gives the lines, each with its newline, of a block that Index or
// Footer told of, wherever reading is and without moving it, valid until the
// next call of any method. Damage is a *CorruptError, whatever the policy, and
// does not end reading; what was left of the block before is passed over.
func (r *Reader) ReadBlock(b BlockInfo) ([]byte, error) {
	r.rest = nil
	c := *r
	c.pos, c.seq, c.index, c.err, c.done, c.policy = b.Offset, b.Seq, b.Index, nil, false, Fail
	h, why, err := c.part()
	if err == nil && why == "" && h.BlockInfo != b {
		why = "another block than expected"
	}
	if err == nil && why == "" {
		why, err = c.fetch(h, true)
	}
	r.raw, r.packed, r.size = c.raw, c.packed, c.size
	switch {
	case errors.Is(err, io.EOF):
		why = "another block than expected"
	case err != nil:
		return nil, err
	}
	if why != "" {
		return nil, &CorruptError{Path: r.path, Offset: b.Offset, Why: why}
	}
	return r.raw, nil
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
