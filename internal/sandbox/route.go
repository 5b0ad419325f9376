package sandbox

import (
	"net/http"
	"sort"
	"strings"
)

// endpoint is what answers one method of one path.
type endpoint func(e *Engine, r *request) (answer, error)

// routes is every path that is known, by form: {i} is an index expression and
// {id} anything.
func routes() map[string]map[string]endpoint {
	const get, post, put, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete
	both := func(f endpoint) map[string]endpoint { return map[string]endpoint{get: f, post: f} }
	bulk := map[string]endpoint{post: (*Engine).bulk, put: (*Engine).bulk}
	scroll := map[string]endpoint{get: (*Engine).scroll, post: (*Engine).scroll, del: (*Engine).clearScroll}
	return map[string]map[string]endpoint{
		"":                    {get: func(e *Engine, _ *request) (answer, error) { return e.info(), nil }},
		"_search":             both((*Engine).search),
		"_search/scroll":      scroll,
		"_search/scroll/{id}": scroll,
		"_msearch":            both((*Engine).msearch),
		"_count":              both((*Engine).count),
		"_mget":               both((*Engine).mget),
		"_bulk":               bulk,
		"_refresh":            both((*Engine).refreshIndices),
		"_pit":                {del: (*Engine).closePIT},
		"_mapping":            {get: (*Engine).getMapping},
		"_cat/indices":        {get: (*Engine).catIndices},
		"_cat/indices/{id}":   {get: (*Engine).catIndices},
		"_cluster/health":     {get: (*Engine).health},
		"{i}":                 {get: (*Engine).getIndex, put: (*Engine).createIndex, del: (*Engine).deleteIndex},
		"{i}/_search":         both((*Engine).search),
		"{i}/_msearch":        both((*Engine).msearch),
		"{i}/_count":          both((*Engine).count),
		"{i}/_mget":           both((*Engine).mget),
		"{i}/_bulk":           bulk,
		"{i}/_refresh":        both((*Engine).refreshIndices),
		"{i}/_pit":            {post: (*Engine).openPIT},
		"{i}/_mapping":        {get: (*Engine).getMapping, put: (*Engine).putMapping, post: (*Engine).putMapping},
		"{i}/_doc":            {post: (*Engine).indexDoc},
		"{i}/_doc/{id}":       {get: (*Engine).getDoc, put: (*Engine).indexDoc, post: (*Engine).indexDoc, del: (*Engine).deleteDoc},
		"{i}/_source/{id}":    {get: (*Engine).getSource},
		"{i}/_create/{id}":    {put: (*Engine).createDoc, post: (*Engine).createDoc},
		"{i}/_update/{id}":    {post: (*Engine).updateDoc},
	}
}

// form is the path of a request with its variable parts replaced.
func (r *request) form() string {
	if len(r.parts) == 0 {
		return ""
	}
	out := append([]string(nil), r.parts...)
	if !strings.HasPrefix(out[0], "_") || out[0] == "_all" {
		out[0] = "{i}"
	}
	if len(out) == 3 {
		out[2] = "{id}"
	}
	return strings.Join(out, "/")
}

func (r *request) index() string {
	if len(r.parts) > 0 && (!strings.HasPrefix(r.parts[0], "_") || r.parts[0] == "_all") {
		return r.parts[0]
	}
	return ""
}

func (r *request) id() string {
	if len(r.parts) == 3 {
		return r.parts[2]
	}
	return ""
}

func (e *Engine) route(r *request) (answer, error) {
	methods, known := e.routes[r.form()]
	if !known {
		f := failf(http.StatusBadRequest, "", "no handler found for uri [%s] and method [%s]", r.path, r.method)
		f.plain = true
		return answer{}, f
	}
	do, known := methods[r.method]
	if !known {
		var allowed []string
		for m := range methods {
			allowed = append(allowed, m)
			if m == http.MethodGet {
				allowed = append(allowed, http.MethodHead)
			}
		}
		sort.Strings(allowed)
		list := strings.Join(allowed, ",")
		if r.method == http.MethodOptions {
			return answer{status: http.StatusOK, text: true}, nil
		}
		f := failf(http.StatusMethodNotAllowed, "", "Incorrect HTTP method for uri [%s] and method [%s], allowed: [%s]", r.path, r.method, list)
		f.plain, f.allow = true, list
		return answer{}, f
	}
	if e.isClosed() {
		return answer{}, failf(http.StatusServiceUnavailable, "node_closed_exception", "node closed [%s]", e.opts.Name)
	}
	return do(e, r)
}

func (e *Engine) isClosed() bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.closed
}

// searchParams are the URL parameters that a search takes.
const searchParams = " from size sort q df default_operator _source _source_includes _source_excludes track_total_hits scroll rest_total_hits_as_int" +
	" typed_keys request_cache preference routing ignore_unavailable allow_no_indices expand_wildcards search_type batched_reduce_size" +
	" pre_filter_shard_size max_concurrent_shard_requests ccs_minimize_roundtrips allow_partial_search_results timeout source source_content_type" +
	" max_concurrent_searches pretty human error_trace filter_path format "

// known refuses URL parameters that a list does not name.
func (r *request) known(list string) error {
	for name := range r.p {
		if !strings.Contains(list, " "+name+" ") {
			return illegal("request [%s] contains unrecognized parameter: [%s]", r.path, name)
		}
	}
	return nil
}
