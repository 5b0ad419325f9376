package es

// itemForm is what the items of a _bulk answer have in common, all but the values of
// members that are not counted by. An item of the form of one that was read counts as
// that one did, and need not be read.
type itemForm struct {
	pieces []itemPiece // empty: none is known
	count  int         // where items of the form are counted

	learned, followed int // in this answer
}

// itemPiece is a part of the answer in which the form stands: what an item has before
// a value that may be any, or at its end.
type itemPiece struct {
	from, to int
	last     bool
}

const (
	maxPieces = 16
	minLearns = 16 // forms that are learned before they must have been worth it
)

func (f *itemForm) forget() { *f = itemForm{pieces: f.pieces[:0]} }

// learn makes f the form of the item that stands in in[from:to], its first brace not
// included.
func (f *itemForm) learn(in []byte, from, to, count int) {
	if f.learned >= minLearns && f.followed < 4*f.learned {
		return
	}
	f.learned++
	f.pieces, f.count = f.pieces[:0], count
	start := from
	for i := from; i < to; {
		if in[i] != '"' {
			i++
			continue
		}
		end := quoteEnd(in, i+1)
		if end < 0 || end >= to {
			f.pieces = f.pieces[:0]
			return
		}
		name := in[i+1 : end-1]
		i = end
		if in[end] != ':' {
			continue
		}
		i++
		if string(name) == "error" || string(name) == "failure_store" {
			f.pieces = f.pieces[:0]
			return
		}
		if end = scalarSkip(in, i); anyValue(name) && end > 0 && len(f.pieces) < maxPieces {
			f.pieces = append(f.pieces, itemPiece{from: start, to: i})
			i, start = end, end
		}
	}
	f.pieces = append(f.pieces, itemPiece{from: start, to: to, last: true})
}

// follow passes over the rest of an item, whose first brace was taken, if it has the
// form.
func (f *itemForm) follow(c *cursor) bool {
	in, i := c.in, c.pos
	for _, p := range f.pieces {
		size := p.to - p.from
		if len(in)-i < size || string(in[i:i+size]) != string(in[p.from:p.to]) {
			return false
		}
		if i += size; p.last {
			c.pos, c.fresh = i, false
			f.followed++
			return true
		}
		if i = scalarSkip(in, i); i < 0 {
			return false
		}
	}
	return false
}

// anyValue tells the members of an item by which it is not counted, and whose values
// hardly ever are those of the item before.
func anyValue(name []byte) bool {
	switch string(name) {
	case "_index", "_id", "_version", "_seq_no", "_primary_term", "result":
		return true
	}
	return false
}

// scalarSkip is the offset after the string or number at i, as cursor.next takes it,
// -1 where none stands.
func scalarSkip(in []byte, i int) int {
	if i >= len(in) {
		return -1
	}
	switch b := in[i]; {
	case b == '"':
		return quoteEnd(in, i+1)
	case b != '-' && (b < '0' || b > '9'):
		return -1
	}
	for i < len(in) && inNumber(in[i]) {
		i++
	}
	return i
}
