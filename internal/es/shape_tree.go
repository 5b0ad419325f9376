package es

import "errors"

// Bounds of what Fingerprint looks at. Beyond them a request has a Shape that
// says only that.
const (
	maxShapeNodes = 1 << 16
	maxShapeDepth = 100
	maxKeptNodes  = 1 << 12 // kept in memory between two requests
	maxListNodes  = 64      // scalars of one array; the rest is only counted
)

// none is the place of a node that is not there. Every method of tree takes it
// for an empty value.
const none int32 = 0

// node is one value of a JSON text; key is the decoded name of a member, text
// the decoded text of a string or the text of a number.
type node struct {
	key, text   []byte
	first, next int32
	size        int32 // members or elements, also those not kept
	kind        Kind
}

// tree is a JSON text taken apart. Node 0 is none.
type tree struct {
	tokens Tokens
	nodes  []node
	open   []int32 // containers around the current place
	last   []int32 // the last child of each
}

// clear forgets the last text.
func (t *tree) clear() {
	if cap(t.nodes) > maxKeptNodes {
		t.nodes = nil
	}
	clear(t.nodes)
	t.nodes = append(t.nodes[:0], node{})
	t.tokens.Reset(nil)
}

// build reads in and returns its root; why says why it could not.
func (t *tree) build(in []byte) (root int32, why string) {
	t.clear()
	t.open, t.last = t.open[:0], t.last[:0]
	t.tokens.MaxDepth = maxShapeDepth
	t.tokens.Reset(in)
	var key []byte
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
			if key = t.text(k); t.unlooked(key) {
				if err := t.pass(key); err != nil {
					return none, "unreadable"
				}
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
		key = nil
	}
}

// pass stands in for the value of a key that is not looked into.
func (t *tree) pass(key []byte) error {
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

func (t *tree) add(key []byte, k Token) {
	n := node{key: key, kind: k.Kind}
	switch k.Kind {
	case String:
		n.text = t.text(k)
	case Number:
		n.text = t.tokens.Raw(k)
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
		t.nodes[t.open[d]].size++
		if t.last[d] == none {
			t.nodes[t.open[d]].first = id
		} else {
			t.nodes[t.last[d]].next = id
		}
		t.last[d] = id
	}
	return id
}

func (t *tree) text(k Token) []byte {
	raw := t.tokens.Raw(k)
	if !k.Escaped {
		return raw[1 : len(raw)-1]
	}
	text, _ := Unquote(nil, raw)
	return text
}

// unlooked tells members whose values are documents or parameters, wherever
// they stand but where names are the caller's.
func (t *tree) unlooked(key []byte) bool {
	switch string(key) {
	case "doc", "upsert", "document", "documents", "params", "meta", "ext", "like", "unlike", "query_vector_builder":
	default:
		return false
	}
	if len(t.open) == 0 {
		return true
	}
	switch string(t.nodes[t.open[len(t.open)-1]].key) {
	case "aggs", "aggregations", "filters", "runtime_mappings", "script_fields", "suggest", "derived":
		return false
	}
	return true
}

func (t *tree) at(n int32) *node { return &t.nodes[n] }

// get is the member of that name of an object, none if there is none.
func (t *tree) get(obj int32, key string) int32 {
	if obj == none || t.nodes[obj].kind != ObjectStart {
		return none
	}
	for c := t.nodes[obj].first; c != none; c = t.nodes[c].next {
		if string(t.nodes[c].key) == key {
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
	return t.nodes[n].text
}

// is reports the kind of a value.
func (t *tree) is(n int32, kind Kind) bool { return n != none && t.nodes[n].kind == kind }
