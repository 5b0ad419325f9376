package configs

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// decode reads one YAML document into the struct that into points to, whose
// present values are the defaults. name stands in errors for the file. All
// unknown keys are reported at once.
func decode(name string, text []byte, into any) error {
	d := document{name: name, lines: strings.Split(string(text), "\n")}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return d.parserError(err)
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil // an empty file changes nothing
	}
	if len(file.Docs) > 1 {
		return fmt.Errorf("%s: one YAML document wanted, found %d", name, len(file.Docs))
	}
	d.check(file.Docs[0].Body, reflect.TypeOf(into).Elem(), "")
	if len(d.errs) > 0 {
		return errors.Join(d.errs...)
	}
	if err := yaml.UnmarshalWithOptions(text, into, yaml.Strict()); err != nil {
		return d.parserError(err)
	}
	return nil
}

// document collects what is wrong with the keys and values of one file.
type document struct {
	name  string
	lines []string
	errs  []error
}

func (d *document) check(n ast.Node, t reflect.Type, path string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[time.Duration](), isScalar(t):
		d.scalar(n, t, path)
		return
	case !d.fits(n, t, path):
		return
	case t.Kind() == reflect.Slice:
		if seq, ok := n.(*ast.SequenceNode); ok {
			for i, v := range seq.Values {
				d.check(v, t.Elem(), fmt.Sprintf("%s[%d]", path, i))
			}
		}
		return
	case t.Kind() != reflect.Struct:
		return
	}
	keys := fields(t)
	for _, kv := range pairs(n) {
		key := kv.Key.GetToken().Value
		ft, ok := keys[key]
		if !ok {
			d.unknown(kv, key, path, keys)
			continue
		}
		d.check(kv.Value, ft, join(path, key))
	}
}

// scalar tries a value whose type reads itself from text: the YAML library
// passes on its error without the line.
func (d *document) scalar(n ast.Node, t reflect.Type, path string) {
	tok := n.GetToken()
	var err error
	if t == reflect.TypeFor[time.Duration]() {
		if _, err = time.ParseDuration(tok.Value); err != nil {
			err = fmt.Errorf("duration %q: want a number with a unit, such as 1.5s or 10m", tok.Value)
		}
	} else if u, ok := reflect.New(t).Interface().(encoding.TextUnmarshaler); ok {
		err = u.UnmarshalText([]byte(tok.Value))
	}
	if err != nil {
		d.errs = append(d.errs, d.at(tok.Position.Line, "%s: %w", path, err))
	}
}

// at is a mistake with the file, the line and the line's text.
func (d *document) at(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w\n  %d | %s", d.name, line, fmt.Errorf(format, args...), line, shown(d.line(line)))
}

// mostShown bounds what of a line stands in a message: a file that was taken for a
// configuration by mistake may have no end of line at all.
const mostShown = 160 // characters

func shown(line string) string {
	n := 0
	for at := range line {
		if n++; n > mostShown {
			return line[:at] + " …"
		}
	}
	return line
}

// parserError is an error of the YAML library in our form.
func (d *document) parserError(err error) error {
	var e yaml.Error
	if !errors.As(err, &e) || e.GetToken() == nil {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	return d.at(e.GetToken().Position.Line, "%s", e.GetMessage())
}

func (d *document) unknown(kv *ast.MappingValueNode, key, path string, keys map[string]reflect.Type) {
	allowed := make([]string, 0, len(keys))
	for k := range keys {
		allowed = append(allowed, k)
	}
	slices.Sort(allowed)
	where := "at the top"
	if path != "" {
		where = "under " + path
	}
	d.errs = append(d.errs, d.at(kv.Key.GetToken().Position.Line, "unknown key %q %s; allowed: %s", key, where, strings.Join(allowed, ", ")))
}

func (d *document) line(n int) string {
	if n < 1 || n > len(d.lines) {
		return ""
	}
	return strings.TrimRight(d.lines[n-1], "\r ")
}

func pairs(n ast.Node) []*ast.MappingValueNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	}
	return nil
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// isScalar tells that a type reads itself from one YAML scalar.
func isScalar(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// fields are the YAML keys of a struct type; inlined structs count as their own.
func fields(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case strings.Contains(opts, "inline"):
			for k, v := range fields(f.Type) {
				out[k] = v
			}
		case name != "":
			out[name] = f.Type
		default:
			out[strings.ToLower(f.Name)] = f.Type
		}
	}
	return out
}

// locate puts the line of the file before each mistake that names its key, as
// Validate methods do: "proxy.listen: …".
func locate(name string, text []byte, err error) error {
	if err == nil {
		return nil
	}
	file, perr := parser.ParseBytes(text, 0)
	if perr != nil || len(file.Docs) == 0 {
		return err
	}
	var out []error
	for _, e := range split(err) {
		key := KeyOf(e.Error())
		if line := lineOf(file.Docs[0].Body, key); line > 0 {
			out = append(out, fmt.Errorf("%s:%d: %w", name, line, e))
			continue
		}
		out = append(out, e)
	}
	return errors.Join(out...)
}

// KeyOf is the path that a mistake's text begins with: "fields[2]: match: …" is
// about fields[2].match if there is such a key.
func KeyOf(text string) string {
	end := strings.IndexFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' || r == '.' || r == '[' || r == ']')
	})
	if end < 0 {
		return text
	}
	key := text[:end]
	if rest, ok := strings.CutPrefix(text[end:], ": "); ok && strings.HasSuffix(key, "]") {
		if inner, _, ok := strings.Cut(rest, ":"); ok && inner != "" && !strings.Contains(inner, " ") {
			return key + "." + inner
		}
	}
	return key
}

func split(err error) []error {
	if err == nil {
		return nil
	}
	if j, ok := err.(interface{ Unwrap() []error }); ok {
		var out []error
		for _, e := range j.Unwrap() {
			out = append(out, split(e)...)
		}
		return out
	}
	return []error{err}
}

// lineOf is the line of a key, such as proxy.listen or fields[2].match; where
// the rest of a path is not there, that of what holds it.
func lineOf(n ast.Node, path string) int {
	key, rest, more := strings.Cut(path, ".")
	key, index, _ := strings.Cut(key, "[")
	for _, kv := range pairs(n) {
		if kv.Key.GetToken().Value != key {
			continue
		}
		line, value := kv.Key.GetToken().Position.Line, kv.Value
		if seq, ok := value.(*ast.SequenceNode); ok && index != "" {
			if i, err := strconv.Atoi(strings.TrimSuffix(index, "]")); err == nil && i >= 0 && i < len(seq.Values) {
				value = seq.Values[i]
				line = firstLine(value, line)
			}
		}
		if more {
			if at := lineOf(value, rest); at > 0 {
				return at
			}
		}
		return line
	}
	return 0
}

// firstLine is the line of a node's first key, or of the node itself.
func firstLine(n ast.Node, otherwise int) int {
	if kv := pairs(n); len(kv) > 0 {
		return kv[0].Key.GetToken().Position.Line
	}
	if t := n.GetToken(); t != nil {
		return t.Position.Line
	}
	return otherwise
}

// Line is the line of a file of rules that a key stands in, 0 where it does not.
func Line(text []byte, path string) int {
	file, err := parser.ParseBytes(text, 0)
	if err != nil || len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return 0
	}
	return lineOf(file.Docs[0].Body, path)
}

// Given tells that a configuration file has a key, such as proxy.tls.cert.
func Given(text []byte, path string) bool {
	file, err := parser.ParseBytes(text, 0)
	if err != nil || len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return false
	}
	n := file.Docs[0].Body
	for key := range strings.SplitSeq(path, ".") {
		all := pairs(n)
		i := slices.IndexFunc(all, func(kv *ast.MappingValueNode) bool { return kv.Key.GetToken().Value == key })
		if i < 0 {
			return false
		}
		n = all[i].Value
	}
	return true
}

// At is the place of a key in a file, to be put before what is said of it.
func At(name string, text []byte, path string) string {
	if line := Line(text, path); line > 0 {
		return fmt.Sprintf("%s:%d: ", name, line)
	}
	return ""
}
