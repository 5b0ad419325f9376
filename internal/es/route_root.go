package es

const getPost = get | post

// rootFamily is the table of API words at the start of a path.
func rootFamily(word string) family {
	switch word {
	case "_search":
		return family{rules: rootSearch[:]}
	case "_msearch":
		return family{rules: msearchRules[:]}
	case "_bulk":
		return family{rules: bulkRules[:]}
	case "_count":
		return family{rules: countRules[:]}
	case "_mget":
		return family{rules: mgetRules[:]}
	case "_async_search":
		return family{rules: rootAsync[:]}
	case "_pit":
		return family{rules: rootPIT[:]}
	case "_field_caps":
		return family{rules: fieldCapsRules[:]}
	case "_query":
		return family{rules: esqlRules[:], admin: true}
	case "_sql":
		return family{rules: sqlRules[:]}
	case "_eql":
		return family{rules: rootEQL[:]}
	case "_validate":
		return family{rules: validateRules[:]}
	case "_render":
		return family{rules: renderRules[:]}
	case "_mtermvectors":
		return family{rules: mtermvectorsRules[:]}
	case "_resolve":
		return family{rules: resolveRules[:]}
	case "_rank_eval":
		return family{rules: rankEvalRules[:]}
	case "_search_shards":
		return family{rules: searchShardsRules[:]}
	case "_analyze":
		return family{rules: analyzeRules[:]}
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
	case "_refresh":
		return family{rules: refreshRules[:]}
	case "_plugins", "_opendistro":
		return family{rules: pluginRules[:], admin: true}
	}
	return rootAdmin(word)
}

// The rules that hold at the start of a path, and those that hold after an
// index expression too.
var (
	rootSearch = [...]rule{
		{"", getPost, OpSearch, ClassRead},
		{"scroll", getPost, OpScroll, ClassReadState},
		{"scroll", del, OpClearScroll, ClassReadState},
		{"scroll/#", getPost, OpScroll, ClassReadState},
		{"scroll/#", del, OpClearScroll, ClassReadState},
		{"template", getPost, OpSearchTemplate, ClassRead},
		{"point_in_time", del, OpClosePIT, ClassReadState},
		{"point_in_time/_all", del, OpClosePIT, ClassReadState},
		{"point_in_time/_all", get, OpListPIT, ClassReadState},
		{"pipeline", get, OpAdmin, ClassAdminRead},
		{"pipeline/#", get, OpAdmin, ClassAdminRead},
		{"pipeline/#", put, OpAdmin, ClassAdminWrite},
		{"pipeline/#", del, OpAdmin, ClassDestructive},
	}
	msearchRules = [...]rule{
		{"", getPost, OpMsearch, ClassRead},
		{"template", getPost, OpMsearchTemplate, ClassRead},
	}
	bulkRules = [...]rule{
		{"", post | put, OpBulk, ClassWrite},
		{"stream", post | put, OpBulkStream, ClassWrite},
	}
	countRules = [...]rule{{"", getPost, OpCount, ClassRead}}
	mgetRules  = [...]rule{{"", getPost, OpMget, ClassRead}}
	rootAsync  = [...]rule{
		{"", post, OpAsyncSearch, ClassRead},
		{"status/#", get, OpAsyncStatus, ClassReadState},
		{"#", get, OpAsyncGet, ClassReadState},
		{"#", del, OpAsyncDelete, ClassReadState},
	}
	rootPIT        = [...]rule{{"", del, OpClosePIT, ClassReadState}}
	fieldCapsRules = [...]rule{{"", getPost, OpFieldCaps, ClassRead}}
	esqlRules      = [...]rule{
		{"", post, OpESQL, ClassRead},
		{"async", post, OpESQLAsync, ClassRead},
		{"async/#", get, OpESQLAsync, ClassReadState},
		{"async/#", del, OpAsyncDelete, ClassReadState},
		{"async/#/stop", post, OpESQLAsync, ClassReadState},
	}
	sqlRules = [...]rule{
		{"", getPost, OpSQL, ClassRead},
		{"translate", getPost, OpSQL, ClassRead},
		{"close", post, OpSQLClose, ClassReadState},
		{"async/status/#", get, OpAsyncStatus, ClassReadState},
		{"async/delete/#", del, OpAsyncDelete, ClassReadState},
		{"async/#", get, OpSQLAsync, ClassReadState},
	}
	rootEQL = [...]rule{
		{"search/status/#", get, OpAsyncStatus, ClassReadState},
		{"search/#", get, OpEQLAsync, ClassReadState},
		{"search/#", del, OpAsyncDelete, ClassReadState},
	}
	validateRules = [...]rule{{"query", getPost, OpValidate, ClassRead}}
	renderRules   = [...]rule{
		{"template", getPost, OpRender, ClassRead},
		{"template/#", getPost, OpRender, ClassRead},
	}
	mtermvectorsRules = [...]rule{{"", getPost, OpMtermvectors, ClassRead}}
	resolveRules      = [...]rule{
		{"index/@", getPost, OpResolve, ClassRead},
		{"cluster", get, OpResolve, ClassRead},
		{"cluster/@", get, OpResolve, ClassRead},
	}
	rankEvalRules     = [...]rule{{"", getPost, OpRankEval, ClassRead}}
	searchShardsRules = [...]rule{{"", getPost, OpSearchShards, ClassRead}}
	analyzeRules      = [...]rule{{"", getPost, OpAnalyze, ClassRead}}
	ingestRules       = [...]rule{
		{"_simulate", getPost, OpSimulate, ClassRead},
		{"pipeline/_simulate", getPost, OpSimulate, ClassRead},
		{"pipeline/#/_simulate", getPost, OpSimulate, ClassRead},
		{"@/_simulate", getPost, OpSimulate, ClassRead},
	}
	inferenceRules = [...]rule{
		{"#", post, OpInference, ClassRead},
		{"*/#", post, OpInference, ClassRead},
		{"*/#/_stream", post, OpInference, ClassRead},
	}
	applicationRules = [...]rule{
		{"search_application/#/_search", getPost, OpSearchApplication, ClassRead},
		{"search_application/#/_render_query", post, OpRender, ClassRead},
		{"analytics/*/event/*", post, OpAdmin, ClassMassWrite},
	}
	reindexRules = [...]rule{
		{"", post, OpReindex, ClassMassWrite},
		{"", get, OpAdmin, ClassAdminRead},
		{"#", get, OpAdmin, ClassReadState},
		{"#/_cancel", post, OpAdmin, ClassDestructive},
		{"#/_rethrottle", post, OpAdmin, ClassAdminWrite},
	}
	rethrottleRules = [...]rule{{"#/_rethrottle", post, OpAdmin, ClassAdminWrite}}
	refreshRules    = [...]rule{{"", getPost, OpRefresh, ClassAdminWrite}}
)
