package replay

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
)

// plan is what is to become of one record.
type plan struct {
	route   es.Route // of the request as captured
	op      es.Op
	class   es.Class
	index   string // as captured
	refused string
	shot    Shot
	uses    []capture.Handle
	gives   []capture.Handle
}

// planner makes plans: it depends on the configuration and the target's identity
// alone. It is used by one goroutine.
type planner struct {
	cfg    *Config
	rules  indexMap
	target es.Identity
	live   bool // records are live requests, whose bodies the plan may keep
	edit   editor
}

func newPlanner(cfg *Config, target es.Identity) *planner {
	return &planner{cfg: cfg, rules: cfg.IndexMap, target: target}
}

// plan decides about rec. The plan keeps nothing of rec's slices, but for a live
// request's body.
func (p *planner) plan(rec *capture.Record) plan {
	route := es.Classify(rec.Method, rec.Target)
	pl := plan{route: route, op: route.Op, class: route.Class, index: route.Index}
	pl.refused = refuse(p.cfg, route.Op, route.Class)
	if pl.refused == "" && len(rec.Body) == 0 && rec.BodySize > 0 {
		pl.refused = RefusedNoBody
	}
	if pl.refused != "" {
		return pl
	}
	pl.shot = Shot{Method: rec.Method, Target: origin(route)}
	if p.live {
		pl.shot.Body, pl.shot.Header = rec.Body, p.liveHeaders(rec.Header)
	} else {
		pl.shot.Body, pl.shot.Header = bytes.Clone(rec.Body), p.headers(rec)
	}
	if len(p.rules) > 0 {
		pl.refused = p.mapIndices(route, &pl.shot)
	}
	if pl.refused == "" && !sendable(&pl.shot) {
		pl.refused = RefusedMalformed
	}
	for _, h := range rec.Handles {
		if h.Dir == "give" { // as capture.Handle says
			pl.gives = append(pl.gives, h)
		} else {
			pl.uses = append(pl.uses, h)
		}
	}
	if pl.refused == "" && len(pl.uses) == 0 && needsHandle(route, rec.Body) {
		pl.refused = RefusedHandle
	}
	return pl
}

// needsHandle tells whether a request means nothing without an id that a server
// issued. One that means all of them, such as clearing every scroll, would reach
// beyond the replay, so it counts too.
func needsHandle(r es.Route, body []byte) bool {
	switch r.Op {
	case es.OpScroll, es.OpClearScroll, es.OpClosePIT, es.OpAsyncGet, es.OpAsyncStatus, es.OpAsyncDelete, es.OpSQLClose:
		return true
	case es.OpSearch:
		return bytes.Contains(body, []byte(`"pit"`)) && es.RequestFacts(r.Op, r.Query, body).PIT
	}
	return false
}

// origin is the target in origin form, as it is sent: without the type _doc, with
// which a search of version 7 would write a document to later ones.
func origin(r es.Route) string {
	path := r.Typeless()
	if r.Query == "" {
		return path
	}
	return path + "?" + r.Query
}

// headers are the record's without those that belong to a connection, to the
// source or to its users' identity. What carries a secret is not in a capture,
// but a file can come from anywhere.
func (p *planner) headers(rec *capture.Record) []capture.Header {
	out := make([]capture.Header, 0, len(rec.Header))
	for _, h := range rec.Header {
		switch name := strings.ToLower(h.Name); {
		case ownHeader(name):
		case name == "content-encoding" && !encodedAs(h.Value, rec.Body):
			// The capture holds the decoded text: it is sent as such.
		default:
			out = append(out, h)
		}
	}
	return rewriteMedia(out, p.target)
}

// ownHeader names what is never taken from a capture.
func ownHeader(lower string) bool {
	switch lower {
	case "authorization", "proxy-authorization", "cookie", "cookie2", "es-security-runas-user", "x-elastic-client-meta",
		"host", "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection", "te", "trailer",
		"upgrade", "expect", "forwarded", "via", "esshadow-probe", "esshadow-mirror", "es-secondary-authorization":
		return true
	}
	return strings.HasPrefix(lower, "x-forwarded-") || strings.HasPrefix(lower, "x-amz-")
}

func encodedAs(coding string, body []byte) bool {
	switch strings.ToLower(strings.TrimSpace(coding)) {
	case "", "identity":
		return true
	case "gzip", "x-gzip":
		return bytes.HasPrefix(body, []byte{0x1f, 0x8b})
	case "zstd":
		return bytes.HasPrefix(body, []byte{0x28, 0xb5, 0x2f, 0xfd})
	}
	return false
}

// sendable tells whether the parts of the request's head are such that it means
// to the target what it says here: nothing in them may end a line or a part.
func sendable(s *Shot) bool {
	if s.Method == "" || s.Target == "" || s.Target[0] != '/' {
		return false
	}
	for i := range len(s.Method) {
		if !tokenByte(s.Method[i]) {
			return false
		}
	}
	for i := range len(s.Target) {
		if s.Target[i] <= ' ' || s.Target[i] == 0x7f {
			return false
		}
	}
	for _, h := range s.Header {
		if h.Name == "" || strings.ContainsAny(h.Value, "\r\n\x00") {
			return false
		}
		for i := range len(h.Name) {
			if !tokenByte(h.Name[i]) {
				return false
			}
		}
	}
	return true
}

// tokenByte is RFC 9110's tchar.
func tokenByte(c byte) bool {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		return true
	}
	return strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

// mapIndices puts the index map's names into target and body, and returns the
// reason where a write would go to an index that no rule is for.
func (p *planner) mapIndices(route es.Route, s *Shot) string {
	write := route.Class == es.ClassWrite
	mapped := false
	if route.Index != "" {
		var to string
		to, mapped = p.pathIndex(route.Index)
		if write && !mapped {
			return RefusedUnmapped
		}
		s.Target = replaceSegment(s.Target, route.Index, to)
	}
	body, reason := p.edit.indices(p.rules, route.Op, s.Body, mapped)
	if reason != "" && write {
		return reason
	}
	s.Body = body
	return ""
}

// pathIndex maps a percent-encoded index expression. What no rule is for keeps
// its spelling.
func (p *planner) pathIndex(raw string) (to string, all bool) {
	expr, err := url.PathUnescape(raw)
	if err != nil {
		return raw, false
	}
	to, all = p.rules.expression(expr)
	if to == expr {
		return raw, all
	}
	// A comma and the characters of date math names are safe or stay encoded.
	return strings.ReplaceAll(strings.ReplaceAll(url.PathEscape(to), "%2C", ","), "%2A", "*"), all
}

// replaceSegment puts to in the place of the first path segment that is from.
func replaceSegment(target, from, to string) string {
	path, rest := cutPath(target)
	segments := strings.Split(path, "/")
	if i := slices.Index(segments, from); i >= 0 {
		segments[i] = to
	}
	return strings.Join(segments, "/") + rest
}

// replaceLastSegment is replaceSegment for the last one.
func replaceLastSegment(target, from, to string) string {
	path, rest := cutPath(target)
	segments := strings.Split(path, "/")
	for i := len(segments) - 1; i >= 0; i-- {
		if segments[i] == from {
			segments[i] = to
			break
		}
	}
	return strings.Join(segments, "/") + rest
}

// cutPath cuts a target before its "?".
func cutPath(target string) (path, rest string) {
	if i := strings.IndexByte(target, '?'); i >= 0 {
		return target[:i], target[i:]
	}
	return target, ""
}
