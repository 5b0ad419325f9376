package es

// rootAdmin is the rest of rootFamily: the administrative API words.
func rootAdmin(word string) family {
	switch word {
	case "_alias", "_aliases", "_autoscaling", "_capabilities", "_ccr", "_component_template", "_connector",
		"_create_from", "_dangling", "_health_report", "_info", "_insights", "_internal", "_lifecycle", "_list",
		"_logstash", "_ltr", "_mapping", "_mappings", "_project_routing", "_recovery", "_remote", "_rollup",
		"_script_context", "_script_language", "_searchable_snapshots", "_segments", "_shard_stores", "_ssl",
		"_stats", "_streams", "_synonyms", "_template", "_upgrade", "_wlm", "_xpack":
		return family{admin: true}
	case "_cat":
		return family{rules: catRules[:], admin: true}
	case "_cluster":
		return family{rules: clusterRules[:], admin: true}
	case "_nodes":
		return family{rules: nodesRules[:], admin: true}
	case "_tasks":
		return family{rules: tasksRules[:], admin: true}
	case "_flush":
		return family{rules: flushRules[:]}
	case "_cache":
		return family{rules: cacheRules[:]}
	case "_forcemerge":
		return family{rules: destructivePost[:]}
	case "_settings":
		return family{rules: settingsRules[:], admin: true}
	case "_ml":
		return family{rules: mlRules[:], admin: true}
	case "_security":
		return family{rules: securityRules[:], admin: true}
	case "_snapshot":
		return family{rules: snapshotRules[:], admin: true}
	case "_transform":
		return family{rules: transformRules[:], admin: true}
	case "_data_stream":
		return family{rules: dataStreamRules[:], admin: true}
	case "_index_template":
		return family{rules: indexTemplateRules[:], admin: true}
	case "_ilm", "_slm":
		return family{rules: lifecycleRules[:], admin: true}
	case "_license":
		return family{rules: licenseRules[:], admin: true}
	}
	return rootRare(word)
}

// rootRare holds the administrative words with a rule or two of their own.
func rootRare(word string) family {
	switch word {
	case "_scripts":
		return family{rules: scriptsRules[:], admin: true}
	case "_fleet":
		return family{rules: rootFleet[:], admin: true}
	case "_enrich":
		return family{rules: enrichRules[:], admin: true}
	case "_migration":
		return family{rules: migrationRules[:], admin: true}
	case "_monitoring":
		return family{rules: monitoringRules[:], admin: true}
	case "_profiling", "_text_structure":
		return family{rules: readRules[:], admin: true}
	case "_query_rules":
		return family{rules: queryRulesRules[:], admin: true}
	case "_project":
		return family{rules: projectRules[:], admin: true}
	case "_watcher":
		return family{rules: watcherRules[:], admin: true}
	case "_encryption", "_features":
		return family{rules: resetRules[:], admin: true}
	case "_remotestore":
		return family{rules: restoreRules[:], admin: true}
	}
	return family{}
}

// Where an administrative API differs from what its method says.
var (
	catRules = [...]rule{
		{"count", getPost, OpAdmin, ClassRead},
		{"count/@", getPost, OpAdmin, ClassRead},
		{"indices/@", get, OpAdmin, ClassAdminRead},
		{"recovery/@", get, OpAdmin, ClassAdminRead},
		{"segments/@", get, OpAdmin, ClassAdminRead},
		{"shards/@", get, OpAdmin, ClassAdminRead},
	}
	clusterRules = [...]rule{
		{"health/@", get, OpAdmin, ClassAdminRead},
		{"state/*/@", get, OpAdmin, ClassAdminRead},
		{"allocation/explain", post, OpAdmin, ClassAdminRead},
		{"reroute", post, OpAdmin, ClassDestructive},
		{"settings", put, OpAdmin, ClassDestructive},
		{"decommission/awareness/*/*", put, OpAdmin, ClassDestructive},
		{"routing/awareness/*/weights", put, OpAdmin, ClassDestructive},
	}
	nodesRules = [...]rule{
		{"reload_secure_settings", post, OpAdmin, ClassDestructive},
		{"*/reload_secure_settings", post, OpAdmin, ClassDestructive},
		{"*/shutdown", put, OpAdmin, ClassDestructive},
		{"*/_repositories_metering/*", del, OpAdmin, ClassAdminWrite},
	}
	tasksRules = [...]rule{
		{"_cancel", post, OpAdmin, ClassDestructive},
		{"#", get, OpAdmin, ClassReadState},
		{"#/_cancel", post, OpAdmin, ClassDestructive},
	}
	snapshotRules = [...]rule{
		{"*/_cleanup", post, OpAdmin, ClassDestructive},
		{"*/*/_restore", post, OpAdmin, ClassDestructive},
	}
	transformRules = [...]rule{
		{"_preview", getPost, OpAdmin, ClassRead},
		{"#/_preview", getPost, OpAdmin, ClassRead},
		{"#/_reset", post, OpAdmin, ClassDestructive},
	}
	dataStreamRules = [...]rule{
		{"_migrate/@", post, OpAdmin, ClassDestructive},
		{"_modify", post, OpAdmin, ClassDestructive},
	}
	indexTemplateRules = [...]rule{
		{"_simulate", post, OpAdmin, ClassRead},
		{"_simulate/#", post, OpAdmin, ClassRead},
		{"_simulate_index/@", post, OpAdmin, ClassRead},
	}
	lifecycleRules = [...]rule{
		{"move/@", post, OpAdmin, ClassDestructive},
		{"stop", post, OpAdmin, ClassDestructive},
	}
	licenseRules = [...]rule{
		{"", post | put, OpAdmin, ClassDestructive},
		{"*", post, OpAdmin, ClassDestructive},
	}
	scriptsRules    = [...]rule{{"painless/_execute", getPost, OpAdmin, ClassRead}}
	rootFleet       = [...]rule{{"_fleet_msearch", getPost, OpMsearch, ClassRead}}
	enrichRules     = [...]rule{{"policy/*/_execute", put, OpAdmin, ClassMassWrite}}
	monitoringRules = [...]rule{{"bulk", post | put, OpAdmin, ClassMassWrite}}
	migrationRules  = [...]rule{
		{"reindex", post, OpAdmin, ClassMassWrite},
		{"reindex/@/_cancel", post, OpAdmin, ClassDestructive},
	}
	readRules = [...]rule{
		{"status", get, OpAdmin, ClassAdminRead},
		{"**", getPost, OpAdmin, ClassRead},
	}
	queryRulesRules = [...]rule{{"*/_test", post, OpAdmin, ClassRead}}
	projectRules    = [...]rule{{"tags", post, OpAdmin, ClassAdminRead}}
	watcherRules    = [...]rule{{"_query/watches", post, OpAdmin, ClassAdminRead}}
	resetRules      = [...]rule{{"_reset", post, OpAdmin, ClassDestructive}}
	restoreRules    = [...]rule{{"_restore", post, OpAdmin, ClassDestructive}}

	securityRules = [...]rule{
		{"_query/*", post, OpAdmin, ClassAdminRead},
		{"profile/_has_privileges", post, OpAdmin, ClassAdminRead},
		{"profile/_suggest", post, OpAdmin, ClassAdminRead},
		{"user/_has_privileges", post, OpAdmin, ClassAdminRead},
		{"user/*/_has_privileges", post, OpAdmin, ClassAdminRead},
		{"api_key", del, OpAdmin, ClassAdminWrite},
		{"oauth2/token", del, OpAdmin, ClassAdminWrite},
	}
	mlRules = [...]rule{
		{"anomaly_detectors/_estimate_model_memory", post, OpAdmin, ClassAdminRead},
		{"anomaly_detectors/_validate", post, OpAdmin, ClassAdminRead},
		{"anomaly_detectors/_validate/detector", post, OpAdmin, ClassAdminRead},
		{"anomaly_detectors/*/_data", post, OpAdmin, ClassMassWrite},
		{"anomaly_detectors/*/_reset", post, OpAdmin, ClassDestructive},
		{"anomaly_detectors/*/model_snapshots", post, OpAdmin, ClassAdminRead},
		{"anomaly_detectors/*/model_snapshots/*", post, OpAdmin, ClassAdminRead},
		{"anomaly_detectors/*/model_snapshots/*/_revert", post, OpAdmin, ClassDestructive},
		{"anomaly_detectors/*/results/**", post, OpAdmin, ClassAdminRead},
		{"calendars", post, OpAdmin, ClassAdminRead},
		{"calendars/*", post, OpAdmin, ClassAdminRead},
		{"data_frame/_evaluate", post, OpAdmin, ClassAdminRead},
		{"data_frame/analytics/_explain", post, OpAdmin, ClassAdminRead},
		{"data_frame/analytics/*/_explain", post, OpAdmin, ClassAdminRead},
		{"data_frame/analytics/_preview", getPost, OpAdmin, ClassRead},
		{"data_frame/analytics/*/_preview", getPost, OpAdmin, ClassRead},
		{"datafeeds/_preview", getPost, OpAdmin, ClassRead},
		{"datafeeds/*/_preview", getPost, OpAdmin, ClassRead},
		{"trained_models/#/_infer", post, OpInference, ClassRead},
	}
	pluginRules = [...]rule{
		{"_sql", post, OpSQL, ClassRead},
		{"_sql/_explain", post, OpSQL, ClassRead},
		{"_sql/close", post, OpSQLClose, ClassReadState},
		{"_sql/stats", post, OpAdmin, ClassAdminRead},
		{"_ppl", post, OpPPL, ClassRead},
		{"_ppl/_explain", post, OpPPL, ClassRead},
		{"_ppl/stats", post, OpAdmin, ClassAdminRead},
		{"_asynchronous_search", post, OpAsyncSearch, ClassRead},
		{"_asynchronous_search/stats", get, OpAdmin, ClassAdminRead},
		{"_asynchronous_search/#", get, OpAsyncGet, ClassReadState},
		{"_asynchronous_search/#", del, OpAsyncDelete, ClassReadState},
		{"_ml/models/#/_predict", post, OpInference, ClassRead},
		{"_ml/models/#/_predict/stream", post, OpInference, ClassRead},
		{"_ml/_predict/*/#", post, OpInference, ClassRead},
		{"_ml/memory_containers/*/memories/*/_delete_by_query", post, OpAdmin, ClassDestructive},
		{"_transform/_preview", post, OpAdmin, ClassRead},
		{"_ism/explain", post, OpAdmin, ClassAdminRead},
		{"_ism/explain/@", getPost, OpAdmin, ClassAdminRead},
		{"_ism/remove", post, OpAdmin, ClassDestructive},
		{"_ism/remove/@", post, OpAdmin, ClassDestructive},
		{"_replication/@/_start", put, OpAdmin, ClassDestructive},
		{"_replication/@/_stop", post, OpAdmin, ClassDestructive},
		{"_knn/warmup/@", get, OpAdmin, ClassAdminWrite},
		{"_notifications/feature/test/*", get, OpAdmin, ClassAdminWrite}, // sends a message
		{"_security/authinfo", post, OpAdmin, ClassAdminRead},
		{"_security/dashboardsinfo", post, OpAdmin, ClassAdminRead},
		{"_security/health", post, OpAdmin, ClassAdminRead},
		{"_security/tenantinfo", post, OpAdmin, ClassAdminRead},
		{"_security/whoami", post, OpAdmin, ClassAdminRead},
		// The searches of the plugins' own objects: two and three levels deep.
		{"*/_search", post, OpAdmin, ClassAdminRead},
		{"*/*/_search", post, OpAdmin, ClassAdminRead},
		{"*/*/*/_search", post, OpAdmin, ClassAdminRead},
		{"*/*/*/*/*/_search", post, OpAdmin, ClassAdminRead},
	}
)
