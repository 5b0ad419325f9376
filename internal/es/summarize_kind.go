package es

import (
	"bytes"
	"strings"
)

// answerKind says which members of an answer are read.
type answerKind uint8

const (
	answerOther answerKind = iota // error and the common members only
	answerSearch
	answerMsearch
	answerBulk
	answerGet
	answerMget
	answerCount
	answerWrite
	answerWork // by-query operations
	answerTable
	answerFieldCaps
	answerTerms
	answerFlag // one boolean: validate, explain, termvectors
)

func answerOf(op Op) answerKind {
	switch op {
	case OpSearch, OpSearchTemplate, OpKnnSearch, OpSearchApplication, OpScroll,
		OpAsyncSearch, OpAsyncGet, OpAsyncStatus, OpEQL, OpEQLAsync:
		return answerSearch
	case OpMsearch, OpMsearchTemplate:
		return answerMsearch
	case OpBulk:
		return answerBulk
	case OpGet, OpExists:
		return answerGet
	case OpMget:
		return answerMget
	case OpCount:
		return answerCount
	case OpIndex, OpCreate, OpUpdate, OpDelete:
		return answerWrite
	case OpUpdateByQuery, OpDeleteByQuery, OpReindex:
		return answerWork
	case OpESQL, OpESQLAsync, OpSQL, OpSQLAsync, OpPPL:
		return answerTable
	case OpFieldCaps:
		return answerFieldCaps
	case OpTermsEnum:
		return answerTerms
	case OpValidate, OpExplain, OpTermvectors:
		return answerFlag
	}
	return answerOther
}

// form is how the text of an answer is to be read.
type form uint8

const (
	formOpaque form = iota
	formJSON
	formText       // lines for people
	formTextTable  // lines for people: SQL and ES|QL, two of them a heading
	formLines      // csv, tsv: the first a heading
	formLinesNoTop // csv with header=absent
)

// answerForm goes by the media type. Where that is missing, or plain text as
// some plug-ins of older OpenSearch have it, a bracket at the start means JSON.
func answerForm(mediaType string, body []byte, kind answerKind) form {
	name, params, _ := strings.Cut(mediaType, ";")
	switch name = strings.ToLower(strings.TrimSpace(name)); {
	case strings.HasSuffix(name, "json"):
		return formJSON
	case name == "text/csv", name == "text/tab-separated-values":
		if strings.Contains(strings.ToLower(params), "header=absent") {
			return formLinesNoTop
		}
		return formLines
	case name == "", name == "text/plain":
		if b := bytes.TrimLeft(body, " \t\r\n"); len(b) > 0 && (b[0] == '{' || b[0] == '[') {
			return formJSON
		}
		if kind == answerTable && name != "" {
			return formTextTable
		}
		return formText
	case strings.HasPrefix(name, "text/"):
		return formText
	}
	return formOpaque
}

// countLines is the number of records in a table of text, headings left out. A
// newline between double quotes belongs to its record (RFC 4180).
func countLines(body []byte, f form) int {
	n, quoted := 0, false
	for _, c := range body {
		switch {
		case c == '"' && f != formTextTable:
			quoted = !quoted
		case c == '\n' && !quoted:
			n++
		}
	}
	if len(body) > 0 && body[len(body)-1] != '\n' {
		n++
	}
	switch f {
	case formLines:
		n--
	case formTextTable:
		n -= 2
	}
	return max(n, 0)
}
