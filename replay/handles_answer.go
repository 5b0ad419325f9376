package replay

import "github.com/esshadow/esshadow/internal/es"

// answerHandles reads the ids that a decoded answer gives.
func answerHandles(op es.Op, body []byte) []given {
	var out []given
	var t es.Tokens
	t.Reset(body)
	if k, err := t.Next(); err != nil || k.Kind != es.ObjectStart {
		return nil
	}
	for {
		k, err := t.Next()
		if err != nil || k.Kind != es.Key {
			return out
		}
		kind := handleKind(op, string(t.Raw(k)))
		start, end, err := t.Skip()
		if err != nil {
			return out
		}
		if raw := body[start:end]; kind != "" && raw[0] == '"' {
			id, _ := es.Unquote(nil, raw)
			out = append(out, given{Kind: kind, ID: string(id)})
		}
	}
}

// handleKind is the kind of id that stands under a quoted key of an answer's
// outermost object.
func handleKind(op es.Op, key string) string {
	switch key {
	case `"_scroll_id"`:
		return "scroll"
	case `"pit_id"`:
		return "pit"
	case `"task"`:
		return "task"
	case `"cursor"`:
		return "cursor"
	case `"_id"`:
		if op == es.OpIndex {
			return "id"
		}
	case `"id"`:
		switch op {
		case es.OpOpenPIT:
			return "pit"
		case es.OpAsyncSearch, es.OpAsyncGet, es.OpESQLAsync, es.OpSQL, es.OpSQLAsync, es.OpEQL, es.OpEQLAsync:
			return "async"
		}
	}
	return ""
}
