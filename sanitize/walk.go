package sanitize

import (
	"bytes"
	"errors"

	"github.com/esshadow/esshadow/internal/es"
)

// rewriter walks over one JSON text and writes it again: structure, white space
// and what is kept byte for byte, literals as their position demands. It
// recurses as deep as the text nests, which MaxDepth bounds.
type rewriter struct {
	*Worker
	t   es.Tokens
	in  []byte
	out []byte
	pos int // in[:pos] is written

	path      []byte     // dotted path of the field at hand, as it came
	inDoc     bool       // values belong to a document, not to a query
	template  bool       // Mustache may stand in strings
	longitude bool       // the number that comes is one, if it is a coordinate
	dated     int        // where the object begins whose values are dates, 0 none
	datedBy   string     // its kind
	upper     bool       // the member at hand bounds it from above
	said      int        // dated of the range that was given a format
	fields    fieldPlans // of the fields that a clause names by a list
	learns    learner    // of the text's frame
	str, key  []byte     // scratch: decoded string, decoded name
}

// rewrite appends the sanitised form of one JSON text to dst.
func (w *Worker) rewrite(dst, in []byte, n node) ([]byte, reason) {
	return w.rewriteAs(dst, in, func(r *rewriter) reason { return r.node(n) })
}

func (w *Worker) rewriteAs(dst, in []byte, walk func(*rewriter) reason) ([]byte, reason) {
	r := w.borrow()
	defer w.giveBack(r)
	mark := len(dst)
	dst, why := r.run(dst, in, walk)
	if why == kept && r.t.Comments {
		// Comments are not copied: they may hold anything.
		plain, err := stripComments(in, w.p.cfg.MaxDepth)
		if err != nil {
			return dst, jsonReason(err)
		}
		dst, why = r.run(dst[:mark], plain, walk)
	}
	return dst, why
}

func (r *rewriter) run(dst, in []byte, walk func(*rewriter) reason) ([]byte, reason) {
	r.begin(dst, in)
	why := walk(r)
	if why == kept {
		if _, err := r.t.Next(); err != nil { // the end, or more than one value
			why = jsonReason(err)
		}
	}
	if why == kept && (!r.t.Comments || r.template) {
		r.out = append(r.out, in[r.pos:]...)
	}
	dst = r.out
	r.in, r.out = nil, nil
	return dst, why
}

// begin makes r ready for a text, whose form is to be appended to dst.
func (r *rewriter) begin(dst, in []byte) {
	r.t.MaxDepth = r.p.cfg.MaxDepth
	r.t.Reset(in)
	r.in, r.out, r.pos = in, dst, 0
	r.path, r.inDoc, r.template, r.fields = r.path[:0], false, false, fieldPlans{}
	r.dated, r.datedBy, r.said = 0, "", 0
	r.learns = learner{}
}

// jsonReason turns an error of Tokens into a drop reason.
func jsonReason(err error) reason {
	switch {
	case errors.Is(err, es.ErrDepth):
		return dropDepth
	case errors.Is(err, es.ErrUTF8):
		return dropUTF8
	}
	return dropJSON
}

func (r *rewriter) next() (es.Token, reason) {
	k, err := r.t.Next()
	if err != nil {
		return k, jsonReason(err)
	}
	return k, kept
}

// replace leaves a gap for a token: what is appended to out next stands for it.
func (r *rewriter) replace(k es.Token) {
	r.out = append(r.out, r.in[r.pos:k.Start]...)
	r.pos = k.End
}

// text is the decoded text of a Key or String token, good until the next call
// with the same scratch.
func (r *rewriter) textOf(k es.Token, scratch *[]byte) ([]byte, reason) {
	if !k.Escaped {
		return r.in[k.Start+1 : k.End-1], kept
	}
	s, ok := es.Unquote((*scratch)[:0], r.in[k.Start:k.End])
	*scratch = s
	if !ok {
		return nil, dropUTF8
	}
	return s, kept
}

// keepText leaves a string or name as it is, but for escapes, which could hide
// it from the post-check.
func (r *rewriter) keepText(k es.Token, text []byte) {
	if k.Escaped {
		r.replace(k)
		r.out = es.AppendQuoted(r.out, text)
	}
}

// put replaces a string by what f appends for its text.
func (r *rewriter) put(k es.Token, text []byte, f func(dst, s []byte) []byte) {
	r.replace(k)
	if !k.Escaped { // separators are copied and nothing else needs an escape
		r.out = append(r.out, '"')
		r.out = f(r.out, text)
		r.out = append(r.out, '"')
		return
	}
	r.tmp = f(r.tmp[:0], text)
	r.out = es.AppendQuoted(r.out, r.tmp)
}

// node handles the value that comes next.
func (r *rewriter) node(n node) reason {
	k, why := r.next()
	if why != kept {
		return why
	}
	return r.value(k, n)
}

// value handles the value that k begins.
func (r *rewriter) value(k es.Token, n node) reason {
	switch k.Kind {
	case es.ObjectStart:
		if n.object != nil {
			return r.object(n.object)
		}
		return r.primObject(n.scalar)
	case es.ArrayStart:
		return r.array(n)
	case es.String:
		return r.stringAt(k, n.scalar)
	case es.Number:
		return r.numberAt(k, n.scalar)
	case es.True, es.False:
		return r.boolAt(k, n.scalar)
	case es.Null:
		return kept
	}
	return dropJSON
}

func (r *rewriter) array(n node) reason {
	switch n.scalar {
	case pVector:
		return r.vector()
	case pGeo:
		return r.geo()
	}
	if n.elem != nil {
		n = *n.elem
	}
	for {
		k, why := r.next()
		if why != kept {
			return why
		}
		if k.Kind == es.ArrayEnd {
			return kept
		}
		if why = r.value(k, n); why != kept {
			return why
		}
	}
}

// object handles the members of an object that is open.
func (r *rewriter) object(o *object) reason {
	if o.hasField || o.fresh || o.otherName == nameField || o.otherName == nameSort {
		// The path of the field around it stays where it is, and comes back.
		around := r.path
		defer func() { r.path = around }()
		r.path = around[len(around):]
	}
	if o.dated {
		dated, by := r.dated, r.datedBy
		defer func() { r.dated, r.datedBy = dated, by }()
		r.dated, r.datedBy = r.t.Offset(), o.name
		if o.name == "decay_of" {
			r.decays()
		}
	}
	if o.hasField {
		if why := r.peekField(); why != kept {
			return why
		}
		if len(r.path) > 0 {
			r.judgeField(o)
		}
	}
	if o.many && r.p.schema != nil {
		around := r.fields
		r.fields = r.peekFields()
		defer func() { r.fields = around }()
	}
	return r.members(func(k es.Token, name []byte) (why reason) {
		var n node
		if listed := o.member(name); listed != nil {
			n = *listed
			r.keepText(k, name)
			if n.scalar == pBound {
				r.upper = upperBound(name)
			}
			if n.scalar == pS && o.hasField && bytes.HasSuffix(name, []byte("interval")) {
				r.judgeInterval()
			}
		} else if n, why = r.otherMember(o, k, name); why != kept {
			return why
		}
		if r.learns.f != nil && r.t.Depth() == 1 {
			return r.metaValue(n)
		}
		return r.node(n)
	})
}

// members handles the members of an object that has just been opened, or the rest
// of them: each is given the name of one, and handles its value.
func (r *rewriter) members(each func(k es.Token, name []byte) reason) reason {
	for {
		k, why := r.next()
		if why != kept || k.Kind == es.ObjectEnd {
			return why
		}
		name, why := r.textOf(k, &r.key)
		if why != kept {
			return why
		}
		if why = each(k, name); why != kept {
			return why
		}
	}
}

// otherMember handles the name of a member that the tables do not list.
func (r *rewriter) otherMember(o *object, k es.Token, name []byte) (node, reason) {
	switch o.otherName {
	case nameNone:
		return node{}, o.unknown
	case nameField, nameSort:
		if o.otherName == nameSort {
			r.sorted(name)
		}
		r.path = append(r.path[:0], name...)
		r.putField(k, name)
	case nameChosen:
		r.put(k, name, r.chosen)
	case namePath:
		if (string(name) == "_key" || string(name) == "_term") && !r.keepsOrder(r.planFor(r.path)) {
			r.note(approx, "order_by_key")
		}
		r.put(k, name, r.namePath)
	case nameIndex:
		r.put(k, name, r.indexExpr)
	case nameToken:
		r.put(k, name, r.Worker.text.text)
	case nameOption:
		if !OptionLike(name) {
			return node{}, dropStructural
		}
		r.keepText(k, name)
	}
	return o.other, kept
}

// putField writes the name of a field.
func (r *rewriter) putField(k es.Token, name []byte) {
	if r.keepField(name) {
		r.keepText(k, name)
		return
	}
	if !r.inDoc && bytesHas(name, '.') {
		// The document may have the same name in two objects, only one of which
		// looks personal by itself.
		r.note(broken, "field_name")
	}
	r.put(k, name, r.Worker.text.text)
}

// doc handles the members of an object of a document: every leaf is a value,
// every name a field.
func (r *rewriter) doc() reason {
	depth := len(r.path)
	for {
		k, why := r.next()
		if why != kept {
			return why
		}
		if k.Kind == es.ObjectEnd {
			return kept
		}
		name, why := r.textOf(k, &r.key)
		if why != kept {
			return why
		}
		if r.p.byField {
			if depth > 0 {
				r.path = append(r.path, '.')
			}
			r.path = append(r.path, name...)
		}
		r.putField(k, name)
		if k, why = r.next(); why != kept {
			return why
		}
		if why = r.docValue(k); why != kept {
			return why
		}
		r.path = r.path[:depth]
	}
}

func (r *rewriter) docValue(k es.Token) reason {
	if r.p.places && r.geoPlan() != nil {
		return r.value(k, node{scalar: pGeo})
	}
	switch k.Kind {
	case es.ObjectStart:
		return r.doc()
	case es.ArrayStart:
		return r.docArray(k)
	}
	if r.learns.f != nil {
		return r.leaf(k, pV)
	}
	return r.scalar(k, pV)
}

// docArray handles the elements of an array of a document.
func (r *rewriter) docArray(k es.Token) reason {
	drops := r.p.cfg.Vectors == "drop"
	blind := drops && isVector(r.in[k.End:])
	for n := 1; ; n++ {
		k, why := r.next()
		if why != kept {
			return why
		}
		if k.Kind == es.ArrayEnd {
			return kept
		}
		if drops && n >= minVector {
			r.learns.f = nil // whether it is a vector hangs on the values
		}
		if blind {
			r.replace(k)
			r.out = append(r.out, '1')
			continue
		}
		if why = r.docValue(k); why != kept {
			return why
		}
	}
}

// docString is value for a string of a document. Most are plain text of a field that
// is treated as most fields are, and go the short way.
func (r *rewriter) docString(k es.Token) reason {
	if k.Escaped || r.template || !r.inDoc || !r.plainText(r.planFor(r.path)) {
		return r.stringAt(k, pV)
	}
	r.replace(k)
	r.out = append(r.out, '"')
	r.out = append(r.Worker.text.tokens(r.out, r.in[k.Start+1:k.End-1]), '"')
	return kept
}

// plainText tells that a plan is that of most fields.
func (r *rewriter) plainText(pl *plan) bool {
	d := r.Worker.text
	return (pl == &r.other || pl.usual) && r.other.d == d && d.plainTokens(r.other.action)
}
