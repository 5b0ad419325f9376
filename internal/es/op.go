package es

// Op is what a request asks for. Its String is stable: it stands in captures,
// reports and metric labels.
type Op uint8

// The operations. OpUnknown is a path that no known API has; OpAdmin stands for
// every known API that has no operation of its own, whatever its class.
//
// OpAsyncSearch starts an async search and OpAsyncGet fetches its result. The
// async forms of the query languages are one operation for start, result and
// stop, since all of them answer alike: a Route with an ID is not the start.
// OpAsyncStatus and OpAsyncDelete are those of all of them.
const (
	OpUnknown Op = iota
	OpInfo       // GET /
	OpSearch
	OpSearchTemplate
	OpMsearch
	OpMsearchTemplate
	OpCount
	OpValidate
	OpExplain
	OpRender
	OpGet    // _doc and _source
	OpExists // the same by HEAD
	OpMget
	OpTermvectors
	OpMtermvectors
	OpTermsEnum
	OpFieldCaps
	OpResolve
	OpRankEval
	OpSearchShards
	OpMVT
	OpKnnSearch
	OpGraph
	OpSearchApplication
	OpAnalyze
	OpSimulate
	OpInference
	OpAsyncSearch
	OpAsyncGet
	OpAsyncStatus
	OpAsyncDelete
	OpScroll
	OpClearScroll
	OpOpenPIT
	OpClosePIT
	OpListPIT
	OpESQL
	OpESQLAsync
	OpSQL
	OpSQLAsync
	OpSQLClose
	OpPPL
	OpEQL
	OpEQLAsync
	OpBulk
	OpBulkStream
	OpIndex
	OpCreate
	OpUpdate
	OpDelete
	OpUpdateByQuery
	OpDeleteByQuery
	OpReindex
	OpRefresh
	OpAdmin
	opCount
)

// Class is how an operation touches the cluster, and so what a replay may do
// with it.
type Class uint8

// The classes, in rising order of what they can do.
const (
	ClassUnknown     Class = iota
	ClassRead              // changes nothing
	ClassReadState         // opens, uses or closes server-side state: scroll, PIT, async
	ClassAdminRead         // looks at the cluster, not at documents
	ClassWrite             // writes the documents it names
	ClassMassWrite         // writes documents that a query chooses
	ClassAdminWrite        // changes settings, mappings, maintenance
	ClassDestructive       // can lose data or access
	classCount
)

// Route is what Classify finds in a request line. Its strings are parts of the
// target as it came, still percent-encoded.
type Route struct {
	Op    Op
	Class Class
	Index string // index expression, "" when the path has none
	ID    string // document, scroll, async or template id of the path
	Path  string // target up to "?"
	Query string // target after "?"
	// DocType: the path has the type _doc, as up to version 7; see Typeless.
	DocType bool
}

//nolint:gochecknoglobals // a constant table
var opNames = [opCount]string{
	OpUnknown: "unknown", OpInfo: "info",
	OpSearch: "search", OpSearchTemplate: "search_template", OpMsearch: "msearch", OpMsearchTemplate: "msearch_template",
	OpCount: "count", OpValidate: "validate", OpExplain: "explain", OpRender: "render",
	OpGet: "get", OpExists: "exists", OpMget: "mget",
	OpTermvectors: "termvectors", OpMtermvectors: "mtermvectors", OpTermsEnum: "terms_enum",
	OpFieldCaps: "field_caps", OpResolve: "resolve", OpRankEval: "rank_eval", OpSearchShards: "search_shards",
	OpMVT: "mvt", OpKnnSearch: "knn_search", OpGraph: "graph", OpSearchApplication: "search_application",
	OpAnalyze: "analyze", OpSimulate: "simulate", OpInference: "inference",
	OpAsyncSearch: "async_search", OpAsyncGet: "async_get", OpAsyncStatus: "async_status", OpAsyncDelete: "async_delete",
	OpScroll: "scroll", OpClearScroll: "clear_scroll",
	OpOpenPIT: "open_pit", OpClosePIT: "close_pit", OpListPIT: "list_pit",
	OpESQL: "esql", OpESQLAsync: "esql_async", OpSQL: "sql", OpSQLAsync: "sql_async", OpSQLClose: "sql_close",
	OpPPL: "ppl", OpEQL: "eql", OpEQLAsync: "eql_async",
	OpBulk: "bulk", OpBulkStream: "bulk_stream",
	OpIndex: "index", OpCreate: "create", OpUpdate: "update", OpDelete: "delete",
	OpUpdateByQuery: "update_by_query", OpDeleteByQuery: "delete_by_query", OpReindex: "reindex",
	OpRefresh: "refresh", OpAdmin: "admin",
}

//nolint:gochecknoglobals // a constant table
var classNames = [classCount]string{
	ClassUnknown: "unknown", ClassRead: "read", ClassReadState: "read-state", ClassAdminRead: "admin-read",
	ClassWrite: "write", ClassMassWrite: "mass-write", ClassAdminWrite: "admin-write", ClassDestructive: "destructive",
}

// String is the stable name of the operation, "unknown" for a value that is none.
func (o Op) String() string {
	if o < opCount {
		return opNames[o]
	}
	return opNames[OpUnknown]
}

// String is the stable name of the class, "unknown" for a value that is none.
func (c Class) String() string {
	if c < classCount {
		return classNames[c]
	}
	return classNames[ClassUnknown]
}

// ParseOp is the operation with that name.
func ParseOp(name string) (Op, bool) {
	for o, n := range opNames {
		if n == name {
			return Op(o), true
		}
	}
	return OpUnknown, false
}

// ParseClass is the class with that name.
func ParseClass(name string) (Class, bool) {
	for c, n := range classNames {
		if n == name {
			return Class(c), true
		}
	}
	return ClassUnknown, false
}

// Ops lists every operation, OpUnknown included, in a fixed order.
func Ops() []Op {
	all := make([]Op, opCount)
	for i := range all {
		all[i] = Op(i)
	}
	return all
}
