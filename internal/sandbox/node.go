package sandbox

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/esshadow/esshadow/internal/es"
)

// node is one JSON value as it came: raw text, order of keys and number texts
// are kept.
type node struct {
	kind es.Kind // ObjectStart, ArrayStart, String, Number, True, False, Null
	raw  []byte
	text string   // decoded string, number text, true, false or null
	keys []string // of an object
	kids []*node  // values of an object or array
}

// parseJSON reads one JSON value. As Elasticsearch does it accepts comments
// and refuses duplicate keys. The node keeps slices of in.
func parseJSON(in []byte) (*node, error) {
	var t es.Tokens
	t.Reset(in)
	k, err := t.Next()
	if err != nil {
		return nil, fmt.Errorf("offset %d: %w", t.Offset(), err)
	}
	n, err := parseNode(&t, in, k)
	if err == nil {
		_, err = t.Next()
	}
	if err != nil {
		return nil, fmt.Errorf("offset %d: %w", t.Offset(), err)
	}
	return n, nil
}

func parseNode(t *es.Tokens, in []byte, k es.Token) (*node, error) {
	n := &node{kind: k.Kind}
	switch k.Kind {
	case es.ObjectStart:
		return n, n.parseObject(t, in, k.Start)
	case es.ArrayStart:
		return n, n.parseArray(t, in, k.Start)
	case es.String:
		n.text = unquoted(in, k)
	default:
		n.text = string(in[k.Start:k.End])
	}
	n.raw = in[k.Start:k.End]
	return n, nil
}

func (n *node) parseObject(t *es.Tokens, in []byte, start int) error {
	var seen map[string]bool
	for {
		k, err := t.Next()
		if err != nil {
			return err
		}
		if k.Kind == es.ObjectEnd {
			n.raw = in[start:k.End]
			return nil
		}
		key := unquoted(in, k)
		if len(n.keys) == 16 {
			seen = make(map[string]bool, 64)
			for _, have := range n.keys {
				seen[have] = true
			}
		}
		if dup := seen[key] || seen == nil && n.get(key) != nil; dup {
			return fmt.Errorf("duplicate field '%s'", key)
		}
		if seen != nil {
			seen[key] = true
		}
		if k, err = t.Next(); err != nil {
			return err
		}
		kid, err := parseNode(t, in, k)
		if err != nil {
			return err
		}
		n.keys, n.kids = append(n.keys, key), append(n.kids, kid)
	}
}

func (n *node) parseArray(t *es.Tokens, in []byte, start int) error {
	for {
		k, err := t.Next()
		if err != nil {
			return err
		}
		if k.Kind == es.ArrayEnd {
			n.raw = in[start:k.End]
			return nil
		}
		kid, err := parseNode(t, in, k)
		if err != nil {
			return err
		}
		n.kids = append(n.kids, kid)
	}
}

func unquoted(in []byte, k es.Token) string {
	if !k.Escaped {
		return string(in[k.Start+1 : k.End-1])
	}
	out, _ := es.Unquote(nil, in[k.Start:k.End])
	return string(out)
}

// get is the value of a key of an object, nil if there is none. A nil node has
// no keys.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	for i, k := range n.keys {
		if k == key {
			return n.kids[i]
		}
	}
	return nil
}

func (n *node) isObject() bool { return n != nil && n.kind == es.ObjectStart }
func (n *node) isArray() bool  { return n != nil && n.kind == es.ArrayStart }
func (n *node) isNull() bool   { return n == nil || n.kind == es.Null }

// str is the text of a scalar.
func (n *node) str() (string, bool) {
	if n == nil || n.kind == es.ObjectStart || n.kind == es.ArrayStart || n.kind == es.Null {
		return "", false
	}
	return n.text, true
}

// strs is the texts of a scalar or of an array of scalars.
func (n *node) strs() []string {
	if s, ok := n.str(); ok {
		return []string{s}
	}
	var out []string
	if n.isArray() {
		for _, k := range n.kids {
			if s, ok := k.str(); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// integer is the whole number that a scalar says, def where n is nil.
func (n *node) integer(key string, def int) (int, error) {
	v := n.get(key)
	if v == nil {
		return def, nil
	}
	s, ok := v.str()
	i, err := strconv.Atoi(s)
	if !ok || err != nil {
		return 0, parsing("[%s] must be a whole number", key)
	}
	return i, nil
}

func (n *node) float(key string, def float64) (float64, error) {
	v := n.get(key)
	if v == nil {
		return def, nil
	}
	s, ok := v.str()
	f, err := strconv.ParseFloat(s, 64)
	if !ok || err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, parsing("[%s] must be a number", key)
	}
	return f, nil
}

func (n *node) boolean(key string, def bool) (bool, error) {
	v := n.get(key)
	if v == nil {
		return def, nil
	}
	switch s, _ := v.str(); s {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, parsing("[%s] must be true or false", key)
}

// only refuses keys of an object that are not listed.
func (n *node) only(where string, known ...string) error {
	for _, k := range n.keys {
		found := false
		for _, w := range known {
			found = found || w == k
		}
		if !found {
			return parsing("[%s] unknown or unsupported field [%s]", where, k)
		}
	}
	return nil
}

// equal says whether two values mean the same; numbers are compared as text.
func (n *node) equal(o *node) bool {
	if n.kind != o.kind || len(n.kids) != len(o.kids) {
		return false
	}
	switch n.kind {
	case es.ObjectStart:
		for i, k := range n.keys {
			if v := o.get(k); v == nil || !n.kids[i].equal(v) {
				return false
			}
		}
		return true
	case es.ArrayStart:
		for i := range n.kids {
			if !n.kids[i].equal(o.kids[i]) {
				return false
			}
		}
		return true
	}
	return n.text == o.text
}

// merge lays patch over n: objects are merged, everything else is replaced.
func (n *node) merge(patch *node) *node {
	if !n.isObject() || !patch.isObject() {
		return patch
	}
	out := &node{kind: es.ObjectStart, keys: append([]string(nil), n.keys...), kids: append([]*node(nil), n.kids...)}
next:
	for i, k := range patch.keys {
		for j, have := range out.keys {
			if have == k {
				out.kids[j] = out.kids[j].merge(patch.kids[i])
				continue next
			}
		}
		out.keys, out.kids = append(out.keys, k), append(out.kids, patch.kids[i])
	}
	return out
}

// append writes the value; unchanged parts as they came.
func (n *node) append(b []byte) []byte {
	if n.raw != nil {
		return append(b, bytes.TrimSpace(n.raw)...)
	}
	open, end := byte('['), byte(']')
	if n.kind == es.ObjectStart {
		open, end = '{', '}'
	}
	b = append(b, open)
	for i, kid := range n.kids {
		if i > 0 {
			b = append(b, ',')
		}
		if n.kind == es.ObjectStart {
			b = append(appendString(b, n.keys[i]), ':')
		}
		b = kid.append(b)
	}
	return append(b, end)
}

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }

// appendFloat writes a double as Elasticsearch does: with a fraction always.
func appendFloat(b []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(strconv.AppendFloat(append(b, '"'), f, 'g', -1, 64), '"')
	}
	if f == math.Trunc(f) && math.Abs(f) < 1e7 {
		return strconv.AppendFloat(b, f, 'f', 1, 64)
	}
	start := len(b)
	b = strconv.AppendFloat(b, f, 'g', -1, 64)
	if !bytes.ContainsAny(b[start:], ".e") {
		b = append(b, '.', '0')
	}
	return b
}

// objectOf is {"key": "text"}.
func objectOf(key, text string) *node {
	return &node{kind: es.ObjectStart, keys: []string{key}, kids: []*node{{kind: es.String, text: text, raw: appendString(nil, text)}}}
}

func appendFloat32(b []byte, f float32) []byte {
	return strconv.AppendFloat(b, float64(f), 'g', -1, 32)
}
