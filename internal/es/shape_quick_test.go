package es

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sameTrees holds that the quick way either leaves a text to the careful one or
// finds what that finds.
func sameTrees(t testing.TB, in []byte) (quick bool) {
	t.Helper()
	var a, b tree
	_, why := b.careful(in)
	if !a.quick(in) {
		return false
	}
	if why != "" || len(a.nodes) != len(b.nodes) {
		t.Fatalf("%d nodes, and %d (%s) of %q", len(a.nodes), len(b.nodes), why, in)
	}
	for i := range a.nodes {
		n, m := a.nodes[i], b.nodes[i]
		if string(a.bytes(n.key)) != string(b.bytes(m.key)) || string(a.bytes(n.text)) != string(b.bytes(m.text)) {
			t.Fatalf("node %d: %q and %q of %q", i, a.bytes(n.text), b.bytes(m.text), in)
		}
		n.key, n.text, m.key, m.text = extent{}, extent{}, extent{}, extent{}
		if n != m {
			t.Fatalf("node %d: %+v and %+v of %q", i, n, m, in)
		}
	}
	return true
}

func TestQuickTree(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`{"a":[`, n) + strings.Repeat(`]}`, n) }
	long := func(n int) string { return `{"a":[` + strings.Repeat(`1,`, n) + `{"b":2}, 3]}` }
	for _, c := range []struct {
		in    string
		quick bool
	}{
		{`{}`, true},
		{` [ ] `, true},
		{"{\r\n\t\"a\" : [ 1 , -2.5e3 , true , false , null , \"x\" ] }", true},
		{`"a"`, true},
		{`7`, true},
		{`{"a":"\u0041\n","\u0062":"ä"}`, true},
		{`{"a":{"doc":{"b":[1]}},"params":"x","aggs":{"params":{"c":1}}}`, true},
		{deep(50), true},
		{deep(51), false},
		{long(63), true},
		{long(64), true},
		{long(100), true},
		{`{"a":` + strings.Repeat(`[`, 97) + `{"doc":[]}` + strings.Repeat(`]`, 97) + `}`, true},
		{`{"a":` + strings.Repeat(`[`, 98) + `{"doc":[]}` + strings.Repeat(`]`, 98) + `}`, false},
		{`[` + strings.Repeat(`{},`, maxShapeNodes-3) + `1]`, true},
		{`[` + strings.Repeat(`{},`, maxShapeNodes) + `1]`, false},
		{``, false},
		{` `, false},
		{`{`, false},
		{`{"a"`, false},
		{`{"a":`, false},
		{`{"a":1`, false},
		{`{"a":1,}`, false},
		{`[1,]`, false},
		{`[,1]`, false},
		{`{"a":tru}`, false},
		{`{"a":01}`, false},
		{`{a:1}`, false},
		{`{"a":1}/**/`, false},
		{`{"a"/**/:1}`, false},
		{`{} {}`, false},
		{"\"\xff\"", false},
		{`{"doc":{]}`, false},
		{`{"doc"}`, false},
		{"[\"a\nb\"]", false},
		{`]`, false},
		{"[\x001]", false},
	} {
		if got := sameTrees(t, []byte(c.in)); got != c.quick {
			t.Errorf("quick = %v of %.60q", got, c.in)
		}
	}
}

func TestQuickTreeGenerated(t *testing.T) {
	quick := 0
	rapid.Check(t, func(rt *rapid.T) {
		g := newShapeGen(rapid.Uint64().Draw(rt, "form"), rapid.Uint64().Draw(rt, "look"))
		body := strings.ReplaceAll(g.search(), "/* "+mark+" */", " ")
		if sameTrees(t, []byte(body)) {
			quick++
		}
		sameTrees(t, []byte(body[:rapid.IntRange(0, len(body)).Draw(rt, "cut")]))
	})
	if quick == 0 {
		t.Error("no text was quick")
	}
}

func TestQuickTreeCorpus(t *testing.T) {
	for _, file := range []string{"search_bodies.ndjson", "other_requests.ndjson"} {
		quick, n := 0, 0
		for _, l := range readCorpus(t, file) {
			n++
			if sameTrees(t, l.Body) {
				quick++
			}
		}
		t.Logf("%s: %d of %d", file, quick, n)
	}
}

func FuzzQuickTree(f *testing.F) {
	for i := range uint64(10) {
		f.Add([]byte(newShapeGen(i, i).search()))
	}
	f.Add([]byte(`{"a":"\u0041\n","doc":{"b":[1,{"c":null}]},"params":"ä","aggs":{"params":{"c":-1.5e3}}}`))
	f.Fuzz(func(t *testing.T, in []byte) { sameTrees(t, in) })
}
