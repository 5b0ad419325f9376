package es

// indexFamily is the table of API words that follow an index expression.
func indexFamily(word string) family {
	switch word {
	case "_search":
		return family{rules: indexSearch[:]}
	case "_doc":
		return family{rules: docRules[:]}
	case "_bulk":
		return family{rules: bulkRules[:]}
	case "_update":
		return family{rules: updateRules[:]}
	case "_create":
		return family{rules: createRules[:]}
	case "_msearch":
		return family{rules: msearchRules[:]}
	case "_count":
		return family{rules: countRules[:]}
	case "_mget":
		return family{rules: mgetRules[:]}
	case "_source":
		return family{rules: sourceRules[:]}
	case "_async_search":
		return family{rules: rootAsync[:1]}
	case "_pit":
		return family{rules: indexPIT[:]}
	case "_field_caps":
		return family{rules: fieldCapsRules[:]}
	case "_eql":
		return family{rules: indexEQL[:]}
	case "_explain":
		return family{rules: explainRules[:]}
	case "_validate":
		return family{rules: validateRules[:]}
	case "_termvectors":
		return family{rules: termvectorsRules[:]}
	case "_mtermvectors":
		return family{rules: mtermvectorsRules[:]}
	case "_terms_enum":
		return family{rules: termsEnumRules[:]}
	case "_rank_eval":
		return family{rules: rankEvalRules[:]}
	case "_search_shards":
		return family{rules: searchShardsRules[:]}
	case "_mvt":
		return family{rules: mvtRules[:]}
	case "_knn_search":
		return family{rules: knnRules[:]}
	case "_graph":
		return family{rules: graphRules[:]}
	case "_analyze":
		return family{rules: analyzeRules[:]}
	case "_rollup_search":
		return family{rules: rollupSearchRules[:]}
	case "_update_by_query":
		return family{rules: updateByQueryRules[:]}
	case "_delete_by_query":
		return family{rules: deleteByQueryRules[:]}
	case "_refresh":
		return family{rules: refreshRules[:]}
	}
	return indexAdmin(word)
}

// indexAdmin is the rest of indexFamily: the administrative API words.
func indexAdmin(word string) family {
	switch word {
	case "_alias", "_field_usage_stats", "_lifecycle", "_migration", "_open",
		"_recovery", "_rollup", "_searchable_snapshots", "_segments", "_shard_stores", "_stats", "_disk_usage",
		"_upgrade", "_aliases":
		return family{admin: true}
	case "_settings":
		return family{rules: settingsRules[:], admin: true}
	case "_mapping", "_mappings":
		return family{rules: mappingRules[:], admin: true}
	case "_flush":
		return family{rules: flushRules[:]}
	case "_cache":
		return family{rules: cacheRules[:]}
	case "_forcemerge", "_close":
		return family{rules: destructivePost[:]}
	case "_block":
		return family{rules: blockRules[:]}
	case "_ccr":
		return family{rules: indexCCR[:], admin: true}
	case "_clone", "_shrink", "_split", "_downsample":
		return family{rules: resizeRules[:]}
	case "_rollover":
		return family{rules: rolloverRules[:]}
	case "_ilm":
		return family{rules: indexILM[:], admin: true}
	case "_fleet":
		return family{rules: indexFleet[:], admin: true}
	case "_reload_search_analyzers":
		return family{rules: reloadRules[:]}
	}
	return family{}
}

var (
	indexItself = family{rules: indexItselfRules[:]}
	ingestion   = family{rules: ingestionRules[:]}
	typedDoc    = family{rules: typedDocRules[:]}
	typedUpdate = family{rules: typedUpdateRules[:]}
)

// The rules that hold only after an index expression.
var (
	indexItselfRules = [...]rule{
		{"", get, OpAdmin, ClassAdminRead},
		{"", put, OpAdmin, ClassAdminWrite},
		{"", del, OpAdmin, ClassDestructive},
	}
	indexSearch = [...]rule{
		{"", getPost, OpSearch, ClassRead},
		{"template", getPost, OpSearchTemplate, ClassRead},
		{"point_in_time", post, OpOpenPIT, ClassReadState},
	}
	// The longer forms are those of version 7 and older, where _doc was a type.
	docRules = [...]rule{
		{"", post, OpIndex, ClassWrite},
		{"#", get, OpGet, ClassRead},
		{"#", post | put, OpIndex, ClassWrite},
		{"#", del, OpDelete, ClassWrite},
		{"#/_update", post, OpUpdate, ClassWrite},
		{"#/_create", post | put, OpCreate, ClassWrite},
		{"#/_source", get, OpGet, ClassRead},
		{"#/_explain", getPost, OpExplain, ClassRead},
		{"#/_termvectors", getPost, OpTermvectors, ClassRead},
	}
	// The same below /{index}/{type}.
	typedDocRules    = docRules
	typedUpdateRules = [...]rule{
		{"", post, OpUpdate, ClassWrite},
		{"#", post, OpUpdate, ClassWrite},
	}
	updateRules  = [...]rule{{"#", post, OpUpdate, ClassWrite}}
	createRules  = [...]rule{{"#", post | put, OpCreate, ClassWrite}}
	sourceRules  = [...]rule{{"#", get, OpGet, ClassRead}}
	indexPIT     = [...]rule{{"", post, OpOpenPIT, ClassReadState}}
	indexEQL     = [...]rule{{"search", getPost, OpEQL, ClassRead}}
	explainRules = [...]rule{{"#", getPost, OpExplain, ClassRead}}

	termvectorsRules = [...]rule{
		{"", getPost, OpTermvectors, ClassRead},
		{"#", getPost, OpTermvectors, ClassRead},
	}
	termsEnumRules     = [...]rule{{"", getPost, OpTermsEnum, ClassRead}}
	mvtRules           = [...]rule{{"*/*/*/*", getPost, OpMVT, ClassRead}}
	knnRules           = [...]rule{{"", getPost, OpKnnSearch, ClassRead}}
	graphRules         = [...]rule{{"explore", getPost, OpGraph, ClassRead}}
	rollupSearchRules  = [...]rule{{"", getPost, OpSearch, ClassRead}}
	updateByQueryRules = [...]rule{{"", post, OpUpdateByQuery, ClassMassWrite}}
	deleteByQueryRules = [...]rule{{"", post, OpDeleteByQuery, ClassMassWrite}}

	settingsRules   = [...]rule{{"", put, OpAdmin, ClassDestructive}}
	mappingRules    = [...]rule{{"", post | put, OpAdmin, ClassDestructive}}
	flushRules      = [...]rule{{"", getPost, OpAdmin, ClassAdminWrite}, {"synced", getPost, OpAdmin, ClassAdminWrite}}
	cacheRules      = [...]rule{{"clear", post, OpAdmin, ClassDestructive}}
	destructivePost = [...]rule{{"", post, OpAdmin, ClassDestructive}}
	blockRules      = [...]rule{
		{"*", put, OpAdmin, ClassDestructive},
		{"*", del, OpAdmin, ClassAdminWrite},
	}
	indexCCR = [...]rule{
		{"follow", put, OpAdmin, ClassDestructive},
		{"unfollow", post, OpAdmin, ClassDestructive},
	}
	resizeRules   = [...]rule{{"*", post | put, OpAdmin, ClassDestructive}}
	rolloverRules = [...]rule{
		{"", post, OpAdmin, ClassDestructive},
		{"*", post, OpAdmin, ClassDestructive},
	}
	indexILM   = [...]rule{{"remove", post, OpAdmin, ClassDestructive}}
	indexFleet = [...]rule{
		{"_fleet_search", getPost, OpSearch, ClassRead},
		{"_fleet_msearch", getPost, OpMsearch, ClassRead},
	}
	reloadRules    = [...]rule{{"", getPost, OpAdmin, ClassAdminWrite}}
	ingestionRules = [...]rule{
		{"_state", get, OpAdmin, ClassAdminRead},
		{"_pause", post, OpAdmin, ClassAdminWrite},
		{"_resume", post, OpAdmin, ClassAdminWrite},
	}
)
