package audit

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"
)

// maxNested bounds JSON inside of strings of JSON.
const maxNested = 4

// Line looks through one line of a capture.
func (s *Scanner) Line(segment string, line []byte) {
	s.report.Lines++
	s.report.Bytes += int64(len(line))
	s.begin(segment, SeqOf(line))
	if !s.json("", line, 0) {
		s.trouble("line is not JSON")
		s.at.Field = "line"
		s.text(line, 0, "", true)
		return
	}
	s.at.Field, s.coarse = "line", true // whatever the walk did not see
	s.match(line, true, "")
}

// SeqOf is the number of the record, which its line begins with, -1 for a line that
// has none.
func SeqOf(line []byte) int64 {
	rest, ok := bytes.CutPrefix(line, []byte(`{"seq":`))
	n := 0
	for n < len(rest) && isDigit(rest[n]) {
		n++
	}
	seq, err := strconv.ParseInt(string(rest[:n]), 10, 64)
	if !ok || err != nil {
		return -1
	}
	return seq
}

// structural tells the numbers of the record itself: times, sizes, counters.
func structural(name string) bool {
	switch name {
	case "seq", "t", "conn", "n", "size", "wait", "took", "status", "count", "from", "to", "want":
		return true
	}
	return false
}

// str looks at one string; at what is JSON in it (a body) member by member.
func (s *Scanner) str(w *walker, v []byte) {
	inside := s.inside(w, v)
	s.walk = w
	if inside {
		s.coarse = true
		s.match(v, true, "")
		s.coarse = false
		return
	}
	s.text(v, 0, "", true)
	if w.nested == 0 && len(w.names) == 1 && (w.names[0] == "body64" || w.names[0] == "target64") {
		plain := make([]byte, base64.StdEncoding.DecodedLen(len(v)))
		if n, err := base64.StdEncoding.Decode(plain, v); err == nil {
			s.text(plain[:n], 1, "base64", true)
		}
	}
}

// inside looks at the JSON texts that a string holds, as a whole or line by
// line, and tells whether it is made of nothing else.
func (s *Scanner) inside(w *walker, v []byte) bool {
	trimmed := bytes.TrimLeft(v, " \t\r\n")
	if w.nested >= maxNested || len(trimmed) == 0 || trimmed[0] != '{' && trimmed[0] != '[' {
		return false
	}
	field := w.path()
	if w.nested > 0 || bytes.IndexByte(bytes.TrimRight(v, "\n"), '\n') < 0 || isJSON(v) {
		return s.json(field, v, w.nested+1)
	}
	whole, n := true, 0
	for line := range bytes.Lines(v) {
		if len(bytes.TrimSpace(line)) > 0 && !s.json(fmt.Sprintf("%s[%d]", field, n), line, w.nested+1) {
			whole = false
		}
		n++
	}
	return whole
}
