package es

// indexFamily is the table of API words that follow an index expression.
func indexFamily(word string) family {
	switch word {
	case "_search":
		return family{rules: indexSearch[:]}
	case "_doc":
		return family{rules: docRules[:]}
	case "_update":
		return family{rules: updateRules[:]}
	case "_create":
		return family{rules: createRules[:]}
	case "_source":
		return family{rules: sourceRules[:]}
	case "_async_search":
		return family{rules: rootAsync[:1]}
	case "_pit":
		return family{rules: indexPIT[:]}
	case "_eql":
		return family{rules: indexEQL[:]}
	case "_explain":
		return family{rules: explainRules[:]}
	case "_termvectors":
		return family{rules: termvectorsRules[:]}
	case "_terms_enum":
		return family{rules: termsEnumRules[:]}
	case "_mvt":
		return family{rules: mvtRules[:]}
	case "_knn_search":
		return family{rules: knnRules[:]}
	case "_graph":
		return family{rules: graphRules[:]}
	case "_rollup_search":
		return family{rules: rollupSearchRules[:]}
	case "_update_by_query":
		return family{rules: updateByQueryRules[:]}
	case "_delete_by_query":
		return family{rules: deleteByQueryRules[:]}
	}
	if f := sharedFamily(word); f.rules != nil {
		return f
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

//nolint:gochecknoglobals // constant tables, never written
var (
	indexItself = family{rules: indexItselfRules[:]}
	ingestion   = family{rules: ingestionRules[:]}
	typedDoc    = family{rules: typedDocRules[:]}
	typedUpdate = family{rules: typedUpdateRules[:]}
)

// The rules that hold only after an index expression.
//
//nolint:gochecknoglobals // constant tables, never written
var (
	indexItselfRules = [...]rule{
		{"", onGet, OpAdmin, ClassAdminRead},
		{"", onPut, OpAdmin, ClassAdminWrite},
		{"", onDelete, OpAdmin, ClassDestructive},
	}
	indexSearch = [...]rule{
		{"", onRead, OpSearch, ClassRead},
		{"template", onRead, OpSearchTemplate, ClassRead},
		{"point_in_time", onPost, OpOpenPIT, ClassReadState},
	}
	// The longer forms are those of version 7 and older, where _doc was a type.
	docRules = [...]rule{
		{"", onPost, OpIndex, ClassWrite},
		{"#", onGet, OpGet, ClassRead},
		{"#", onPost | onPut, OpIndex, ClassWrite},
		{"#", onDelete, OpDelete, ClassWrite},
		{"#/_update", onPost, OpUpdate, ClassWrite},
		{"#/_create", onPost | onPut, OpCreate, ClassWrite},
		{"#/_source", onGet, OpGet, ClassRead},
		{"#/_explain", onRead, OpExplain, ClassRead},
		{"#/_termvectors", onRead, OpTermvectors, ClassRead},
	}
	// The same below /{index}/{type}.
	typedDocRules    = docRules
	typedUpdateRules = [...]rule{
		{"", onPost, OpUpdate, ClassWrite},
		{"#", onPost, OpUpdate, ClassWrite},
	}
	updateRules  = [...]rule{{"#", onPost, OpUpdate, ClassWrite}}
	createRules  = [...]rule{{"#", onPost | onPut, OpCreate, ClassWrite}}
	sourceRules  = [...]rule{{"#", onGet, OpGet, ClassRead}}
	indexPIT     = [...]rule{{"", onPost, OpOpenPIT, ClassReadState}}
	indexEQL     = [...]rule{{"search", onRead, OpEQL, ClassRead}}
	explainRules = [...]rule{{"#", onRead, OpExplain, ClassRead}}

	termvectorsRules = [...]rule{
		{"", onRead, OpTermvectors, ClassRead},
		{"#", onRead, OpTermvectors, ClassRead},
	}
	termsEnumRules     = [...]rule{{"", onRead, OpTermsEnum, ClassRead}}
	mvtRules           = [...]rule{{"*/*/*/*", onRead, OpMVT, ClassRead}}
	knnRules           = [...]rule{{"", onRead, OpKnnSearch, ClassRead}}
	graphRules         = [...]rule{{"explore", onRead, OpGraph, ClassRead}}
	rollupSearchRules  = [...]rule{{"", onRead, OpSearch, ClassRead}}
	updateByQueryRules = [...]rule{{"", onPost, OpUpdateByQuery, ClassMassWrite}}
	deleteByQueryRules = [...]rule{{"", onPost, OpDeleteByQuery, ClassMassWrite}}

	settingsRules   = [...]rule{{"", onPut, OpAdmin, ClassDestructive}}
	mappingRules    = [...]rule{{"", onPost | onPut, OpAdmin, ClassDestructive}}
	flushRules      = [...]rule{{"", onRead, OpAdmin, ClassAdminWrite}, {"synced", onRead, OpAdmin, ClassAdminWrite}}
	cacheRules      = [...]rule{{"clear", onPost, OpAdmin, ClassDestructive}}
	destructivePost = [...]rule{{"", onPost, OpAdmin, ClassDestructive}}
	blockRules      = [...]rule{
		{"*", onPut, OpAdmin, ClassDestructive},
		{"*", onDelete, OpAdmin, ClassAdminWrite},
	}
	indexCCR = [...]rule{
		{"follow", onPut, OpAdmin, ClassDestructive},
		{"unfollow", onPost, OpAdmin, ClassDestructive},
	}
	resizeRules   = [...]rule{{"*", onPost | onPut, OpAdmin, ClassDestructive}}
	rolloverRules = [...]rule{
		{"", onPost, OpAdmin, ClassDestructive},
		{"*", onPost, OpAdmin, ClassDestructive},
	}
	indexILM   = [...]rule{{"remove", onPost, OpAdmin, ClassDestructive}}
	indexFleet = [...]rule{
		{"_fleet_search", onRead, OpSearch, ClassRead},
		{"_fleet_msearch", onRead, OpMsearch, ClassRead},
	}
	reloadRules    = [...]rule{{"", onRead, OpAdmin, ClassAdminWrite}}
	ingestionRules = [...]rule{
		{"_state", onGet, OpAdmin, ClassAdminRead},
		{"_pause", onPost, OpAdmin, ClassAdminWrite},
		{"_resume", onPost, OpAdmin, ClassAdminWrite},
	}
)
