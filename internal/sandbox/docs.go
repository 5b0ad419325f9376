package sandbox

import (
	"net/http"
	"strconv"
	"strings"
)

// writeOp is one change of one document.
type writeOp struct {
	kind     string // index, create, update, delete
	index    string
	id       string
	body     []byte
	ifSeq    int64 // -1: none
	version  int64 // external version, -1: none
	gte      bool  // external_gte
	mustHave bool  // require_alias
}

// outcome is what a change came to.
type outcome struct {
	result  string // created, updated, deleted, not_found, noop
	status  int
	index   string
	id      string
	version int64
	seq     int64
}

// apply makes one change. The caller holds mu for writing.
func (e *Engine) apply(w *writeOp) (outcome, error) {
	out := outcome{index: w.index, id: w.id, version: 1}
	if w.mustHave {
		return out, noIndex(w.index)
	}
	if len(w.id) > 512 {
		return out, illegal("id [%.20s...] is too long, must be no longer than 512 bytes but was: %d", w.id, len(w.id))
	}
	ix := e.indices[w.index]
	if ix == nil {
		if w.kind == "delete" && w.version < 0 {
			return out, noIndex(w.index)
		}
		var err error
		if ix, err = e.makeIndex(w.index); err != nil {
			return out, err
		}
	}
	have := ix.byID[w.id]
	if err := w.conflict(have); err != nil {
		err.index = w.index
		return out, err
	}
	switch w.kind {
	case "delete":
		return e.applyDelete(ix, w, have), nil
	case "update":
		return e.applyUpdate(ix, w, have)
	}
	root, err := parseJSON(w.body)
	if err != nil {
		return out, docError(err)
	}
	return e.store(ix, w, have, root)
}

func docError(err error) error {
	f := failf(http.StatusBadRequest, "document_parsing_exception", "[1:1] failed to parse")
	f.cause = badJSON(err)
	return f
}

// conflict says what stands against a change, nil if nothing does.
func (w *writeOp) conflict(have *doc) *failure {
	clash := func(format string, args ...any) *failure {
		return failf(http.StatusConflict, "version_conflict_engine_exception", "["+strings.ReplaceAll(w.id, "%", "%%")+"]: version conflict, "+format, args...)
	}
	switch {
	case w.kind == "create" && have != nil:
		return clash("document already exists (current version [%d])", have.version)
	case w.ifSeq >= 0 && have == nil:
		return clash("required seqNo [%d], primary term [1]. but no document was found", w.ifSeq)
	case w.ifSeq >= 0 && have.seq != w.ifSeq:
		return clash("required seqNo [%d], primary term [1]. current document has seqNo [%d] and primary term [1]", w.ifSeq, have.seq)
	case w.version >= 0 && have != nil && (have.version > w.version || have.version == w.version && !w.gte):
		return clash("current version [%d] is higher or equal to the one provided [%d]", have.version, w.version)
	}
	return nil
}

// store puts a document, or drops it where a fault says so.
func (e *Engine) store(ix *index, w *writeOp, have *doc, root *node) (outcome, error) {
	out := outcome{index: w.index, id: w.id, version: 1, result: "created", status: http.StatusCreated}
	if !root.isObject() {
		return out, docError(failf(400, "not_x_content_exception", "the document is not an object"))
	}
	if have != nil {
		out.result, out.status, out.version = "updated", http.StatusOK, have.version+1
	} else if e.docs >= e.opts.MaxDocs {
		return out, failf(http.StatusTooManyRequests, "circuit_breaking_exception", "the esshadow sandbox holds no more than [%d] documents", e.opts.MaxDocs)
	}
	if w.version >= 0 {
		out.version = w.version
	}
	if e.drops(w.id) {
		out.seq = ix.seq
		ix.seq++
		return out, nil
	}
	d, err := ix.put(w.id, root, out.version)
	if err != nil {
		return out, err
	}
	if have == nil {
		e.docs++
	}
	out.seq = d.seq
	if len(ix.text.pending) >= maxPending {
		err = e.flush(ix)
	}
	return out, err
}

// maxPending is how many documents wait for a search before they are indexed.
const maxPending = 5000

func (e *Engine) applyDelete(ix *index, w *writeOp, have *doc) outcome {
	out := outcome{index: w.index, id: w.id, version: 1, result: "not_found", status: http.StatusNotFound, seq: ix.seq}
	ix.seq++
	if have != nil {
		ix.remove(w.id)
		e.docs--
		out.result, out.status, out.version = "deleted", http.StatusOK, have.version+1
	}
	return out
}

func (e *Engine) applyUpdate(ix *index, w *writeOp, have *doc) (outcome, error) {
	out := outcome{index: w.index, id: w.id}
	req, err := parseJSON(w.body)
	if err != nil {
		return out, badJSON(err)
	}
	if req.get("script") != nil {
		return out, unsupported("update by script")
	}
	if err := req.only("UpdateRequest", "doc", "upsert", "doc_as_upsert", "detect_noop", "_source"); err != nil {
		return out, err
	}
	asUpsert, err := req.boolean("doc_as_upsert", false)
	if err != nil {
		return out, err
	}
	detect, err := req.boolean("detect_noop", true)
	if err != nil {
		return out, err
	}
	patch, fresh := req.get("doc"), req.get("upsert")
	if have == nil {
		if asUpsert {
			fresh = patch
		}
		if fresh == nil {
			f := failf(http.StatusNotFound, "document_missing_exception", "[%s]: document missing", w.id)
			f.index = w.index
			return out, f
		}
		return e.store(ix, w, nil, fresh)
	}
	if patch == nil {
		return out, validation("script or doc is missing")
	}
	old, err := parseJSON(have.source)
	if err != nil {
		return out, docError(err)
	}
	merged := old.merge(patch)
	if detect && merged.equal(old) {
		return outcome{index: w.index, id: w.id, version: have.version, result: "noop", status: http.StatusOK, seq: have.seq}, nil
	}
	return e.store(ix, w, have, merged)
}

// append writes an outcome as the document APIs and bulk items have it,
// without the closing brace.
func (o outcome) append(b []byte) []byte {
	b = appendString(append(b, `{"_index":`...), o.index)
	b = appendString(append(b, `,"_id":`...), o.id)
	b = appendInt(append(b, `,"_version":`...), o.version)
	b = appendString(append(b, `,"result":`...), o.result)
	if o.result == "noop" {
		b = append(b, `,"_shards":{"total":0,"successful":0,"failed":0}`...)
	} else {
		b = append(b, `,"_shards":{"total":1,"successful":1,"failed":0}`...)
	}
	b = appendInt(append(b, `,"_seq_no":`...), o.seq)
	return append(b, `,"_primary_term":1`...)
}

// one answers a single-document write.
func (e *Engine) one(r *request, kind string) (answer, error) {
	w := &writeOp{kind: kind, index: r.index(), id: r.id(), body: r.body, ifSeq: -1, version: -1}
	if kind != "delete" && !r.hasAny {
		return answer{}, validation("source is missing")
	}
	switch r.p["op_type"] {
	case "", "index":
	case "create":
		w.kind = "create"
	default:
		return answer{}, illegal("opType must be 'create' or 'index', found: [%s]", r.p["op_type"])
	}
	get := func(key string) (string, bool) { v, ok := r.p[key]; return v, ok }
	if err := w.readMeta(get); err != nil {
		return answer{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if w.id == "" {
		w.id = e.newID()
	}
	out, err := e.apply(w)
	if err != nil {
		return answer{}, err
	}
	b := out.append(nil)
	if v := r.p["refresh"]; v == "true" || v == "" && r.p.flag("refresh") {
		b = append(b, `,"forced_refresh":true`...)
	}
	return answer{status: out.status, body: append(b, '}')}, nil
}

// readMeta reads the parameters that a URL or a bulk action may carry.
func (w *writeOp) readMeta(get func(string) (string, bool)) error {
	number := func(key string) (int64, error) {
		v, ok := get(key)
		if !ok {
			return -1, nil
		}
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < 0 {
			return 0, illegal("Failed to parse long parameter [%s] with value [%s]", key, v)
		}
		return n, nil
	}
	var err error
	if w.ifSeq, err = number("if_seq_no"); err != nil {
		return err
	}
	term, err := number("if_primary_term")
	if err != nil {
		return err
	}
	if (w.ifSeq >= 0) != (term >= 0) {
		return validation("ifSeqNo is set, but primary term is [0], or the other way round")
	}
	if term > 1 {
		w.ifSeq = 1 << 62 // no document has this term
	}
	if w.version, err = number("version"); err != nil {
		return err
	}
	switch t, _ := get("version_type"); {
	case t == "external_gte":
		w.gte = true
	case w.version >= 0 && t != "external":
		return validation("internal versioning can not be used for optimistic concurrency control. Please use `if_seq_no` and `if_primary_term` instead")
	}
	v, _ := get("require_alias")
	w.mustHave = v == "true"
	return nil
}

func (e *Engine) indexDoc(r *request) (answer, error)  { return e.one(r, "index") }
func (e *Engine) createDoc(r *request) (answer, error) { return e.one(r, "create") }
func (e *Engine) updateDoc(r *request) (answer, error) { return e.one(r, "update") }
func (e *Engine) deleteDoc(r *request) (answer, error) { return e.one(r, "delete") }

// lookup finds a document. The caller holds mu.
func (e *Engine) lookup(index, id string) (*doc, error) {
	ix := e.indices[index]
	if ix == nil {
		return nil, noIndex(index)
	}
	return ix.byID[id], nil
}

func appendDoc(b []byte, index, id string, d *doc, s *selection) []byte {
	b = appendString(append(b, `{"_index":`...), index)
	b = appendString(append(b, `,"_id":`...), id)
	if d == nil {
		return append(b, `,"found":false}`...)
	}
	b = appendInt(append(b, `,"_version":`...), d.version)
	b = appendInt(append(b, `,"_seq_no":`...), d.seq)
	b = append(b, `,"_primary_term":1,"found":true`...)
	return append(appendSource(b, d.source, s), '}')
}

func (e *Engine) getDoc(r *request) (answer, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	d, err := e.lookup(r.index(), r.id())
	if err != nil {
		return answer{}, err
	}
	out := ok(appendDoc(nil, r.index(), r.id(), d, sourceParams(r.p, nil)))
	if d == nil {
		out.status = http.StatusNotFound
	}
	return out, nil
}

func (e *Engine) getSource(r *request) (answer, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	d, err := e.lookup(r.index(), r.id())
	if err != nil {
		return answer{}, err
	}
	if d == nil {
		return answer{}, failf(http.StatusNotFound, "resource_not_found_exception", "Document not found [%s]/[%s]", r.index(), r.id())
	}
	b := appendSource(nil, d.source, sourceParams(r.p, nil))
	return ok(b[len(`,"_source":`):]), nil
}

func (e *Engine) mget(r *request) (answer, error) {
	body, err := r.object()
	if err != nil {
		return answer{}, err
	}
	if err := body.only("mget", "docs", "ids"); err != nil {
		return answer{}, err
	}
	docs, ids := body.get("docs"), body.get("ids")
	if docs == nil && ids == nil {
		return answer{}, validation("no documents to get")
	}
	if docs != nil && !docs.isArray() || ids != nil && (!ids.isArray() || r.index() == "") {
		return answer{}, parsing("[docs] and [ids] must be arrays, and [ids] needs an index in the path")
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	b := []byte(`{"docs":[`)
	n := 0
	add := func(index, id string, s *selection) {
		if n++; n > 1 {
			b = append(b, ',')
		}
		d, err := e.lookup(index, id)
		if err != nil {
			b = appendString(append(b, `{"_index":`...), index)
			b = appendString(append(b, `,"_id":`...), id)
			b = append(asFailure(err).appendError(append(b, `,"error":`...)), '}')
			return
		}
		b = appendDoc(b, index, id, d, s)
	}
	for _, id := range ids.strs() {
		add(r.index(), id, sourceParams(r.p, nil))
	}
	if docs != nil {
		for _, item := range docs.kids {
			index, given := item.get("_index").str()
			if !given {
				index = r.index()
			}
			id, has := item.get("_id").str()
			if !has || index == "" {
				return answer{}, validation("id or index is missing for doc")
			}
			s, err := sourceSelection(item.get("_source"))
			if err != nil {
				return answer{}, err
			}
			add(index, id, sourceParams(r.p, s))
		}
	}
	return ok(append(b, "]}"...)), nil
}
