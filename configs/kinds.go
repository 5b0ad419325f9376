package configs

import (
	"reflect"
	"strconv"

	"github.com/goccy/go-yaml/ast"
)

// fits tells whether a value is of the kind that its key wants, and notes a
// mistake where it is not: the YAML library speaks of Go's types, and takes 1.5
// for the whole number 1. What refers to another place of the file, is tagged, or
// stands for a type that reads itself is left to the library.
func (d *document) fits(n ast.Node, t reflect.Type, path string) bool {
	_, self := reflect.PointerTo(t).MethodByName("UnmarshalYAML")
	switch n.(type) {
	case *ast.NullNode, *ast.AliasNode, *ast.AnchorNode, *ast.TagNode, *ast.MergeKeyNode:
		return true
	}
	want := wanted(n, t)
	if self || want == "" {
		return true
	}
	if path == "" {
		path = "the file"
	}
	line := n.GetToken().Position.Line
	if pair, ok := n.(*ast.MappingValueNode); ok {
		line = pair.Key.GetToken().Position.Line
	}
	d.errs = append(d.errs, d.at(line, "%s: want %s", path, want))
	return false
}

// wanted says in words what a type wants where the node is not that, "" else.
func wanted(n ast.Node, t reflect.Type) string {
	_, scalar := n.(ast.ScalarNode)
	text := n.GetToken().Value
	var err error
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		if _, ok := n.(ast.MapNode); !ok {
			return "keys and values, one a line below it"
		}
	case reflect.Slice:
		if _, ok := n.(*ast.SequenceNode); !ok {
			return "a list, such as [a, b]"
		}
	case reflect.String:
		if !scalar {
			return "one text"
		}
	case reflect.Bool:
		if _, ok := n.(*ast.BoolNode); !ok {
			return "true or false"
		}
	case reflect.Int, reflect.Int64:
		if _, err = strconv.ParseInt(text, 0, 64); !scalar || err != nil {
			return "a whole number"
		}
	case reflect.Float64:
		if _, err = strconv.ParseFloat(text, 64); !scalar || err != nil {
			return "a number"
		}
	}
	return ""
}
