package es

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// SchemaVersion is the version of the form in which a Schema is written.
const SchemaVersion = 1

// ErrSchema is an answer or a document that holds no schema.
var ErrSchema = errors.New("not a schema")

// Schema is what an engine says of its indices' fields and analysers: names and
// types, no documents, no words of their lists, no other settings.
type Schema struct {
	Version int `json:"version"`
	// Flavor and Engine are the engine's, where it told them.
	Flavor string `json:"flavor,omitempty"`
	Engine string `json:"engine,omitempty"`
	// Unread says why there are no analysers, where the engine did not tell them.
	Unread string        `json:"analysis_unread,omitempty"`
	Groups []IndexSchema `json:"groups"`
}

// IndexSchema is what indices have in common whose fields and analysers are equal,
// as those of a rollover series are.
type IndexSchema struct {
	Indices  []string    `json:"indices"`
	Fields   []FieldInfo `json:"fields"` // by path
	Analysis Analysis    `json:"analysis,omitzero"`
}

// FieldInfo is a field, or a sub-field of one, as its mapping says.
type FieldInfo struct {
	Path           string   `json:"path"`
	Type           string   `json:"type"`
	Parent         string   `json:"parent,omitempty"` // of a sub-field: the field whose value it indexes
	Analyzer       string   `json:"analyzer,omitempty"`
	SearchAnalyzer string   `json:"search_analyzer,omitempty"`
	Normalizer     string   `json:"normalizer,omitempty"`
	IgnoreAbove    int      `json:"ignore_above,omitempty"`
	CopyTo         []string `json:"copy_to,omitempty"`
	Format         string   `json:"format,omitempty"`
	Target         string   `json:"target,omitempty"` // of type alias: the path that it stands for
	Runtime        bool     `json:"runtime,omitempty"`

	// Index and Search say what the analysers make of values and of queries.
	Index  TextClass `json:"class,omitempty"`
	Search TextClass `json:"search_class,omitempty"` // where it differs from Index
	// Folds tells that marks are taken off letters, Splits that runs of letters
	// are cut inside, Language is a stemmer's.
	Folds    bool   `json:"folds,omitempty"`
	Splits   bool   `json:"splits,omitempty"`
	Language string `json:"language,omitempty"`
}

// mappingNode is a field or an object in a mapping.
type mappingNode struct {
	Type           string                 `json:"type"`
	Properties     map[string]mappingNode `json:"properties"`
	Fields         map[string]mappingNode `json:"fields"`
	Runtime        map[string]mappingNode `json:"runtime"`
	Analyzer       string                 `json:"analyzer"`
	SearchAnalyzer string                 `json:"search_analyzer"`
	Normalizer     string                 `json:"normalizer"`
	IgnoreAbove    number                 `json:"ignore_above"`
	CopyTo         texts                  `json:"copy_to"`
	Format         string                 `json:"format"`
	Path           string                 `json:"path"`
}

// ParseSchema reads the answers of GET /{index}/_mapping and GET
// /{index}/_settings. An empty settings answer stands for an engine that does
// not tell them. Errors wrap ErrSchema and quote nothing.
func ParseSchema(mapping, settings []byte) (Schema, error) {
	s := Schema{Version: SchemaVersion, Groups: []IndexSchema{}}
	var byIndex map[string]struct {
		Mappings json.RawMessage `json:"mappings"`
	}
	if err := json.Unmarshal(mapping, &byIndex); err != nil {
		return s, fmt.Errorf("mapping: %w", ErrSchema)
	}
	analysis, err := parseAnalysis(settings)
	if err != nil {
		return s, err
	}
	groups := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(byIndex)) {
		root, err := parseMapping(byIndex[name].Mappings)
		if err != nil {
			return s, err
		}
		g := IndexSchema{Analysis: analysis[name]}
		g.collect("", "", root)
		slices.SortFunc(g.Fields, func(a, b FieldInfo) int { return compareText(a.Path, b.Path) })
		key, err := json.Marshal(g)
		if err != nil {
			return s, fmt.Errorf("mapping: %w", ErrSchema)
		}
		i, ok := groups[string(key)]
		if !ok {
			i = len(s.Groups)
			groups[string(key)], s.Groups = i, append(s.Groups, g)
		}
		s.Groups[i].Indices = append(s.Groups[i].Indices, name)
	}
	return s, nil
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// parseMapping reads one index's mapping, also one in which a type's name stands
// above the properties, as before Elasticsearch 7.
func parseMapping(raw json.RawMessage) (mappingNode, error) {
	var root mappingNode
	if len(raw) == 0 {
		return root, nil
	}
	if err := json.Unmarshal(raw, &root); err == nil && (root.Properties != nil || root.Runtime != nil) {
		return root, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return root, fmt.Errorf("mapping: %w", ErrSchema)
	}
	for _, m := range members {
		var typed mappingNode
		if json.Unmarshal(m, &typed) == nil && typed.Properties != nil {
			return typed, nil
		}
	}
	if members["properties"] != nil {
		return root, fmt.Errorf("mapping: %w", ErrSchema)
	}
	return mappingNode{}, nil
}

// collect adds the fields below a node.
func (g *IndexSchema) collect(prefix, parent string, n mappingNode) {
	for name, child := range n.Properties {
		path := prefix + name
		if child.Type != "" && child.Type != "object" && child.Type != "nested" {
			g.add(path, parent, child, false)
		}
		g.collect(path+".", "", child)
		for sub, m := range child.Fields {
			g.add(path+"."+sub, path, m, false)
		}
	}
	for name, child := range n.Runtime {
		g.add(prefix+name, "", child, true)
	}
}

func (g *IndexSchema) add(path, parent string, m mappingNode, runtime bool) {
	f := FieldInfo{
		Path: path, Type: m.Type, Parent: parent, Analyzer: m.Analyzer, SearchAnalyzer: m.SearchAnalyzer, Normalizer: m.Normalizer,
		IgnoreAbove: int(m.IgnoreAbove), CopyTo: m.CopyTo, Format: m.Format, Target: m.Path, Runtime: runtime,
	}
	g.Analysis.classify(&f)
	g.Fields = append(g.Fields, f)
}

// DecodeSchema reads a Schema that was written as JSON. Members that it does not
// know it ignores. Errors wrap ErrSchema and say where; they quote nothing.
func DecodeSchema(text []byte) (Schema, error) {
	var s Schema
	if err := json.Unmarshal(text, &s); err != nil {
		var syntax *json.SyntaxError
		var wrong *json.UnmarshalTypeError
		switch {
		case errors.As(err, &syntax):
			return Schema{}, fmt.Errorf("schema: byte %d is no JSON: %w", syntax.Offset, ErrSchema)
		case errors.As(err, &wrong):
			return Schema{}, fmt.Errorf("schema: byte %d: %s is of another type: %w", wrong.Offset, cmp.Or(wrong.Field, "the whole"), ErrSchema)
		}
		return Schema{}, fmt.Errorf("schema: %w", ErrSchema)
	}
	if s.Version != SchemaVersion {
		return Schema{}, fmt.Errorf("schema: version %d is not known, this program reads version %d: %w", s.Version, SchemaVersion, ErrSchema)
	}
	if s.Groups == nil {
		return Schema{}, fmt.Errorf("schema: groups are missing: %w", ErrSchema)
	}
	for i := range s.Groups {
		slices.SortFunc(s.Groups[i].Fields, func(a, b FieldInfo) int { return compareText(a.Path, b.Path) })
	}
	return s, nil
}

// Field is what is known of a path. Where indices differ it is the field whose
// analysis leaves the least of a text as it is. It is false for a path that no
// index has.
func (s *Schema) Field(path string) (FieldInfo, bool) {
	var worst FieldInfo
	found := false
	for i := range s.Groups {
		fields := s.Groups[i].Fields
		at, ok := slices.BinarySearchFunc(fields, path, func(f FieldInfo, p string) int { return compareText(f.Path, p) })
		if ok && (!found || fields[at].Index > worst.Index) {
			worst, found = fields[at], true
		}
	}
	return worst, found
}

// Paths are the paths of all fields, sorted, each once.
func (s *Schema) Paths() []string {
	var out []string
	for i := range s.Groups {
		for j := range s.Groups[i].Fields {
			out = append(out, s.Groups[i].Fields[j].Path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Types are the types that a path has, sorted: more than one where indices
// differ.
func (s *Schema) Types(path string) []string {
	var out []string
	for i := range s.Groups {
		for j := range s.Groups[i].Fields {
			if f := &s.Groups[i].Fields[j]; f.Path == path {
				out = append(out, f.Type)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
