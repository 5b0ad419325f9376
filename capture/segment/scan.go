package segment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

func (r *Reader) openName() bool { return strings.HasSuffix(r.path, openSuffix) }

// begin reads the file's header, once there is a whole one.
func (r *Reader) begin() error {
	if r.begun || r.err != nil {
		return r.err
	}
	b := make([]byte, fileFixed)
	n, err := r.read(b, 0)
	if err != nil {
		return err
	}
	b = b[:n]
	switch {
	case n == 0 && r.openName():
		return io.EOF
	case !hasTag(b, tagFile):
		// Zeros are what a power loss leaves; anything else is no file of ours.
		return r.badHeader("not a segment file", len(bytes.Trim(b, "\x00")) > 0)
	case n < fileFixed:
		return r.badHeader("cut within the file header", false)
	}
	whole := wholeFrame(b)
	if whole > maxMeta || whole < fileFixed+sumLen {
		return r.badHeader("header has a wrong length", false)
	}
	b = make([]byte, whole)
	if n, err = r.read(b, 0); err != nil {
		return err
	}
	if n < len(b) {
		return r.badHeader("cut within the file header", false)
	}
	return r.header(b)
}

func (r *Reader) header(b []byte) error {
	m, mark, newer, bad := decodeFileHeader(b)
	switch {
	case newer != "":
		return r.fail(&VersionError{Path: r.path, What: newer})
	case bad != "":
		return r.badHeader(bad, false)
	}
	r.begun, r.meta, r.mark = true, m, mark
	if len(m.Sealed) > 0 {
		r.sealer, r.locked = unwrapKey(m.Sealed, r.identities)
	}
	r.pos, r.first = int64(len(b)), int64(len(b))
	return nil
}

// badHeader deals with a damaged header like bad; sound blocks behind it can
// still be read, without Meta. foreign: this is corrupt even if nothing follows.
func (r *Reader) badHeader(why string, foreign bool) error {
	r.anyMark = true
	if foreign {
		if next, err := r.resync(0); err != nil || next < 0 {
			return r.fail(errors.Join(err, &CorruptError{Path: r.path, Why: why}))
		}
	}
	if err := r.bad(0, 0, why); err != nil {
		r.anyMark = false
		return err
	}
	r.begun, r.first = true, r.pos
	return nil
}

// bad deals with bytes at offset at that are no whole part; from is where a
// sound one may follow. If none does, the file is torn there (or, with follow
// or under a living writer, not yet written); if one does, it is corrupt. nil:
// pos is at the next sound part.
func (r *Reader) bad(at, from int64, why string) error {
	next, err := r.resync(from)
	switch {
	case err != nil:
		return r.fail(err)
	case next < 0 && (r.follow || r.openName() && r.in.Busy()):
		return io.EOF
	case next < 0:
		return r.fail(&TornError{Path: r.path, Offset: at, Why: why})
	}
	damage := &CorruptError{Path: r.path, Offset: at, Why: why}
	if r.policy == Fail {
		return r.fail(damage)
	}
	if r.damage == nil {
		r.damage = damage
	}
	r.missing.Places++
	r.missing.Bytes += next - at
	r.pos = next
	return nil
}

// resync finds the first sound part at or behind from; -1: there is none. It
// reads on in steps and only looks at headers, so that its cost is one pass over
// the rest of the file.
func (r *Reader) resync(from int64) (int64, error) {
	magic := appendFrame(nil, "", 0)[:4]
	buf := make([]byte, 64<<10)
	for at := from; at < r.size; {
		n, err := r.in.ReadAt(buf[:min(int64(len(buf)), r.size-at)], at)
		if err != nil && !errors.Is(err, io.EOF) {
			return -1, fmt.Errorf("segment %s: offset %d: %w", r.path, at, err)
		}
		for i := 0; ; i++ {
			step := bytes.Index(buf[i:n], magic)
			if step < 0 {
				break
			}
			i += step
			if r.soundBlock(at + int64(i)) {
				return at + int64(i), nil
			}
		}
		if n < len(buf) {
			break
		}
		at += int64(n) - int64(len(magic)) + 1
	}
	if f, at := r.tail(); f != nil && at >= from {
		return at, nil
	}
	return -1, nil
}

// soundBlock says whether a block of this file, not before the one expected,
// begins at offset and lies within the file.
func (r *Reader) soundBlock(offset int64) bool {
	b := make([]byte, blockLen)
	if n, _ := r.in.ReadAt(b, offset); n < blockLen {
		return false
	}
	h, ok := decodeBlockHeader(b, offset)
	return ok && (r.anyMark || h.mark == r.mark) && h.end() <= r.size && h.Seq >= r.seq && h.Index >= r.index
}

// Drops are the writer's counts by reason, as the footer has them: nil while it
// was not reached, or where there is none.
func (r *Reader) Drops() map[string]uint64 {
	if r.footer == nil {
		return nil
	}
	return r.footer.Drops
}

// atFooter reads the footer at pos, whose first bytes are b: io.EOF if it is one.
func (r *Reader) atFooter(b []byte) (why string, err error) {
	n := wholeFrame(b)
	switch {
	case n > maxFooter:
		return "footer has a wrong length", nil
	case r.pos+n > r.size && !r.grown() || r.pos+n > r.size:
		return "cut within the footer", nil
	}
	whole := make([]byte, n)
	if got, err := r.read(whole, r.pos); err != nil || got < len(whole) {
		return "cut within the footer", err
	}
	f, newer, bad := decodeFooter(whole, r.mark, r.anyMark)
	switch {
	case newer != "":
		return "", r.fail(&VersionError{Path: r.path, Offset: r.pos, What: newer})
	case bad != "":
		return bad, nil
	case f.next() < r.index:
		return "footer contradicts the blocks", nil
	case f.next() > r.index && r.policy == Fail:
		return "", r.fail(&CorruptError{Path: r.path, Offset: r.pos, Why: "blocks are missing"})
	}
	r.missing.Records += f.next() - r.index
	r.footer, r.footerAt, r.done = f, r.pos, true
	r.pos, r.index = r.pos+n, f.next()
	return "", r.behindFooter()
}

// behindFooter is io.EOF, unless the file goes on.
func (r *Reader) behindFooter() error {
	extra := r.size - r.pos
	if extra <= 0 {
		return io.EOF
	}
	damage := &CorruptError{Path: r.path, Offset: r.pos, Why: "bytes behind the footer"}
	if r.policy == Fail {
		return r.fail(damage)
	}
	if r.damage == nil {
		r.damage = damage
	}
	r.missing.Places++
	r.missing.Bytes += extra
	return io.EOF
}

// tail reads the footer by the last bytes of the file; nil where there is none.
func (r *Reader) tail() (*Footer, int64) {
	b := make([]byte, tailLen)
	if n, _ := r.in.ReadAt(b, max(0, r.size-tailLen)); n < tailLen {
		return nil, 0
	}
	n := footerLenAtTail(b)
	if n < footerFixed+tailLen || n > r.size || n > maxFooter {
		return nil, 0
	}
	b = make([]byte, n)
	if got, _ := r.in.ReadAt(b, r.size-n); got < len(b) {
		return nil, 0
	}
	f, _, bad := decodeFooter(b, r.mark, r.anyMark)
	if bad != "" || f == nil {
		return nil, 0
	}
	return f, r.size - n
}
