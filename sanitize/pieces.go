package sanitize

import (
	"unicode"
	"unicode/utf8"
)

// piecesOfText notes what a query for words asks of pieces that documents have
// in something that has its pseudonym as a whole.
//
// A run of Han or Kana is cut by every analyser, and its characters or pairs are
// found in other runs; only of Hangul do the usual analysers leave the words. A
// year, or 4, 8 or 12 hexadecimal digits, may be a piece of a date or a UUID of a
// document. The other way round, the pieces of a date or a UUID that is asked for
// may stand alone in documents, which is rare.
func (w *Worker) piecesOfText(s []byte) {
	if w.text.style.shapeless {
		return
	}
	for i := 0; i < len(s); {
		end := i + 1
		for isWordByte(s[i]) && end < len(s) && isWordByte(s[end]) {
			end++
		}
		switch {
		case s[i] >= utf8.RuneSelf:
			r, size := utf8.DecodeRune(s[i:])
			if isCJK(r) && !unicode.Is(unicode.Hangul, r) {
				w.note(broken, "ideographs")
				return
			}
			end = i + size
		case !isWordByte(s[i]):
		case dateLen(s[i:]) > 0:
			w.note(approx, "part_of_shape")
			end = i + dateLen(s[i:])
		case uuidLen(s[i:]) > 0:
			w.note(approx, "part_of_shape")
			end = i + uuidSize
		case gluedAddress(s, i) || pieceOfShape(s[i:end]):
			w.note(broken, "part_of_shape")
			return
		}
		i = end
	}
}

// pieceOfShape tells runs that an analyser which cuts at separators may have made
// of a date or a UUID: a year; 4, 8 or 12 hexadecimal digits of both kinds. Days
// and months are too like any other number.
func pieceOfShape(run []byte) bool {
	switch len(run) {
	case 4:
		if digitsAt(run, 0, 4) {
			return run[0] == '1' && run[1] == '9' || run[0] == '2' && run[1] == '0'
		}
		return allHex(run)
	case 8, 12:
		return allHex(run)
	}
	return false
}

// allHex tells hexadecimal digits, at least one of them decimal and one not.
func allHex(run []byte) bool {
	letter := false
	for _, c := range run {
		if !isHex(c) {
			return false
		}
		letter = letter || asciiClass(c) == classLetter
	}
	return letter && hasDigit(run)
}

// gluedAddress tells four numbers with dots between them that no address is made
// of, because more stands beside them; an analyser may take them for one.
func gluedAddress(s []byte, i int) bool {
	n, glued := i, i > 0 && shapeSeparator(s[i-1])
	for group := range 4 {
		if group > 0 {
			if n >= len(s) || s[n] != '.' {
				return false
			}
			n++
		}
		start := n
		for n < len(s) && digitsAt(s, n, 1) {
			n++
		}
		if n == start {
			return false
		}
	}
	return glued || n < len(s) && (isWordByte(s[n]) || shapeSeparator(s[n]))
}

// shapeSeparator tells what stands inside of dates, addresses and UUIDs.
func shapeSeparator(c byte) bool { return c == '-' || c == '.' || c == ':' || c == '/' }

// shapesIn tells that a regular expression has digits, hexadecimal ones too,
// beside a separator of dates, addresses and UUIDs: documents have a pseudonym for
// the whole of these, patterns for the runs.
func shapesIn(s []byte) bool {
	for i, c := range s {
		if !shapeSeparator(c) || c == '.' && (i == 0 || s[i-1] != '\\') {
			continue
		}
		from, to := i, i+1
		for from > 0 && (s[from-1] == '\\' || s[from-1] == ')') {
			from--
		}
		for to < len(s) && (s[to] == '\\' || s[to] == '(') {
			to++
		}
		begin, end := from, to
		for begin > 0 && isWordByte(s[begin-1]) {
			begin--
		}
		for end < len(s) && isWordByte(s[end]) {
			end++
		}
		if hexadecimal(s[begin:from]) || hexadecimal(s[to:end]) {
			return true
		}
	}
	return false
}

// hexadecimal tells a run of hexadecimal digits with a decimal one among them.
func hexadecimal(run []byte) bool {
	for _, c := range run {
		if !isHex(c) {
			return false
		}
	}
	return hasDigit(run)
}
