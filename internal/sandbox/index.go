package sandbox

import (
	"net/http"
	"slices"
	"strings"

	bleve "github.com/blevesearch/bleve_index_api"

	"github.com/esshadow/esshadow/internal/es"
)

// doc is one version of a document. Only lens changes after it was made.
type doc struct {
	id      string
	source  []byte
	version int64
	seq     int64
	slot    int       // place in index.docs
	cols    [][]value // by field ordinal; may be shorter than the mapping
	lens    map[int]int32
}

func (d *doc) values(f *field) []value {
	if f == nil || f.ord >= len(d.cols) {
		return nil
	}
	return d.cols[f.ord]
}

// index is one index with one shard. Engine.mu guards it.
type index struct {
	name     string
	uuid     string
	created  int64 // ms
	settings *node // as given, may be nil
	m        *mapping
	docs     []*doc // by slot; nil where a document died
	byID     map[string]*doc
	seq      int64
	text     *textIndex
}

func newIndex(name, uuid string, created int64, queue *bleve.AnalysisQueue) *index {
	return &index{name: name, uuid: uuid, created: created, m: emptyMapping(), byID: map[string]*doc{}, text: newTextIndex(queue)}
}

// alive says whether a version of a document is the newest.
func (ix *index) alive(d *doc) bool { return d.slot < len(ix.docs) && ix.docs[d.slot] == d }

// put makes root the newest version of a document.
func (ix *index) put(id string, root *node, version int64) (*doc, error) {
	w := docWalk{m: ix.m, cols: make([][]value, ix.m.n)}
	if err := w.object(root, ""); err != nil {
		if f := asFailure(err); f.kind == "document_parsing_exception" {
			f.reason = "[1:1] " + f.reason + " in document with id '" + id + "'"
		}
		return nil, err
	}
	ix.m = w.m
	d := &doc{id: id, source: root.append(nil), version: version, cols: w.cols}
	ix.remove(id)
	d.seq = ix.seq
	ix.seq++
	d.slot = len(ix.docs)
	ix.docs = append(ix.docs, d)
	ix.byID[id] = d
	ix.text.pending = append(ix.text.pending, d)
	return d, nil
}

// remove drops the newest version of a document, if there is one.
func (ix *index) remove(id string) *doc {
	d := ix.byID[id]
	if d == nil {
		return nil
	}
	delete(ix.byID, id)
	ix.docs[d.slot] = nil
	if d.lens != nil {
		ix.text.forget(d)
	} else if i := slices.Index(ix.text.pending, d); i >= 0 {
		ix.text.pending = slices.Delete(ix.text.pending, i, i+1)
	}
	return d
}

// compact closes the gaps that dead documents left, where there are many. No
// snapshot may be open: it would know documents by their old slots.
func (ix *index) compact() error {
	if len(ix.docs) < 2*len(ix.byID)+1024 {
		return nil
	}
	live := make([]*doc, 0, len(ix.byID))
	for _, d := range ix.docs {
		if d != nil {
			d.slot = len(live)
			live = append(live, d)
		}
	}
	ix.docs = live
	return ix.text.rebuild(ix.m, live)
}

// rebuild makes one part of all living documents.
func (t *textIndex) rebuild(m *mapping, live []*doc) error {
	t.close()
	t.tokens, t.having = map[int]int64{}, map[int]int64{}
	p, err := t.build(m, live, true)
	if err == nil {
		t.parts = []*part{p}
	}
	return err
}

// docWalk reads a document's values into columns.
type docWalk struct {
	m    *mapping
	cols [][]value
}

func (w *docWalk) object(n *node, prefix string) error {
	for i, k := range n.keys {
		if strings.Trim(k, ". ") == "" {
			return failf(http.StatusBadRequest, "document_parsing_exception", "field name cannot be an empty string")
		}
		if err := w.any(n.kids[i], prefix+k); err != nil {
			return err
		}
	}
	return nil
}

func (w *docWalk) any(n *node, path string) error {
	switch n.kind {
	case es.Null:
		return nil
	case es.ObjectStart:
		if w.m.byPath[path] != nil {
			return failf(http.StatusBadRequest, "document_parsing_exception",
				"object mapping for [%s] tried to parse field [%s] as object, but found a concrete value", path, path)
		}
		return w.object(n, path+".")
	case es.ArrayStart:
		for _, kid := range n.kids {
			if err := w.any(kid, path); err != nil {
				return err
			}
		}
		return nil
	}
	f := w.m.byPath[path]
	if f == nil || f.sub {
		var err error
		if f, err = w.dynamic(n, path); f == nil {
			return err
		}
	}
	return w.add(f, n)
}

func (w *docWalk) dynamic(n *node, path string) (*field, error) {
	switch w.m.dynamic {
	case "false":
		return nil, nil
	case "strict":
		return nil, failf(http.StatusBadRequest, "strict_dynamic_mapping_exception",
			"mapping set to strict, dynamic introduction of [%s] within [_doc] is not allowed", path)
	}
	for p := range w.m.byPath {
		if strings.HasPrefix(p, path+".") {
			return nil, failf(http.StatusBadRequest, "document_parsing_exception",
				"object mapping for [%s] tried to parse field [%s] as object, but found a concrete value", path, path)
		}
	}
	if w.m.n >= maxFields {
		return nil, failf(http.StatusBadRequest, "document_parsing_exception", "Limit of total fields [%d] has been exceeded while adding new fields", maxFields)
	}
	f := dynamicField(path, n)
	if f != nil {
		w.m = w.m.extend([]*field{f})
	}
	return f, nil
}

func (w *docWalk) add(f *field, n *node) error {
	v, ok, err := f.parse(n)
	if err != nil {
		return err
	}
	if f.ord >= len(w.cols) {
		w.cols = append(w.cols, make([][]value, w.m.n-len(w.cols))...)
	}
	if ok {
		w.cols[f.ord] = append(w.cols[f.ord], v)
	}
	for _, s := range f.subs {
		if err := w.add(s, n); err != nil {
			return err
		}
	}
	return nil
}
