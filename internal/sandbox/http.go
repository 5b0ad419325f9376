package sandbox

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// request is one HTTP request, its body read and inflated.
type request struct {
	ctx    context.Context
	method string // HEAD is GET
	parts  []string
	path   string // as it came
	p      params
	body   []byte
	hasAny bool // a body was sent
}

// params is the query string; of several values of a name the first counts.
type params map[string]string

func (p params) flag(name string) bool {
	v, ok := p[name]
	return ok && v != "false"
}

func (p params) integer(name string, def int) (int, error) {
	v, ok := p[name]
	if !ok {
		return def, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		return 0, illegal("Failed to parse int parameter [%s] with value [%s]", name, v)
	}
	return n, nil
}

// answer is what goes back; body is JSON unless text.
type answer struct {
	status int
	body   []byte
	text   bool
}

func ok(body []byte) answer { return answer{status: http.StatusOK, body: body} }

// Handler answers HTTP requests.
func (e *Engine) Handler() http.Handler { return http.HandlerFunc(e.serve) }

func (e *Engine) serve(w http.ResponseWriter, hr *http.Request) {
	h := w.Header()
	h.Set("X-Elastic-Product", "Elasticsearch")
	if id := hr.Header.Get("X-Opaque-Id"); id != "" {
		h.Set("X-Opaque-Id", id)
	}
	out, p, err := e.answer(hr)
	if err != nil {
		f := asFailure(err)
		out = answer{status: f.status, body: f.appendBody(nil)}
		if f.allow != "" {
			h.Set("Allow", f.allow)
		}
	}
	e.write(w, hr, out, p)
}

// answer decides everything but how it is written.
func (e *Engine) answer(hr *http.Request) (answer, params, error) {
	r := &request{ctx: hr.Context(), method: hr.Method, path: hr.URL.EscapedPath(), p: params{}}
	if r.method == http.MethodHead {
		r.method = http.MethodGet
	}
	for k, v := range hr.URL.Query() {
		r.p[k] = v[0]
	}
	for _, s := range strings.Split(strings.Trim(r.path, "/"), "/") {
		part, err := url.PathUnescape(s)
		if err != nil {
			return answer{}, r.p, illegal("malformed path")
		}
		if part != "" {
			r.parts = append(r.parts, part)
		}
	}
	body, err := readBody(hr, e.opts.MaxBody)
	if err != nil {
		return answer{}, r.p, err
	}
	r.body, r.hasAny = body, len(body) > 0
	if s, ok := r.p["source"]; ok && !r.hasAny {
		r.body, r.hasAny = []byte(s), s != ""
	} else if r.hasAny {
		if err := checkType(hr.Header.Get("Content-Type")); err != nil {
			return answer{}, r.p, err
		}
	}
	if err := e.suffer(r.ctx, len(r.parts) == 0); err != nil {
		return answer{}, r.p, err
	}
	out, err := e.route(r)
	return out, r.p, err
}

func checkType(t string) error {
	media, _, _ := strings.Cut(t, ";")
	switch strings.TrimSpace(strings.ToLower(media)) {
	case "application/json", "application/x-ndjson", "application/vnd.elasticsearch+json", "application/vnd.elasticsearch+x-ndjson":
		return nil
	}
	f := failf(http.StatusNotAcceptable, "media_type_header_exception", "Content-Type header [%s] is not supported", t)
	f.plain = true
	return f
}

func readBody(hr *http.Request, limit int64) ([]byte, error) {
	var in io.Reader = hr.Body
	switch enc := hr.Header.Get("Content-Encoding"); enc {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(hr.Body)
		if err != nil {
			return nil, illegal("body is not gzip: %v", err)
		}
		in = z
	default:
		return nil, illegal("Content-Encoding [%s] is not supported by the esshadow sandbox", enc)
	}
	body, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return nil, illegal("body could not be read: %v", err)
	}
	if int64(len(body)) > limit {
		return nil, failf(http.StatusRequestEntityTooLarge, "content_too_long_exception", "entity content is too long for the limit [%d]", limit)
	}
	return body, nil
}

func (e *Engine) write(w http.ResponseWriter, hr *http.Request, out answer, p params) {
	h := w.Header()
	body := out.body
	if out.text {
		h.Set("Content-Type", "text/plain; charset=UTF-8")
	} else {
		h.Set("Content-Type", contentType(hr.Header.Get("Accept")))
		body = reshape(body, p)
	}
	if strings.Contains(hr.Header.Get("Accept-Encoding"), "gzip") && len(body) > 0 {
		body = e.pack(body)
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(out.status)
	_, _ = w.Write(body) // the client went away: nothing to be done; HEAD sends none
}

// pack gives body as gzip. A writer has more than a MiB of tables, so they are kept.
func (e *Engine) pack(body []byte) []byte {
	var z bytes.Buffer
	zw, kept := e.packers.Get().(*gzip.Writer)
	if kept {
		zw.Reset(&z)
	} else {
		zw, _ = gzip.NewWriterLevel(&z, gzip.BestSpeed) // the level is a valid one
	}
	_, _ = zw.Write(body) // into memory: cannot fail
	_ = zw.Close()
	e.packers.Put(zw)
	return z.Bytes()
}

func contentType(accept string) string {
	if strings.Contains(accept, "application/vnd.elasticsearch+json") && strings.Contains(accept, "compatible-with=8") {
		return "application/vnd.elasticsearch+json;compatible-with=8"
	}
	return "application/json"
}

// reshape applies filter_path and pretty.
func reshape(body []byte, p params) []byte {
	if fp := p["filter_path"]; fp != "" && len(body) > 0 {
		if root, err := parseJSON(body); err == nil {
			s := &selection{}
			for _, f := range strings.Split(fp, ",") {
				if out, not := strings.CutPrefix(f, "-"); not {
					s.excludes = append(s.excludes, out)
				} else {
					s.includes = append(s.includes, f)
				}
			}
			body = s.apply(root).append(nil)
		}
	}
	if p.flag("pretty") {
		var out bytes.Buffer
		if json.Indent(&out, body, "", "  ") == nil {
			out.WriteByte('\n')
			body = out.Bytes()
		}
	}
	return body
}

// info is the answer to GET /.
func (e *Engine) info() answer {
	var b []byte
	b = appendString(append(b, `{"name":`...), e.opts.Name)
	b = appendString(append(b, `,"cluster_name":`...), e.opts.Cluster)
	b = appendString(append(b, `,"cluster_uuid":`...), e.opts.UUID)
	b = appendString(append(b, `,"version":{"number":`...), e.opts.Version)
	b = append(b, `,"build_flavor":"sandbox","distribution":"esshadow-sandbox","build_type":"embedded","build_hash":"unknown","build_date":"unknown","build_snapshot":false,`+
		`"lucene_version":"none","minimum_wire_compatibility_version":"8.19.0","minimum_index_compatibility_version":"8.0.0"},`+
		`"tagline":"esshadow sandbox: for trying and testing only, this is not Elasticsearch"}`...)
	return ok(b)
}

// json parses the body; nil without one.
func (r *request) json() (*node, error) {
	if len(bytes.TrimSpace(r.body)) == 0 {
		return nil, nil
	}
	n, err := parseJSON(r.body)
	if err != nil {
		return nil, badJSON(err)
	}
	return n, nil
}

// object parses the body, which has to be an object.
func (r *request) object() (*node, error) {
	n, err := r.json()
	if err != nil {
		return nil, err
	}
	if n == nil {
		return nil, failf(400, "parse_exception", "request body is required")
	}
	if !n.isObject() {
		return nil, failf(400, "parsing_exception", "%s", fmt.Sprintf("Expected [START_OBJECT] but found [%.20s]", n.raw))
	}
	return n, nil
}
