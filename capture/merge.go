package capture

import (
	"bytes"
	"cmp"
	"container/heap"
	"math"
	"slices"
)

// lineAt is where a line of a block stands, and its time.
type lineAt struct {
	time       int64
	start, end int
}

// cursor goes through the lines of one block in order of time.
type cursor struct {
	block blockRef
	raw   []byte // nil: given back to keep the bound; loaded again when needed
	lines []lineAt
	pos   int
}

func (c *cursor) time() int64 { return c.lines[c.pos].time }

// merge gives the lines of several blocks in order of time, and of lines of the
// same time those of the earlier file, block and place first.
type merge struct {
	cursors cursorHeap
	limit   int64
	held    int64
	spare   [][]byte
	last    *cursor // whose line was given out, if that was its last
}

func (m *merge) empty() bool { return len(m.cursors) == 0 }

// time is that of the line that is next.
func (m *merge) time() int64 { return m.cursors[0].time() }

const (
	spareCount = 4
	spareSize  = 4 << 20
)

// buffer is one to unpack into. It is called before the next line is given, so
// the buffer of the last line's block is free by then.
func (m *merge) buffer() []byte {
	m.recycle()
	if n := len(m.spare); n > 0 {
		b := m.spare[n-1]
		m.spare = m.spare[:n-1]
		return b
	}
	return nil
}

func (m *merge) recycle() {
	if m.last == nil {
		return
	}
	if len(m.spare) < spareCount && cap(m.last.raw) <= spareSize {
		m.spare = append(m.spare, m.last.raw[:0])
	}
	m.last = nil
}

// add takes an unpacked block.
func (m *merge) add(b blockRef, raw []byte) {
	c := &cursor{block: b, raw: raw, lines: indexLines(raw, int(b.info.Records))}
	if len(c.lines) == 0 {
		return
	}
	m.held += int64(len(raw))
	heap.Push(&m.cursors, c)
	m.shrink(c)
}

// shrink gives up what is needed last until the bound holds, but not keep.
func (m *merge) shrink(keep *cursor) {
	for m.held > m.limit {
		var latest *cursor
		for _, c := range m.cursors {
			if c.raw != nil && c != keep && (latest == nil || c.time() > latest.time()) {
				latest = c
			}
		}
		if latest == nil {
			return
		}
		m.held -= int64(len(latest.raw))
		latest.raw = nil
	}
}

// pop gives the next line, valid until the next call of any method. load and
// done are those of Source.
func (m *merge) pop(load func(blockRef, []byte) ([]byte, error), done func(blockRef) error) ([]byte, blockRef, error) {
	m.recycle()
	c := m.cursors[0]
	if c.raw == nil {
		raw, err := load(c.block, m.buffer())
		if err == nil && raw == nil {
			err = errNoBlock // it was there a moment ago
		}
		if err != nil {
			return nil, c.block, err
		}
		c.raw = raw
		m.held += int64(len(raw))
		m.shrink(c)
	}
	l := c.lines[c.pos]
	line := c.raw[l.start:l.end]
	if c.pos++; c.pos < len(c.lines) {
		heap.Fix(&m.cursors, 0)
		return line, c.block, nil
	}
	heap.Pop(&m.cursors)
	m.held -= int64(len(c.raw))
	m.last = c
	return line, c.block, done(c.block)
}

// indexLines finds the lines of a block and orders them by time.
func indexLines(raw []byte, n int) []lineAt {
	lines := make([]lineAt, 0, n)
	var last int64
	for at := 0; at < len(raw); {
		end := bytes.IndexByte(raw[at:], '\n')
		if end < 0 {
			end = len(raw) - at
		}
		t, ok := lineTime(raw[at : at+end])
		if !ok {
			t = last // no record: it fails, or is passed over, in its place
		}
		last = t
		lines = append(lines, lineAt{t, at, at + end})
		at += end + 1
	}
	slices.SortStableFunc(lines, func(a, b lineAt) int { return cmp.Compare(a.time, b.time) })
	return lines
}

// lineTime is the time of a line. The codec's own lines have it near their
// beginning; any other is decoded.
func lineTime(line []byte) (int64, bool) {
	rest := line
	if cut, ok := bytes.CutPrefix(rest, []byte(`{"seq":`)); ok {
		rest = bytes.TrimLeft(cut, "0123456789")
		rest = bytes.TrimPrefix(rest, []byte(`,"kind":"gap"`))
		if digits, ok := bytes.CutPrefix(rest, []byte(`,"t":`)); ok {
			if t, ok := leadingInt(digits); ok {
				return t, true
			}
		}
	}
	var r Record
	err := DecodeRecord(line, &r)
	return r.Time, err == nil
}

// leadingInt reads a whole number that a comma or the end of an object follows.
// What an int64 cannot hold is left to the decoder.
func leadingInt(b []byte) (v int64, ok bool) {
	b, minus := bytes.CutPrefix(b, []byte("-"))
	for i, c := range b {
		switch {
		case c >= '0' && c <= '9' && v <= (math.MaxInt64-int64(c-'0'))/10:
			v = v*10 + int64(c-'0')
		case c == '}' || c == ',':
			if minus {
				v = -v
			}
			return v, i > 0
		default:
			return 0, false
		}
	}
	return 0, false
}

// cursorHeap is a heap.Interface.
type cursorHeap []*cursor

func (h cursorHeap) Len() int      { return len(h) }
func (h cursorHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h cursorHeap) Less(i, j int) bool {
	a, b := h[i], h[j]
	return cmp.Or(cmp.Compare(a.time(), b.time()), comparePlaces(a.block, b.block)) < 0
}

// Push is heap.Interface's.
func (h *cursorHeap) Push(x any) { *h = append(*h, x.(*cursor)) }

// Pop is heap.Interface's.
func (h *cursorHeap) Pop() any {
	old := *h
	n := len(old) - 1
	c := old[n]
	old[n] = nil
	*h = old[:n]
	return c
}

func compareBlocks(a, b blockRef) int {
	return cmp.Or(cmp.Compare(a.info.First, b.info.First), comparePlaces(a, b))
}

func comparePlaces(a, b blockRef) int {
	return cmp.Or(cmp.Compare(a.file.number, b.file.number), cmp.Compare(a.info.Offset, b.info.Offset))
}
