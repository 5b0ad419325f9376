package sanitize

import (
	"strings"

	"github.com/esshadow/esshadow/internal/es"
)

// Kinds of URL parameters that bodies do not have.
const (
	pBody    prim = iota + 100 // a request body, percent-encoded
	pIDs                       // ids joined by commas
	pPrefer                    // preference
	pPath2                     // filter_path
	pKeep                      // kept by the configuration
	pIndices                   // the same as pIX
)

// paramTable lists the URL parameters that are known: kind, "=", names.
const paramTable = `
S: batch_size allow_no_indices allow_partial_search_results allow_partial_results all_shards analyze_wildcard batched_reduce_size
 ccs_minimize_roundtrips conflicts default_operator detailed enable_fields_emulation error_trace expand_wildcards explain
 field_statistics flat_settings force format from human if_primary_term if_seq_no ignore_throttled ignore_unavailable
 include_global_aggregations include_named_queries_score include_type_name include_unmapped index_details
 keep_alive keep_on_completion lenient list_executed_pipelines local master_timeout max_concurrent_searches
 max_concurrent_shard_requests max_docs min_compatible_shard_node min_score offsets op_type parent_task payloads positions
 pre_filter_shard_size prefer_ondemand pretty profile project_routing realtime refresh request_cache request_timeout
 requests_per_second require_alias require_data_stream rest_total_hits_as_int retry_on_conflict rewrite scroll scroll_size
 search_timeout search_type seq_no_primary_term size slices source_content_type strict_query stats_groups
 suggest_mode suggest_size term_statistics terminate_after timeout timestamp track_scores track_total_hits ttl typed_keys
 verbose_pipeline verbose version version_type wait_for_active_shards wait_for_checkpoints wait_for_checkpoints_timeout
 wait_for_completion wait_for_completion_timeout wait_for_timeout filters types include_empty_fields phase_took
 cancel_after_time_interval include_source_on_error ignore_no_match allow_partial_sequence_results delimiter drop_null_columns
 columnar sanitize exact_bounds extent grid_agg grid_precision grid_type with_labels time_zone mode
N: analyzer pipeline search_pipeline stats type
F: _source _source_excludes _source_exclude _source_includes _source_include default_field df docvalue_fields fields
 storedFields stored_fields suggest_field
SORT: sort
LUCENE: q
BODY: source
ID: parent
IDS: routing _routing ids
PREFERENCE: preference _slice
IX: index
STATE: scroll_id
T: suggest_text
PATH: filter_path
`

func paramKinds(keep []string) map[string]prim {
	kinds := primNames()
	kinds["BODY"], kinds["IDS"], kinds["PREFERENCE"], kinds["PATH"] = pBody, pIDs, pPrefer, pPath2
	m := make(map[string]prim)
	var kind prim
	for word := range strings.FieldsSeq(paramTable) {
		if k, ok := strings.CutSuffix(word, ":"); ok {
			kind = kinds[k]
			continue
		}
		m[word] = kind
	}
	for _, name := range keep {
		if _, known := m[name]; !known {
			m[name] = pKeep
		}
	}
	return m
}

// query appends the form of a query string.
func (w *Worker) query(dst []byte, op es.Op, query string) ([]byte, reason) {
	first := true
	for name, value := range es.Params(query) {
		if !first {
			dst = append(dst, '&')
		}
		first = false
		kind, known := w.p.params[name]
		if !known {
			return dst, dropUnknownParam
		}
		dst = append(dst, name...)
		if value == "" {
			if len(query) > len(name) && strings.Contains(query, name+"=") {
				dst = append(dst, '=')
			}
			continue
		}
		dst = append(dst, '=')
		var ok bool
		if w.raw, ok = es.Unescape(w.raw[:0], value, true); !ok {
			return dst, dropTarget
		}
		out, why := w.param(w.val[:0], op, kind, w.raw)
		w.val = out
		if why != kept {
			return dst, why
		}
		if string(out) == string(w.raw) {
			dst = append(dst, value...) // as it came
			continue
		}
		dst = appendLoose(dst, out, looseInQuery)
	}
	return dst, kept
}

// param appends the form of one decoded value.
func (w *Worker) param(dst []byte, op es.Op, kind prim, s []byte) ([]byte, reason) {
	if looksEscaped(s) {
		// Encoded twice: what the engine makes of it cannot be told.
		return dst, dropTarget
	}
	switch kind {
	case pS:
		if !OptionLike(s) {
			return dst, dropStructural
		}
		return append(dst, s...), kept
	case pKeep:
		w.post.keep(s)
		return append(dst, s...), kept
	case pN:
		return w.chosen(dst, s), kept
	case pF:
		return w.fieldList(dst, s), kept
	case pSort:
		for part := range strings.SplitSeq(string(s), ",") {
			if name, _, _ := strings.Cut(part, ":"); name != "_score" && name != "_doc" {
				w.sorted([]byte(name))
			}
		}
		return w.fieldList(dst, s), kept
	case pLucene:
		return w.queryParam(dst, s)
	case pID:
		return w.id(dst, s), kept
	case pIDs:
		for i, part := range strings.Split(string(s), ",") {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = w.id(dst, []byte(part))
		}
		return dst, kept
	case pPrefer:
		return w.preference(dst, s), kept
	case pIX:
		return w.indexExpr(dst, s), kept
	case pState:
		return w.state(dst, s), kept
	case pPath2:
		return w.filterPath(dst, s)
	case pBody:
		body, ok := w.p.bodies.byOp[op]
		if !ok {
			return dst, dropEndpoint
		}
		return w.rewrite(dst, s, body)
	}
	return w.text.text(dst, s), kept
}

// queryParam appends the form of q=.
func (w *Worker) queryParam(dst, s []byte) ([]byte, reason) {
	w.path2 = w.path2[:0]
	if w.p.schema != nil {
		defer w.about(w.paramFields().facts)()
	}
	return w.luceneText(dst, s)
}

// looksEscaped tells a percent escape in decoded text.
func looksEscaped(s []byte) bool {
	for i := 0; i+2 < len(s); i++ {
		if s[i] == '%' && isHex(s[i+1]) && isHex(s[i+2]) {
			return true
		}
	}
	return false
}

// filterPath handles paths of an answer's members, of which some are names.
func (w *Worker) filterPath(dst, s []byte) ([]byte, reason) {
	if !looksLikeSchema(s, ",") {
		return dst, dropStructural
	}
	w.post.keep(s)
	return append(dst, s...), kept
}
