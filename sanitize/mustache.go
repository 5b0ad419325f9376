package sanitize

import (
	"bytes"
	"unicode/utf8"

	"github.com/esshadow/esshadow/internal/es"
)

// A search template is JSON with Mustache tags in it. To rewrite one, every tag
// gives way to a character of Unicode's private use area, which no pseudonym
// replaces; where a tag stands for a whole value, in quotes, and where it opens
// or closes a section between values, in a comment. Behind the walk the tags come
// back. A template that is no JSON without its tags is not understood.
const (
	firstTag = '\uE000'
	maxTags  = 4096
)

// masker puts the characters in the place of tags.
type masker struct {
	w    *Worker
	text []byte // the template
	out  []byte
	tags []maskedTag
}

// maskedTag is what comes back for a tag, and what stands around the character
// in its place.
type maskedTag struct {
	text          []byte
	before, after string
}

// templateText appends the form of a template's text, which makes an object of a
// kind.
func (w *Worker) templateText(dst, text []byte, kind string) ([]byte, reason) {
	m := masker{w: w, text: text}
	if !m.mask() {
		return dst, dropTemplate
	}
	r := w.borrow()
	defer w.giveBack(r)
	made, why := r.run(nil, m.out, func(r *rewriter) reason {
		r.template = true
		return r.object1(kind)
	})
	switch why {
	case kept:
		return m.unmask(dst, made), kept
	case dropJSON:
		return dst, dropTemplate
	}
	return dst, why
}

// object1 handles a value that must be an object of a kind.
func (r *rewriter) object1(kind string) reason {
	return r.node(node{object: r.p.g.objects[kind]})
}

// templateKind is what a template makes: a search, or the query of a phrase
// suggester's collate.
func templateKind(p prim) string {
	if p == pQueryTemplate {
		return "query"
	}
	return "search"
}

// templateString handles a template given as a string.
func (r *rewriter) templateString(k es.Token, s []byte, p prim) reason {
	out, why := r.templateText(nil, s, templateKind(p))
	if why != kept {
		return why
	}
	r.nested = append(append(r.nested, out...), ' ') // its escapes hide it from the post-check
	r.replace(k)
	r.out = es.AppendQuoted(r.out, out)
	return kept
}

// templateObject handles a template given as an object, which has just been
// opened: the engine makes a text of it.
func (r *rewriter) templateObject(p prim) reason {
	start := r.t.Offset() - 1
	end, err := r.t.SkipOpen()
	if err != nil {
		return jsonReason(err)
	}
	r.out = append(r.out, r.in[r.pos:start]...)
	var why reason
	r.out, why = r.templateText(r.out, r.in[start:end], templateKind(p))
	r.pos = end
	return why
}

// hasTag tells that a tag's character stands in a string of a template.
func hasTag(s []byte) bool {
	for _, c := range string(s) {
		if c >= firstTag && c <= firstTag+maxTags {
			return true
		}
	}
	return false
}

// taggedAt handles a string of a template that holds tags. done is false where
// the position does not look at them.
func (r *rewriter) taggedAt(k es.Token, s []byte, p prim) (done bool, why reason) {
	var rest []byte
	touches := false
	for i := 0; i < len(s); {
		c, n := utf8.DecodeRune(s[i:])
		if c < firstTag || c > firstTag+maxTags {
			rest = append(rest, s[i:i+n]...)
		} else if i > 0 && hasRun(s[i-1:i]) || i+n < len(s) && hasRun(s[i+n:i+n+1]) {
			touches = true // tag or word is a part of a word
		}
		i += n
	}
	switch p {
	case pNone: // a parameter that is a query
		if hasRun(rest) {
			return true, dropShape
		}
		r.note(broken, "template")
		r.keepText(k, s)
		return true, kept
	case pS, pMatchType, pFuzziness, pOrder, pOptions, pFormat:
		if !OptionLike(rest) {
			return true, dropStructural
		}
		r.keepText(k, s)
		return true, kept
	}
	if touches && hasRun(rest) {
		r.note(broken, "template")
	}
	switch p {
	case pID, pIX, pState:
		r.note(broken, "template") // parameters are taken for text
	case pScript, pVector, pImage, pSecret, pWrapper, pTemplate, pQueryTemplate, pExt:
		return true, dropTemplate
	case pF, pSort, pN, pPath:
		if looksLikeSchema(rest, "^:,[]>") && p != pN && p != pPath || looksLikeSchema(rest, ">") {
			r.post.keep(rest)
			r.keepText(k, s)
			return true, kept
		}
		return false, kept
	case pGeo, pBound, pOrigin, pTerm, pT, pV, pDoc:
	default:
		return false, kept // the notes that belong to patterns
	}
	if hasRun(rest) {
		return false, kept
	}
	r.keepText(k, s)
	return true, kept
}

// mask makes JSON of a template. ok is false where that cannot be done surely.
func (m *masker) mask() (ok bool) {
	inside := false // of a string
	for i := 0; i < len(m.text); {
		c := m.text[i]
		switch {
		case bytes.HasPrefix(m.text[i:], []byte("{{")) && (inside || isTag(m.text[i:])):
			n := m.tag(i, inside)
			if n == 0 || len(m.tags) > maxTags {
				return false
			}
			i += n
			continue
		case c == '"':
			inside = !inside
		case inside && c == '\\' && i+1 < len(m.text):
			m.out = append(m.out, c)
			i++
			c = m.text[i]
		case !inside && c == '/': // comments
			return false
		case c >= 0xEE: // the private use areas
			r, _ := utf8.DecodeRune(m.text[i:])
			if r >= firstTag && r <= '\uF8FF' || r >= 0xF0000 {
				return false
			}
		}
		m.out = append(m.out, c)
		i++
	}
	return !inside
}

// isTag tells a tag from the braces of JSON, between which nothing but white
// space, a quote or a brace may follow.
func isTag(s []byte) bool {
	s = bytes.TrimLeft(s[2:], "{ \t\r\n")
	return len(s) > 0 && s[0] != '"' && s[0] != '}'
}

// tag masks the tag at i and returns its length, 0 where it is not understood.
func (m *masker) tag(i int, inside bool) int {
	sigil, name, n := readTag(m.text[i:])
	switch {
	case n == 0, sigil == '=', sigil == '>', bytesHas(name, '\\'), bytesHas(name, '"'):
		return 0
	case sigil == '!':
		return n
	case sigil == '#' && isTagFunction(name):
		return m.call(i, n, name, inside)
	}
	form, ok := m.name(name)
	if !ok {
		return 0
	}
	raw := m.text[i : i+n]
	at := bytes.Index(raw, name)
	text := append(append(append([]byte(nil), raw[:at]...), form...), raw[at+len(name):]...)
	if inside {
		m.put(text, "", "")
		return n
	}
	if sigil != 0 {
		m.put(text, "/*", "*/")
		return n
	}
	def := m.fallback(i+n, name)
	if def < 0 {
		return 0
	}
	if def > 0 { // {{x}}{{^x}}10{{/x}}
		text = append(text, bytes.ReplaceAll(m.text[i+n:i+n+def], name, form)...)
	}
	m.put(text, `"`, `"`)
	return n + def
}

// readTag reads {{name}}, {{{name}}}, {{&name}}, {{#name}} and so on; sigil is 0
// where there is none.
func readTag(s []byte) (sigil byte, name []byte, n int) {
	body, end := s[2:], []byte("}}")
	if len(body) > 0 && body[0] == '{' {
		body, end = body[1:], []byte("}}}")
	}
	stop := bytes.Index(body, end)
	if stop < 0 {
		return 0, nil, 0
	}
	n = len(s) - len(body) + stop + len(end)
	name = bytes.TrimSpace(body[:stop])
	if len(name) > 0 && bytes.IndexByte([]byte("#^/!>=&"), name[0]) >= 0 {
		sigil = name[0]
		name = bytes.TrimSpace(name[1:])
	}
	if sigil == '&' {
		sigil = 0
	}
	return sigil, name, n
}

// isTagFunction tells the functions of which the inside is a parameter's name.
func isTagFunction(name []byte) bool {
	word, _, _ := bytes.Cut(name, []byte{' '})
	return string(word) == "toJson" || string(word) == "join"
}

// call masks {{#toJson}}name{{/toJson}} and {{#join}}name{{/join}} as one.
func (m *masker) call(i, n int, fn []byte, inside bool) int {
	rest := m.text[i+n:]
	at := bytes.Index(rest, []byte("{{"))
	if at < 0 || !plainDelimiter(fn) {
		return 0
	}
	sigil, closing, size := readTag(rest[at:])
	param := bytes.TrimSpace(rest[:at])
	form, ok := m.name(param)
	if word, _, _ := bytes.Cut(fn, []byte{' '}); sigil != '/' || !bytes.HasPrefix(closing, word) || !plainDelimiter(closing) || !ok {
		return 0
	}
	text := append(append(bytes.Clone(m.text[i:i+n]), form...), rest[at:at+size]...)
	if inside {
		m.put(text, "", "")
	} else {
		m.put(text, `"`, `"`)
	}
	return n + at + size
}

// plainDelimiter tells "toJson", "join" and "join delimiter='||'" with signs
// only.
func plainDelimiter(fn []byte) bool {
	_, arg, ok := bytes.Cut(fn, []byte{' '})
	if !ok {
		return true
	}
	arg, ok = bytes.CutPrefix(bytes.TrimSpace(arg), []byte("delimiter="))
	return ok && !hasRun(arg)
}

// fallback is the length of what stands for a parameter that is not given, as in
// {{x}}{{^x}}10{{/x}}: a short number or a word of JSON. It is -1 where it is
// anything else.
func (m *masker) fallback(i int, name []byte) int {
	sigil, other, n := byte(0), []byte(nil), 0
	if bytes.HasPrefix(m.text[i:], []byte("{{")) {
		sigil, other, n = readTag(m.text[i:])
	}
	if sigil != '^' || !bytes.Equal(name, other) {
		return 0
	}
	rest := m.text[i+n:]
	at := bytes.Index(rest, []byte("{{"))
	if at < 0 {
		return -1
	}
	sigil, other, size := readTag(rest[at:])
	value := string(bytes.TrimSpace(rest[:at]))
	switch {
	case sigil != '/' || !bytes.Equal(name, other):
		return -1
	case value == "true", value == "false", value == "null", len(value) > 0 && len(value) <= tableDigits && isNumber([]byte(value)):
		return n + at + size
	}
	return -1
}

// name is the form of a parameter's name, as that in params.
func (m *masker) name(name []byte) ([]byte, bool) {
	if len(name) == 0 {
		return nil, false
	}
	return m.w.chosen(nil, name), !bytes.ContainsAny(name, "{}'")
}

func (m *masker) put(text []byte, before, after string) {
	m.out = append(m.out, before...)
	m.out = utf8.AppendRune(m.out, firstTag+rune(len(m.tags)))
	m.out = append(m.out, after...)
	m.tags = append(m.tags, maskedTag{text, before, after})
}

// unmask appends made with its tags back.
func (m *masker) unmask(dst, made []byte) []byte {
	for i := 0; i < len(made); {
		c, n := utf8.DecodeRune(made[i:])
		if c < firstTag || int(c-firstTag) >= len(m.tags) {
			dst = append(dst, made[i:i+n]...)
			i += n
			continue
		}
		tag := m.tags[c-firstTag]
		i += n
		if bytes.HasSuffix(dst, []byte(tag.before)) && bytes.HasPrefix(made[i:], []byte(tag.after)) {
			dst = dst[:len(dst)-len(tag.before)]
			i += len(tag.after)
		}
		dst = append(dst, tag.text...)
	}
	return dst
}
