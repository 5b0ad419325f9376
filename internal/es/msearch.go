package es

import (
	"bytes"
	"io"
)

// MsearchItem is one search of an _msearch body: a header line and a body line,
// both without their line ends and not looked at. The slices are parts of the
// body that the reader was given.
type MsearchItem struct {
	Line   int    // number of the header line, from 1
	Header []byte // may be empty, which means {}
	Body   []byte // may be empty or malformed
	// NoBody: the text ends where the body line should come. The engines pass over
	// such a header without a word.
	NoBody     bool
	BodyStart  int // offset of Body
	Start, End int // extent of both lines, the line ends included
}

// MsearchReader walks over an _msearch (or _msearch/template) body: pairs of
// lines, each ending in "\n". A blank line is an empty header or an empty body
// like any other, but for one at the very start: version 7 passes over it and
// later versions take it as a header, so it is passed over where the remaining
// lines come in pairs. A MsearchReader allocates nothing.
type MsearchReader struct {
	body []byte
	pos  int
	line int
}

// Reset starts reading body, which must not change while items are taken.
func (m *MsearchReader) Reset(body []byte) {
	m.body, m.pos, m.line = body, 0, 1
	if first, rest, ended := cutLine(body); ended && len(first) == 0 && paired(rest) {
		m.take()
	}
}

// paired tells whether body has an even number of lines, blank ones at its end
// not counted.
func paired(body []byte) bool {
	body = bytes.TrimRight(body, " \t\r\n")
	return len(body) > 0 && bytes.Count(body, []byte{'\n'})%2 == 1
}

// Next returns the next search, io.EOF after the last; it has no other error.
// Blank lines after the last search are no search.
func (m *MsearchReader) Next() (MsearchItem, error) {
	if m.pos >= len(m.body) || blank(m.body[m.pos:]) {
		m.pos = len(m.body)
		return MsearchItem{}, io.EOF
	}
	it := MsearchItem{Line: m.line, Start: m.pos}
	it.Header = trimCR(m.take())
	if m.pos >= len(m.body) {
		it.NoBody = true
	} else {
		it.BodyStart = m.pos
		it.Body = trimCR(m.take())
	}
	it.End = m.pos
	return it, nil
}

func (m *MsearchReader) take() []byte {
	line, rest, _ := cutLine(m.body[m.pos:])
	m.pos = len(m.body) - len(rest)
	m.line++
	return line
}
