package es

import "slices"

// quickTree builds a tree of a text without comments and without errors, several
// times faster than by way of tokens. Whatever it does not expect it leaves to
// tree.build, which knows what is wrong and what comments are.
type quickTree struct {
	*tree
	i int // where the next byte to look at is
}

// quick builds the tree of in. Where ok is false it built something else.
func (t *tree) quick(in []byte) (ok bool) {
	t.clear()
	t.in = in
	q := quickTree{t, 0}
	if _, ok = q.value(q.peek(), extent{}, none, 0); !ok {
		return false
	}
	q.peek()
	return q.i >= len(in)
}

// peek is the byte that comes next after white space, 0 at the end.
func (q *quickTree) peek() byte {
	for q.i < len(q.in) {
		c := q.in[q.i]
		if c > ' ' || c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return c
		}
		q.i++
	}
	return 0
}

// value reads the value that begins with c and gives it a node, but not where it
// is a scalar of the array full, which has enough of them.
func (q *quickTree) value(c byte, key extent, full int32, depth int) (id int32, ok bool) {
	if len(q.nodes) > maxShapeNodes {
		return none, false
	}
	var kind Kind
	var text extent
	switch c {
	case '"':
		kind = String
		text, ok = q.str()
	case '{', '[':
		return q.container(c, key, depth)
	case 't':
		kind, ok = True, q.word("true")
	case 'f':
		kind, ok = False, q.word("false")
	case 'n':
		kind, ok = Null, q.word("null")
	default:
		end := numberEnd(q.in, q.i)
		kind, text, ok = Number, extent{int32(q.i), int32(end)}, end >= 0
		q.i = end
	}
	if !ok || full != none {
		return none, ok
	}
	id, ok = q.node(key, kind)
	q.nodes[id].text = text
	return id, ok
}

// node makes a node, none if there are too many.
func (q *quickTree) node(key extent, kind Kind) (id int32, ok bool) {
	n := len(q.nodes)
	if n > maxShapeNodes {
		return none, false
	}
	q.nodes = slices.Grow(q.nodes, 1)[:n+1]
	q.nodes[n] = node{key: key, kind: kind}
	return int32(n), true
}

func (q *quickTree) word(w string) bool {
	end := wordEnd(q.in, q.i, w)
	q.i = end
	return end >= 0
}

// str reads the string whose opening quote is next.
func (q *quickTree) str() (text extent, ok bool) {
	k, err := scanString(q.in, q.i)
	q.i = k.End
	if err != nil {
		return extent{}, false
	}
	return q.text(k), true
}

func (q *quickTree) container(c byte, key extent, depth int) (id int32, ok bool) {
	if depth >= maxShapeDepth {
		return none, false
	}
	q.i++
	if c == '{' {
		id, ok = q.node(key, ObjectStart)
		return id, ok && q.object(id, depth+1)
	}
	id, ok = q.node(key, ArrayStart)
	return id, ok && q.array(id, depth+1)
}

func (q *quickTree) object(obj int32, depth int) bool {
	last := none
	for c := q.peek(); ; c = q.peek() {
		if c == '}' && last == none {
			q.i++
			return true
		}
		if c != '"' {
			return false
		}
		key, ok := q.str()
		if !ok || q.peek() != ':' {
			return false
		}
		q.i++
		var id int32
		if q.unlooked(key, obj) {
			id, ok = q.pass(key, depth)
		} else {
			id, ok = q.value(q.peek(), key, none, depth)
		}
		if !ok {
			return false
		}
		last = q.hang(id, obj, last)
		switch q.peek() {
		case ',':
			q.i++
		case '}':
			q.i++
			return true
		default:
			return false
		}
	}
}

// pass stands in for the value of a key that is not looked into.
func (q *quickTree) pass(key extent, depth int) (id int32, ok bool) {
	q.tokens.MaxDepth = maxShapeDepth - depth
	q.tokens.Reset(q.in[q.i:])
	if q.tokens.MaxDepth == 0 { // which would mean another depth
		return none, false
	}
	_, end, err := q.tokens.Skip()
	q.i += end
	if err != nil {
		return none, false
	}
	return q.node(key, Null)
}

func (q *quickTree) array(arr int32, depth int) bool {
	last := none
	if q.peek() == ']' {
		q.i++
		return true
	}
	for {
		full := none
		if q.nodes[arr].size >= maxListNodes {
			full = arr
		}
		id, ok := q.value(q.peek(), extent{}, full, depth)
		switch {
		case !ok:
			return false
		case id == none:
			q.nodes[arr].size++
		default:
			last = q.hang(id, arr, last)
		}
		switch q.peek() {
		case ',':
			q.i++
		case ']':
			q.i++
			return true
		default:
			return false
		}
	}
}
