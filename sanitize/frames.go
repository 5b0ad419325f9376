package sanitize

import "github.com/esshadow/esshadow/internal/es"

// The objects of a _bulk body are alike: the same names in the same order, and other
// values. What stands between the values of one that was walked over is its frame:
// brackets, names, colons, commas, white space. In a text that has the same frame,
// byte for byte, the same positions have values, and what is done with a value hangs
// on its position and itself alone; so it is enough to compare the frame, to copy
// what became of it, and to look at the values. Where a text has no frame that is
// known, all of it is walked over, and its frame is known from then on.

// frames are the frames of one kind of text, as a tree: a step is the piece of text
// before a value, or after the last one, and frames that begin alike share steps.
type frames struct {
	steps []frameStep // steps[0] is the root
	text  []byte      // what the steps refer to

	round uint32 // of the post-check's set, which debt is for
	debt  int    // grows with texts that have no known frame
}

// frameStep is a piece of a frame. It holds for one record only, as the post-check
// must know the names of each: the walk over the first text of a frame tells it.
type frameStep struct {
	round       uint32
	first, next int32 // of the steps behind, and of those in its place; 0 is none

	in, made, path span   // the piece, what became of it, and the path of the value behind
	prim           prim   // of the value
	plain          bool   // the value, if a string, is plain text, see docString
	short          bool   // the value, if a number of fewer than postDigits bytes, stays
	number         bool   // the value, if a number, is one that no rule is for
	last           bool   // no value comes
	tries, hits    uint16 // of the cache of values, in this record
}

// span is a part of frames.text.
type span struct{ from, to int32 }

const (
	maxSteps     = 1 << 11
	maxFrameText = 1 << 17 // bytes
	maxBeside    = 8       // steps that are looked at in one place
	frameMiss    = 8       // a text without a known frame costs as much as this many spare
	maxFrameDebt = 256     // where no more are tried for this record
)

func newFrames() *frames { return &frames{steps: make([]frameStep, 1)} }

func (f *frames) part(s span) []byte { return f.text[s.from:s.to] }

func (f *frames) keep(s []byte) span {
	from := len(f.text)
	f.text = append(f.text, s...)
	return span{int32(from), int32(len(f.text))}
}

// worth tells whether to try, and to learn, for a text of the record of that round.
func (f *frames) worth(round uint32) bool {
	if f.round != round {
		f.round, f.debt = round, 0
	}
	return f.debt < maxFrameDebt
}

// missed makes room for the frame of a text that had none.
func (f *frames) missed() {
	f.debt += frameMiss
	if len(f.steps) > maxSteps || len(f.text) > maxFrameText {
		f.steps, f.text = f.steps[:1], f.text[:0]
		f.steps[0] = frameStep{}
	}
}

// follow is the step behind step at that s begins with, 0 for none.
func (f *frames) follow(at int32, s []byte, round uint32) int32 {
	i := f.steps[at].first
	for n := 0; i != 0 && n < maxBeside; n++ {
		e := &f.steps[i]
		in := f.text[e.in.from:e.in.to]
		if e.round == round && len(in) <= len(s) && string(s[:len(in)]) == string(in) && (!e.last || len(in) == len(s)) {
			return i
		}
		i = e.next
	}
	return 0
}

// learn is the step behind step at for a piece of a frame that has just been walked
// over.
func (f *frames) learn(at int32, in, made, path []byte, like frameStep) int32 {
	i := f.steps[at].first
	for n := 0; i != 0 && n < maxBeside; n++ {
		e := &f.steps[i]
		if e.last == like.last && e.prim == like.prim && string(f.part(e.in)) == string(in) && string(f.part(e.made)) == string(made) && string(f.part(e.path)) == string(path) {
			e.round, e.plain, e.short, e.number = like.round, like.plain, like.short, like.number
			e.tries, e.hits = 0, 0
			return i
		}
		i = e.next
	}
	like.in, like.made, like.path = f.keep(in), f.keep(made), f.keep(path)
	like.next = f.steps[at].first
	i = int32(len(f.steps))
	f.steps = append(f.steps, like)
	f.steps[at].first = i
	return i
}

// learner notes the frame of a text while a rewriter walks over it.
type learner struct {
	f             *frames // nil: it does not
	at            int32   // the step that was noted last
	inEnd, outEnd int     // where the value behind it ends
}

// framed is rewrite for a text that is one of many of its kind; more tells that
// others come. n is that of all of them.
func (w *Worker) framed(dst, in []byte, n node, f *frames, more bool) ([]byte, reason) {
	round := w.post.kept.round
	if !f.worth(round) {
		return w.rewrite(dst, in, n)
	}
	out, done, why := w.byFrame(dst, in, f, n.scalar == pDoc)
	if done {
		f.debt = max(f.debt-1, 0)
		return out, why
	}
	dst = out[:len(dst)]
	if !more {
		return w.rewrite(dst, in, n)
	}
	f.missed()
	return w.rewriteAs(dst, in, func(r *rewriter) reason {
		if r.t.Comments { // the text that is walked over is not the one that came
			return r.node(n)
		}
		r.learns = learner{f: f, outEnd: len(r.out)}
		why := r.node(n)
		if l := r.learns; why == kept && !r.t.Comments {
			rest := r.in[l.inEnd:]
			r.out = append(r.out, r.in[r.pos:]...)
			r.pos = len(r.in)
			f.learn(l.at, rest, r.out[l.outEnd:], nil, frameStep{round: round, last: true})
		}
		r.learns = learner{}
		return why
	})
}

// byFrame rewrites a text by a frame that is known; done is false where none is.
func (w *Worker) byFrame(dst, in []byte, f *frames, inDoc bool) (out []byte, done bool, why reason) {
	round := w.post.kept.round
	at := f.follow(0, in, round)
	if at == 0 {
		return dst, false, kept
	}
	r := w.borrow()
	defer w.giveBack(r)
	r.begin(nil, in)
	r.inDoc = inDoc
	around := r.path
	for i := 0; at != 0; at = f.follow(at, in[i:], round) {
		e := &f.steps[at]
		dst = appendPiece(dst, f.text[e.made.from:e.made.to])
		if i += int(e.in.to - e.in.from); e.last {
			done = true
			break
		}
		if e.plain {
			if end := es.PlainString(in, i); end > 0 {
				dst = append(w.plainValue(append(dst, '"'), in[i+1:end-1], e), '"')
				i = end
				continue
			}
		}
		k, err := r.t.ScalarAt(i)
		if err != nil {
			break
		}
		switch i = k.End; {
		case e.plain && k.Kind == es.String && !k.Escaped:
			dst = append(w.plainValue(append(dst, '"'), in[k.Start+1:k.End-1], e), '"')
		case e.short && k.Kind == es.Number && k.End-k.Start < postDigits:
			dst = append(dst, in[k.Start:k.End]...)
		case e.number && k.Kind == es.Number:
			dst = w.number(dst, in[k.Start:k.End])
		case e.prim == pID && k.Kind == es.String && !k.Escaped:
			dst = append(w.id(append(dst, '"'), in[k.Start+1:k.End-1]), '"')
		default:
			r.out, r.pos, r.path = dst, k.Start, f.part(e.path)
			why = r.scalar(k, e.prim)
			dst = append(r.out, in[r.pos:k.End]...)
		}
		if why != kept {
			done = true
			break
		}
	}
	r.path = around
	r.in, r.out = nil, nil
	return dst, done, why
}

// appendPiece appends what is short as a rule, and then with what stands behind it, which
// a longer text may write over.
func appendPiece(dst, s []byte) []byte {
	const room = 32
	if n := len(dst); len(s) <= room && cap(s) >= room && cap(dst)-n >= room {
		*(*[room]byte)(dst[n : n+room]) = *(*[room]byte)(s[:room])
		return dst[:n+len(s)]
	}
	return append(dst, s...)
}

// leaf handles a value of a text whose frame is noted.
func (r *rewriter) leaf(k es.Token, p prim) reason {
	l := &r.learns
	r.out = append(r.out, r.in[r.pos:k.Start]...)
	r.pos = k.Start
	like := frameStep{round: r.post.kept.round, prim: p}
	if p == pV && r.inDoc {
		pl := r.planFor(r.path)
		like.plain = r.plainText(pl)
		if pl == &r.other && pl.action == actTokens {
			like.short, like.number = r.p.keepsShort(), !r.p.dropsNumbers()
		}
	}
	l.at = l.f.learn(l.at, r.in[l.inEnd:k.Start], r.out[l.outEnd:], r.path, like)
	why := r.scalar(k, p)
	r.out = append(r.out, r.in[r.pos:k.End]...)
	r.pos = k.End
	l.inEnd, l.outEnd = k.End, len(r.out)
	return why
}

// scalar handles a value that is neither an object nor an array.
func (r *rewriter) scalar(k es.Token, p prim) reason {
	if r.inDoc && k.Kind == es.String {
		return r.docString(k)
	}
	return r.value(k, node{scalar: p})
}

// metaValue is node for a member of an action's metadata, whose frame is noted.
func (r *rewriter) metaValue(n node) reason {
	k, why := r.next()
	if why != kept {
		return why
	}
	if k.Kind == es.ObjectStart || k.Kind == es.ArrayStart || n.scalar == pNone {
		return r.value(k, n)
	}
	return r.leaf(k, n.scalar)
}
