package sandbox

import (
	"bytes"
	"context"
	"time"
)

func (e *Engine) search(r *request) (answer, error) {
	if err := r.known(searchParams); err != nil {
		return answer{}, err
	}
	body, err := r.json()
	if err != nil {
		return answer{}, err
	}
	b, err := e.searchBody(r.ctx, body, r.index(), r.p)
	if err != nil {
		return answer{}, err
	}
	return ok(append(b, '}')), nil
}

// searchBody runs one search and writes its answer without the closing brace.
func (e *Engine) searchBody(ctx context.Context, body *node, expr string, p params) ([]byte, error) {
	start := time.Now()
	req, err := parseSearch(body, p)
	if err != nil {
		return nil, err
	}
	if err := e.slow(ctx, body); err != nil {
		return nil, err
	}
	switch {
	case req.pit != "":
		return e.searchPIT(req, expr, p, start)
	case body.get("pit") != nil:
		return nil, illegal("[id] cannot be empty for point in time")
	case req.scroll > 0:
		return e.searchScroll(req, expr, p, start)
	}
	var out []byte
	err = e.reading(expr, p, func(ixs []*index) error {
		res, err := req.search(targetsOf(ixs), e.opts.Now(), e.opts.Ties)
		if err == nil {
			out = req.appendSearch(make([]byte, 0, 4096), res, time.Since(start).Milliseconds(), "", "")
		}
		return err
	})
	return out, err
}

func targetsOf(ixs []*index) []target {
	out := make([]target, len(ixs))
	for i, ix := range ixs {
		out[i] = target{ix: ix, docs: ix.docs}
	}
	return out
}

func (e *Engine) searchPIT(req *searchRequest, expr string, p params, start time.Time) ([]byte, error) {
	if expr != "" {
		return nil, validation("[indices] cannot be used with point in time. Do not specify any index with point in time.")
	}
	if req.scroll > 0 || p["routing"] != "" || p["preference"] != "" {
		return nil, validation("[scroll], [routing] and [preference] cannot be used with point in time")
	}
	e.mu.Lock()
	cur, err := e.cursor(req.pit, req.keepAlive)
	e.mu.Unlock()
	if err == nil && !cur.snapshot {
		err = failf(404, "search_context_missing_exception", "No search context found for id [%.40s]", req.pit)
	}
	if err != nil {
		f := asFailure(err)
		f.shard = true
		return nil, f
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.cursors.open[req.pit] != cur { // closed in between: its text may be gone
		return nil, failf(404, "search_context_missing_exception", "No search context found for id [%.40s]", req.pit)
	}
	res, err := req.search(cur.targets, e.opts.Now(), e.opts.Ties)
	if err != nil {
		return nil, err
	}
	return req.appendSearch(nil, res, time.Since(start).Milliseconds(), "", req.pit), nil
}

func (e *Engine) searchScroll(req *searchRequest, expr string, p params, start time.Time) ([]byte, error) {
	var res *result
	err := e.reading(expr, p, func(ixs []*index) (err error) {
		res, err = req.search(targetsOf(ixs), e.opts.Now(), e.opts.Ties)
		return err
	})
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	cur := &cursor{ends: e.opts.Now().Add(req.scroll), req: req, res: res}
	id, err := e.addCursor(cur, "scroll")
	if err != nil {
		return nil, err
	}
	page := cur.page()
	page.aggs = res.aggs
	return req.appendSearch(nil, page, time.Since(start).Milliseconds(), id, ""), nil
}

func (e *Engine) count(r *request) (answer, error) {
	body, err := r.json()
	if err != nil {
		return answer{}, err
	}
	if body != nil {
		if err := body.only("count", "query"); err != nil {
			return answer{}, err
		}
	}
	req, err := parseSearch(body, r.p)
	if err != nil {
		return answer{}, err
	}
	req.size = 0
	if err := e.slow(r.ctx, body); err != nil {
		return answer{}, err
	}
	var out []byte
	err = e.reading(r.index(), r.p, func(ixs []*index) error {
		res, err := req.search(targetsOf(ixs), e.opts.Now(), e.opts.Ties)
		if err == nil {
			out = appendInt([]byte(`{"count":`), res.total)
			out = append(appendShards(append(out, `,"_shards":`...), len(ixs)), '}')
		}
		return err
	})
	return ok(out), err
}

// msearchKeys are the keys of a header line.
func msearchKey(k string) bool {
	switch k {
	case "index", "indices", "search_type", "searchType", "preference", "routing", "request_cache", "ccs_minimize_roundtrips",
		"allow_partial_search_results", "expand_wildcards", "ignore_unavailable", "allow_no_indices", "ignore_throttled":
		return true
	}
	return false
}

// msearchItem is one header with its body.
type msearchItem struct {
	index string
	p     params
	body  *node
	err   error // of this body alone
}

func readMsearch(body []byte, index string, p params) ([]msearchItem, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, failf(400, "parse_exception", "request body is required")
	}
	if body[len(body)-1] != '\n' {
		return nil, illegal("The msearch request must be terminated by a newline [\\n]")
	}
	var out []msearchItem
	for len(body) > 0 {
		line, rest, _ := bytes.Cut(body, []byte("\n"))
		query, after, _ := bytes.Cut(rest, []byte("\n"))
		body = after
		if len(bytes.TrimSpace(line)) == 0 && len(bytes.TrimSpace(query)) == 0 {
			continue
		}
		item, err := readHeader(line, index, p)
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(query)) > 0 {
			if item.body, err = parseJSON(query); err != nil {
				item.err = badJSON(err)
			}
		}
		out = append(out, item)
	}
	if len(out) == 0 {
		return nil, validation("no requests added")
	}
	return out, nil
}

func readHeader(line []byte, index string, p params) (msearchItem, error) {
	item := msearchItem{index: index, p: params{}}
	for _, k := range []string{"rest_total_hits_as_int", "typed_keys"} {
		if v, ok := p[k]; ok {
			item.p[k] = v
		}
	}
	if len(bytes.TrimSpace(line)) == 0 {
		return item, nil
	}
	h, err := parseJSON(line)
	if err != nil {
		return item, badJSON(err)
	}
	if !h.isObject() {
		return item, illegal("key [%.20s] is not supported in the metadata section", line)
	}
	for i, k := range h.keys {
		if !msearchKey(k) {
			return item, illegal("key [%s] is not supported in the metadata section", k)
		}
		if s, ok := h.kids[i].str(); ok && k != "index" && k != "indices" {
			item.p[k] = s
		}
	}
	for _, k := range []string{"index", "indices"} {
		if v := h.get(k); v != nil {
			item.index = joinNames(v.strs())
		}
	}
	return item, nil
}

func joinNames(names []string) string {
	var b []byte
	for i, n := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, n...)
	}
	return string(b)
}

func (e *Engine) msearch(r *request) (answer, error) {
	start := time.Now()
	if err := r.known(searchParams); err != nil {
		return answer{}, err
	}
	items, err := readMsearch(r.body, r.index(), r.p)
	if err != nil {
		return answer{}, err
	}
	var all []byte
	for i, item := range items {
		if i > 0 {
			all = append(all, ',')
		}
		b, err := []byte(nil), item.err
		if err == nil {
			b, err = e.searchBody(r.ctx, item.body, item.index, item.p)
		}
		if err != nil {
			all = asFailure(err).appendBody(all)
			continue
		}
		all = append(append(all, b...), `,"status":200}`...)
	}
	out := appendInt([]byte(`{"took":`), time.Since(start).Milliseconds())
	out = append(append(out, `,"responses":[`...), all...)
	return ok(append(out, "]}"...)), nil
}
