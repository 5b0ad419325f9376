package es

import "strings"

// Classify says what a request line asks for: the operation, its class, and the
// parts of the target that name an index or an id. The target is the one of the
// request line, untouched: it is split at "/" before anything is decoded, as the
// engines route it, so "%2F" never separates and "%5Fsearch" is not an API word.
//
// Only the method and the target decide. Method names are case-sensitive; HEAD
// asks what GET asks. The absolute form (http://host/path) is read like the path
// in it. A path or method that no known API has gives OpUnknown and
// ClassUnknown; an unknown path below a known administrative API keeps that
// API's class by method, since none of those is ever replayed.
//
// It allocates nothing.
func Classify(method, target string) Route {
	r := split(target)
	v := verbOf(method)
	path, ok := strings.CutPrefix(r.Path, "/")
	if !ok || v == 0 {
		return r
	}
	// The engines drop empty segments at the end, and only there.
	for strings.HasSuffix(path, "/") {
		path = path[:len(path)-1]
	}
	if path == "" {
		if v&onGet != 0 {
			r.Op, r.Class = OpInfo, ClassRead
		}
		return r
	}
	first, rest := cutSegment(path)
	if apiWord(first) {
		rootFamily(first).apply(&r, v, rest)
	} else {
		r.Index = first
		belowIndex(&r, v, rest)
	}
	refine(&r, method)
	return r
}

// split cuts the target at the first "?" and takes scheme and authority off the
// absolute form.
func split(target string) Route {
	if target != "" && target[0] != '/' {
		target = originForm(target)
	}
	path, query, _ := strings.Cut(target, "?")
	return Route{Path: path, Query: query}
}

// originForm is the path and query of an absolute-form target; a target of any
// other form comes back as it is.
func originForm(target string) string {
	scheme, rest, ok := strings.Cut(target, "://")
	if !ok || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return target
	}
	switch i := strings.IndexAny(rest, "/?"); {
	case i < 0:
		return "/"
	case rest[i] == '?':
		return rest[i:] // no path at all: matches nothing
	default:
		return rest[i:]
	}
}

// cutSegment returns the part of path before its first "/" and what follows.
func cutSegment(path string) (segment, rest string) {
	segment, rest, _ = strings.Cut(path, "/")
	return segment, rest
}

func apiWord(segment string) bool {
	return segment != "" && segment[0] == '_' && segment != "_all"
}

// belowIndex classifies what follows the index expression.
func belowIndex(r *Route, v verbs, rest string) {
	if rest == "" {
		if r.Index != "" {
			indexItself.apply(r, v, "")
		}
		return
	}
	word, tail := cutSegment(rest)
	switch {
	case word == "_doc" && r.Index != "" && docType(r, v, tail):
	case apiWord(word):
		indexFamily(word).apply(r, v, tail)
	case word == "ingestion" && apiWord(tail):
		ingestion.apply(r, v, tail)
	case word != "" && r.Index != "":
		typed(r, v, tail)
	}
}

// docType classifies /{index}/_doc/_search and the like, where _doc is the type
// that version 7 takes it for. To version 8 and OpenSearch they are documents of
// that name, which POST writes: Typeless means the same to all of them. Other
// methods than those of the API mean such a document to version 7, too.
func docType(r *Route, v verbs, tail string) bool {
	switch word, rest := cutSegment(tail); word {
	case "_search", "_msearch", "_count", "_validate", "_mget", "_termvectors", "_mtermvectors", "_bulk",
		"_update_by_query", "_delete_by_query", "_mapping", "_mappings":
		f := indexFamily(word)
		f.admin = false
		f.apply(r, v, rest)
		r.DocType = r.Op != OpUnknown
	}
	return r.DocType
}

// Typeless is the path without the type _doc.
func (r *Route) Typeless() string {
	if !r.DocType {
		return r.Path
	}
	return strings.Replace(r.Path, "/_doc/", "/", 1)
}

// typed classifies the paths with a mapping type of version 7 and older; tail
// is what follows the type.
func typed(r *Route, v verbs, tail string) {
	word, rest := cutSegment(tail)
	if !apiWord(word) {
		typedDoc.apply(r, v, tail)
		return
	}
	switch word {
	case "_search", "_msearch", "_count", "_validate", "_mget", "_termvectors", "_mtermvectors",
		"_explain", "_bulk", "_update_by_query", "_delete_by_query", "_mapping", "_mappings":
		indexFamily(word).apply(r, v, rest)
	case "_update":
		typedUpdate.apply(r, v, rest)
	}
}

// refine applies what the method and the query string add to a path's meaning.
func refine(r *Route, method string) {
	switch r.Op {
	case OpGet:
		if method == "HEAD" {
			r.Op = OpExists
		}
	case OpSearch, OpSearchTemplate:
		if _, ok := Param(r.Query, "scroll"); ok {
			r.Class = ClassReadState
		}
	case OpIndex:
		if t, _ := Param(r.Query, "op_type"); t == "create" || escaped(t) && unescapesTo(t, "create") {
			r.Op = OpCreate
		}
	}
}
