package sandbox

import (
	"bytes"
	"strconv"
	"time"

	"github.com/esshadow/esshadow/internal/es"
)

// bulkMeta are the keys that an action line may have.
func bulkMeta(key string) bool {
	switch key {
	case "_index", "_id", "routing", "op_type", "version", "version_type", "if_seq_no", "if_primary_term",
		"retry_on_conflict", "pipeline", "_source", "require_alias", "dynamic_templates", "require_data_stream", "list_executed_pipelines":
		return true
	}
	return false
}

// readBulk takes a whole body apart before anything is changed: one bad action
// line refuses all of it.
func readBulk(body []byte, index string) ([]*writeOp, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, failf(400, "parse_exception", "request body is required")
	}
	if body[len(body)-1] != '\n' {
		return nil, illegal("The bulk request must be terminated by a newline [\\n]")
	}
	var out []*writeOp
	line := 0
	next := func() []byte {
		line++
		end := bytes.IndexByte(body, '\n')
		l := body[:end]
		body = body[end+1:]
		return l
	}
	for len(body) > 0 {
		action := next()
		if len(bytes.TrimSpace(action)) == 0 {
			continue
		}
		w, err := readAction(action, line, index)
		if err != nil {
			return nil, err
		}
		if w.kind != "delete" {
			if len(body) == 0 { // as Elasticsearch: an action without its document is passed over
				break
			}
			w.body = bytes.TrimSuffix(next(), []byte("\r"))
		}
		out = append(out, w)
	}
	if len(out) == 0 {
		return nil, validation("no requests added")
	}
	return out, nil
}

func readAction(l []byte, line int, index string) (*writeOp, error) {
	n, err := parseJSON(l)
	if err != nil {
		return nil, badJSON(err)
	}
	if !n.isObject() || len(n.keys) == 0 {
		return nil, illegal("Malformed action/metadata line [%d], expected START_OBJECT with an action", line)
	}
	w := &writeOp{kind: n.keys[0], index: index, ifSeq: -1, version: -1}
	switch w.kind {
	case "index", "create", "update", "delete":
	default:
		return nil, illegal("Malformed action/metadata line [%d], expected field [create], [delete], [index] or [update] but found [%s]", line, w.kind)
	}
	meta := n.kids[0]
	if !meta.isObject() || len(n.keys) > 1 {
		return nil, illegal("Malformed action/metadata line [%d], expected START_OBJECT but found something else", line)
	}
	for _, k := range meta.keys {
		if !bulkMeta(k) {
			return nil, illegal("Action/metadata line [%d] contains an unknown parameter [%s]", line, k)
		}
	}
	if s, ok := meta.get("_index").str(); ok {
		w.index = s
	}
	w.id, _ = meta.get("_id").str()
	if op, _ := meta.get("op_type").str(); w.kind == "index" && op == "create" {
		w.kind = "create"
	}
	if w.index == "" {
		return nil, validation("index is missing")
	}
	if w.id == "" && (w.kind == "update" || w.kind == "delete") {
		return nil, validation("id is missing")
	}
	if _, ok := meta.get("pipeline").str(); ok {
		return nil, unsupported("an ingest pipeline")
	}
	return w, w.readMeta(func(key string) (string, bool) { return meta.get(key).str() })
}

func (e *Engine) bulk(r *request) (answer, error) {
	start := time.Now()
	ops, err := readBulk(r.body, r.index())
	if err != nil {
		return answer{}, err
	}
	items, failed := e.applyAll(ops)
	b := appendInt([]byte(`{"errors":`+strconv.FormatBool(failed)+`,"took":`), time.Since(start).Milliseconds())
	b = append(append(b, `,"items":[`...), items...)
	return ok(append(b, "]}"...)), nil
}

// applyAll makes the changes in order and writes the items of the answer.
func (e *Engine) applyAll(ops []*writeOp) (items []byte, failed bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, w := range ops {
		if i > 0 {
			items = append(items, ',')
		}
		if w.id == "" {
			w.id = e.newID()
		}
		items = append(append(append(items, `{"`...), w.kind...), `":`...)
		out, err := e.apply(w)
		if err != nil {
			failed = true
			items = appendBulkError(items, w, asFailure(err))
		} else {
			items = appendInt(append(out.append(items), `,"status":`...), int64(out.status))
		}
		items = append(items, "}}"...)
	}
	return items, failed
}

func appendBulkError(b []byte, w *writeOp, f *failure) []byte {
	b = es.AppendQuoted(append(b, `{"_index":`...), []byte(w.index))
	b = appendString(append(b, `,"_id":`...), w.id)
	b = appendInt(append(b, `,"status":`...), int64(f.status))
	return f.appendCause(append(b, `,"error":`...))
}
