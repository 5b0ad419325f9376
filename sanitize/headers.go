package sanitize

import (
	"strings"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
)

// headerKind says what becomes of a request header.
type headerKind uint8

const (
	headerDrop  headerKind = iota // what is not listed
	headerMedia                   // kept where it is made of media types
	headerToken                   // kept where it is made of tokens, numbers and separators
	headerText                    // pseudonym
	headerKeep                    // kept by the configuration
)

// headerKinds is the allow list, keyed by lower-case names.
func headerKinds(keep []string) map[string]headerKind {
	m := map[string]headerKind{
		"content-type":          headerMedia,
		"accept":                headerMedia,
		"accept-encoding":       headerToken,
		"elastic-api-version":   headerToken,
		"x-elastic-client-meta": headerToken,
		"x-opaque-id":           headerText,
	}
	for _, name := range keep {
		if name = strings.ToLower(name); !secretHeader(name) && m[name] == headerDrop {
			m[name] = headerKeep
		}
	}
	return m
}

// secretHeader tells headers that carry credentials or people. No rule keeps
// them.
func secretHeader(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "cookie", "set-cookie", "from", "referer", "forwarded", "via", "x-real-ip", "cf-connecting-ip", "true-client-ip",
		"es-security-runas-user", "baggage", "host":
		return true
	}
	for _, part := range []string{
		"auth", "token", "secret", "password", "passwd", "credential", "api-key", "apikey", "api_key", "session",
		"x-amz-", "x-forwarded", "client-cert", "signature", "jwt", "user",
	} {
		if strings.Contains(name, part) && name != "user-agent" {
			return true
		}
	}
	return false
}

// header appends the headers that stay.
func (w *Worker) header(dst, in []capture.Header) []capture.Header {
	for _, h := range in {
		switch kind := w.headerKind(h.Name); kind {
		case headerMedia, headerToken:
			if out, ok := w.plainHeader(kind, h); ok {
				dst = append(dst, out.Header)
				w.telling = w.telling || out.telling
			}
			continue
		case headerKeep:
			w.post.keep([]byte(h.Value))
			w.telling = w.telling || w.post.telling(h.Name)
		case headerText:
			w.tmp = w.text.text(w.tmp[:0], []byte(h.Value))
			h.Value = string(w.tmp)
		default:
			continue
		}
		dst = append(dst, capture.Header{Name: strings.Clone(h.Name), Value: strings.Clone(h.Value)})
	}
	return dst
}

// headerKind looks a name up in any case.
func (w *Worker) headerKind(name string) headerKind {
	const long = 64
	if len(name) > long {
		return w.p.headers[strings.ToLower(name)]
	}
	var low [long]byte
	for i := range len(name) {
		c := name[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		low[i] = c
	}
	return w.p.headers[string(low[:len(name)])]
}

// maxPlainHeaders bounds how many headers that hold nothing of the caller's are
// remembered, and how long they are. Clients send the same few all the time.
const maxPlainHeaders = 256

// plainHeader is a header that is kept as it came.
type plainHeader struct {
	capture.Header
	telling bool // it has a word that is none of the API's
}

// plainHeader is a header of media types or tokens as it is kept; ok is false where
// it is made of something else.
func (w *Worker) plainHeader(kind headerKind, h capture.Header) (out plainHeader, ok bool) {
	if out, ok = w.plainHeaders[h]; ok {
		return out, true
	}
	if kind == headerMedia && !mediaHeader(h.Value) || kind == headerToken && !tokenHeader(h.Value) {
		return out, false
	}
	out.Header = capture.Header{Name: strings.Clone(h.Name), Value: strings.Clone(h.Value)}
	out.telling = w.post.telling(h.Name) || w.post.telling(h.Value)
	if len(h.Value) > maxPlainHeaders {
		return out, true
	}
	if len(w.plainHeaders) >= maxPlainHeaders {
		clear(w.plainHeaders)
	}
	w.plainHeaders[out.Header] = out
	return out, true
}

// mediaHeader tells a list of media types with none but known parameters.
func mediaHeader(v string) bool {
	for entry := range strings.SplitSeq(v, ",") {
		name, params, _ := strings.Cut(entry, ";")
		name = strings.TrimSpace(name)
		if !knownMedia(name) {
			return false
		}
		for p := range strings.SplitSeq(params, ";") {
			key, value, _ := strings.Cut(strings.TrimSpace(p), "=")
			switch strings.ToLower(key) {
			case "":
			case "charset":
				if v := strings.ToLower(strings.Trim(value, `"`)); v != "utf-8" && v != "utf8" && v != "us-ascii" && v != "iso-8859-1" {
					return false
				}
			case "compatible-with", "q":
				if v := strings.Trim(strings.TrimSpace(value), `"`); !isNumber([]byte(v)) || len(v) > 5 {
					return false
				}
			default:
				return false
			}
		}
	}
	return true
}

func knownMedia(name string) bool {
	switch strings.ToLower(name) {
	case "*/*", "application/*", "text/*", "text/plain", "text/csv", "text/html", "text/json", "text/event-stream",
		"text/tab-separated-values", "application/vnd.mapbox-vector-tile", "application/vnd.apache.arrow.stream", "":
		return true
	}
	kind := es.ParseMedia(name).Kind
	return kind != es.MediaOther && kind != es.MediaText && kind != es.MediaForm
}

// tokenHeader tells short values of names, versions and numbers:
// "gzip, deflate;q=0.5", "es=8.9.0,go=1.21".
func tokenHeader(v string) bool {
	if len(v) > 200 {
		return false
	}
	letters, digits := 0, 0
	for i := range len(v) {
		switch c := v[i]; asciiClass(c) {
		case classLetter:
			letters++
			digits = 0
			if letters > 10 {
				return false
			}
			continue
		case classDigit:
			letters = 0
			if digits++; digits > 8 {
				return false
			}
			continue
		default:
			if c >= 0x80 || strings.IndexByte(" ,;=._-*+/", c) < 0 {
				return false
			}
		}
		letters, digits = 0, 0
	}
	return true
}
