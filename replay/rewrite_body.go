package replay

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/esshadow/esshadow/internal/es"
)

// editor puts new index names into bodies and leaves every other byte as it is.
type editor struct {
	tok    es.Tokens
	bulk   es.BulkReader
	ms     es.MsearchReader
	cuts   []splice
	frames []frame
	text   []byte
}

// splice replaces body[start:end].
type splice struct {
	start, end int
	text       []byte
}

// frame is an open object or array: the key that it, or the array around it,
// stands under.
type frame struct {
	key   string
	array bool
}

// indices maps the index names in the body of a request. pathMapped tells that
// the path names an index and a rule was for it. The reason says why a write
// must not be sent; a read's body is then as it came.
func (e *editor) indices(rules indexMap, op es.Op, body []byte, pathMapped bool) (out []byte, reason string) {
	e.cuts = e.cuts[:0]
	var err error
	switch op {
	case es.OpBulk:
		reason = e.bulkLines(rules, body, pathMapped)
	case es.OpMsearch, es.OpMsearchTemplate:
		err = e.msearchLines(rules, body)
	case es.OpIndex, es.OpCreate, es.OpUpdate, es.OpDelete: // documents name no index
	case es.OpESQL, es.OpESQLAsync, es.OpSQL, es.OpSQLAsync, es.OpPPL: // names stand inside the query's text
	default:
		if len(body) > 0 {
			err = e.query(rules, body, 0)
		}
	}
	if reason != "" || err != nil {
		return body, reason
	}
	return e.apply(body), ""
}

// bulkLines maps the _index of each action.
func (e *editor) bulkLines(rules indexMap, body []byte, pathMapped bool) string {
	e.bulk.Reset(body)
	for {
		it, err := e.bulk.Next()
		switch {
		case errors.Is(err, io.EOF):
			return ""
		case err != nil:
			return RefusedMalformed
		}
		named, mapped, err := e.member(rules, it.Meta, it.MetaStart, "_index")
		if err != nil {
			return RefusedMalformed
		}
		if named && !mapped || !named && !pathMapped {
			return RefusedUnmapped
		}
	}
}

// member maps the members of an object, not of objects in it, that have one of
// the names and a text or texts as value.
func (e *editor) member(rules indexMap, in []byte, offset int, names ...string) (named, mapped bool, err error) {
	e.tok.Reset(in)
	if k, err := e.tok.Next(); err != nil || k.Kind != es.ObjectStart {
		return false, false, es.ErrSyntax
	}
	mapped = true
	for {
		k, err := e.tok.Next()
		if err != nil {
			return named, false, err
		}
		if k.Kind == es.ObjectEnd {
			return named, mapped, nil
		}
		if !oneOf(e.plain(k), names) {
			if _, _, err := e.tok.Skip(); err != nil {
				return named, false, err
			}
			continue
		}
		named = true
		ok, err := e.values(rules, offset)
		if err != nil {
			return named, false, err
		}
		mapped = mapped && ok
	}
}

// values maps the text, or the texts of the array, that comes next.
func (e *editor) values(rules indexMap, offset int) (all bool, err error) {
	k, err := e.tok.Next()
	if err != nil {
		return false, err
	}
	switch k.Kind {
	case es.String:
		return e.put(rules, k, offset), nil
	case es.ArrayStart:
		all = true
		for {
			k, err := e.tok.Next()
			switch {
			case err != nil:
				return false, err
			case k.Kind == es.ArrayEnd:
				return all, nil
			case k.Kind == es.String:
				all = e.put(rules, k, offset) && all
			default:
				return false, es.ErrSyntax
			}
		}
	case es.ObjectStart:
		_, err = e.tok.SkipOpen()
	}
	return false, err
}

// put notes the mapped form of a text token. It reports whether a rule was for
// all of it.
func (e *editor) put(rules indexMap, k es.Token, offset int) bool {
	from := e.plain(k)
	to, all := rules.expression(from)
	if to != from {
		text, err := json.Marshal(to)
		if err != nil {
			return false
		}
		e.cuts = append(e.cuts, splice{start: offset + k.Start, end: offset + k.End, text: text})
	}
	return all
}

func (e *editor) plain(k es.Token) string {
	e.text, _ = es.Unquote(e.text[:0], e.tok.Raw(k))
	return string(e.text)
}

func oneOf(s string, names []string) bool {
	for _, n := range names {
		if s == n {
			return true
		}
	}
	return false
}

// msearchLines maps each header's index and the query of each body.
func (e *editor) msearchLines(rules indexMap, body []byte) error {
	e.ms.Reset(body)
	for {
		it, err := e.ms.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(it.Header) > 0 {
			if _, _, err := e.member(rules, it.Header, it.Start, "index", "indices"); err != nil {
				continue // an answer with an error for this search, here as there
			}
		}
		if len(it.Body) > 0 {
			mark := len(e.cuts)
			if err := e.query(rules, it.Body, it.BodyStart); err != nil {
				e.cuts = e.cuts[:mark]
			}
		}
	}
}

// query maps the index names of a search, count, mget or similar body: _index of
// documents and of filters, the index of a terms lookup, of an indexed shape and
// of a percolated document, and the names under indices_boost.
func (e *editor) query(rules indexMap, in []byte, offset int) error {
	e.tok.Reset(in)
	e.frames = e.frames[:0]
	key := ""
	for {
		k, err := e.tok.Next()
		if err != nil {
			return err
		}
		switch k.Kind {
		case es.End:
			return nil
		case es.Key:
			key = e.plain(k)
			if e.under("indices_boost") {
				e.put(rules, k, offset)
			}
		case es.ObjectStart, es.ArrayStart:
			if n := len(e.frames); n > 0 && e.frames[n-1].array {
				key = e.frames[n-1].key
			}
			e.frames = append(e.frames, frame{key: key, array: k.Kind == es.ArrayStart})
		case es.ObjectEnd, es.ArrayEnd:
			e.frames = e.frames[:len(e.frames)-1]
		case es.String:
			if e.namesIndex(key) {
				e.put(rules, k, offset)
			}
		}
	}
}

// under tells that the innermost object stands under the key.
func (e *editor) under(key string) bool {
	n := len(e.frames)
	return n > 0 && e.frames[n-1].key == key
}

// namesIndex tells whether the text that stands under key, or in an array that
// does, is an index expression.
func (e *editor) namesIndex(key string) bool {
	n := len(e.frames)
	if n > 0 && e.frames[n-1].array {
		key = e.frames[n-1].key
		n--
	}
	switch key {
	case "_index":
		return true
	case "value", "index":
		if n == 0 {
			return false
		}
		switch parent := e.frames[n-1].key; {
		case key == "value":
			return parent == "_index"
		case parent == "indexed_shape", parent == "percolate":
			return true
		}
		return n > 1 && e.frames[n-2].key == "terms"
	}
	return false
}

// apply builds the body anew, or returns it where nothing changed.
func (e *editor) apply(body []byte) []byte {
	if len(e.cuts) == 0 {
		return body
	}
	size := len(body)
	for _, c := range e.cuts {
		size += len(c.text) - (c.end - c.start)
	}
	out, at := make([]byte, 0, size), 0
	for _, c := range e.cuts {
		out = append(out, body[at:c.start]...)
		out = append(out, c.text...)
		at = c.end
	}
	return append(out, body[at:]...)
}
