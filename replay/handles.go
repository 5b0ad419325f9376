package replay

import (
	"bytes"
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
)

// handles maps the server-issued ids of the capture (scroll, PIT, async search
// and others; in a capture they stand as keyed digests) to those that the target
// gave for the same answers. The newest of an id counts: a scroll's or a PIT's
// may change with every page.
//
// A request that uses an id waits while the request that gives it is still under
// way; where the target gave none it is refused, because sent as it stands it
// would only fail.
type handles struct {
	mu     sync.Mutex
	known  map[string]*handle // by the capture's digest
	oldest []string           // keys in the order in which they were resolved, for the bound
	bytes  int
}

// handle is one id of the capture.
type handle struct {
	kind    string
	live    string
	pending []uint64      // records that are to give it and are not done
	changed chan struct{} // closed when live or pending changes, if someone waits
}

// maxHandleBytes bounds the memory of the live ids, which may have 10 KiB each;
// the oldest are forgotten first, and requests that use them are refused.
const maxHandleBytes = 64 << 20

// given is an id in an answer of the target.
type given struct{ Kind, ID string }

// handleWeight is about what a remembered id takes besides its texts, in bytes.
const handleWeight = 256

func (h *handles) init() { h.known = map[string]*handle{} }

// expect notes that the record seq is to give the ids. It is called in the order
// of the capture, ahead of the sending.
func (h *handles) expect(seq uint64, gives []capture.Handle) {
	if len(gives) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, g := range gives {
		key := g.ID
		e := h.known[key]
		if e == nil {
			e = &handle{kind: g.Kind}
			h.known[key] = e
		}
		e.pending = append(e.pending, seq)
	}
}

// settle notes what the record seq gave: the target's ids, in the answer's
// order, or none where it was not sent or failed. The n-th id of a kind stands
// for the n-th of the capture's answer; where either gave one alone, its kind
// does not matter.
func (h *handles) settle(seq uint64, gives []capture.Handle, got []given) {
	if len(gives) == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(gives) == 1 && len(got) == 1 {
		got[0].Kind = gives[0].Kind
	}
	next := map[string]int{}
	for _, g := range gives {
		key := g.ID
		e := h.known[key]
		if e == nil {
			continue
		}
		if i := slices.Index(e.pending, seq); i >= 0 {
			e.pending = slices.Delete(e.pending, i, i+1)
		}
		if id := nth(got, g.Kind, next[g.Kind]); id != "" {
			h.bytes += len(id) - len(e.live)
			if e.live == "" {
				h.bytes += handleWeight + len(key)
				h.oldest = append(h.oldest, key)
			}
			e.live = id
		} else if e.live == "" && len(e.pending) == 0 {
			delete(h.known, key)
		}
		next[g.Kind]++
		e.tell()
	}
	h.forget()
	h.compact()
}

// compact takes the keys of ids that are gone out of the list, where they are
// most of it.
func (h *handles) compact() {
	if len(h.oldest) < 1024 || len(h.oldest) < 2*len(h.known) {
		return
	}
	seen := make(map[string]bool, len(h.known))
	h.oldest = slices.DeleteFunc(h.oldest, func(key string) bool {
		e := h.known[key]
		gone := e == nil || e.live == "" || seen[key]
		seen[key] = true
		return gone
	})
}

func nth(got []given, kind string, n int) string {
	for _, g := range got {
		if g.Kind != kind {
			continue
		}
		if n == 0 {
			return g.ID
		}
		n--
	}
	return ""
}

func (e *handle) tell() {
	if e.changed != nil {
		close(e.changed)
		e.changed = nil
	}
}

func (h *handles) forget() {
	for h.bytes > maxHandleBytes && len(h.oldest) > 0 {
		key := h.oldest[0]
		h.oldest = h.oldest[1:]
		h.unset(key)
	}
}

// unset takes the live id away, and the handle where nobody is to give another.
func (h *handles) unset(key string) {
	e := h.known[key]
	if e == nil {
		return
	}
	if e.live != "" {
		h.bytes -= len(e.live) + handleWeight + len(key)
		e.live = ""
	}
	if len(e.pending) == 0 {
		delete(h.known, key)
	}
}

// find returns the live id for one that the record seq uses. It waits, at most
// until the deadline, for records before it that are to give it.
func (h *handles) find(ctx context.Context, seq uint64, use capture.Handle, deadline <-chan time.Time) (string, bool) {
	for {
		h.mu.Lock()
		e := h.known[use.ID]
		if e == nil {
			h.mu.Unlock()
			return "", false
		}
		if e.live != "" {
			live := e.live
			h.mu.Unlock()
			return live, true
		}
		if !slices.ContainsFunc(e.pending, func(p uint64) bool { return p < seq }) {
			h.mu.Unlock()
			return "", false
		}
		if e.changed == nil {
			e.changed = make(chan struct{})
		}
		changed := e.changed
		h.mu.Unlock()
		select {
		case <-changed:
		case <-deadline:
			return "", false
		case <-ctx.Done():
			return "", false
		}
	}
}

// substitute puts the target's ids into the shot. It is false where one is not
// to be had. The id of a document is another matter: it may as well be one that
// a client chose, so that it stays where no answer gave it.
func (h *handles) substitute(ctx context.Context, seq uint64, p *plan, wait time.Duration) bool {
	if len(p.uses) == 0 {
		return true
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for _, u := range p.uses {
		live, ok := h.find(ctx, seq, u, timer.C)
		switch {
		case u.Kind == es.HandleID:
			if ok {
				p.shot.Target = replaceLastSegment(p.shot.Target, p.route.ID, url.PathEscape(live))
			}
		case !ok || !p.shot.replace(u.ID, live):
			return false
		}
	}
	return ctx.Err() == nil
}

// replace puts live in the place of id, wherever it stands. It is false where it
// stands nowhere.
func (s *Shot) replace(id, live string) bool {
	target, body := s.Target, s.Body
	for _, form := range []string{id, url.PathEscape(id), url.QueryEscape(id)} {
		target = strings.ReplaceAll(target, form, url.QueryEscape(live))
		if form == url.QueryEscape(form) {
			break // all three forms are one
		}
	}
	body = bytes.ReplaceAll(body, jsonText(id), jsonText(live))
	if target == s.Target && bytes.Equal(body, s.Body) {
		return id == live
	}
	s.Target, s.Body = target, body
	return true
}

// jsonText is s as it stands inside a JSON string. Ids are base64 or the like;
// what needs an escape gets one.
func jsonText(s string) []byte {
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"', c == '\\':
			out = append(out, '\\', c)
		case c < ' ':
			const digits = "0123456789abcdef"
			out = append(out, `\u00`...)
			out = append(out, digits[c>>4], digits[c&15])
		default:
			out = append(out, c)
		}
	}
	return out
}

// readHandles reads the ids that the target's answer gives.
func readHandles(p *plan, a *Answer) []given {
	if a.Err != "" || a.Status >= 400 || a.Cut != "" || len(a.Body) == 0 {
		return nil
	}
	var r es.HandleReader
	var out []given
	for _, h := range r.Answer(nil, p.route, p.shot.Body, a.Type, a.Coding, a.Body) {
		out = append(out, given{h.Kind, string(h.Value)})
	}
	return out
}
