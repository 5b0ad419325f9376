package sanitize

// opening handles the first token of a text, of a step of a pipe, of an event.
// next is i where it is a token like others.
func (l *langWalk) opening(i int) (next int, why reason) {
	up := l.word(i)
	switch l.lang {
	case langESQL, langPPL:
		if !isCommand(l.lang, up) {
			return i, dropQueryLanguage
		}
		l.command = up
		l.steps(up)
		switch {
		case l.lang != langPPL:
		case up == "SOURCE", up == "INDEX":
			l.command = "SEARCH"
		case up == "JOIN":
			l.index = l.joined(i)
		}
		if up == "LIMIT" || up == "HEAD" || up == "SAMPLE" || up == "TOP" || up == "RARE" {
			l.frame().op = opAmount
		}
		l.keep(i)
		return i + 1, kept
	case langSQL, langOpenSQL:
		l.command = up
		switch up {
		case "SELECT", "EXPLAIN", "DESCRIBE", "DESC":
		case "SHOW":
			if w := l.word(i + 1); w != "COLUMNS" && w != "FUNCTIONS" && w != "CATALOGS" || w == "FUNCTIONS" && i+2 < len(l.toks) {
				return i, dropQueryLanguage
			}
		case "":
			if l.sign(i) != "(" && l.sign(i) != "{" {
				return i, dropQueryLanguage
			}
		default:
			return i, dropQueryLanguage
		}
	case langEQL:
		return l.openEQL(i, up)
	}
	return i, kept
}

// openEQL handles an event's category, or the word that opens a sequence or a
// pipe. A category is a value of event.category.
func (l *langWalk) openEQL(i int, up string) (next int, why reason) {
	if l.sign(i-1) == "|" {
		if up != "HEAD" && up != "TAIL" {
			return i, dropQueryLanguage
		}
		l.frame().op = opAmount
		l.keep(i)
		return i + 1, kept
	}
	if l.word(i+1) != "WHERE" {
		if up != "SEQUENCE" && up != "SAMPLE" {
			return i, dropQueryLanguage
		}
		return i, kept
	}
	switch {
	case up == "ANY":
		l.keep(i)
		return i + 1, kept
	case l.kind(i) == langString:
		return i + 1, l.put(i, litValue, "event.category")
	case l.kind(i) != langWord:
		return i, dropQueryLanguage
	}
	out, why := l.form1(l.out, l.raw(i), litValue, "event.category")
	l.out = out
	return i + 1, why
}

// steps notes what a command does to what can be compared.
func (l *langWalk) steps(command string) {
	switch command {
	case "SORT":
		l.note(approx, "sort")
	case "DISSECT", "GROK", "PARSE", "REX", "PATTERNS", "SPATH":
		l.note(approx, "extract")
	case "RERANK", "COMPLETION", "AD", "KMEANS", "ML":
		l.note(broken, "function")
	}
}
