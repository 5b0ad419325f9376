package sandbox

import (
	"fmt"
	"slices"
	"strings"
)

func (e *Engine) createIndex(r *request) (answer, error) {
	body, err := r.json()
	if err != nil {
		return answer{}, err
	}
	if body != nil {
		if err := body.only("create_index", "mappings", "settings"); err != nil {
			return answer{}, err
		}
	}
	m, err := emptyMapping().readMapping(body.get("mappings"))
	if err != nil {
		return answer{}, err
	}
	name := r.index()
	e.mu.Lock()
	defer e.mu.Unlock()
	if have := e.indices[name]; have != nil {
		f := failf(400, "resource_already_exists_exception", "index [%s/%s] already exists", name, have.uuid)
		f.index = name
		return answer{}, f
	}
	ix, err := e.makeIndex(name)
	if err != nil {
		return answer{}, err
	}
	ix.m, ix.settings = m, body.get("settings")
	return ok(append(appendString([]byte(`{"acknowledged":true,"shards_acknowledged":true,"index":`), name), '}')), nil
}

func (e *Engine) deleteIndex(r *request) (answer, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if strings.Contains(r.index(), "*") || r.index() == "_all" {
		return answer{}, illegal("Wildcard expressions or all indices are not allowed")
	}
	ixs, err := e.resolve(r.index(), r.p)
	if err != nil {
		return answer{}, err
	}
	for _, ix := range ixs {
		delete(e.indices, ix.name)
		e.docs -= len(ix.byID)
		ix.text.close()
	}
	e.cursors.dropIndices(ixs)
	return ok([]byte(`{"acknowledged":true}`)), nil
}

// eachIndex writes an object with one key for every index of the expression.
func (e *Engine) eachIndex(r *request, value func([]byte, *index) []byte) (answer, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	ixs, err := e.resolve(r.index(), r.p)
	if err != nil {
		return answer{}, err
	}
	b := []byte{'{'}
	for i, ix := range ixs {
		if i > 0 {
			b = append(b, ',')
		}
		b = value(append(appendString(b, ix.name), ':'), ix)
	}
	return ok(append(b, '}')), nil
}

func (e *Engine) getIndex(r *request) (answer, error) {
	return e.eachIndex(r, func(b []byte, ix *index) []byte {
		b = ix.m.append(append(b, `{"aliases":{},"mappings":`...))
		b = append(b, fmt.Sprintf(`,"settings":{"index":{"number_of_shards":"1","number_of_replicas":"0","creation_date":"%d","provided_name":`, ix.created)...)
		b = appendString(b, ix.name)
		b = appendString(append(b, `,"uuid":`...), ix.uuid)
		return append(b, "}}}"...)
	})
}

func (e *Engine) getMapping(r *request) (answer, error) {
	return e.eachIndex(r, func(b []byte, ix *index) []byte {
		return append(ix.m.append(append(b, `{"mappings":`...)), '}')
	})
}

func (e *Engine) putMapping(r *request) (answer, error) {
	body, err := r.object()
	if err != nil {
		return answer{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	ixs, err := e.resolve(r.index(), r.p)
	if err != nil {
		return answer{}, err
	}
	fresh := make([]*mapping, len(ixs))
	for i, ix := range ixs {
		if fresh[i], err = ix.m.readMapping(body); err != nil {
			return answer{}, err
		}
	}
	for i, ix := range ixs {
		ix.m = fresh[i]
	}
	return ok([]byte(`{"acknowledged":true}`)), nil
}

func (e *Engine) refreshIndices(r *request) (answer, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	ixs, err := e.resolve(r.index(), r.p)
	if err != nil {
		return answer{}, err
	}
	if err := e.refresh(ixs); err != nil {
		return answer{}, err
	}
	n := len(ixs)
	return ok([]byte(fmt.Sprintf(`{"_shards":{"total":%d,"successful":%d,"failed":0}}`, n, n))), nil
}

func (e *Engine) health(*request) (answer, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	b := appendString([]byte(`{"cluster_name":`), e.opts.Cluster)
	b = append(b, fmt.Sprintf(`,"status":"green","timed_out":false,"number_of_nodes":1,"number_of_data_nodes":1,"active_primary_shards":%d,"active_shards":%d,`+
		`"relocating_shards":0,"initializing_shards":0,"unassigned_shards":0,"delayed_unassigned_shards":0,"number_of_pending_tasks":0,"number_of_in_flight_fetch":0,`+
		`"task_max_waiting_in_queue_millis":0,"active_shards_percent_as_number":100.0}`, len(e.indices), len(e.indices))...)
	return ok(b), nil
}

// catIndices lists the indices, as text unless format=json is asked for.
func (e *Engine) catIndices(r *request) (answer, error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	ixs, err := e.resolve(r.id(), r.p)
	if err != nil {
		return answer{}, err
	}
	switch r.p["format"] {
	case "", "text":
		var b []byte
		for _, ix := range ixs {
			b = append(b, fmt.Sprintf("green open %s %s 1 0 %d 0\n", ix.name, ix.uuid, len(ix.byID))...)
		}
		return answer{status: 200, body: b, text: true}, nil
	case "json":
	default:
		return answer{}, unsupported("this format")
	}
	b := []byte{'['}
	for i, ix := range ixs {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(append(b, `{"health":"green","status":"open","index":`...), ix.name)
		b = appendString(append(b, `,"uuid":`...), ix.uuid)
		b = append(b, fmt.Sprintf(`,"pri":"1","rep":"0","docs.count":"%d","docs.deleted":"0"}`, len(ix.byID))...)
	}
	return ok(append(b, ']')), nil
}

// dropIndices ends the cursors that look at indices which are no more.
func (c *cursors) dropIndices(gone []*index) {
	for id, cur := range c.open {
		if slices.ContainsFunc(cur.targets, func(t target) bool { return slices.Contains(gone, t.ix) }) {
			c.close(id)
		}
	}
}
