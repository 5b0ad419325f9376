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
//
//nolint:gochecknoglobals // constant tables, never written
var (
	catRules = [...]rule{
		{"count", onRead, OpAdmin, ClassRead},
		{"count/@", onRead, OpAdmin, ClassRead},
		{"indices/@", onGet, OpAdmin, ClassAdminRead},
		{"recovery/@", onGet, OpAdmin, ClassAdminRead},
		{"segments/@", onGet, OpAdmin, ClassAdminRead},
		{"shards/@", onGet, OpAdmin, ClassAdminRead},
	}
	clusterRules = [...]rule{
		{"health/@", onGet, OpAdmin, ClassAdminRead},
		{"state/*/@", onGet, OpAdmin, ClassAdminRead},
		{"allocation/explain", onPost, OpAdmin, ClassAdminRead},
		{"reroute", onPost, OpAdmin, ClassDestructive},
		{"settings", onPut, OpAdmin, ClassDestructive},
		{"decommission/awareness/*/*", onPut, OpAdmin, ClassDestructive},
		{"routing/awareness/*/weights", onPut, OpAdmin, ClassDestructive},
	}
	nodesRules = [...]rule{
		{"reload_secure_settings", onPost, OpAdmin, ClassDestructive},
		{"*/reload_secure_settings", onPost, OpAdmin, ClassDestructive},
		{"*/shutdown", onPut, OpAdmin, ClassDestructive},
		{"*/_repositories_metering/*", onDelete, OpAdmin, ClassAdminWrite},
	}
	tasksRules = [...]rule{
		{"_cancel", onPost, OpAdmin, ClassDestructive},
		{"#", onGet, OpAdmin, ClassReadState},
		{"#/_cancel", onPost, OpAdmin, ClassDestructive},
	}
	snapshotRules = [...]rule{
		{"*/_cleanup", onPost, OpAdmin, ClassDestructive},
		{"*/*/_restore", onPost, OpAdmin, ClassDestructive},
	}
	transformRules = [...]rule{
		{"_preview", onRead, OpAdmin, ClassRead},
		{"#/_preview", onRead, OpAdmin, ClassRead},
		{"#/_reset", onPost, OpAdmin, ClassDestructive},
	}
	dataStreamRules = [...]rule{
		{"_migrate/@", onPost, OpAdmin, ClassDestructive},
		{"_modify", onPost, OpAdmin, ClassDestructive},
	}
	indexTemplateRules = [...]rule{
		{"_simulate", onPost, OpAdmin, ClassRead},
		{"_simulate/#", onPost, OpAdmin, ClassRead},
		{"_simulate_index/@", onPost, OpAdmin, ClassRead},
	}
	lifecycleRules = [...]rule{
		{"move/@", onPost, OpAdmin, ClassDestructive},
		{"stop", onPost, OpAdmin, ClassDestructive},
	}
	licenseRules = [...]rule{
		{"", onPost | onPut, OpAdmin, ClassDestructive},
		{"*", onPost, OpAdmin, ClassDestructive},
	}
	scriptsRules    = [...]rule{{"painless/_execute", onRead, OpAdmin, ClassRead}}
	rootFleet       = [...]rule{{"_fleet_msearch", onRead, OpMsearch, ClassRead}}
	enrichRules     = [...]rule{{"policy/*/_execute", onPut, OpAdmin, ClassMassWrite}}
	monitoringRules = [...]rule{{"bulk", onPost | onPut, OpAdmin, ClassMassWrite}}
	migrationRules  = [...]rule{
		{"reindex", onPost, OpAdmin, ClassMassWrite},
		{"reindex/@/_cancel", onPost, OpAdmin, ClassDestructive},
	}
	readRules = [...]rule{
		{"status", onGet, OpAdmin, ClassAdminRead},
		{"**", onRead, OpAdmin, ClassRead},
	}
	queryRulesRules = [...]rule{{"*/_test", onPost, OpAdmin, ClassRead}}
	projectRules    = [...]rule{{"tags", onPost, OpAdmin, ClassAdminRead}}
	watcherRules    = [...]rule{{"_query/watches", onPost, OpAdmin, ClassAdminRead}}
	resetRules      = [...]rule{{"_reset", onPost, OpAdmin, ClassDestructive}}
	restoreRules    = [...]rule{{"_restore", onPost, OpAdmin, ClassDestructive}}

	securityRules = [...]rule{
		{"_query/*", onPost, OpAdmin, ClassAdminRead},
		{"profile/_has_privileges", onPost, OpAdmin, ClassAdminRead},
		{"profile/_suggest", onPost, OpAdmin, ClassAdminRead},
		{"user/_has_privileges", onPost, OpAdmin, ClassAdminRead},
		{"user/*/_has_privileges", onPost, OpAdmin, ClassAdminRead},
		{"api_key", onDelete, OpAdmin, ClassAdminWrite},
		{"oauth2/token", onDelete, OpAdmin, ClassAdminWrite},
	}
	mlRules = [...]rule{
		{"anomaly_detectors/_estimate_model_memory", onPost, OpAdmin, ClassAdminRead},
		{"anomaly_detectors/_validate", onPost, OpAdmin, ClassAdminRead},
		{"anomaly_detectors/_validate/detector", onPost, OpAdmin, ClassAdminRead},
		{"anomaly_detectors/*/_data", onPost, OpAdmin, ClassMassWrite},
		{"anomaly_detectors/*/_reset", onPost, OpAdmin, ClassDestructive},
		{"anomaly_detectors/*/model_snapshots", onPost, OpAdmin, ClassAdminRead},
		{"anomaly_detectors/*/model_snapshots/*", onPost, OpAdmin, ClassAdminRead},
		{"anomaly_detectors/*/model_snapshots/*/_revert", onPost, OpAdmin, ClassDestructive},
		{"anomaly_detectors/*/results/**", onPost, OpAdmin, ClassAdminRead},
		{"calendars", onPost, OpAdmin, ClassAdminRead},
		{"calendars/*", onPost, OpAdmin, ClassAdminRead},
		{"data_frame/_evaluate", onPost, OpAdmin, ClassAdminRead},
		{"data_frame/analytics/_explain", onPost, OpAdmin, ClassAdminRead},
		{"data_frame/analytics/*/_explain", onPost, OpAdmin, ClassAdminRead},
		{"data_frame/analytics/_preview", onRead, OpAdmin, ClassRead},
		{"data_frame/analytics/*/_preview", onRead, OpAdmin, ClassRead},
		{"datafeeds/_preview", onRead, OpAdmin, ClassRead},
		{"datafeeds/*/_preview", onRead, OpAdmin, ClassRead},
		{"trained_models/#/_infer", onPost, OpInference, ClassRead},
	}
	pluginRules = [...]rule{
		{"_sql", onPost, OpSQL, ClassRead},
		{"_sql/_explain", onPost, OpSQL, ClassRead},
		{"_sql/close", onPost, OpSQLClose, ClassReadState},
		{"_sql/stats", onPost, OpAdmin, ClassAdminRead},
		{"_ppl", onPost, OpPPL, ClassRead},
		{"_ppl/_explain", onPost, OpPPL, ClassRead},
		{"_ppl/stats", onPost, OpAdmin, ClassAdminRead},
		{"_asynchronous_search", onPost, OpAsyncSearch, ClassRead},
		{"_asynchronous_search/stats", onGet, OpAdmin, ClassAdminRead},
		{"_asynchronous_search/#", onGet, OpAsyncGet, ClassReadState},
		{"_asynchronous_search/#", onDelete, OpAsyncDelete, ClassReadState},
		{"_ml/models/#/_predict", onPost, OpInference, ClassRead},
		{"_ml/models/#/_predict/stream", onPost, OpInference, ClassRead},
		{"_ml/_predict/*/#", onPost, OpInference, ClassRead},
		{"_ml/memory_containers/*/memories/*/_delete_by_query", onPost, OpAdmin, ClassDestructive},
		{"_transform/_preview", onPost, OpAdmin, ClassRead},
		{"_ism/explain", onPost, OpAdmin, ClassAdminRead},
		{"_ism/explain/@", onRead, OpAdmin, ClassAdminRead},
		{"_ism/remove", onPost, OpAdmin, ClassDestructive},
		{"_ism/remove/@", onPost, OpAdmin, ClassDestructive},
		{"_replication/@/_start", onPut, OpAdmin, ClassDestructive},
		{"_replication/@/_stop", onPost, OpAdmin, ClassDestructive},
		{"_knn/warmup/@", onGet, OpAdmin, ClassAdminWrite},
		{"_notifications/feature/test/*", onGet, OpAdmin, ClassAdminWrite}, // sends a message
		{"_security/authinfo", onPost, OpAdmin, ClassAdminRead},
		{"_security/dashboardsinfo", onPost, OpAdmin, ClassAdminRead},
		{"_security/health", onPost, OpAdmin, ClassAdminRead},
		{"_security/tenantinfo", onPost, OpAdmin, ClassAdminRead},
		{"_security/whoami", onPost, OpAdmin, ClassAdminRead},
		// The searches of the plugins' own objects: two and three levels deep.
		{"*/_search", onPost, OpAdmin, ClassAdminRead},
		{"*/*/_search", onPost, OpAdmin, ClassAdminRead},
		{"*/*/*/_search", onPost, OpAdmin, ClassAdminRead},
		{"*/*/*/*/*/_search", onPost, OpAdmin, ClassAdminRead},
	}
)
