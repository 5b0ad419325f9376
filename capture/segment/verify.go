package segment

import (
	"errors"
	"io"
	"slices"
)

// Report is what Verify or Repair found in one file.
type Report struct {
	Path    string // of the file now: Repair gives an open one its final name
	Size    int64  // bytes
	Meta    Meta
	Closed  bool // it has a footer
	Live    bool // it has none because a living writer holds it
	Records uint64
	Blocks  uint64
	Raw     uint64 // bytes of the lines
	Packed  uint64 // bytes of the data frames
	First   int64  // Unix ns; 0 without lines
	Last    int64
	Drops   map[string]uint64

	Missing  Missing // damage inside
	Torn     bool
	TornAt   int64 // offset of the first byte that belongs to no whole part
	Repaired bool  // the footer was written by a repair, this one or an earlier

	Changed bool  // Repair did something
	Cut     int64 // bytes that Repair cut off
	Removed bool  // Repair removed a file that held no whole header
}

// Verify reads a whole file: every frame, checksum and sequence number, and the
// footer against what is there. The Report is complete also where the error
// says what is wrong: the first corrupt place, else the torn end (ErrTorn), also
// where only the footer is missing, unless a living writer holds the file.
func Verify(path string, opts ...ReadOption) (Report, error) {
	r, err := Open(path, append(slices.Clone(opts), WithOnCorrupt(Skip))...)
	if err != nil {
		return Report{Path: path}, err
	}
	defer r.Close()
	report, _, err := r.survey(true)
	return report, err
}

// survey reads the rest of the file and describes it; unpack: the blocks' lines
// too, not only their checksums. end is the offset behind the last whole part
// and table the blocks found.
func (r *Reader) survey(unpack bool) (report Report, found survey, err error) {
	for err == nil {
		var h blockHeader
		// Without an identity a sealed block's checksum is all there is to check.
		if h, err = r.nextWhole(unpack && r.locked == nil); err == nil {
			found.table.add(h.BlockInfo)
			found.end = h.end()
		}
	}
	if r.begun && found.end == 0 {
		found.end = r.first
	}
	if r.done {
		found.end = min(r.pos, r.size)
	}
	report = r.describe(&found.table)
	var torn *TornError
	switch {
	case errors.As(err, &torn):
		report.Torn, report.TornAt = true, torn.Offset
	case !errors.Is(err, io.EOF):
		return report, found, err
	case !r.done && r.openName() && r.in.Busy():
		report.Live, err = true, nil
	case !r.done:
		err = &TornError{Path: r.path, Offset: r.pos, Why: "no footer"}
		report.Torn, report.TornAt = true, r.pos
	default:
		err = r.checkFooter(&found.table)
	}
	if r.damage != nil {
		err = r.damage
	}
	return report, found, err
}

type survey struct {
	table Footer
	end   int64
}

// nextWhole gives the next block whose data frame is sound.
func (r *Reader) nextWhole(unpack bool) (blockHeader, error) {
	for {
		h, err := r.nextHeader()
		if err != nil {
			return h, err
		}
		ok, err := r.load(h, unpack)
		if err != nil {
			return h, err
		}
		if ok {
			r.pass(h)
			return h, nil
		}
	}
}

func (r *Reader) describe(t *Footer) Report {
	report := Report{
		Path: r.path, Size: r.size, Meta: r.meta, Closed: r.done,
		Records: t.Records, Blocks: uint64(len(t.Blocks)), Raw: t.Raw, Packed: t.Packed,
		First: t.First, Last: t.Last, Missing: r.missing,
	}
	if r.done {
		report.Drops, report.Repaired = r.footer.Drops, r.footer.Repaired
	}
	return report
}

// checkFooter compares the footer with the blocks. Where some are damaged the
// damage is what is reported.
func (r *Reader) checkFooter(t *Footer) error {
	f := r.footer
	if r.damage != nil {
		return nil
	}
	if f.Records != t.Records || f.Raw != t.Raw || f.Packed != t.Packed || f.First != t.First || f.Last != t.Last ||
		!slices.Equal(f.Blocks, t.Blocks) {
		return &CorruptError{Path: r.path, Offset: r.pos, Why: "footer contradicts the blocks"}
	}
	return nil
}
