package es

import "errors"

// Bounds of what Fingerprint looks at. Beyond them a request has a Shape that
// says only that.
const (
	maxShapeNodes = 1 << 16
	maxShapeDepth = 100
	maxShapeBytes = 1 << 30
	maxKeptNodes  = 1 << 12 // kept in memory between two requests
	maxListNodes  = 64      // scalars of one array; the rest is only counted
)

// none is the place of a node that is not there. Every method of tree takes it
// for an empty value.
const none int32 = 0

// node is one value of a JSON text; key is the decoded name of a member, text
// the decoded text of a string or the text of a number. It has no pointers, so
// that thousands of them are nothing to the garbage collector.
type node struct {
	key, text   extent
	first, next int32
	size        int32  // members or elements, also those not kept
	keys        uint64 // a bit for each member: see keyBit
	kind        Kind
}

// extent is a part of a tree's text or, where from is negative, of what was
// decoded: it begins at ^from there.
type extent struct{ from, to int32 }

// tree is a JSON text taken apart. Node 0 is none.
type tree struct {
	tokens  Tokens
	in      []byte
	decoded []byte // text of strings that have escapes
	nodes   []node
	open    []int32 // containers around the current place
	last    []int32 // the last child of each
}

// clear forgets the last text.
func (t *tree) clear() {
	if cap(t.nodes) > maxKeptNodes {
		t.nodes = nil
	}
	if cap(t.decoded) > maxKeptBuffer {
		t.decoded = nil
	}
	t.nodes, t.decoded, t.in = append(t.nodes[:0], node{}), t.decoded[:0], nil
	t.tokens.Reset(nil)
}

// build reads in and returns its root; why says why it could not.
func (t *tree) build(in []byte) (root int32, why string) {
	if len(in) > maxShapeBytes {
		return none, "too large"
	}
	if t.quick(in) {
		return 1, ""
	}
	return t.careful(in)
}

// careful is build by way of tokens.
func (t *tree) careful(in []byte) (root int32, why string) {
	t.clear()
	t.in = in
	t.open, t.last = t.open[:0], t.last[:0]
	t.tokens.MaxDepth = maxShapeDepth
	t.tokens.Reset(in)
	var key extent
	for {
		k, err := t.tokens.Next()
		switch {
		case errors.Is(err, ErrDepth):
			return none, "too deep"
		case err != nil:
			return none, "unreadable"
		case k.Kind == End:
			return 1, ""
		case k.Kind == Key:
			if key = t.text(k); t.unlooked(key, t.open[len(t.open)-1]) {
				if err := t.pass(key); err != nil {
					return none, "unreadable"
				}
				key = extent{} // the next may be an element, which has none
			}
			continue
		case k.Kind == ObjectEnd || k.Kind == ArrayEnd:
			t.open, t.last = t.open[:len(t.open)-1], t.last[:len(t.last)-1]
			continue
		}
		if len(t.nodes) > maxShapeNodes {
			return none, "too large"
		}
		t.add(key, k)
		key = extent{}
	}
}

// pass stands in for the value of a key that is not looked into.
func (t *tree) pass(key extent) error {
	k, err := t.tokens.Next()
	if err != nil {
		return err
	}
	if k.Kind == ObjectStart || k.Kind == ArrayStart {
		if _, err = t.tokens.SkipOpen(); err != nil {
			return err
		}
	}
	t.link(node{key: key, kind: Null})
	return nil
}

func (t *tree) add(key extent, k Token) {
	n := node{key: key, kind: k.Kind}
	switch k.Kind {
	case String:
		n.text = t.text(k)
	case Number:
		n.text = extent{int32(k.Start), int32(k.End)}
	}
	container := k.Kind == ObjectStart || k.Kind == ArrayStart
	if d := len(t.open); d > 0 && !container {
		if up := &t.nodes[t.open[d-1]]; up.kind == ArrayStart && up.size >= maxListNodes {
			up.size++
			return
		}
	}
	id := t.link(n)
	if container {
		t.open, t.last = append(t.open, id), append(t.last, none)
	}
}

func (t *tree) link(n node) int32 {
	id := int32(len(t.nodes))
	t.nodes = append(t.nodes, n)
	if d := len(t.open) - 1; d >= 0 {
		t.last[d] = t.hang(id, t.open[d], t.last[d])
	}
	return id
}

// hang makes id the child of up that follows last, and returns it.
func (t *tree) hang(id, up, last int32) int32 {
	n := &t.nodes[up]
	n.size++
	if n.kind == ObjectStart {
		n.keys |= keyBit(t.key(id))
	}
	if last == none {
		n.first = id
	} else {
		t.nodes[last].next = id
	}
	return id
}

// keyBit is one of 64 bits that a name has. Where an object has no member with
// that bit, it has none of that name.
func keyBit[T string | []byte](name T) uint64 {
	n := len(name)
	if n == 0 {
		return 1
	}
	return 1 << ((uint(name[0]) + 7*uint(name[n-1]) + 13*uint(n)) & 63)
}

// text is the decoded text of a string or key.
func (t *tree) text(k Token) extent {
	if !k.Escaped {
		return extent{int32(k.Start) + 1, int32(k.End) - 1}
	}
	from := int32(len(t.decoded))
	t.decoded, _ = Unquote(t.decoded, t.in[k.Start:k.End])
	return extent{^from, int32(len(t.decoded))}
}

func (t *tree) bytes(e extent) []byte {
	if e.from >= 0 {
		return t.in[e.from:e.to]
	}
	return t.decoded[^e.from:e.to]
}

// unlooked tells members of up whose values are documents or parameters,
// wherever they stand but where names are the caller's.
func (t *tree) unlooked(key extent, up int32) bool {
	switch string(t.bytes(key)) {
	case "doc", "upsert", "document", "documents", "params", "meta", "ext", "like", "unlike", "query_vector_builder":
	default:
		return false
	}
	switch string(t.key(up)) {
	case "aggs", "aggregations", "filters", "runtime_mappings", "script_fields", "suggest", "derived":
		return false
	}
	return true
}

func (t *tree) at(n int32) *node { return &t.nodes[n] }

// key is the name of the member at n.
func (t *tree) key(n int32) []byte { return t.bytes(t.nodes[n].key) }

// value is the text of the string or number at n.
func (t *tree) value(n int32) []byte { return t.bytes(t.nodes[n].text) }

// get is the member of that name of an object, none if there is none.
func (t *tree) get(obj int32, key string) int32 {
	n := &t.nodes[obj]
	if n.keys&keyBit(key) == 0 {
		return none
	}
	for c := n.first; c != none; c = t.nodes[c].next {
		if string(t.key(c)) == key {
			return c
		}
	}
	return none
}

// str is the text of the string at n, nil if it is none.
func (t *tree) str(n int32) []byte {
	if n == none || t.nodes[n].kind != String {
		return nil
	}
	return t.value(n)
}

// is reports the kind of a value.
func (t *tree) is(n int32, kind Kind) bool { return n != none && t.nodes[n].kind == kind }
