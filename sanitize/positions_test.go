package sanitize

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/sanitize/canary"
)

// TestPositionCases holds canary/positions.ndjson to the tables: for each kind of
// object a request in which every member holds a mark. A changed table changes
// the file (ESSHADOW_GOLDEN=1 writes it), whose review is that of the position.
func TestPositionCases(t *testing.T) {
	path := filepath.Join("canary", "positions.ndjson")
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	for _, c := range positionCases(t) {
		if err := enc.Encode(c); err != nil {
			t.Fatal(err)
		}
	}
	if os.Getenv("ESSHADOW_GOLDEN") == "1" {
		if err := os.WriteFile(path, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("%s does not fit the tables: ESSHADOW_GOLDEN=1 go test -run TestPositionCases ./sanitize, and read the change", path)
	}
}

// rootOf is a request whose body begins with one kind of object.
type rootOf struct {
	object, method, path string
	lines                string // body with %s for the object; empty: the object alone
}

func roots() []rootOf {
	return []rootOf{
		{"search", "POST", "/clients/_search", ""},
		{"msearch_header", "POST", "/_msearch", "%s\n{}\n"},
		{"template_search", "POST", "/clients/_search/template", ""},
		{"count", "POST", "/clients/_count", ""},
		{"by_query", "POST", "/clients/_update_by_query", ""},
		{"mget", "POST", "/clients/_mget", ""},
		{"bulk_meta", "POST", "/_bulk", "{\"index\":%s}\n{}\n"},
		{"update", "POST", "/clients/_update/7", ""},
		{"terms_enum", "POST", "/clients/_terms_enum", ""},
		{"field_caps", "POST", "/clients/_field_caps", ""},
		{"open_pit", "POST", "/clients/_pit?keep_alive=1m", ""},
		{"close_pit", "DELETE", "/_pit", ""},
		{"scroll", "POST", "/_search/scroll", ""},
		{"search_shards", "POST", "/clients/_search_shards", ""},
		{"termvectors", "POST", "/clients/_termvectors", ""},
		{"rank_eval", "POST", "/clients/_rank_eval", ""},
		{"reindex", "POST", "/_reindex", ""},
		{"graph", "POST", "/clients/_graph/explore", ""},
		{"esql", "POST", "/_query", ""},
		{"sql", "POST", "/_sql", ""},
		{"sql_close", "POST", "/_sql/close", ""},
		{"eql", "POST", "/clients/_eql/search", ""},
		{"ppl", "POST", "/_plugins/_ppl", ""},
		{"application", "POST", "/_application/search_application/clients/_search", ""},
		{"mvt", "POST", "/clients/_mvt/field/1/2/3", ""},
		{"analyze", "POST", "/clients/_analyze", ""},
	}
}

// step is how an object is reached from the one above it.
type step struct {
	from *object
	wrap func(inner any) any
	root rootOf // where from is nil
}

// waysIn finds for every object the shortest way from a request.
func waysIn(g *grammar) map[*object]step {
	ways := map[*object]step{}
	var queue []*object
	for _, r := range roots() {
		o := g.objects[r.object]
		ways[o] = step{root: r}
		queue = append(queue, o)
	}
	for len(queue) > 0 {
		o := queue[0]
		queue = queue[1:]
		reach := func(to *object, wrap func(any) any) {
			if _, known := ways[to]; to != nil && !known {
				ways[to] = step{from: o, wrap: wrap}
				queue = append(queue, to)
			}
		}
		for _, k := range slices.Sorted(maps.Keys(o.keys)) {
			n := o.keys[k]
			reach(n.object, func(in any) any { return map[string]any{k: in} })
			if n.elem != nil {
				reach(n.elem.object, func(in any) any { return map[string]any{k: []any{in}} })
			}
		}
		reach(o.other.object, func(in any) any { return map[string]any{"a": in} })
	}
	return ways
}

// markOf is a word for a position: pronounceable, of letters only, the same in
// every run.
func markOf(position string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(position))
	v := h.Sum64()
	var b strings.Builder
	for i := range 12 {
		letters := "bdfgklmnprstvz"
		if i%2 == 1 {
			letters = "aeiou"
		}
		b.WriteByte(letters[v%uint64(len(letters))])
		v /= uint64(len(letters))
	}
	return b.String()
}

// markedValue is a value with a mark for a scalar position; alone says that a record
// with it is dropped, so that it needs a case of its own. ok is false for
// options, which hold no values.
func markedValue(p prim, position string) (value any, marks []string, alone, ok bool) {
	a, b := markOf(position), markOf(position+" second")
	two := a + " " + b
	switch p {
	case pNone, pS, pFormat, pMatchType, pFuzziness, pOrder, pOptions:
		return nil, nil, false, false
	case pN, pF, pSort, pPath: // a space, because names of a schema stay
		return two, []string{a, b}, false, true
	case pDoc, pExt:
		return map[string]any{"note": a}, []string{a}, false, true
	case pScript:
		return "1 /* " + a + " */", []string{a}, true, true
	case pTag:
		return "@" + a, []string{a}, false, true
	case pWrapper:
		return base64.StdEncoding.EncodeToString([]byte(`{"term":{"n":"` + a + `"}}`)), []string{a}, false, true
	case pSecret:
		return map[string]any{"host": a}, []string{a}, true, true
	case pTemplate, pQueryTemplate, pImage:
		return a, []string{a}, true, true
	case pVector:
		n := number(position, "0.")
		return []any{json.Number(n)}, []string{n}, true, true
	case pGeo:
		lat, lon := number(position, "4"), number(position+" second", "1")
		lat, lon = lat[:2]+"."+lat[2:], lon[:2]+"."+lon[2:]
		return map[string]any{"lat": json.Number(lat), "lon": json.Number(lon)}, []string{lat, lon}, false, true
	case pESQL:
		return `FROM t|WHERE n=="` + a + `"`, []string{a}, false, true
	case pSQL:
		return `SELECT n FROM t WHERE n='` + a + `'`, []string{a}, false, true
	case pEQL:
		return `any where n=="` + a + `"`, []string{a}, false, true
	case pPPL:
		return `source=t|where n='` + a + `'`, []string{a}, false, true
	case pWildcard:
		return a + "*", []string{a}, false, true
	case pRegexp, pInclude:
		return a + ".*", []string{a}, false, true
	case pCursor:
		return []any{a}, []string{a}, false, true
	}
	return a, []string{a}, false, true
}

// number is ten characters of digits behind a beginning.
func number(position, begin string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(position))
	return begin + fmt.Sprintf("%012d", h.Sum64()%1e12)[:8-len(begin)] + "7"
}

// positionCases makes the cases of every kind of object.
func positionCases(t testing.TB) []canary.Case {
	t.Helper()
	g, err := newGrammar(bodyTables)
	if err != nil {
		t.Fatal(err)
	}
	ways := waysIn(g)
	var all []canary.Case
	for _, name := range slices.Sorted(maps.Keys(g.objects)) {
		o := g.objects[name]
		if _, reached := ways[o]; !reached {
			t.Errorf("no request reaches %q", name)
			continue
		}
		all = append(all, objectCases(ways, o)...)
	}
	all = append(all, paramCases()...)
	return all
}

func objectCases(ways map[*object]step, o *object) (all []canary.Case) {
	together := map[string]any{}
	var marks []string
	put := func(key, name string, p prim, elem bool) {
		v, m, alone, ok := markedValue(p, o.name+"."+name)
		if !ok {
			return
		}
		if elem {
			v = []any{v}
		}
		if alone {
			all = append(all, bodyCase(ways, o, o.name+"."+name, map[string]any{key: v}, m, canary.ExpectEither))
			return
		}
		together[key] = v
		marks = append(marks, m...)
	}
	for _, k := range slices.Sorted(maps.Keys(o.keys)) {
		put(k, k, o.keys[k].scalar, false)
		if e := o.keys[k].elem; e != nil && e.scalar != pNone && e.scalar != pS {
			v, m, _, _ := markedValue(e.scalar, o.name+"."+k+"[]")
			all = append(all, bodyCase(ways, o, o.name+"."+k+"[]", map[string]any{k: []any{v}}, m, canary.ExpectAbsent))
		}
	}
	if o.otherName != nameNone {
		key := "a"
		if o.otherName != nameOption {
			a, b := markOf(o.name+".*"), markOf(o.name+".* second")
			key = a + " " + b
			marks = append(marks, a, b)
			together[key] = filler(o.other)
		}
		if _, _, _, ok := markedValue(o.other.scalar, ""); ok {
			put(key, "*=", o.other.scalar, false)
		}
	}
	if len(marks) > 0 {
		all = append([]canary.Case{bodyCase(ways, o, o.name, together, marks, canary.ExpectAbsent)}, all...)
	}
	return all
}

// filler is a value without a mark for a member whose name has one.
func filler(n node) any {
	if n.object != nil {
		return map[string]any{}
	}
	return 1
}

func bodyCase(ways map[*object]step, o *object, name string, body any, marks []string, expect string) canary.Case {
	w := ways[o]
	for ; w.from != nil; w = ways[w.from] {
		body = w.wrap(body)
	}
	text, err := json.Marshal(body)
	if err != nil {
		text = []byte(err.Error())
	}
	c := canary.Case{
		Name: "at " + name, Method: w.root.method, Path: w.root.path, Body: string(text),
		Headers:  map[string]string{"Content-Type": "application/json"},
		Canaries: marks, Position: "every member of " + o.name, Expect: expect,
	}
	if name != o.name {
		c.Position = strings.Replace(name, "*=", "any other member", 1)
	}
	if w.root.lines != "" {
		c.Body = fmt.Sprintf(w.root.lines, text)
		c.Headers["Content-Type"] = "application/x-ndjson"
	}
	for _, p := range []prim{pGeo, pIX, pVector} { // what preset fidelity keeps
		if usesPrim(o, p) || o.otherName == nameIndex {
			c.KeptIn = []string{PresetFidelity, PresetECSLogs, PresetCommerce}
		}
	}
	return c
}

func usesPrim(o *object, p prim) bool {
	if o.other.scalar == p {
		return true
	}
	for _, n := range o.keys {
		if n.scalar == p {
			return true
		}
	}
	return false
}

// paramCases mark the values of URL parameters.
func paramCases() (all []canary.Case) {
	params := paramKinds(nil)
	for _, name := range slices.Sorted(maps.Keys(params)) {
		position := "parameter " + name
		a, b := markOf(position), markOf(position+" second")
		value, marks := a+"%20"+b, []string{a, b}
		switch params[name] {
		case pS, pKeep, pPath2:
			continue
		case pBody:
			value, marks = `%7B%22query%22:%7B%22term%22:%7B%22a%22:%22`+a+`%22%7D%7D%7D`, marks[:1]
		case pState, pIX, pLucene:
			value, marks = a, marks[:1]
		}
		c := canary.Case{
			Name: "at " + position, Method: "GET", Path: "/clients/_search?" + name + "=" + value,
			Canaries: marks, Position: position, Expect: canary.ExpectAbsent,
		}
		if params[name] == pIX {
			c.KeptIn = []string{PresetFidelity, PresetECSLogs, PresetCommerce}
		}
		all = append(all, c)
	}
	return all
}
