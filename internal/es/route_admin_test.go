package es

import (
	"strings"
	"testing"
)

// TestClassifyAdministration holds one line for each exception of the
// administrative tables, and each word that has none.
func TestClassifyAdministration(t *testing.T) {
	byMethod := "_alias _aliases _autoscaling _capabilities _cat _ccr _cluster _component_template _connector _create_from " +
		"_dangling _data_stream _enrich _features _fleet _health_report _ilm _index_template _info _ingest _insights _internal " +
		"_lifecycle _list _logstash _ltr _mapping _mappings _migration _ml _monitoring _nodes _plugins _profiling _project " +
		"_project_routing _query_rules _recovery _remote _remotestore _rollup _script_context _script_language _scripts " +
		"_searchable_snapshots _security _segments _settings _shard_stores _slm _snapshot _ssl _stats _streams _synonyms " +
		"_template _transform _upgrade _watcher _wlm _xpack _application"
	for word := range strings.FieldsSeq(byMethod) {
		for method, want := range map[string]Class{"GET": ClassAdminRead, "PATCH": ClassAdminWrite, "DELETE": ClassDestructive} {
			if r := Classify(method, "/"+word+"/~/~/~/~"); r.Op != OpAdmin || r.Class != want && word != "_profiling" {
				t.Errorf("%s /%s/…: %v, %v", method, word, r.Op, r.Class)
			}
		}
	}
	tests := []struct {
		class    Class
		requests string
	}{
		{ClassRead, "GET /_cat/count; POST /_scripts/painless/_execute; GET /_transform/_preview; POST /_index_template/_simulate_index/a; " +
			"POST /_profiling/topn/functions; POST /_text_structure/find_structure; POST /_query_rules/r/_test; GET /_ml/datafeeds/_preview; " +
			"POST /_fleet/_fleet_msearch; GET /a/_fleet/_fleet_search; POST /_plugins/_transform/_preview; GET /a/_rollup_search"},
		{ClassReadState, "GET /_tasks/n:1; GET /_reindex/n:1; GET /_search/point_in_time/_all"},
		{ClassMassWrite, "POST /_monitoring/bulk; PUT /_enrich/policy/p/_execute; POST /_migration/reindex; POST /_ml/anomaly_detectors/j/_data; " +
			"POST /_application/analytics/c/event/e"},
		{ClassAdminRead, "POST /_cluster/allocation/explain; POST /_security/_query/role; POST /_ml/calendars/c; POST /_watcher/_query/watches; " +
			"POST /_project/tags; GET /_profiling/status; POST /_plugins/_ism/explain; POST /_plugins/_ml/models/_search; GET /a/_settings/x; " +
			"GET /a/_mapping/field/f; GET /_search/pipeline/p; GET /a/ingestion/_state; GET /_tasks"},
		{ClassAdminWrite, "DELETE /_security/api_key; DELETE /_nodes/n/_repositories_metering/1; DELETE /a/_block/write; POST /a/_open; GET /a/_flush; " +
			"POST /a/_flush/synced; GET /a/_reload_search_analyzers; PUT /_search/pipeline/p; POST /a/ingestion/_pause; GET /_plugins/_knn/warmup/a; " +
			"GET /_plugins/_notifications/feature/test/c; POST /_update_by_query/n:1/_rethrottle; POST /a/_ccr/pause_follow; PUT /a/_alias/b"},
		{ClassDestructive, "POST /_cache/clear; POST /a/_forcemerge; PUT /a/_settings; PUT /_settings; PUT /_cluster/settings; POST /_cluster/reroute; " +
			"POST /a/_shrink/b; PUT /a/_split/b; PUT /a/_clone/b; PUT /a/_mapping; PUT /a/_block/write; POST /_tasks/_cancel; POST /_tasks/n:1/_cancel; " +
			"POST /_snapshot/r/s/_restore; POST /_snapshot/r/_cleanup; POST /_license; POST /_license/start_trial; POST /_ilm/stop; POST /_ilm/move/a; " +
			"POST /a/_ilm/remove; PUT /a/_ccr/follow; POST /_features/_reset; POST /_remotestore/_restore; PUT /_nodes/n/shutdown; " +
			"POST /_nodes/reload_secure_settings; POST /_data_stream/_modify; POST /_reindex/n:1/_cancel; POST /_transform/t/_reset; " +
			"PUT /_plugins/_replication/a/_start; POST /_plugins/_ism/remove/a; DELETE /_search/pipeline/p; POST /_migration/reindex/a/_cancel"},
		{ClassUnknown, "PUT /_flush; GET /_forcemerge; GET /_cache/clear; GET /a/_close; POST /a/_rollover/b/c; GET /a/_shrink/b; PUT /_reindex; " +
			"GET /_update_by_query/n:1/_rethrottle; POST /a/ingestion/_drop; POST /a/_cache; POST /_search/pipeline; GET /a/_mvt/f"},
	}
	for _, tt := range tests {
		for _, request := range strings.Split(tt.requests, "; ") {
			method, target, _ := strings.Cut(request, " ")
			if r := Classify(method, target); r.Class != tt.class {
				t.Errorf("%s: %v, %v; want %v", request, r.Op, r.Class, tt.class)
			}
		}
	}
}
