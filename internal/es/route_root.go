package es

// onRead is how an engine takes a search: with or without a body.
const onRead = onGet | onPost

// rootFamily is the table of API words at the start of a path.
func rootFamily(word string) family {
	switch word {
	case "_search":
		return family{rules: rootSearch[:]}
	case "_async_search":
		return family{rules: rootAsync[:]}
	case "_pit":
		return family{rules: rootPIT[:]}
	case "_query":
		return family{rules: esqlRules[:], admin: true}
	case "_sql":
		return family{rules: sqlRules[:]}
	case "_eql":
		return family{rules: rootEQL[:]}
	case "_render":
		return family{rules: renderRules[:]}
	case "_resolve":
		return family{rules: resolveRules[:]}
	case "_ingest":
		return family{rules: ingestRules[:], admin: true}
	case "_inference":
		return family{rules: inferenceRules[:], admin: true}
	case "_application":
		return family{rules: applicationRules[:], admin: true}
	case "_reindex":
		return family{rules: reindexRules[:]}
	case "_update_by_query", "_delete_by_query":
		return family{rules: rethrottleRules[:]}
	case "_plugins", "_opendistro":
		return family{rules: pluginRules[:], admin: true}
	}
	if f := sharedFamily(word); f.rules != nil {
		return f
	}
	return rootAdmin(word)
}

// sharedFamily is the part of both tables where an API word means the same at
// the start of a path and after an index expression.
func sharedFamily(word string) family {
	switch word {
	case "_msearch":
		return family{rules: msearchRules[:]}
	case "_bulk":
		return family{rules: bulkRules[:]}
	case "_count":
		return family{rules: countRules[:]}
	case "_mget":
		return family{rules: mgetRules[:]}
	case "_field_caps":
		return family{rules: fieldCapsRules[:]}
	case "_validate":
		return family{rules: validateRules[:]}
	case "_mtermvectors":
		return family{rules: mtermvectorsRules[:]}
	case "_rank_eval":
		return family{rules: rankEvalRules[:]}
	case "_search_shards":
		return family{rules: searchShardsRules[:]}
	case "_analyze":
		return family{rules: analyzeRules[:]}
	case "_refresh":
		return family{rules: refreshRules[:]}
	}
	return family{}
}

// The rules that hold at the start of a path, and those that hold after an
// index expression too.
//
//nolint:gochecknoglobals // constant tables, never written
var (
	rootSearch = [...]rule{
		{"", onRead, OpSearch, ClassRead},
		{"scroll", onRead, OpScroll, ClassReadState},
		{"scroll", onDelete, OpClearScroll, ClassReadState},
		{"scroll/#", onRead, OpScroll, ClassReadState},
		{"scroll/#", onDelete, OpClearScroll, ClassReadState},
		{"template", onRead, OpSearchTemplate, ClassRead},
		{"point_in_time", onDelete, OpClosePIT, ClassReadState},
		{"point_in_time/_all", onDelete, OpClosePIT, ClassReadState},
		{"point_in_time/_all", onGet, OpListPIT, ClassReadState},
		{"pipeline", onGet, OpAdmin, ClassAdminRead},
		{"pipeline/#", onGet, OpAdmin, ClassAdminRead},
		{"pipeline/#", onPut, OpAdmin, ClassAdminWrite},
		{"pipeline/#", onDelete, OpAdmin, ClassDestructive},
	}
	msearchRules = [...]rule{
		{"", onRead, OpMsearch, ClassRead},
		{"template", onRead, OpMsearchTemplate, ClassRead},
	}
	bulkRules = [...]rule{
		{"", onPost | onPut, OpBulk, ClassWrite},
		{"stream", onPost | onPut, OpBulkStream, ClassWrite},
	}
	countRules = [...]rule{{"", onRead, OpCount, ClassRead}}
	mgetRules  = [...]rule{{"", onRead, OpMget, ClassRead}}
	rootAsync  = [...]rule{
		{"", onPost, OpAsyncSearch, ClassRead},
		{"status/#", onGet, OpAsyncStatus, ClassReadState},
		{"#", onGet, OpAsyncGet, ClassReadState},
		{"#", onDelete, OpAsyncDelete, ClassReadState},
	}
	rootPIT        = [...]rule{{"", onDelete, OpClosePIT, ClassReadState}}
	fieldCapsRules = [...]rule{{"", onRead, OpFieldCaps, ClassRead}}
	esqlRules      = [...]rule{
		{"", onPost, OpESQL, ClassRead},
		{"async", onPost, OpESQLAsync, ClassRead},
		{"async/#", onGet, OpESQLAsync, ClassReadState},
		{"async/#", onDelete, OpAsyncDelete, ClassReadState},
		{"async/#/stop", onPost, OpESQLAsync, ClassReadState},
	}
	sqlRules = [...]rule{
		{"", onRead, OpSQL, ClassRead},
		{"translate", onRead, OpSQL, ClassRead},
		{"close", onPost, OpSQLClose, ClassReadState},
		{"async/status/#", onGet, OpAsyncStatus, ClassReadState},
		{"async/delete/#", onDelete, OpAsyncDelete, ClassReadState},
		{"async/#", onGet, OpSQLAsync, ClassReadState},
	}
	rootEQL = [...]rule{
		{"search/status/#", onGet, OpAsyncStatus, ClassReadState},
		{"search/#", onGet, OpEQLAsync, ClassReadState},
		{"search/#", onDelete, OpAsyncDelete, ClassReadState},
	}
	validateRules = [...]rule{{"query", onRead, OpValidate, ClassRead}}
	renderRules   = [...]rule{
		{"template", onRead, OpRender, ClassRead},
		{"template/#", onRead, OpRender, ClassRead},
	}
	mtermvectorsRules = [...]rule{{"", onRead, OpMtermvectors, ClassRead}}
	resolveRules      = [...]rule{
		{"index/@", onRead, OpResolve, ClassRead},
		{"cluster", onGet, OpResolve, ClassRead},
		{"cluster/@", onGet, OpResolve, ClassRead},
	}
	rankEvalRules     = [...]rule{{"", onRead, OpRankEval, ClassRead}}
	searchShardsRules = [...]rule{{"", onRead, OpSearchShards, ClassRead}}
	analyzeRules      = [...]rule{{"", onRead, OpAnalyze, ClassRead}}
	ingestRules       = [...]rule{
		{"_simulate", onRead, OpSimulate, ClassRead},
		{"pipeline/_simulate", onRead, OpSimulate, ClassRead},
		{"pipeline/#/_simulate", onRead, OpSimulate, ClassRead},
		{"@/_simulate", onRead, OpSimulate, ClassRead},
	}
	inferenceRules = [...]rule{
		{"#", onPost, OpInference, ClassRead},
		{"*/#", onPost, OpInference, ClassRead},
		{"*/#/_stream", onPost, OpInference, ClassRead},
	}
	applicationRules = [...]rule{
		{"search_application/#/_search", onRead, OpSearchApplication, ClassRead},
		{"search_application/#/_render_query", onPost, OpRender, ClassRead},
		{"analytics/*/event/*", onPost, OpAdmin, ClassMassWrite},
	}
	reindexRules = [...]rule{
		{"", onPost, OpReindex, ClassMassWrite},
		{"", onGet, OpAdmin, ClassAdminRead},
		{"#", onGet, OpAdmin, ClassReadState},
		{"#/_cancel", onPost, OpAdmin, ClassDestructive},
		{"#/_rethrottle", onPost, OpAdmin, ClassAdminWrite},
	}
	rethrottleRules = [...]rule{{"#/_rethrottle", onPost, OpAdmin, ClassAdminWrite}}
	refreshRules    = [...]rule{{"", onRead, OpRefresh, ClassAdminWrite}}
)
