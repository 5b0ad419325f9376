package es

import (
	"errors"
	"fmt"
	"io"
)

// BulkOp is what a line of a _bulk body does with a document.
type BulkOp uint8

// The four actions.
const (
	BulkIndex BulkOp = iota
	BulkCreate
	BulkUpdate
	BulkDelete
)

// String is the action's name as it stands in bodies and answers.
func (o BulkOp) String() string {
	switch o {
	case BulkIndex:
		return "index"
	case BulkCreate:
		return "create"
	case BulkUpdate:
		return "update"
	case BulkDelete:
		return "delete"
	}
	return "unknown"
}

// ErrBulkAction is a line that should be an action and is none: the engines
// refuse the whole request.
var ErrBulkAction = errors.New("malformed bulk action")

// BulkItem is one action and its document. The slices are parts of the body
// that the reader was given and live as long as it does.
type BulkItem struct {
	Op   BulkOp // what happens: an index with "op_type":"create" is a create
	Word BulkOp // the key that stands in the action line
	Line int    // number of the action line, from 1
	// Meta is the object that follows the action's key, braces included; MetaStart
	// is its offset in the body. Its keys may be any: only their syntax is checked.
	Meta      []byte
	MetaStart int
	// Tail is text after the action object on the same line, nil if none.
	Tail []byte
	// Doc is the document line without its line end, not looked at: it may be
	// empty, malformed or hold more than one value (Tokens.SplitValue tells). It is
	// nil for a delete, and where NoDoc says so.
	Doc      []byte
	DocStart int
	// Auto: an index or create without an _id, which is then the server's choice.
	Auto bool
	// NoDoc: the body ends where the document should come. The engines pass over
	// such an action without a word.
	NoDoc bool
	// Start and End are the extent of the item's lines in the body, the line ends
	// included, blank lines before the action not.
	Start, End int
}

// BulkReader walks over a _bulk body by the framing rules of the engines: lines
// end in "\n" alone; white space where an action is expected is passed over; the
// line after an index, create or update is its document, even a blank one; a
// delete has none. A missing last "\n" is no error here: see EndsInNewline. Lines
// may have any length, and a BulkReader that is used again allocates nothing.
type BulkReader struct {
	body   []byte
	pos    int
	line   int // number of the line that begins at pos
	err    error
	tokens Tokens
	text   []byte

	last BulkItem // what again knows lines by: one that ends with its id
	head int      // bytes of that line before the id's opening quote, 0: there is none
}

// Reset starts reading body, which must not change while items are taken.
func (b *BulkReader) Reset(body []byte) {
	b.body, b.pos, b.line, b.err = body, 0, 1, nil
	b.head = 0
}

// Next returns the next item, io.EOF after the last. An error names the line and
// wraps ErrBulkAction; what follows it cannot be framed, so Next then keeps
// returning it.
func (b *BulkReader) Next() (BulkItem, error) {
	if b.err != nil {
		return BulkItem{}, b.err
	}
	var it BulkItem
	var line []byte
	for {
		if b.pos >= len(b.body) {
			b.err = io.EOF
			return BulkItem{}, b.err
		}
		it.Start, it.Line = b.pos, b.line
		if line = b.take(); !blank(line) {
			break
		}
	}
	if err := b.action(&it, line); err != nil {
		b.err = fmt.Errorf("bulk line %d: %w", it.Line, err)
		return BulkItem{}, b.err
	}
	switch {
	case it.Op == BulkDelete:
	case b.pos >= len(b.body):
		it.NoDoc = true
	default:
		it.DocStart = b.pos
		it.Doc = trimCR(b.take())
	}
	it.End = b.pos
	return it, nil
}

func (b *BulkReader) take() []byte {
	line, rest, _ := cutLine(b.body[b.pos:])
	b.pos = len(b.body) - len(rest)
	b.line++
	return line
}

// quick is action for a line such as almost all are: no white space, no name with an
// escape, and no value that is an object or an array. ok is false for any other, and
// for one that is malformed; it is then as it was.
func (b *BulkReader) quick(it *BulkItem, line []byte) (ok bool) {
	word, i := quickWord(line)
	if i == 0 {
		return false
	}
	b.tokens.Reset(line)
	op, auto, first := word, true, true
	id := 0
	for start := i; ; i++ {
		if i >= len(line) {
			return false
		}
		if i == start && line[i] == '}' {
			break
		}
		k, err := b.tokens.ScalarAt(i)
		if err != nil || k.Kind != String || k.Escaped || k.End >= len(line) || line[k.End] != ':' {
			return false
		}
		name := line[i+1 : k.End-1]
		if k, err = b.tokens.ScalarAt(k.End + 1); err != nil || k.End >= len(line) {
			return false
		}
		switch string(name) {
		case "op_type":
			if op == BulkIndex && string(line[k.Start:k.End]) == `"create"` {
				op = BulkCreate
			}
		case "_id":
			if first {
				auto, first = k.Kind == Null, false
				id = k.Start
			}
		}
		if i = k.End; line[i] != ',' {
			break
		}
		id = 0
	}
	if string(line[i:]) != "}}" {
		return false
	}
	it.Word, it.Op, it.Auto = word, op, auto && (op == BulkIndex || op == BulkCreate)
	it.MetaStart = it.Start + len(`{"":`) + len(word.String())
	it.Meta = line[it.MetaStart-it.Start : i+1 : i+1]
	if id > 0 && line[id] == '"' {
		b.last, b.head = *it, id
	}
	return true
}

// again is action for a line that differs from the last such one in its id alone, with
// which both end.
func (b *BulkReader) again(it *BulkItem, line []byte) (ok bool) {
	start := b.last.Start
	if b.head == 0 || len(line) < b.head || string(line[:b.head]) != string(b.body[start:start+b.head]) {
		return false
	}
	end := PlainString(line, b.head)
	if end == 0 || string(line[end:]) != "}}" {
		return false
	}
	from := b.last.MetaStart - start
	it.Word, it.Op, it.Auto, it.MetaStart, it.Meta = b.last.Word, b.last.Op, b.last.Auto, it.Start+from, line[from:end+1:end+1]
	return true
}

// quickWord reads {"word":{ and gives the offset after it, 0 if it does not stand
// there.
func quickWord(line []byte) (word BulkOp, end int) {
	const size = len(`{"index":{`)
	if len(line) < size {
		return 0, 0
	}
	switch string(line[:size]) {
	case `{"index":{`:
		return BulkIndex, size
	case `{"create":`:
		word = BulkCreate
	case `{"update":`:
		word = BulkUpdate
	case `{"delete":`:
		word = BulkDelete
	default:
		return 0, 0
	}
	if len(line) <= size || line[size] != '{' {
		return 0, 0
	}
	return word, size + 1
}

// action reads {"word":{…}} from line.
func (b *BulkReader) action(it *BulkItem, line []byte) error {
	if b.again(it, line) || b.quick(it, line) {
		return nil
	}
	t := &b.tokens
	t.Reset(line)
	if k, err := t.Next(); err != nil || k.Kind != ObjectStart {
		return ErrBulkAction
	}
	k, err := t.Next()
	if err != nil || k.Kind != Key {
		return ErrBulkAction
	}
	if it.Word, err = b.word(k); err != nil {
		return err
	}
	if k, err = t.Next(); err != nil || k.Kind != ObjectStart {
		return ErrBulkAction
	}
	start := k.Start
	op, auto, err := b.meta(it.Word)
	if err != nil {
		return err
	}
	it.Op, it.Auto = op, auto && (op == BulkIndex || op == BulkCreate)
	it.MetaStart = it.Start + start
	it.Meta = line[start:t.Offset():t.Offset()]
	if k, err = t.Next(); err != nil || k.Kind != ObjectEnd {
		return ErrBulkAction // a second key
	}
	if tail := line[t.Offset():]; !blank(tail) {
		it.Tail = tail
	}
	return nil
}

// meta passes over the rest of the metadata object and finds out whether it
// turns an index into a create, and whether the first _id in it is null or missing.
func (b *BulkReader) meta(word BulkOp) (op BulkOp, auto bool, err error) {
	t := &b.tokens
	auto = true
	for first := true; ; {
		k, err := t.Next()
		switch {
		case err != nil:
			return word, auto, ErrBulkAction
		case k.Kind == ObjectEnd:
			return word, auto, nil
		}
		opType, id := b.is(k, "op_type"), first && b.is(k, "_id")
		start, end, err := t.Skip()
		if err != nil {
			return word, auto, ErrBulkAction
		}
		if opType && word == BulkIndex && string(t.in[start:end]) == `"create"` {
			word = BulkCreate
		}
		if id {
			auto, first = string(t.in[start:end]) == "null", false
		}
	}
}

func (b *BulkReader) word(k Token) (BulkOp, error) {
	for o := BulkIndex; o <= BulkDelete; o++ {
		if b.is(k, o.String()) {
			return o, nil
		}
	}
	return 0, ErrBulkAction
}

// is tells whether a key token reads as name once its escapes are decoded.
func (b *BulkReader) is(k Token, name string) bool {
	b.text = b.text[:0]
	return b.tokens.equal(k, name, &b.text)
}

// equal tells whether a Key or String token reads as s; scratch is used where
// the token has escapes.
func (t *Tokens) equal(k Token, s string, scratch *[]byte) bool {
	raw := t.in[k.Start:k.End]
	if !k.Escaped {
		return len(raw) == len(s)+2 && string(raw[1:len(raw)-1]) == s
	}
	*scratch, _ = Unquote((*scratch)[:0], raw)
	return string(*scratch) == s
}
