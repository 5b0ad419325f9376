package audit

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxNested bounds JSON inside of strings of JSON.
const maxNested = 4

// Line looks through one line of a capture.
func (s *Scanner) Line(segment string, line []byte) {
	s.report.Lines++
	s.report.Bytes += int64(len(line))
	s.begin(segment, seqOf(line))
	if err := s.json("", line, 0); err != nil {
		s.trouble("line is not JSON")
		s.at.Field = "line"
		s.text(line, 0, "", true)
		return
	}
	s.at.Field, s.coarse = "line", true // whatever the walk did not see
	s.match(line, true, "")
}

// seqOf is the number of the record, which its line begins with.
func seqOf(line []byte) int64 {
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
func structural(field string) bool {
	switch field, _, _ = strings.Cut(field, "["); field {
	case "seq", "t", "conn", "n", "size", "wait", "took", "status", "count", "from", "to":
		return true
	}
	return strings.HasPrefix(field, "want.")
}

// frameOf is an object or array that is open.
type frameOf struct {
	name   string
	object bool
	n      int  // values so far
	key    bool // the next string is a name
}

// json looks at every name, string and number of one or more JSON texts.
func (s *Scanner) json(field string, text []byte, nested int) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var open []frameOf
	path := func() string {
		parts := make([]string, 0, len(open)+1)
		if field != "" {
			parts = append(parts, field)
		}
		for _, f := range open {
			if f.name != "" {
				parts = append(parts, f.name)
			}
		}
		return strings.Join(parts, ".")
	}
	for n := 0; ; {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			if n == 0 || len(open) > 0 {
				return io.ErrUnexpectedEOF
			}
			return nil
		}
		if err != nil {
			return err
		}
		n++
		var top *frameOf
		if len(open) > 0 {
			top = &open[len(open)-1]
		}
		switch v := tok.(type) {
		case json.Delim:
			switch v {
			case '{', '[':
				open = append(open, frameOf{object: v == '{', key: v == '{'})
				continue
			}
			open = open[:len(open)-1]
			if len(open) > 0 {
				open[len(open)-1].ended()
			}
			continue
		case string:
			if top != nil && top.object && top.key {
				top.name, top.key = "", false
				before := s.report.Found
				s.at.Field = path() + " (name)"
				s.text([]byte(v), 0, "", true)
				if top.name = "…"; s.report.Found == before {
					top.name = nameOf(v)
				}
				continue
			}
			s.str(path(), v, nested)
		case json.Number:
			at := path()
			s.at.Field = at
			s.text([]byte(v), 0, "", nested > 0 || !structural(at))
		}
		if top != nil {
			top.ended()
		}
	}
}

func (f *frameOf) ended() {
	f.key = f.object
	f.n++
}

// nameOf is a member's name as it may stand in a finding: names can be values
// themselves, so only plain schema-like ones are shown.
func nameOf(name string) string {
	if len(name) > 40 {
		return "…"
	}
	digits := 0
	for _, r := range name {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r|0x20 >= 'a' && r|0x20 <= 'z', r == '_', r == '-', r == '.':
		default:
			return "…"
		}
	}
	if digits > 4 {
		return "…"
	}
	return name
}

// str looks at one string; at what is JSON in it (a body) member by member.
func (s *Scanner) str(field, v string, nested int) {
	inside := s.inside(field, v, nested)
	s.at.Field = field
	if inside {
		s.coarse = true
		s.match([]byte(v), true, "")
		s.coarse = false
		return
	}
	s.text([]byte(v), 0, "", true)
	if nested == 0 && (field == "body64" || field == "target64") {
		if b, err := base64.StdEncoding.DecodeString(v); err == nil {
			s.text(b, 1, "base64", true)
		}
	}
}

// inside looks at the JSON texts that a string holds, as a whole or line by
// line, and tells whether it is made of nothing else.
func (s *Scanner) inside(field, v string, nested int) bool {
	trimmed := strings.TrimLeft(v, " \t\r\n")
	if nested >= maxNested || trimmed == "" || trimmed[0] != '{' && trimmed[0] != '[' {
		return false
	}
	if nested > 0 || !strings.Contains(strings.TrimRight(v, "\n"), "\n") || json.Valid([]byte(v)) {
		return s.json(field, []byte(v), nested+1) == nil
	}
	whole := true
	for i, line := range strings.Split(v, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if s.json(fmt.Sprintf("%s[%d]", field, i), []byte(line), nested+1) != nil {
			whole = false
		}
	}
	return whole
}
