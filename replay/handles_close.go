package replay

import (
	"bytes"
	"net/url"
	"time"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
)

// closeTime bounds what is spent on closing contexts at the end of a run: then
// the target is aborted, for which nothing else is under way.
const closeTime = 3 * time.Second

// drop forgets ids that a request closed.
func (h *handles) drop(uses []capture.Handle) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, u := range uses {
		h.unset(u.ID)
	}
}

// left are the live ids of a kind, each once.
func (h *handles) left(kind string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	seen := map[string]bool{}
	var out []string
	for _, e := range h.known {
		if e.live != "" && e.kind == kind && !seen[e.live] {
			seen[e.live] = true
			out = append(out, e.live)
		}
	}
	return out
}

func closes(op es.Op) bool {
	return op == es.OpClearScroll || op == es.OpClosePIT || op == es.OpAsyncDelete
}

// closeLeft closes the scrolls, PITs and async searches that the replay opened
// and the capture did not close: each pins segments of the target until it
// expires. These requests are the replayer's own and stand in no count; what
// cannot be closed expires.
func (e *Engine) closeLeft() {
	defer e.survive(func() {}) // what is left open there, the target closes some day
	limit := time.AfterFunc(closeTime, e.deps.Target.Abort)
	defer limit.Stop()
	opensearch := e.identity().Flavor == es.FlavorOpenSearch
	send := func(method, target string, body []byte) bool {
		if e.ctx.Err() != nil {
			return false
		}
		shot := Shot{Method: method, Target: target, Body: body}
		if len(body) > 0 {
			shot.Header = []capture.Header{{Name: "Content-Type", Value: "application/json"}}
		}
		var ans Answer
		e.deps.Target.Send(&shot, &ans)
		e.deps.Target.Release(&ans)
		return ans.Err == ""
	}
	for _, ids := range inTens(e.handles.left("scroll")) {
		if !send("DELETE", "/_search/scroll", idList("scroll_id", ids)) {
			return
		}
	}
	for _, ids := range inTens(e.handles.left("pit")) {
		if opensearch {
			if !send("DELETE", "/_search/point_in_time", idList("pit_id", ids)) {
				return
			}
			continue
		}
		for _, id := range ids {
			if !send("DELETE", "/_pit", append(append([]byte(`{"id":"`), jsonText(id)...), `"}`...)) {
				return
			}
		}
	}
	path := "/_async_search/"
	if opensearch {
		path = "/_plugins/_asynchronous_search/"
	}
	for _, id := range e.handles.left("async") {
		if !send("DELETE", path+url.PathEscape(id), nil) {
			return
		}
	}
}

func idList(name string, ids []string) []byte {
	var b bytes.Buffer
	b.WriteString(`{"` + name + `":[`)
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteByte('"')
		b.Write(jsonText(id))
		b.WriteByte('"')
	}
	b.WriteString("]}")
	return b.Bytes()
}

func inTens(ids []string) (out [][]string) {
	for len(ids) > 10 {
		out = append(out, ids[:10])
		ids = ids[10:]
	}
	if len(ids) > 0 {
		out = append(out, ids)
	}
	return out
}
