package es

import "bytes"

// cutLine returns the first line of body without its "\n", what follows, and
// whether the line had its "\n".
func cutLine(body []byte) (line, rest []byte, ended bool) {
	if i := bytes.IndexByte(body, '\n'); i >= 0 {
		return body[:i:i], body[i+1:], true
	}
	return body, nil, false
}

// trimCR cuts one "\r" at the end, as the engines do on document lines.
func trimCR(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[: n-1 : n-1]
	}
	return line
}

// blank tells that a line has nothing but JSON white space.
func blank(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return false
		}
	}
	return true
}

// EndsInNewline tells whether an NDJSON body ends as _bulk and _msearch demand
// it; without the last "\n" the engines refuse the whole request.
func EndsInNewline(body []byte) bool {
	return len(body) > 0 && body[len(body)-1] == '\n'
}

// SplitValue cuts a line after its first JSON value. The tail is what follows,
// nil where only white space does: old engines accepted two objects on one line
// and read the first, so what stands there may hold anything.
func (t *Tokens) SplitValue(line []byte) (value, tail []byte, err error) {
	t.Reset(line)
	start, end, err := t.Skip()
	if err != nil {
		return nil, nil, err
	}
	if !blank(line[end:]) {
		tail = line[end:]
	}
	return line[start:end:end], tail, nil
}
