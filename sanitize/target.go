package sanitize

import (
	"strings"
	"unicode/utf8"

	"github.com/esshadow/esshadow/internal/es"
)

// originForm reduces an absolute-form target (RFC 9112, 3.2.2) to its path and
// query: scheme, credentials, host and a fragment go.
func originForm(target string) (string, reason) {
	for i := range len(target) {
		if target[i] <= ' ' || target[i] == 0x7F {
			return "", dropTarget
		}
	}
	if !utf8.ValidString(target) {
		return "", dropTarget
	}
	if i := strings.IndexByte(target, '#'); i >= 0 {
		target = target[:i]
	}
	if strings.HasPrefix(target, "/") {
		return target, kept
	}
	_, rest, ok := strings.Cut(target, "://")
	if !ok {
		return "", dropTarget
	}
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		if rest[i] == '?' {
			return "/" + rest[i:], kept
		}
		return rest[i:], kept
	}
	return "/", kept
}

// target appends the form of a request target.
func (w *Worker) target(dst []byte, route es.Route) ([]byte, reason) {
	dst, why := w.pathOf(dst, route)
	if why != kept || len(route.Query) == 0 {
		return dst, why
	}
	return w.query(append(dst, '?'), route.Op, route.Query)
}

// pathOf appends the path, segment by segment: the index expression and the id
// where Classify found them, API words as they are; anything else is dropped.
func (w *Worker) pathOf(dst []byte, route es.Route) ([]byte, reason) {
	index, id := route.Index, route.ID
	addOn := addOnSearch(route)
	i := -1
	for seg := range strings.SplitSeq(route.Path, "/") {
		if i++; i > 0 {
			dst = append(dst, '/')
		}
		switch {
		case seg == "":
		case index != "" && seg == index:
			index = ""
			var why reason
			if dst, why = w.segment(dst, seg, w.indexExpr); why != kept {
				return dst, why
			}
		case id != "" && seg == id:
			id = ""
			var why reason
			if dst, why = w.segment(dst, seg, w.idOf(route.Op)); why != kept {
				return dst, why
			}
		case apiWord(seg), addOn && addOnWord(seg):
			w.post.keep([]byte(seg))
			dst = append(dst, seg...)
		case addOn:
			var why reason
			if dst, why = w.segment(dst, seg, w.id); why != kept {
				return dst, why
			}
		case route.Op == es.OpMVT && i > 2:
			var why reason
			if dst, why = w.tile(dst, seg); why != kept {
				return dst, why
			}
		case legacyType(route.Op) && i > 1:
			var why reason
			if dst, why = w.segment(dst, seg, w.chosen); why != kept {
				return dst, why
			}
		default:
			return dst, dropUnknownPath
		}
	}
	if index != "" || id != "" {
		return dst, dropUnknownPath
	}
	return dst, kept
}

// idOf is what the id of an operation's path is.
func (w *Worker) idOf(op es.Op) func(dst, s []byte) []byte {
	switch op {
	case es.OpScroll, es.OpClearScroll, es.OpAsyncGet, es.OpAsyncStatus, es.OpAsyncDelete, es.OpClosePIT,
		es.OpESQLAsync, es.OpSQLAsync, es.OpEQLAsync:
		return w.state
	case es.OpSearchTemplate, es.OpRender, es.OpSearchApplication:
		return w.chosen
	}
	return w.id
}

// tile appends a field, or a number of a map's tile, which tells a place.
func (w *Worker) tile(dst []byte, seg string) ([]byte, reason) {
	if !isNumber([]byte(seg)) {
		return w.segment(dst, seg, w.field)
	}
	if w.p.cfg.Geo != "keep" && len(seg) > 1 {
		return dst, dropGeo
	}
	return append(dst, seg...), kept
}

// segment appends the form of one path segment, which is percent-encoded.
func (w *Worker) segment(dst []byte, seg string, f func(dst, s []byte) []byte) ([]byte, reason) {
	var ok bool
	if w.raw, ok = es.Unescape(w.raw[:0], seg, false); !ok || looksEscaped(w.raw) {
		return dst, dropTarget
	}
	w.val = f(w.val[:0], w.raw)
	if string(w.val) == string(w.raw) {
		return append(dst, seg...), kept // as it came
	}
	return appendLoose(dst, w.val, looseInPath), kept
}

// Characters that clients leave as they are in a path segment and in a value of
// the query string, besides the unreserved ones.
const (
	looseInPath  = "*,:@+=!$"
	looseInQuery = "*,:@!$()/"
)

// appendLoose is es.AppendEscaped that leaves some more characters as they are.
func appendLoose(dst, s []byte, loose string) []byte {
	for i, c := range s {
		if strings.IndexByte(loose, c) >= 0 {
			dst = append(dst, c)
		} else {
			dst = es.AppendEscaped(dst, s[i:i+1])
		}
	}
	return dst
}

// legacyType tells the operations that had a type in their path up to version 7.
func legacyType(op es.Op) bool {
	switch op {
	case es.OpSearch, es.OpMsearch, es.OpCount, es.OpGet, es.OpExists, es.OpMget, es.OpBulk, es.OpIndex, es.OpCreate,
		es.OpUpdate, es.OpDelete, es.OpExplain, es.OpTermvectors, es.OpMtermvectors, es.OpValidate,
		es.OpUpdateByQuery, es.OpDeleteByQuery:
		return true
	}
	return false
}

// addOnSearch tells a search for what a plugin of OpenSearch keeps: its body is
// that of any search.
func addOnSearch(route es.Route) bool {
	path := strings.TrimSuffix(route.Path, "/")
	return route.Op == es.OpAdmin && strings.HasSuffix(path, "/_search") &&
		(strings.HasPrefix(path, "/_plugins/") || strings.HasPrefix(path, "/_opendistro/"))
}

func addOnWord(seg string) bool {
	switch seg {
	case "_anomaly_detection", "detectors", "results", "_alerting", "findings", "monitors", "destinations", "email_groups",
		"email_accounts", "_flow_framework", "workflow", "state", "_forecast", "forecasters", "tasks", "_ml", "models",
		"agents", "memory", "memory_containers", "memories", "working", "connectors", "model_groups", "_search_relevance",
		"experiments", "judgments", "query_sets", "search_configurations", "_security_analytics", "threat_intel", "sources",
		"rules", "_reports", "definitions", "instances", "_notifications", "configs", "_rollup", "jobs", "_ism", "policies":
		return true
	}
	return false
}

// apiWord tells the words that stand in paths of operations that are captured.
func apiWord(seg string) bool {
	for _, w := range pathWords() {
		if seg == w {
			return true
		}
	}
	return false
}

func pathWords() []string {
	return []string{
		"_search", "_doc", "_bulk", "_update", "_create", "_msearch", "_count", "_mget", "_source", "_async_search", "_pit",
		"_field_caps", "_explain", "_validate", "query", "_termvectors", "_mtermvectors", "_terms_enum", "_rank_eval",
		"_search_shards", "_knn_search", "_graph", "explore", "_update_by_query", "_delete_by_query", "_refresh", "template",
		"point_in_time", "scroll", "_all", "status", "_render", "_reindex", "_resolve", "index", "cluster", "_plugins",
		"_asynchronous_search", "_opendistro", "_rollup_search", "_query", "async", "stop", "_sql", "translate", "close", "delete",
		"_eql", "search", "_ppl", "_analyze", "_mvt", "_application", "search_application", "_render_query",
	}
}

// apiWords are the words of the API that stand in records besides the names of
// the tables: path words, parameters, values of options.
func apiWords() []string {
	words := append(pathWords(), strings.Fields(paramTable)...)
	return append(words, strings.Fields(`
 best_fields most_fields cross_fields phrase phrase_prefix bool_prefix true false asc desc multiply replace
 strict_date_optional_time epoch_millis epoch_second strict_date_optional_time_nanos date_time basic_date yyyy standard
 simple whitespace keyword english painless expression mustache quarter minute second month index create update delete
 plain fvh unified styled simple sentence content_type accept application json ndjson elasticsearch compatible opensearch
 charset identity deflate Content-Type Accept-Encoding Elastic-Api-Version X-Opaque-Id X-Elastic-Client-Meta
 intersects within contains disjoint kilometers meters miles linear total average search term_freq skip insert_zeros
 breadth_first depth_first global_ordinals constant_score scoring_boolean dfs_query_then_fetch query_then_fetch wait_for
 closed hidden internal external external_gte proceed abort always missing popular string point polygon envelope circle
 multipolygon linestring geometrycollection relation orientation coordinates properties geometries radius holt_winters
 strict coerce ignore_malformed memory indexed boolean double float integer object composite lookup geo_point`)...)
}
