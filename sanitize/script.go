package sanitize

import (
	"bytes"

	"github.com/esshadow/esshadow/internal/es"
)

// script handles an inline script given as a string.
func (r *rewriter) script(k es.Token, s []byte) reason {
	switch {
	case r.p.cfg.Scripts == "drop":
		return dropScript
	case bytes.Contains(s, []byte("{{")):
		return dropTemplate
	}
	out, why := r.scriptText(r.tmp2[:0], s)
	return r.putText(k, out, why)
}

// scriptObject handles {source, lang, params, …} or {id, params}.
func (r *rewriter) scriptObject() reason {
	return r.members(func(k es.Token, name []byte) reason {
		var n node
		switch string(name) {
		case "lang":
			r.keepText(k, name)
			return r.language()
		case "source", "inline":
			n.scalar = pScript
		case "id", "stored":
			n.scalar = pN
		case "options":
			n.scalar = pOptions
		case "params":
			n = r.p.bodies.params
		default:
			return dropUnknownKey
		}
		r.keepText(k, name)
		return r.node(n)
	})
}

// language passes over the name of a script's language, if it is one whose
// literals are known.
func (r *rewriter) language() reason {
	k, why := r.next()
	if why != kept {
		return why
	}
	switch string(r.t.Raw(k)) {
	case `"painless"`, `"expression"`, `"knn"`, "null":
		return kept
	}
	return dropScript
}

// scriptText appends the form of a script (Painless, expression): code stays,
// comments go, literals are looked at. A string that names a field, a parameter
// or holds no letter and no digit stays. Others, and numbers of four and more
// digits, are replaced where the policy is literals, and drop the record where
// it is code.
func (w *Worker) scriptText(dst, s []byte) ([]byte, reason) { //nolint:funlen // one case for each kind of token
	literals := w.p.cfg.Scripts == "literals"
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '/' && i+1 < len(s) && (s[i+1] == '/' || s[i+1] == '*'):
			n := codeCommentLen(s[i:])
			dst = append(dst, ' ')
			i += n
		case c == '/' && !endsOperand(s[:i]):
			return dst, dropScript // a regular expression
		case c == '\'' || c == '"':
			n := quotedLen(s[i:], c)
			if n == 0 {
				return dst, dropScript
			}
			var why reason
			if dst, why = w.scriptLiteral(append(dst, c), s[i+1:i+n-1], s[:i]); why != kept {
				return dst, why
			}
			dst = append(dst, c)
			i += n
		case digitsAt(s, i, 1) && (i == 0 || !inRun(s, i-1) && s[i-1] != '_' && s[i-1] != '.'):
			n := 1
			for i+n < len(s) && digitsAt(s, i+n, 1) {
				n++
			}
			switch {
			case n < 4 || i+n < len(s) && asciiClass(s[i+n]) == classLetter && s[i+n]|0x20 == 'x':
				dst = append(dst, s[i:i+n]...)
			case w.p.cfg.Numbers == "fpe" && n > tableDigits && !literals:
				return dst, dropScript
			default:
				mark := len(dst)
				dst = w.number(dst, s[i:i+n])
				if string(dst[mark:]) != string(s[i:i+n]) {
					w.note(broken, "script")
				}
			}
			i += n
		case c >= 0x80:
			return dst, dropScript // no code is written so
		case asciiClass(c) == classLetter || c == '_':
			n := 1
			for i+n < len(s) && (s[i+n] == '_' || s[i+n] < 0x80 && inRun(s, i+n)) {
				n++
			}
			w.post.keep(s[i : i+n])
			dst = append(dst, s[i:i+n]...)
			i += n
		default:
			dst = append(dst, c)
			i++
		}
	}
	return dst, kept
}

// scriptLiteral appends the form of a string of a script; code is what stands
// before it.
func (w *Worker) scriptLiteral(dst, text, code []byte) ([]byte, reason) {
	switch {
	case namesField(code) && looksLikeSchema(text, ""), isWriteOp(text) && assignsOp(code):
		w.post.keep(text)
	case !hasRun(text):
	case w.p.cfg.Scripts != "literals":
		return dst, dropScript
	default:
		w.note(broken, "script")
		return w.text.text(dst, text), kept
	}
	return append(dst, text...), kept
}

// endsOperand tells code after which "/" divides.
func endsOperand(code []byte) bool {
	code = bytes.TrimRight(code, " \t\r\n")
	if len(code) == 0 {
		return false
	}
	switch identBefore(code) {
	case "return", "in", "instanceof", "new", "else", "case":
		return false
	}
	c := code[len(code)-1]
	return c == ')' || c == ']' || c == '_' || c == '\'' || c == '"' || inRun(code, len(code)-1)
}

func hasRun(s []byte) bool {
	for i := range s {
		if inRun(s, i) {
			return true
		}
	}
	return false
}

func codeCommentLen(s []byte) int {
	for i := 2; i < len(s); i++ {
		if s[1] == '/' && s[i] == '\n' {
			return i
		}
		if s[1] == '*' && s[i] == '/' && s[i-1] == '*' && i > 2 {
			return i + 1
		}
	}
	return len(s)
}

// namesField tells from the code before a string that it names a field or a
// parameter: doc['x'], params["x"], field('x'), $('x', …), containsKey('x'), and
// the second argument of the vector functions.
func namesField(code []byte) bool {
	i := len(code)
	skip := func() {
		for i > 0 && isLuceneSpace(code[i-1]) {
			i--
		}
	}
	skip()
	if i == 0 {
		return false
	}
	c := code[i-1]
	i--
	skip()
	switch c {
	case '[':
		return i > 0 && (inRun(code, i-1) || code[i-1] == ']' || code[i-1] == '_' || code[i-1] == ')')
	case '(':
		switch identBefore(code[:i]) {
		case "field", "containsKey", "$", "get", "doc":
			return true
		case "remove":
			return bytes.HasSuffix(code[:i], []byte("_source.remove"))
		}
	case ',':
		depth := 0
		for ; i > 0; i-- {
			switch code[i-1] {
			case ')', ']':
				depth++
			case '(', '[':
				if depth == 0 {
					return vectorFunction(identBefore(code[:i-1]))
				}
				depth--
			case ';', '{', '}':
				return false
			}
		}
	}
	return false
}

// assignsOp tells code that ends in "ctx.op =", isWriteOp what may follow it.
func assignsOp(code []byte) bool {
	code, ok := bytes.CutSuffix(bytes.TrimRight(code, " \t\r\n"), []byte{'='})
	return ok && bytes.HasSuffix(bytes.TrimRight(code, " \t\r\n"), []byte("ctx.op"))
}

func isWriteOp(text []byte) bool {
	switch string(text) {
	case "index", "delete", "noop", "none", "create":
		return true
	}
	return false
}

func identBefore(code []byte) string {
	i := len(code)
	for i > 0 && (code[i-1] < 0x80 && inRun(code, i-1) || code[i-1] == '_' || code[i-1] == '$') {
		i--
	}
	return string(code[i:])
}

func vectorFunction(name string) bool {
	switch name {
	case "cosineSimilarity", "dotProduct", "l1norm", "l2norm", "hamming", "maxSimDotProduct", "maxSimInvHamming",
		"lateInteractionScore", "knn_score", "l2Squared", "lInfNorm", "innerProduct", "randomScore",
		"cosineSimilaritySparse", "dotProductSparse", "l1normSparse", "l2normSparse":
		return true
	}
	return false
}
