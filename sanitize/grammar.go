package sanitize

import (
	"fmt"
	"strings"
)

// prim says what a scalar at a position is, and so what becomes of it.
type prim uint8

const (
	pNone      prim = iota // no scalar belongs here
	pS                     // option: kept, if it looks like one; may nest
	pV                     // value
	pTerm                  // value that a clause compares as a whole
	pT                     // text
	pLast                  // text whose last word is a prefix
	pLucene                // query string
	pSimple                // simple query string
	pPrefix                // start of a value
	pWildcard              // pattern with * and ?
	pRegexp                // pattern of Lucene's regexp
	pFuzzy                 // value that matches what resembles it
	pFuzziness             // option that makes a clause fuzzy
	pMatchType             // type of multi_match, query_string
	pBound                 // bound of a range
	pOrigin                // number, date or place that others are near to
	pSuggest               // text to complete or correct
	pInclude               // regexp as a string, values as an array
	pLike                  // text to find similar ones of
	pMissing               // _first, _last or a value
	pCursor                // values of the last hit's sort
	pID                    // document id, routing
	pIX                    // index expression
	pF                     // field name or pattern, with ^boost or :order
	pSort                  // the same, as a sort
	pN                     // caller-chosen name
	pPath                  // names joined by > and .
	pOrder                 // the same, as an order: alone it is none
	pScript
	pTemplate
	pDoc
	pVector
	pGeo
	pState  // id that the server issued
	pSecret // credentials
	pTag    // highlighting tag
	pWrapper
	pExt           // plugins' own
	pImage         // base64 of a picture
	pFormat        // format of dates
	pOptions       // an option that may be an object of options
	pQueryTemplate // template of a query, not of a search
	pESQL          // texts of query languages
	pSQL
	pEQL
	pPPL
)

func primNames() map[string]prim {
	return map[string]prim{
		"S": pS, "V": pV, "TERM": pTerm, "T": pT, "LAST": pLast, "LUCENE": pLucene, "SIMPLE": pSimple,
		"PREFIX": pPrefix, "WILDCARD": pWildcard, "REGEXP": pRegexp, "FUZZY": pFuzzy, "FUZZINESS": pFuzziness,
		"MATCHTYPE": pMatchType, "BOUND": pBound, "ORIGIN": pOrigin, "SUGGEST": pSuggest, "INCLUDE": pInclude,
		"LIKE": pLike, "MISSING": pMissing, "CURSOR": pCursor, "ID": pID, "IX": pIX, "F": pF, "SORT": pSort,
		"N": pN, "PATH": pPath, "ORDER": pOrder, "SCRIPT": pScript, "TEMPLATE": pTemplate, "DOC": pDoc,
		"VECTOR": pVector, "GEO": pGeo, "STATE": pState, "SECRET": pSecret, "TAG": pTag, "WRAPPER": pWrapper,
		"EXT": pExt, "IMAGE": pImage, "OPTIONS": pOptions, "FORMAT": pFormat,
		"QTEMPLATE": pQueryTemplate, "ESQL": pESQL, "SQL": pSQL, "EQL": pEQL, "PPL": pPPL,
	}
}

// node says what may stand at a position.
type node struct {
	scalar prim
	object *object // nil: no object, or whatever scalar makes of it
	elem   *node   // elements of an array, nil: the node itself
}

// nameKind says what the name of a member that is not listed is.
type nameKind uint8

const (
	nameNone   nameKind = iota // no other members
	nameField                  // F
	nameSort                   // O: a field that is sorted by
	nameChosen                 // N
	namePath                   // P
	nameIndex                  // I
	nameOption                 // S
	nameToken                  // T
)

// object is one kind of object of a body.
type object struct {
	name      string
	unknown   reason
	keys      map[string]node
	slots     []keySlot // keys again, for member
	other     node
	otherName nameKind
	hasField  bool // its member "field" names the field of its values
	fresh     bool // what is in it is not for the field around it
	dated     bool // its members say how others of them are read: bounds, formats
	many      bool // its text is for the fields that "fields" or "default_field" names
}

// grammar holds the kinds of objects by name. It is read-only.
type grammar struct {
	objects map[string]*object
}

// newGrammar reads the tables. The error is a fault of the tables.
func newGrammar(tables string) (*grammar, error) {
	g := &grammar{objects: make(map[string]*object)}
	var o *object
	prims := primNames()
	for line := range strings.Lines(tables) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if line[0] != ' ' {
			name, why, _ := strings.Cut(strings.TrimSuffix(words[0], ":"), "!")
			o = g.object(name)
			if o.keys != nil {
				return nil, fmt.Errorf("sanitize: tables: %s stands twice", name)
			}
			o.keys, o.unknown = make(map[string]node), dropUnknownKey
			if why != "" {
				o.unknown = reason(why)
			}
			words = words[1:]
		}
		for _, w := range words {
			if err := g.member(o, w, prims); err != nil {
				return nil, err
			}
		}
	}
	for name, o := range g.objects {
		if o.keys == nil {
			return nil, fmt.Errorf("sanitize: tables: %s is used but not there", name)
		}
		o.index()
	}
	return g, nil
}

// keySlot is a place of an open-addressed table of members.
type keySlot struct {
	name string
	node node
}

// index fills slots, a quarter full at most.
func (o *object) index() {
	size := 4
	for size < 4*len(o.keys) {
		size *= 2
	}
	o.slots = make([]keySlot, size)
	for name, n := range o.keys {
		i := nameHash([]byte(name))
		for o.slots[i&uint64(size-1)].name != "" {
			i++
		}
		o.slots[i&uint64(size-1)] = keySlot{name, n}
	}
}

// member is what stands at a listed member; nil if it is not listed.
func (o *object) member(name []byte) *node {
	for i := nameHash(name); ; i++ {
		s := &o.slots[i&uint64(len(o.slots)-1)]
		switch {
		case s.name == "":
			return nil
		case s.name == string(name):
			return &s.node
		}
	}
}

// nameHash spreads names of members by their length and their first and last
// eight bytes.
func nameHash(name []byte) uint64 {
	h := hashWord(uint64(len(name)), loadAt(name, 0))
	if len(name) > 8 {
		h = hashWord(h, loadAt(name, len(name)-8))
	}
	return h
}

func (g *grammar) object(name string) *object {
	o := g.objects[name]
	if o == nil {
		o = &object{
			name: name, fresh: name == "query" || name == "aggs", many: overFields(name),
			dated: name == "range_of" || name == "agg_of" || name == "agg_range" || name == "decay_of",
		}
		g.objects[name] = o
	}
	return o
}

// overFields tells the clauses that name several fields, or none.
func overFields(name string) bool {
	switch name {
	case "multi_match", "query_string", "simple_query_string", "combined", "more_like_this", "r_many":
		return true
	}
	return false
}

// member reads "name,name=what".
func (g *grammar) member(o *object, text string, prims map[string]prim) error {
	names, what, ok := strings.Cut(text, "=")
	if !ok {
		return fmt.Errorf("sanitize: tables: %s: %q lacks a =", o.name, text)
	}
	n, err := g.node(what, prims)
	if err != nil {
		return fmt.Errorf("sanitize: tables: %s: %q: %w", o.name, text, err)
	}
	for name := range strings.SplitSeq(names, ",") {
		if kind, ok := strings.CutPrefix(name, "*"); ok {
			o.other = n
			o.otherName = map[string]nameKind{
				"F": nameField, "O": nameSort, "N": nameChosen, "P": namePath, "I": nameIndex, "S": nameOption, "T": nameToken,
			}[kind]
			continue
		}
		if _, twice := o.keys[name]; twice {
			return fmt.Errorf("sanitize: tables: %s: %q stands twice", o.name, name)
		}
		o.keys[name] = n
		o.hasField = o.hasField || name == "field"
	}
	return nil
}

// node reads "X", "@kind", "X|@kind", "X|X" and each with "/" and an element.
func (g *grammar) node(what string, prims map[string]prim) (n node, err error) {
	what, elem, hasElem := strings.Cut(what, "/")
	for part := range strings.SplitSeq(what, "|") {
		if name, ok := strings.CutPrefix(part, "@"); ok {
			n.object = g.object(name)
			continue
		}
		p, ok := prims[part]
		if !ok {
			return n, fmt.Errorf("%q is not known", part)
		}
		n.scalar = p
	}
	if hasElem {
		e, err := g.node(elem, prims)
		if err != nil {
			return n, err
		}
		n.elem = &e
	}
	return n, nil
}

// words calls yield with every name of the tables.
func (g *grammar) words(yield func(string)) {
	for _, o := range g.objects {
		for k := range o.keys {
			yield(k)
		}
	}
}
