package audit

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Kept says which classes of values a policy keeps. Where one stands is found out
// here, by the record alone; where that is in doubt, it is not of its class.
type Kept struct {
	Indices bool // names of indices
	Numbers bool // JSON numbers, but those of ids
	Guarded bool // of them, those that look like a person's are not kept
	Dates   bool // strings that are a date, with date math
	Places  bool // strings that are a place, where a geo clause has it
}

// Class is one of the classes, and what is kept without it.
type Class struct {
	Name string // index name, number, date, place
	Rest Kept
}

// Classes are the classes that are kept.
func (k Kept) Classes() (all []Class) {
	add := func(is *bool, name string) {
		if *is {
			*is = false
			all = append(all, Class{name, k})
			*is = true
		}
	}
	add(&k.Indices, "index name")
	add(&k.Numbers, "number")
	add(&k.Dates, "date")
	add(&k.Places, "place")
	return all
}

// Without is a record's line without the values of the kept classes: what is
// found in it, the policy does not keep. A line that is not understood stays as it
// is.
func (k Kept) Without(line []byte) []byte {
	rec, ok := membersOf(line)
	if !ok {
		return line
	}
	op, _ := rec.text("op")
	out := []byte{'{'}
	for i, m := range rec {
		value := []byte(m.value)
		var s string
		if (m.name == "target" || m.name == "body") && json.Unmarshal(m.value, &s) == nil && plain(m.value) {
			if m.name == "target" {
				s = k.target(s)
			} else {
				s = k.body(op, s)
			}
			value = appendText(nil, s)
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(appendText(out, m.name), ':'), value...)
	}
	return append(out, '}')
}

// member is one of an object; a name may come twice.
type member struct {
	name  string
	value json.RawMessage
}

type members []member

func membersOf(text []byte) (all members, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, false
		}
		m := member{name: name.(string)}
		if dec.Decode(&m.value) != nil {
			return nil, false
		}
		all = append(all, m)
	}
	if _, err := dec.Token(); err != nil {
		return nil, false
	}
	return all, ended(dec, text)
}

// ended tells that nothing but white space follows what was read.
func ended(dec *json.Decoder, text []byte) bool {
	return len(bytes.TrimSpace(text[dec.InputOffset():])) == 0
}

func (ms members) text(name string) (s string, ok bool) {
	for _, m := range ms {
		if m.name == name {
			return s, json.Unmarshal(m.value, &s) == nil
		}
	}
	return "", false
}

// plain tells that decoding a JSON text loses nothing: no invalid bytes and no
// halves of surrogate pairs, in place of which a decoder puts something else.
func plain(text []byte) bool {
	return utf8.Valid(text) && !bytes.Contains(bytes.ToLower(text), []byte(`\ud`))
}

func appendText(dst []byte, s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		return dst // a string has no such error
	}
	return append(dst, b...)
}

// target takes out the index expression with which a path begins.
func (k Kept) target(t string) string {
	rest, ok := strings.CutPrefix(t, "/")
	if !k.Indices || !ok {
		return t
	}
	path, query, asked := strings.Cut(rest, "?")
	first, after, deeper := strings.Cut(path, "/")
	if name, err := url.PathUnescape(first); err != nil || strings.HasPrefix(name, "_") || !indexExpression(name) {
		return t
	}
	t = "/"
	if deeper {
		t += "/" + after
	}
	if asked {
		t += "?" + query
	}
	return t
}

// indexExpression tells what engines take for names of indices, patterns and date
// math among them: no capitals, and nothing of what they forbid.
func indexExpression(s string) bool {
	return s != "" && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r == 0x7f || unicode.IsUpper(r) || unicode.IsSpace(r) || strings.ContainsRune(`"#\?'`, r)
	})
}

// Roles of the JSON texts of a body.
type role uint8

const (
	roleData   role = iota
	roleAction      // of _bulk
	roleHeader      // of _msearch
	roleMget
)

// body takes out of a body what is kept.
func (k Kept) body(op, body string) string {
	roles := func(int, string) role { return roleData }
	lines := []string{body}
	switch op {
	case "bulk":
		action := true
		roles = func(_ int, line string) role {
			now := action
			if action = !action || strings.HasPrefix(strings.TrimSpace(line), `{"delete"`); now {
				return roleAction
			}
			return roleData
		}
		lines = strings.Split(body, "\n")
	case "msearch":
		roles = func(n int, _ string) role { return []role{roleHeader, roleData}[n%2] }
		lines = strings.Split(body, "\n")
	case "mget":
		roles = func(int, string) role { return roleMget }
	}
	n := 0
	for i, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		x := stripper{kept: k, role: roles(n, line), dec: json.NewDecoder(strings.NewReader(line))}
		x.dec.UseNumber()
		n++
		if !plain([]byte(line)) || !x.actionLike(line) {
			return body
		}
		x.ids = x.role == roleData && (strings.Contains(line, `"_id"`) || strings.Contains(line, `"_routing"`) || strings.Contains(line, `"_parent"`))
		if !x.value() || !ended(x.dec, []byte(line)) {
			return body
		}
		lines[i] = string(x.out)
	}
	return strings.Join(lines, "\n")
}

// stripper writes a JSON text anew, without what is kept.
type stripper struct {
	kept Kept
	role role
	ids  bool // names a metadata field of ids: no number of it is said to be data
	dec  *json.Decoder
	out  []byte
	path []string // names of the members that are open
}

// actionLike tells that a line is of its role's form.
func (x *stripper) actionLike(line string) bool {
	if x.role != roleAction {
		return true
	}
	m, ok := membersOf([]byte(line))
	return ok && len(m) == 1 && slices.Contains([]string{"index", "create", "update", "delete"}, m[0].name)
}

func (x *stripper) value() bool {
	t, err := x.dec.Token()
	if err != nil {
		return false
	}
	switch v := t.(type) {
	case json.Delim:
		return x.inside(v)
	case string:
		if x.keepsText(v) {
			v = ""
		}
		x.out = appendText(x.out, v)
	case json.Number:
		if x.keepsNumber(v.String()) {
			v = "0"
		}
		x.out = append(x.out, v...)
	case bool:
		x.out = append(x.out, map[bool]string{true: "true", false: "false"}[v]...)
	default:
		x.out = append(x.out, "null"...)
	}
	return true
}

func (x *stripper) inside(open json.Delim) bool {
	x.out = append(x.out, byte(open))
	for n := 0; x.dec.More(); n++ {
		if n > 0 {
			x.out = append(x.out, ',')
		}
		if open == '{' {
			name, err := x.dec.Token()
			if err != nil {
				return false
			}
			x.out = append(appendText(x.out, name.(string)), ':')
			x.path = append(x.path, name.(string))
		}
		if !x.value() {
			return false
		}
		if open == '{' {
			x.path = x.path[:len(x.path)-1]
		}
	}
	if _, err := x.dec.Token(); err != nil {
		return false
	}
	x.out = append(x.out, map[json.Delim]byte{'{': '}', '[': ']'}[open])
	return true
}

// at tells that the path is this.
func (x *stripper) at(names ...string) bool { return slices.Equal(x.path, names) }

func (x *stripper) keepsText(s string) bool {
	k := &x.kept
	if x.role != roleData {
		at := x.role == roleAction && len(x.path) == 2 && x.path[1] == "_index" ||
			x.role == roleHeader && x.at("index") || x.role == roleMget && x.at("docs", "_index")
		return k.Indices && at && indexExpression(s)
	}
	return k.Dates && !x.ofIDs() && wholeDate(s) || k.Places && x.inGeoClause() && place(s)
}

func (x *stripper) keepsNumber(text string) bool {
	if !x.kept.Numbers || x.role != roleData || x.ofIDs() {
		return false
	}
	if !x.kept.Guarded {
		return true
	}
	var cards [20]float64
	for i := range cards {
		cards[i] = 1
	}
	personal := false
	digits, _, _ := strings.Cut(strings.TrimPrefix(text, "-"), ".")
	numbers([]byte(digits), &cards, func(_ string, _ []byte, hit bool, _ float64) { personal = personal || hit })
	return !personal
}

// ofIDs tells that a value may be an id, a routing or the like, which are no data.
func (x *stripper) ofIDs() bool {
	return x.ids || slices.ContainsFunc(x.path, func(name string) bool {
		return slices.Contains([]string{"_id", "_ids", "id", "ids", "routing", "_routing", "parent", "_parent", "preference", "_name"}, name)
	})
}

// inGeoClause tells that a value stands where a geo clause has its place: that of
// its field, or a corner or WKT below it.
func (x *stripper) inGeoClause() bool {
	path := x.path
	if n := len(path); n > 0 && slices.Contains([]string{"wkt", "top_left", "top_right", "bottom_left", "bottom_right", "points"}, path[n-1]) {
		path = path[:n-1]
	}
	n := len(path)
	options := []string{
		"_name", "boost", "distance", "distance_type", "validation_method", "ignore_unmapped", "type", "order", "unit", "mode", "nested", "relation", "indexed_shape",
	}
	return n > 1 && slices.Contains([]string{"geo_distance", "_geo_distance", "geo_bounding_box", "geo_polygon"}, path[n-2]) && !slices.Contains(options, path[n-1])
}

// wholeDate tells a date, year first, with or without date math.
func wholeDate(s string) bool {
	date, math, _ := strings.Cut(s, "||")
	for len(math) > 0 {
		was := len(math)
		switch math[0] {
		case '+', '-':
			math = strings.TrimLeft(math[1:], "0123456789")
		case '/':
			math = math[1:]
		}
		if len(math) == 0 || len(math) == was || !strings.ContainsRune("yMwdhHms", rune(math[0])) {
			return false
		}
		math = math[1:]
	}
	for _, layout := range []string{
		"2006-01-02", "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.RFC3339, "2006-01-02T15:04:05Z0700",
	} {
		if _, err := time.Parse(layout, date); err == nil {
			return true
		}
	}
	return false
}

// place tells the written forms of a place: lat,lon; a geohash; WKT.
func place(s string) bool {
	if kind, rest, ok := strings.Cut(s, "("); ok {
		kind = strings.TrimSpace(kind)
		return slices.Contains([]string{"POINT", "BBOX", "POLYGON", "LINESTRING", "MULTIPOINT", "MULTIPOLYGON"}, kind) &&
			strings.Trim(rest, "0123456789-+.eE,() ") == ""
	}
	if lat, lon, ok := strings.Cut(s, ","); ok {
		return degrees(lat) && degrees(lon)
	}
	return len(s) > 0 && len(s) <= 12 && strings.Trim(s, "0123456789bcdefghjkmnpqrstuvwxyz") == ""
}

func degrees(s string) bool {
	var f float64
	return json.Unmarshal([]byte(strings.TrimSpace(s)), &f) == nil && f >= -360 && f <= 360
}
