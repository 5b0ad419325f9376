package es

// operators writes which operators of the Lucene query language a text has, in
// a fixed order and each with a space before it; not its words.
func (f *Fingerprinter) operators(text []byte) {
	var s luceneScan
	for i := 0; i < len(text); {
		i = s.step(text, i)
	}
	for op, there := range s.has {
		if there {
			f.write(" ")
			f.write(luceneName(op))
		}
	}
}

const (
	opAnd = iota
	opOr
	opNot
	opMust
	opPhrase
	opLeading
	opWildcard
	opRegexp
	opFuzzy
	opRange
	opGroup
	opField
	opBoost
	opLucene // how many there are
)

func luceneName(op int) string {
	return [opLucene]string{
		opAnd: "AND", opOr: "OR", opNot: "NOT", opMust: "+", opPhrase: `""`, opLeading: "*x", opWildcard: "x*", opRegexp: "/x/",
		opFuzzy: "~", opRange: "[]", opGroup: "()", opField: "x:", opBoost: "^",
	}[op]
}

// luceneScan notes the operators of a text that is given to it step by step.
type luceneScan struct {
	has    [opLucene]bool
	inWord bool // what comes next continues a word
}

// step looks at what stands at i and returns where the next step begins.
func (s *luceneScan) step(text []byte, i int) int {
	c := text[i]
	switch {
	case c == '\\':
		s.inWord = true
		return i + 2
	case c == '"':
		s.has[opPhrase], s.inWord = true, true
		return literalEnd(text, i)
	case c == '/' && !s.inWord:
		s.has[opRegexp], s.inWord = true, true
		return literalEnd(text, i)
	case c <= ' ':
		s.inWord = false
	case isWord(c):
		end := i
		for end < len(text) && isWord(text[end]) {
			end++
		}
		if !s.inWord {
			s.wordOperator(text[i:end])
		}
		s.inWord = true
		return end
	default:
		s.sign(c)
	}
	return i + 1
}

func (s *luceneScan) wordOperator(word []byte) {
	switch string(word) {
	case "AND":
		s.has[opAnd] = true
	case "OR":
		s.has[opOr] = true
	case "NOT":
		s.has[opNot] = true
	}
}

func (s *luceneScan) sign(c byte) {
	start := !s.inWord
	s.inWord = false
	switch c {
	case '*', '?':
		s.has[opWildcard], s.inWord = true, true
		s.has[opLeading] = s.has[opLeading] || start
	case '+':
		s.has[opMust] = s.has[opMust] || start
		s.inWord = !start
	case '-', '!':
		s.has[opNot] = s.has[opNot] || start
		s.inWord = !start
	case '~':
		s.has[opFuzzy], s.inWord = true, true
	case '^':
		s.has[opBoost], s.inWord = true, true
	case ':':
		s.has[opField] = true
	case '(', ')':
		s.has[opGroup] = true
	case '[', ']', '{', '}':
		s.has[opRange] = true
	case '&':
		s.has[opAnd] = true
	case '|':
		s.has[opOr] = true
	default:
		s.inWord = true
	}
}
