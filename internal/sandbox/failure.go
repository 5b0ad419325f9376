package sandbox

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/esshadow/esshadow/internal/es"
)

// failure is an error as Elasticsearch tells it.
type failure struct {
	status int
	kind   string // "parsing_exception"
	reason string
	index  string   // index it belongs to, or ""
	shard  bool     // happened while a shard searched: wrapped as such
	cause  *failure // caused_by
	plain  bool     // {"error":"reason"} without an object
	allow  string   // Allow header
}

func (f *failure) Error() string { return f.kind + ": " + f.reason }

func failf(status int, kind, format string, args ...any) *failure {
	return &failure{status: status, kind: kind, reason: fmt.Sprintf(format, args...)}
}

func parsing(format string, args ...any) *failure {
	return failf(http.StatusBadRequest, "parsing_exception", format, args...)
}

func illegal(format string, args ...any) *failure {
	return failf(http.StatusBadRequest, "illegal_argument_exception", format, args...)
}

// shardFailure is what a search says that no shard could run.
func shardFailure(index, kind, format string, args ...any) *failure {
	f := failf(http.StatusBadRequest, kind, format, args...)
	f.shard, f.index = true, index
	return f
}

func noIndex(name string) *failure {
	f := failf(http.StatusNotFound, "index_not_found_exception", "no such index [%s]", name)
	f.index = name
	return f
}

func badJSON(err error) *failure {
	return failf(http.StatusBadRequest, "x_content_parse_exception", "%v", err)
}

// unsupported refuses what Elasticsearch knows and the sandbox does not.
func unsupported(what string) *failure {
	return illegal("%s is not supported by the esshadow sandbox, which is for trying and testing only", what)
}

// asFailure makes every error an ES-shaped one.
func asFailure(err error) *failure {
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	return failf(http.StatusInternalServerError, "exception", "%v", err)
}

// appendError appends the error object, without status.
func (f *failure) appendError(b []byte) []byte {
	if f.shard {
		b = append(b, `{"root_cause":[`...)
		b = f.appendCause(b)
		b = append(b, `],"type":"search_phase_execution_exception","reason":"all shards failed","phase":"query","grouped":true,"failed_shards":[{"shard":0,"index":`...)
		b = appendString(b, f.index)
		b = append(b, `,"node":"sandbox","reason":`...)
		b = f.appendCause(b)
		return append(b, `}]}`...)
	}
	b = append(b, `{"root_cause":[`...)
	b = f.appendCause(b)
	b = append(b, `],`...)
	own := f.appendCause(nil)
	return append(b, own[1:]...)
}

func (f *failure) appendCause(b []byte) []byte {
	b = append(b, `{"type":`...)
	b = appendString(b, f.kind)
	b = append(b, `,"reason":`...)
	b = appendString(b, f.reason)
	if f.kind == "index_not_found_exception" {
		b = append(b, `,"resource.type":"index_or_alias","resource.id":`...)
		b = appendString(b, f.index)
		b = append(b, `,"index_uuid":"_na_"`...)
	}
	if f.index != "" {
		b = append(b, `,"index":`...)
		b = appendString(b, f.index)
	}
	if f.cause != nil {
		b = append(b, `,"caused_by":`...)
		b = f.cause.appendCause(b)
	}
	return append(b, '}')
}

func (f *failure) appendBody(b []byte) []byte {
	b = append(b, `{"error":`...)
	if f.plain {
		b = appendString(b, f.reason)
	} else {
		b = f.appendError(b)
	}
	b = append(b, `,"status":`...)
	return append(appendInt(b, int64(f.status)), '}')
}

func appendString(b []byte, s string) []byte { return es.AppendQuoted(b, []byte(s)) }
