package es

import (
	"bytes"
	"strings"
)

// The kinds of Handle, as they stand in captures.
const (
	HandleScroll = "scroll" // _scroll_id
	HandlePIT    = "pit"    // id of a point in time
	HandleAsync  = "async"  // id of an asynchronous search or query
	HandleTask   = "task"   // node:number
	HandleCursor = "cursor" // of SQL
	HandleID     = "id"     // of a document: one that the server chose, or any that a path names
)

// MaxHandles bounds the handles of one request or answer.
const MaxHandles = 256

// Handle is an id that a server issued and that means nothing on another one:
// a replay has to put the target's in its place. Value is decoded text. It may
// serialise names of indices and parts of queries, so it is as secret as the
// request: store a keyed digest of it, not it.
type Handle struct {
	Kind  string
	Value []byte
}

// HandleReader finds handles and keeps its buffers between calls. The zero
// value is ready; two goroutines must not use one at once. The values that it
// returns are parts of what it was given or of its own buffers, and good until
// its next call.
type HandleReader struct {
	MaxDecoded int // bound of a decoded answer in bytes, 0 means DefaultMaxDecoded

	decoder Decoder
	tokens  Tokens
	bulk    BulkReader
	c       cursor
	auto    []int // items of a bulk request that have no id
}

// RequestHandles appends to dst the handles that a request uses: those of its
// path, its query string and its body, which must be decoded (no gzip). Of a
// body it knows scroll and PIT ids and SQL cursors. What is malformed has none.
func RequestHandles(dst []Handle, r Route, body []byte) []Handle {
	var h HandleReader
	return h.Request(dst, r, body)
}

// AnswerHandles appends to dst the handles that the answer to a request gives:
// scroll, PIT and async ids, cursors, tasks, and the ids of documents that the
// request left to the server. The request's body must be decoded, the answer's
// is as it came.
func AnswerHandles(dst []Handle, r Route, request []byte, contentType, contentEncoding string, answer []byte) []Handle {
	var h HandleReader
	return h.Answer(dst, r, request, contentType, contentEncoding, answer)
}

// Request is RequestHandles.
func (h *HandleReader) Request(dst []Handle, r Route, body []byte) []Handle {
	if kind := pathHandle(r); kind != "" {
		dst = addIDs(dst, kind, unescapePath(r.ID))
	}
	switch r.Op {
	case OpScroll, OpClearScroll:
		if v := param(r.Query, "scroll_id"); v != "" {
			dst = addIDs(dst, HandleScroll, []byte(unescape(v)))
		}
		if b := bytes.TrimSpace(body); len(b) > 0 && b[0] != '{' {
			return addIDs(dst, HandleScroll, b) // a bare text, as before version 7
		}
		dst = h.object(dst, HandleScroll, body, "scroll_id")
	case OpClosePIT:
		dst = h.object(dst, HandlePIT, body, "id", "pit_id")
	case OpSQL, OpSQLClose, OpPPL:
		dst = h.object(dst, HandleCursor, body, "cursor")
	case OpSearch, OpAsyncSearch, OpSearchTemplate, OpEQL:
		if mayHavePIT(body) {
			dst = h.object(dst, HandlePIT, body, "pit")
		}
	case OpMsearch:
		if !mayHavePIT(body) {
			break
		}
		var m MsearchReader
		m.Reset(body)
		for it, err := m.Next(); err == nil && len(dst) < MaxHandles; it, err = m.Next() {
			dst = h.object(dst, HandlePIT, it.Body, "pit")
		}
	}
	return dst
}

// mayHavePIT spares most searches a look at their members.
func mayHavePIT(body []byte) bool { return bytes.Contains(body, []byte(`"pit"`)) }

// pathHandle is the kind of handle that stands in the path, "" if none does.
func pathHandle(r Route) string {
	if r.ID == "" {
		return ""
	}
	switch r.Op {
	case OpScroll, OpClearScroll:
		return HandleScroll
	case OpAsyncGet, OpAsyncStatus, OpAsyncDelete, OpESQLAsync, OpSQLAsync, OpEQLAsync:
		return HandleAsync
	case OpGet, OpExists, OpIndex, OpCreate, OpUpdate, OpDelete, OpExplain, OpTermvectors:
		return HandleID
	case OpAdmin:
		if isTask(string(unescapePath(r.ID))) {
			return HandleTask
		}
	}
	return ""
}

// isTask tells the id of a task, node:number, from other ids.
func isTask(s string) bool {
	node, number, ok := strings.Cut(s, ":")
	return ok && node != "" && allDigits([]byte(number))
}

// addIDs appends the ids of a list with commas; ids of documents may have one.
func addIDs(dst []Handle, kind string, list []byte) []Handle {
	if kind == HandleID {
		return add(dst, kind, list)
	}
	for len(list) > 0 {
		id, rest, _ := bytes.Cut(list, []byte(","))
		dst = add(dst, kind, bytes.TrimSpace(id))
		list = rest
	}
	return dst
}

func add(dst []Handle, kind string, value []byte) []Handle {
	if len(value) == 0 || len(dst) >= MaxHandles || string(value) == "_all" && kind != HandleID {
		return dst
	}
	return append(dst, Handle{kind, value})
}

// param is the value of the first parameter of that name, still encoded.
func param(query, name string) string {
	for query != "" {
		var part string
		part, query, _ = strings.Cut(query, "&")
		if key, value, _ := strings.Cut(part, "="); key == name {
			return value
		}
	}
	return ""
}

// object appends the strings that are the value of one of the members named of
// the object in body, or elements of it, or its own member id.
func (h *HandleReader) object(dst []Handle, kind string, body []byte, names ...string) []Handle {
	t, before := &h.tokens, len(dst)
	t.Reset(body)
	if k, err := t.Next(); err != nil || k.Kind != ObjectStart {
		return dst
	}
	for {
		k, err := t.Next()
		switch {
		case err != nil:
			return dst[:before]
		case k.Kind != Key:
			return dst
		}
		wanted := false
		for _, name := range names {
			wanted = wanted || h.reads(k, name)
		}
		if !wanted {
			_, _, err = t.Skip()
		} else {
			dst, err = h.values(dst, kind)
		}
		if err != nil {
			return dst[:before]
		}
	}
}

// reads tells whether a key reads as name.
func (h *HandleReader) reads(k Token, name string) bool {
	raw := h.tokens.Raw(k)
	if !k.Escaped {
		return string(raw[1:len(raw)-1]) == name
	}
	h.c.text, _ = Unquote(h.c.text[:0], raw)
	return string(h.c.text) == name
}

// values takes the value that comes next: a string, a list of them, or an
// object whose id is one.
func (h *HandleReader) values(dst []Handle, kind string) ([]Handle, error) {
	t := &h.tokens
	k, err := t.Next()
	if err != nil {
		return dst, err
	}
	switch k.Kind {
	case String:
		return add(dst, kind, h.decoded(k)), nil
	case ArrayStart, ObjectStart:
	default:
		return dst, nil
	}
	list, depth := k.Kind == ArrayStart, t.Depth()
	wanted := list
	for t.Depth() >= depth {
		if k, err = t.Next(); err != nil {
			return dst, err
		}
		switch {
		case k.Kind == String && wanted && t.Depth() == depth:
			dst = add(dst, kind, h.decoded(k))
		case k.Kind == Key && !list:
			wanted = t.Depth() == depth && h.reads(k, "id")
			continue
		}
		wanted = list
	}
	return dst, nil
}

func (h *HandleReader) decoded(k Token) []byte {
	raw := h.tokens.Raw(k)
	if !k.Escaped {
		return raw[1 : len(raw)-1]
	}
	text, _ := Unquote(nil, raw)
	return text
}
