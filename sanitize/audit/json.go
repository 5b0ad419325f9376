package audit

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds how deep JSON nests.
const maxDepth = 10000

// walker reads JSON (RFC 8259, and several texts in a row) and shows every name,
// string and number to a Scanner.
type walker struct {
	s      *Scanner // nil: only the syntax is looked at
	in     []byte
	pos    int
	nested int

	field string   // what the text is the value of
	names []string // of the members that are open
	name  bool     // the text at hand is a name
}

// json looks at every name, string and number of one JSON text or more; false
// where it is none, which may show after a part of it was looked at.
func (s *Scanner) json(field string, text []byte, nested int) bool {
	w := &walker{s: s, in: text, field: field, nested: nested}
	before := s.walk
	s.walk = w
	defer func() { s.walk = before }()
	return w.texts()
}

func isJSON(text []byte) bool {
	w := &walker{in: text}
	return w.value(0) && w.skip() == 0
}

// texts reads values up to the end.
func (w *walker) texts() bool {
	for n := 0; ; n++ {
		if w.skip() == 0 && w.pos >= len(w.in) {
			return n > 0
		}
		if !w.value(0) {
			return false
		}
	}
}

// path is the position of the text at hand.
func (w *walker) path() string {
	parts := make([]string, 0, len(w.names)+1)
	if w.field != "" {
		parts = append(parts, w.field)
	}
	for _, n := range w.names {
		if n != "" {
			parts = append(parts, n)
		}
	}
	p := strings.Join(parts, ".")
	if w.name {
		p += " (name)"
	}
	return p
}

// skip passes over white space and gives the byte that comes then, 0 at the end.
func (w *walker) skip() byte {
	for w.pos < len(w.in) {
		switch c := w.in[w.pos]; c {
		case ' ', '\t', '\n', '\r':
			w.pos++
		default:
			return c
		}
	}
	return 0
}

func (w *walker) value(depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch c := w.skip(); {
	case c == '{':
		return w.object(depth)
	case c == '[':
		return w.array(depth)
	case c == '"':
		v, ok := w.str()
		if ok && w.s != nil {
			w.s.walk = w
			w.s.str(w, v)
		}
		return ok
	case c == '-' || isDigit(c):
		return w.number()
	}
	for _, word := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(w.in[w.pos:], []byte(word)) {
			w.pos += len(word)
			return true
		}
	}
	return false
}

func (w *walker) object(depth int) bool {
	w.pos++
	if w.skip() == '}' {
		w.pos++
		return true
	}
	w.names = append(w.names, "")
	defer func() { w.names = w.names[:len(w.names)-1] }()
	for {
		if w.skip() != '"' {
			return false
		}
		name, ok := w.str()
		if !ok || !w.named(name) || w.skip() != ':' {
			return false
		}
		w.pos++
		if !w.value(depth + 1) {
			return false
		}
		switch w.skip() {
		case ',':
			w.pos++
		case '}':
			w.pos++
			return true
		default:
			return false
		}
	}
}

// named looks at a member's name and remembers it for positions. Names can be
// values themselves: what was found is not shown there.
func (w *walker) named(name []byte) bool {
	if w.s == nil {
		return true
	}
	top := &w.names[len(w.names)-1]
	*top, w.name = "", true
	before := w.s.report.Found
	w.s.walk = w
	w.s.text(name, 0, "", true)
	w.name = false
	if *top = "…"; w.s.report.Found == before {
		*top = nameOf(name)
	}
	return true
}

func (w *walker) array(depth int) bool {
	w.pos++
	if w.skip() == ']' {
		w.pos++
		return true
	}
	for {
		if !w.value(depth + 1) {
			return false
		}
		switch w.skip() {
		case ',':
			w.pos++
		case ']':
			w.pos++
			return true
		default:
			return false
		}
	}
}

func (w *walker) number() bool {
	start := w.pos
	for w.pos < len(w.in) && (isDigit(w.in[w.pos]) || strings.IndexByte("+-.eE", w.in[w.pos]) >= 0) {
		w.pos++
	}
	if w.s == nil {
		return true
	}
	own := w.nested == 0 && len(w.names) > 0 && structural(w.names[0])
	w.s.walk = w
	w.s.text(w.in[start:w.pos], 0, "", !own)
	return true
}

// str reads a string. The result may be a part of the input.
func (w *walker) str() ([]byte, bool) {
	w.pos++
	start := w.pos
	for w.pos < len(w.in) {
		switch c := w.in[w.pos]; {
		case c == '"':
			w.pos++
			return w.in[start : w.pos-1], true
		case c == '\\':
			return w.escaped(start)
		case c < ' ':
			return nil, false
		}
		w.pos++
	}
	return nil, false
}

// escaped goes on with str at the first escape. The text gets a buffer of its
// own, because a Scanner looks at what is in it before it returns.
func (w *walker) escaped(start int) ([]byte, bool) {
	buf := append(make([]byte, 0, 2*(w.pos-start)+16), w.in[start:w.pos]...)
	for w.pos < len(w.in) {
		c := w.in[w.pos]
		w.pos++
		switch {
		case c == '"':
			return buf, true
		case c < ' ':
			return nil, false
		case c != '\\':
			buf = append(buf, c)
			continue
		}
		if w.pos == len(w.in) {
			return nil, false
		}
		e := w.in[w.pos]
		if e == 'u' {
			r, n := unicodeEscape(w.in[w.pos:])
			if n == 0 {
				return nil, false
			}
			buf = utf8.AppendRune(buf, r)
			w.pos += n
			continue
		}
		i := strings.IndexByte(`"\/bfnrt`, e)
		if i < 0 {
			return nil, false
		}
		buf = append(buf, "\"\\/\b\f\n\r\t"[i])
		w.pos++
	}
	return nil, false
}

// nameOf is a member's name as it may stand in a finding: only plain schema-like
// ones are shown.
func nameOf(name []byte) string {
	if len(name) > 40 {
		return "…"
	}
	digits := 0
	for _, c := range name {
		switch {
		case isDigit(c):
			digits++
		case isLetter(c), c == '_', c == '-', c == '.':
		default:
			return "…"
		}
	}
	if digits > 4 {
		return "…"
	}
	return string(name)
}
