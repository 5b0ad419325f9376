package es

import (
	"strconv"
	"strings"
)

// MediaKind is the format that a media type names.
type MediaKind uint8

// The formats.
const (
	MediaNone  MediaKind = iota // no media type given
	MediaOther                  // one that is none of the following
	MediaJSON
	MediaNDJSON // x-ndjson, and x-ldjson as older clients write it
	MediaCBOR
	MediaSMILE
	MediaYAML
	MediaText // text/*, so csv and tsv, too
	MediaForm // form-urlencoded and multipart: refused by the engines
)

// Media is what a Content-Type says. Compat is the N of a vendor type's
// compatible-with=N, 0 where it has none.
type Media struct {
	Kind   MediaKind
	Vendor bool // application/vnd.elasticsearch+…
	Compat int
}

const vendorPrefix = "application/vnd.elasticsearch+"

// ParseMedia reads a Content-Type, or one entry of an Accept header. Case and
// white space around the separators do not matter, parameters other than
// compatible-with are passed over.
func ParseMedia(contentType string) Media {
	name, params, _ := strings.Cut(contentType, ";")
	name = strings.TrimSpace(name)
	if name == "" {
		return Media{Kind: MediaNone}
	}
	if sub, ok := cutFoldPrefix(name, vendorPrefix); ok {
		return Media{Kind: kindOf(sub), Vendor: true, Compat: compatOf(params)}
	}
	if sub, ok := cutFoldPrefix(name, "application/"); ok {
		return Media{Kind: kindOf(sub)}
	}
	if sub, ok := cutFoldPrefix(name, "text/"); ok {
		if strings.EqualFold(sub, "json") {
			return Media{Kind: MediaJSON}
		}
		return Media{Kind: MediaText}
	}
	if _, ok := cutFoldPrefix(name, "multipart/"); ok {
		return Media{Kind: MediaForm}
	}
	return Media{Kind: MediaOther}
}

func cutFoldPrefix(s, prefix string) (rest string, ok bool) {
	if !hasFoldPrefix(s, prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

func hasFoldPrefix(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// kindOf is the format of a subtype of application.
func kindOf(sub string) MediaKind {
	for _, k := range [...]struct {
		name string
		kind MediaKind
	}{
		{"json", MediaJSON},
		{"x-ndjson", MediaNDJSON},
		{"x-ldjson", MediaNDJSON},
		{"ndjson", MediaNDJSON},
		{"cbor", MediaCBOR},
		{"smile", MediaSMILE},
		{"yaml", MediaYAML},
		{"x-yaml", MediaYAML},
		{"x-www-form-urlencoded", MediaForm},
	} {
		if strings.EqualFold(sub, k.name) {
			return k.kind
		}
	}
	return MediaOther
}

// compatOf finds compatible-with=N among parameters.
func compatOf(params string) int {
	for params != "" {
		var p string
		p, params, _ = strings.Cut(params, ";")
		name, value, _ := strings.Cut(p, "=")
		if strings.EqualFold(strings.TrimSpace(name), "compatible-with") {
			n, err := strconv.Atoi(strings.Trim(strings.TrimSpace(value), `"`))
			if err != nil || n < 0 {
				return 0
			}
			return n
		}
	}
	return 0
}

// RewriteMedia turns the vendor types of a Content-Type or Accept header, which
// may be a list, into those of another version, or into plain types where compat
// is 0. Everything else in the header stays byte for byte; a header without a
// vendor type comes back as it is. A target of another major version, or of
// another maker, refuses a vendor type that it does not speak with 406, and
// wants Content-Type and Accept to agree: rewrite both.
func RewriteMedia(contentType string, compat int) string {
	if !strings.Contains(contentType, "+") {
		return contentType // the common case: nothing of a vendor
	}
	var out strings.Builder
	for rest, more := contentType, true; more; {
		var entry string
		entry, rest, more = cutEntry(rest)
		writeEntry(&out, entry, compat)
		if more {
			out.WriteByte(',')
		}
	}
	return out.String()
}

// cutEntry cuts an Accept list at its first comma outside of quotes.
func cutEntry(list string) (entry, rest string, more bool) {
	quoted := false
	for i := 0; i < len(list); i++ {
		switch list[i] {
		case '"':
			quoted = !quoted
		case ',':
			if !quoted {
				return list[:i], list[i+1:], true
			}
		}
	}
	return list, "", false
}

func writeEntry(out *strings.Builder, entry string, compat int) {
	if !ParseMedia(entry).Vendor {
		out.WriteString(entry)
		return
	}
	name, params, hasParams := strings.Cut(entry, ";")
	lead := name[:len(name)-len(strings.TrimLeft(name, " \t"))]
	sub := strings.TrimSpace(name)[len(vendorPrefix):]
	out.WriteString(lead)
	if compat > 0 {
		out.WriteString(vendorPrefix + sub + ";compatible-with=" + strconv.Itoa(compat))
	} else {
		out.WriteString("application/" + sub)
	}
	for hasParams {
		var p string
		p, params, hasParams = strings.Cut(params, ";")
		if n, _, _ := strings.Cut(p, "="); !strings.EqualFold(strings.TrimSpace(n), "compatible-with") {
			out.WriteByte(';')
			out.WriteString(p)
		}
	}
}
