package sandbox

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// cursor is a scroll or a point in time.
type cursor struct {
	ends     time.Time
	targets  []target       // point in time: the documents of its birth
	req      *searchRequest // scroll
	res      *result        // scroll: what is left
	snapshot bool
}

// cursors are those that are open, by id. Engine.mu guards them.
type cursors struct {
	open      map[string]*cursor
	snapshots int // points in time among them
}

const maxCursors = 500

func (c *cursors) close(id string) bool {
	cur := c.open[id]
	if cur == nil {
		return false
	}
	if cur.snapshot {
		c.snapshots--
	}
	delete(c.open, id)
	return true
}

// expire closes the cursors whose time is over. The caller holds mu for writing.
func (e *Engine) expire() {
	for id, c := range e.cursors.open {
		if c.ends.Before(e.opts.Now()) {
			e.cursors.close(id)
		}
	}
}

// addCursor opens a cursor and names it. The caller holds mu for writing.
func (e *Engine) addCursor(cur *cursor, kind string) (string, error) {
	e.expire()
	if len(e.cursors.open) >= maxCursors {
		return "", failf(http.StatusTooManyRequests, "too_many_scroll_contexts_exception", "Trying to create too many scroll contexts. Must be less than or equal to: [%d].", maxCursors)
	}
	id := base64.URLEncoding.EncodeToString([]byte(kind + ":" + e.newID()))
	e.cursors.open[id] = cur
	if cur.snapshot {
		e.cursors.snapshots++
	}
	return id, nil
}

// cursor finds an open one and prolongs it.
func (e *Engine) cursor(id string, keep time.Duration) (*cursor, error) {
	cur := e.cursors.open[id]
	if cur == nil || cur.ends.Before(e.opts.Now()) {
		f := failf(http.StatusNotFound, "search_context_missing_exception", "No search context found for id [%.40s]", id)
		return nil, f
	}
	if keep > 0 {
		cur.ends = e.opts.Now().Add(keep)
	}
	return cur, nil
}

// keepAlive reads "1m" and the like, of at most a day.
func keepAlive(s string) (time.Duration, error) {
	form := s
	day, isDay := strings.CutSuffix(s, "d")
	if isDay {
		form = day + "h"
	}
	d, err := time.ParseDuration(form)
	if isDay {
		d *= 24
	}
	if err != nil || d <= 0 {
		return 0, illegal("failed to parse setting [keep_alive] with value [%s] as a time value", s)
	}
	if d > 24*time.Hour {
		return 0, illegal("Keep alive for request (%s) is too large. It must be less than (1d).", s)
	}
	return d, nil
}

// page takes the next page of a scroll. The caller holds mu for writing.
func (c *cursor) page() *result {
	n := min(c.req.size, len(c.res.hits))
	page := *c.res
	page.hits, page.aggs = c.res.hits[:n], nil
	c.res.hits = c.res.hits[n:]
	return &page
}

func (e *Engine) scroll(r *request) (answer, error) {
	start := time.Now()
	id, keep, err := r.scrollID()
	if err != nil {
		return answer{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	cur, err := e.cursor(id, keep)
	if err != nil || cur.req == nil {
		f := failf(http.StatusNotFound, "search_context_missing_exception", "No search context found for id [%.40s]", id)
		f.shard = true
		return answer{}, f
	}
	req := *cur.req
	req.totalAsInt = r.p.flag("rest_total_hits_as_int")
	return ok(append(req.appendSearch(nil, cur.page(), time.Since(start).Milliseconds(), id, ""), '}')), nil
}

func (r *request) scrollID() (string, time.Duration, error) {
	id, keepText := r.p["scroll_id"], r.p["scroll"]
	if len(r.parts) == 3 {
		id = r.parts[2]
	}
	body, err := r.json()
	if err != nil {
		return "", 0, err
	}
	if body.isObject() {
		if err := body.only("search_scroll", "scroll_id", "scroll"); err != nil {
			return "", 0, err
		}
		if s, ok := body.get("scroll_id").str(); ok {
			id = s
		}
		if s, ok := body.get("scroll").str(); ok {
			keepText = s
		}
	}
	if id == "" {
		return "", 0, validation("scrollId is missing")
	}
	var keep time.Duration
	if keepText != "" {
		keep, err = keepAlive(keepText)
	}
	return id, keep, err
}

func (e *Engine) clearScroll(r *request) (answer, error) {
	var ids []string
	if len(r.parts) == 3 {
		ids = strings.Split(r.parts[2], ",")
	}
	if body, err := r.json(); err != nil {
		return answer{}, err
	} else if body != nil {
		ids = append(ids, body.get("scroll_id").strs()...)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(ids) == 1 && ids[0] == "_all" {
		ids = nil
		for id, c := range e.cursors.open {
			if !c.snapshot {
				ids = append(ids, id)
			}
		}
	} else if len(ids) == 0 {
		return answer{}, validation("no scroll ids specified")
	}
	return e.freed(ids)
}

// freed closes cursors and says how many there were.
func (e *Engine) freed(ids []string) (answer, error) {
	n := 0
	for _, id := range ids {
		if e.cursors.close(id) {
			n++
		}
	}
	out := ok([]byte(fmt.Sprintf(`{"succeeded":true,"num_freed":%d}`, n)))
	if n == 0 {
		out.status = http.StatusNotFound
	}
	return out, nil
}

func (e *Engine) openPIT(r *request) (answer, error) {
	if r.p["keep_alive"] == "" {
		return answer{}, validation("[keep_alive] is not specified")
	}
	keep, err := keepAlive(r.p["keep_alive"])
	if err != nil {
		return answer{}, err
	}
	if r.hasAny {
		return answer{}, unsupported("an index_filter")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	ixs, err := e.resolve(r.index(), r.p)
	if err != nil {
		return answer{}, err
	}
	if err := e.refresh(ixs); err != nil {
		return answer{}, err
	}
	cur := &cursor{ends: e.opts.Now().Add(keep), snapshot: true}
	for _, ix := range ixs {
		t := target{ix: ix}
		for _, d := range ix.docs {
			if d != nil {
				t.docs = append(t.docs, d)
			}
		}
		cur.targets = append(cur.targets, t)
	}
	id, err := e.addCursor(cur, "pit")
	if err != nil {
		return answer{}, err
	}
	b := appendShards(append(appendString([]byte(`{"id":`), id), `,"_shards":`...), len(ixs))
	return ok(append(b, '}')), nil
}

func (e *Engine) closePIT(r *request) (answer, error) {
	body, err := r.object()
	if err != nil {
		return answer{}, err
	}
	id, given := body.get("id").str()
	if !given {
		return answer{}, validation("point in time id is missing")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.freed([]string{id})
}
