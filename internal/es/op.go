package es

// Op is what a request asks for. Its String is stable: it stands in captures,
// reports and metric labels.
type Op uint8

// The operations. OpUnknown is a path that no known API has; OpAdmin stands for
// every known API that has no operation of its own.
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
}
