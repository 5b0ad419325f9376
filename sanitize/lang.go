package sanitize

import (
	"bytes"
	"slices"
	"strings"

	"github.com/esshadow/esshadow/internal/es"
)

// langWalk rewrites one text of a query language: keywords, functions, operators
// and white space stay, names go the way of field names, literals become
// pseudonyms by what they are compared with, comments go. What it cannot place
// surely drops the record.
type langWalk struct {
	*Worker
	lang    language
	d       *dialect
	s       []byte
	toks    []langToken
	out     []byte
	frames  []langFrame
	command string   // ES|QL, PPL: of the step of the pipe; SQL: the statement
	opens   bool     // a command, or EQL's event category, comes next
	sources []string // index names of the text, by which names may be qualified
	index   [2]int   // the tokens of the index that a join of PPL names last

	text, form []byte // scratch: a literal decoded, its pseudonym
}

// langFrame is what is known within a pair of brackets, or outside of all.
type langFrame struct {
	open    byte   // ( [ {, 0 for the whole text
	fn      string // the function whose arguments these are, upper case
	arg     int
	first   string // name that stands as the first argument
	field   string // name at hand, which literals are compared with
	op      langOp
	list    bool   // commas separate values of one comparison
	command string // of the text around it
}

// langOp is how a literal is used.
type langOp uint8

const (
	opNone langOp = iota
	opEqual
	opRange
	opLike
	opRegexp
	opMatch  // : of ES|QL, which searches
	opSame   // : of EQL, in which * and ? are wildcards
	opAmount // LIMIT and the like, whose numbers stay
	opEscape // of LIKE
	opSpan   // INTERVAL
)

// langAt handles a string that holds a text of a query language.
func (r *rewriter) langAt(k es.Token, s []byte, lang language) reason {
	if lang == langSQL && addOnPath(r.route.Path) {
		lang = langOpenSQL
	}
	out, why := r.langText(r.tmp2[:0], s, lang)
	return r.putText(k, out, why)
}

// addOnPath tells the paths of OpenSearch's plugins.
func addOnPath(path string) bool {
	return bytes.HasPrefix([]byte(path), []byte("/_plugins/")) || bytes.HasPrefix([]byte(path), []byte("/_opendistro/"))
}

// maxLanguageText bounds a text; the engines take a million characters at most.
const maxLanguageText = 1 << 20

// langText appends the form of a text.
func (w *Worker) langText(dst, s []byte, lang language) ([]byte, reason) {
	var x lexer
	if len(s) > maxLanguageText || !x.cut(lang, s) {
		return dst, dropQueryLanguage
	}
	l := langWalk{Worker: w, lang: lang, d: &dialects[lang], s: s, toks: x.toks, out: dst, frames: make([]langFrame, 1, 8), opens: true}
	if l.findSources(); len(l.sources) > maxSources {
		return dst, dropQueryLanguage
	}
	for i := 0; i < len(l.toks); {
		l.gap(i)
		next, why := l.step(i)
		if why != kept {
			return l.out, why
		}
		for j := i + 1; j < next; j++ { // names in several parts keep their gaps
			if !l.toks[j].glued {
				return l.out, dropQueryLanguage
			}
		}
		i = next
	}
	l.gap(len(l.toks))
	var y lexer
	if !y.cut(lang, l.out[len(dst):]) || !sameKinds(x.toks, y.toks) {
		return l.out, dropQueryLanguage
	}
	return l.out, kept
}

// sameKinds tells that what came out reads as what came in.
func sameKinds(a, b []langToken) bool {
	return slices.EqualFunc(a, b, func(x, y langToken) bool { return x.kind == y.kind && (x.glued == y.glued || x.noted) })
}

// gap copies the white space before token i; a comment in it goes.
func (l *langWalk) gap(i int) {
	from, to := 0, len(l.s)
	if i > 0 {
		from = l.toks[i-1].end
	}
	if i < len(l.toks) {
		to = l.toks[i].start
	}
	space := l.s[from:to]
	if len(bytes.TrimLeft(space, " \t\r\n")) == 0 {
		l.out = append(l.out, space...)
		return
	}
	if bytes.IndexByte(space, '\n') >= 0 {
		l.out = append(l.out, '\n')
	} else {
		l.out = append(l.out, ' ')
	}
}

func (l *langWalk) raw(i int) []byte { return l.s[l.toks[i].start:l.toks[i].end] }

// sign is the sign at i, "" where none stands.
func (l *langWalk) sign(i int) string {
	if i < 0 || i >= len(l.toks) || l.toks[i].kind != langSign {
		return ""
	}
	return string(l.raw(i))
}

// word is the word at i in upper case, "" where none stands.
func (l *langWalk) word(i int) string {
	if i < 0 || i >= len(l.toks) || l.toks[i].kind != langWord {
		return ""
	}
	return string(upperASCII(l.raw(i)))
}

func (l *langWalk) kind(i int) langKind {
	if i < 0 || i >= len(l.toks) {
		return 0
	}
	return l.toks[i].kind
}

// spans tells that more is written behind the number at i than a unit.
func (l *langWalk) spans(i int) bool {
	if !l.glued(i + 1) {
		return false
	}
	switch l.kind(i + 1) {
	case langNumber:
		return true
	case langSign:
		return strings.Contains("-./:*", l.sign(i+1)) && l.glued(i+2)
	}
	return false
}

func (l *langWalk) frame() *langFrame { return &l.frames[len(l.frames)-1] }

func (l *langWalk) keep(i int) {
	l.post.keep(l.raw(i))
	l.out = append(l.out, l.raw(i)...)
}

// step rewrites the token at i and returns where the next step begins.
func (l *langWalk) step(i int) (next int, why reason) {
	if l.opens && l.kind(i) != langSource {
		l.opens = false
		if next, why = l.opening(i); why != kept || next > i {
			return next, why
		}
	}
	switch l.toks[i].kind {
	case langSource:
		l.frame().field, l.frame().op = "", opNone
		return i + 1, l.source(i)
	case langString:
		return i + 1, l.literal(i)
	case langNumber:
		switch {
		case !l.spans(i):
		case l.lang == langPPL && l.command == "SEARCH" && len(l.frames) == 1:
			return l.bare(i, i+1)
		case l.kind(i+1) == langNumber:
			return i, dropQueryLanguage // an address, a version: no number
		}
		return i + 1, l.number(i)
	case langParam:
		n := bytes.LastIndexByte(l.raw(i), '?') + 1
		l.out = append(l.out, l.raw(i)[:n]...)
		l.out = l.chosen(l.out, l.raw(i)[n:])
		return i + 1, kept
	case langSign:
		return i + 1, l.signAt(i)
	case langWord:
		if next, why = l.wordAt(i); why != kept || next > i {
			return next, why
		}
	}
	return l.name(i)
}

// signAt handles an operator or a bracket.
func (l *langWalk) signAt(i int) reason {
	sign := l.sign(i)
	l.out = append(l.out, sign...)
	f := l.frame()
	switch sign {
	case "(", "[", "{":
		if len(l.frames) > l.p.cfg.MaxDepth {
			return dropDepth
		}
		l.enter(i, sign[0])
	case ")", "]", "}":
		if len(l.frames) < 2 || closer(f.open) != sign[0] {
			return dropQueryLanguage
		}
		inner := *f
		l.frames = l.frames[:len(l.frames)-1]
		l.command = inner.command
		if inner.fn != "" && inner.open == '(' {
			l.frame().field = ""
			if isTransparent(inner.fn) {
				l.frame().field = inner.first
			}
		}
	case ",":
		if f.open != '[' {
			f.arg++
		}
		if !f.list {
			f.field, f.op = "", opNone
		}
	case "|", ";":
		if sign == ";" && i+1 < len(l.toks) || l.lang == langSQL || l.lang == langOpenSQL && sign == "|" {
			return dropQueryLanguage
		}
		f.field, f.op = "", opNone
		l.opens = sign == "|"
	case "=", "==", "=~", "!=", "<>", "<=>":
		f.op = opEqual
	case "<", ">", "<=", ">=":
		f.op = opRange
	case ":":
		f.op = opMatch
		if l.lang == langEQL {
			f.op = opSame
		}
	case "&&", "||":
		f.field, f.op = "", opNone
	case "+", "*", "/", "%":
		if f.op == opNone {
			f.field = ""
		}
	}
	return kept
}

func closer(open byte) byte {
	switch open {
	case '(':
		return ')'
	case '[':
		return ']'
	case '{':
		return '}'
	}
	return 0
}

// enter opens a bracket: the arguments of a function, the values of a list, or
// a part of an expression.
func (l *langWalk) enter(i int, open byte) {
	f := l.frame()
	in := langFrame{open: open, command: l.command}
	before := i - 1
	if l.sign(before) == "~" { // stringContains~(
		before--
	}
	switch {
	case open == '(' && l.kind(before) == langWord && !l.listed(before) && (!isKeyword(l.word(before)) || isBoth(l.word(before))):
		in.fn = l.word(before)
	case open == '{' && l.lang == langESQL:
		in.fn = f.fn
	default:
		in.field, in.op, in.fn, in.arg, in.list = f.field, f.op, "", f.arg, f.op != opNone
		if open == '[' {
			in.fn = f.fn
			in.list = in.list || f.fn != ""
		}
	}
	l.frames = append(l.frames, in)
	next := l.word(i + 1)
	switch {
	case open == '[' && l.lang == langEQL:
		l.frames[len(l.frames)-1] = langFrame{open: open}
		l.opens = true
	case open == '[' && l.lang == langPPL && isCommand(l.lang, next),
		open == '(' && l.lang == langESQL && (l.command == "FORK" || l.command == "FROM") && in.fn == "" && isCommand(l.lang, next):
		l.frames[len(l.frames)-1] = langFrame{open: open, command: l.command}
		l.opens = true
	}
}
