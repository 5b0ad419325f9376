package sanitize

import (
	"errors"
	"hash/maphash"
	"math/bits"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
)

// Worker sanitises for one goroutine. It implements capture.Sanitizer.
type Worker struct {
	p       *Pipeline
	text    *domain
	ids     *domain
	index   *domain
	handles *domain
	post    postcheck

	plans  []plan         // of the rules, by number
	other  plan           // where no rule is for a field
	planOf map[string]int // numbers of rules by path
	recent []recentPlan

	view, all  *view            // with a schema: of the indices at hand, and of all
	views      map[string]*view // by index expression
	groups     map[string]*view // by the groups of the schema, a byte for each
	viewFields int
	viewPlans  int // in all views
	styled     map[styleKey]*domain
	fact, open *es.FieldFacts // of the field whose value in a query is at hand; open: of one of no certain kind

	dec     es.Decoder
	sum     es.Summarizer
	shape   es.Fingerprinter
	bulk    es.BulkReader
	tally   es.BulkTally // of the _bulk body at hand
	ownIDs  bool         // all documents of that body bring their ids
	msearch es.MsearchReader

	handled es.HandleReader

	plainHeaders map[capture.Header]plainHeader

	memo   *memo
	asking asking
	noMemo bool // the request at hand is to be looked at in full

	telling bool // a header of the record has a word that the post-check may look for

	route                   es.Route // of the request at hand
	at                      int64    // when it came, Unix ns; 0: not known
	plainBody               []byte   // its decoded body
	found                   []es.Handle
	fid                     fidelity
	denied                  reason // why the record is dropped although it could be written
	mapper                  es.Mapper
	nested                  []byte // sanitised text that lies encoded in the record
	wrapped                 int
	fieldNames, chosenNames nameCache
	indexIn, indexOut       []byte // the index expression of this record that came last, and its form

	docFrames, metaFrames *frames // of documents and of actions of _bulk bodies
	values                valueCache

	group int // depth of the parentheses that path2 holds for, 0 none

	free                            []*rewriter
	tmp, tmp2, raw, val, low, path2 []byte
	out                             []byte
}

var _ capture.Sanitizer = (*Worker)(nil)

// Worker makes a new worker. Workers of one Pipeline give equal pseudonyms.
func (p *Pipeline) Worker() *Worker {
	seed := p.vocabulary.seed
	cacheBits := bits.Len(uint(p.cfg.WordCache)) - 1
	const small = 10
	idStyle := &p.plain
	if p.cfg.IDs.Domain == domainText {
		idStyle = &p.style
	}
	w := &Worker{
		p:            p,
		post:         postcheck{orig: newRunSet(seed), kept: newRunSet(seed), vocabulary: p.vocabulary, class: p.classes, unlike: unlikeLetters()},
		planOf:       make(map[string]int),
		recent:       make([]recentPlan, nameSlots),
		plainHeaders: make(map[capture.Header]plainHeader),
		memo:         newMemo(int(p.cfg.RequestCache)),

		fieldNames: make(nameCache, nameSlots), chosenNames: make(nameCache, nameSlots),
	}
	w.text = newDomain(p.text, &p.style, &w.post, cacheBits)
	w.ids = newDomain(p.ids, idStyle, &w.post, max(cacheBits-2, small))
	w.index = newDomain(p.index, &p.plain, &w.post, small)
	w.handles = newDomain(p.handle, &p.plain, &w.post, small)
	w.newPlans()
	if p.schema != nil {
		w.all = newView(p.schema)
		w.view, w.groups = w.all, map[string]*view{}
	}
	w.docFrames, w.metaFrames = newFrames(), newFrames()
	w.mapper = es.Mapper{ID: w.MapID, Name: w.MapName}
	w.dec.Max, w.sum.MaxDecoded, w.handled.MaxDecoded = int(p.cfg.MaxBody), int(p.cfg.MaxBody), int(p.cfg.MaxBody)
	return w
}

// fidelity is what replaying the record can still tell.
type fidelity struct {
	level level
	why   string
}

type level uint8

const (
	exact level = iota
	approx
	broken
)

// note lowers the record's fidelity; the first reason of the lowest level stays.
func (w *Worker) note(l level, why string) {
	if l > w.fid.level {
		w.fid = fidelity{l, why}
	}
}

// MapID appends what the capture made of a document id, for a replay against a
// target that holds the original ids.
func (w *Worker) MapID(dst, id []byte) []byte {
	if w.p.cfg.whole() {
		return append(dst, id...)
	}
	return w.id(dst, id)
}

// MapName appends what the capture made of a caller-chosen name, as that of an
// aggregation.
func (w *Worker) MapName(dst, name []byte) []byte {
	if w.p.cfg.whole() {
		return append(dst, name...)
	}
	return w.chosen(dst, name)
}

// Forget lets go of what MapID and MapName have noted of what they replaced, for
// the check that Sanitize ends with. Whoever calls nothing but these two has to
// call it now and then.
func (w *Worker) Forget() { w.reset() }

// Mapper gives MapID and MapName in the form that es.Summarize takes. It is for
// the goroutine that uses the Worker.
func (w *Worker) Mapper() es.Mapper { return w.mapper }

// Sanitize makes a Record of an Exchange, or says why none may be stored. The
// Record aliases nothing of the Exchange; its slices belong to the caller until
// the next call with the same Record. Its Want may be that of other Records, too, and
// is not to be changed.
func (w *Worker) Sanitize(rec *capture.Record, x *capture.Exchange) (drop string) {
	defer func() {
		if recover() != nil { // the value may quote the input: it goes nowhere
			w.free = nil
			drop = string(dropPanic)
		}
	}()
	defer func() { w.route, w.plainBody, w.found, w.noMemo = es.Route{}, nil, w.found[:0], false }() // parts of the Exchange
	*rec = capture.Record{Header: rec.Header[:0], Body: rec.Body[:0], Handles: rec.Handles[:0]}
	if w.p.cfg.whole() {
		return string(w.plain(rec, x))
	}
	why := w.exchange(rec, x)
	if why == dropPostcheck && w.asking.recalled != nil {
		// What the request keeps is not remembered, and may be what the check found.
		w.memo.forget(w.asking.hash)
		w.noMemo = true
		why = w.exchange(rec, x)
	}
	if why == kept {
		w.remember(rec, x.Method)
	}
	return string(why)
}

// exchange fills in the whole record and checks it.
func (w *Worker) exchange(rec *capture.Record, x *capture.Exchange) reason {
	*rec = capture.Record{Header: rec.Header[:0], Body: rec.Body[:0], Handles: rec.Handles[:0]}
	w.reset()
	w.at = x.Time
	why := w.request(rec, x)
	if why == kept {
		why = w.denied
	}
	if why != kept {
		return why
	}
	w.facts(rec, x)
	w.answer(rec, x)
	return w.check(rec)
}

func (w *Worker) reset() {
	w.post.orig.reset()
	w.post.kept.reset()
	w.fid, w.denied = fidelity{}, kept
	w.nested = w.nested[:0]
	w.wrapped = 0
	w.path2 = w.path2[:0]
	w.indexIn = w.indexIn[:0]
	w.fact, w.open = nil, nil
	w.ownIDs, w.telling = false, false
}

// request fills in what was asked.
func (w *Worker) request(rec *capture.Record, x *capture.Exchange) reason {
	target, why := originForm(x.Target)
	if why != kept {
		return why
	}
	route := es.Classify(x.Method, target)
	if why = w.admit(route, x); why != kept {
		return why
	}
	w.route = route
	w.look(route.Index)
	body, unread := w.decoded(x)
	w.plainBody = body
	rec.Header = w.header(rec.Header, x.Header)
	if unread == kept && w.recall(rec, x.Method, target, body) {
		return kept
	}
	w.out, why = w.target(w.out[:0], route)
	if why != kept {
		return why
	}
	if unread != kept {
		return unread
	}
	rec.Op, rec.Method, rec.Target = route.Op.String(), methodName(x.Method), string(w.out)
	if rec.Body, why = w.body(rec.Body, route.Op, body); why != kept {
		return why
	}
	made := es.Classify(x.Method, rec.Target)
	if route.Op == es.OpBulk {
		rec.Shape = w.shape.FingerprintBulk(route.Op, made.Index, rec.Body, w.tally).ID
	} else {
		rec.Shape = w.shape.Fingerprint(route.Op, made.Index, made.Query, rec.Body).ID
	}
	w.asking.fid = w.fid
	return kept
}

// methodName is a constant for every method that a known route can have.
func methodName(m string) string {
	for _, k := range [...]string{"GET", "POST", "PUT", "DELETE", "HEAD"} {
		if m == k {
			return k
		}
	}
	return "OTHER"
}

// admit says whether an operation's requests are captured at all.
func (w *Worker) admit(route es.Route, x *capture.Exchange) reason {
	if route.Op == es.OpUnknown {
		return dropUnknownEndpoint
	}
	if _, ok := w.p.bodies.byOp[route.Op]; !ok && !bodiless(route.Op) && route.Op != es.OpBulk && !addOnSearch(route) {
		return dropEndpoint
	}
	if methodName(x.Method) == "OTHER" {
		return dropEndpoint
	}
	if int64(len(x.Body)) < x.BodySize || int64(len(x.Body)) > int64(w.p.cfg.MaxBody) {
		return dropBodyTooLarge
	}
	return kept
}

// decoded is the body without its Content-Encoding, of a content type that can
// be read.
func (w *Worker) decoded(x *capture.Exchange) ([]byte, reason) {
	if len(x.Body) == 0 {
		return nil, kept
	}
	switch es.ParseMedia(header(x.Header, "Content-Type")).Kind {
	case es.MediaJSON, es.MediaNDJSON, es.MediaNone:
	default:
		return nil, dropContentType
	}
	body, err := w.dec.Decode(header(x.Header, "Content-Encoding"), x.Body)
	switch {
	case err == nil:
		return body, kept
	case errors.Is(err, es.ErrCoding):
		return nil, dropEncoding
	case errors.Is(err, es.ErrTooLarge):
		return nil, dropBodyTooLarge
	}
	return nil, dropDecompress
}

func header(hs []capture.Header, name string) string {
	for i := range hs {
		if equalFold(hs[i].Name, name) {
			return hs[i].Value
		}
	}
	return ""
}

func equalFold(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		x, y := a[i], b[i]
		if x >= 'A' && x <= 'Z' {
			x |= 0x20
		}
		if y >= 'A' && y <= 'Z' {
			y |= 0x20
		}
		if x != y {
			return false
		}
	}
	return true
}

// facts fills in what is neither the request's nor the answer's text.
func (w *Worker) facts(rec *capture.Record, x *capture.Exchange) {
	rec.Time, rec.Conn, rec.Request = x.Time, x.Conn, x.Request
	rec.BodySize, rec.AnswerSize = x.BodySize, x.AnswerSize
	rec.Wait, rec.Took = x.Wait/1000, x.Took/1000
	rec.Status, rec.Err = x.Status, errorClass(x.Err)
	rec.Fidelity = [...]string{capture.Exact, capture.Approx, capture.Broken}[w.fid.level]
	rec.FidWhy = w.fid.why
}

// errorClass lets nothing but a class of errors through.
func errorClass(s string) string {
	if len(s) > 32 {
		return "error"
	}
	for i := range len(s) {
		if c := s[i]; c != '_' && (c < 'a' || c > 'z') {
			return "error"
		}
	}
	return s
}

// answer fills in what the answer says: its Summary and the handles that it
// gave.
func (w *Worker) answer(rec *capture.Record, x *capture.Exchange) {
	if w.answeredAgain(rec, x) {
		return
	}
	w.found = w.handled.Request(w.found[:0], w.route, w.plainBody)
	rec.Handles = w.addHandles(rec.Handles, w.found, "use")
	if x.Status == 0 {
		return
	}
	if int64(len(x.Answer)) < x.AnswerSize && len(x.Answer) == 0 && x.Method != "HEAD" {
		rec.Want = &es.Summary{Unreadable: es.UnreadableLarge}
		return
	}
	rec.Want = w.summarize(x)
	if w.ownIDs {
		return // it is a bulk's, and gives no other handles
	}
	w.found = w.handled.Answer(w.found[:0], w.route, w.plainBody, x.AnswerType, x.AnswerCoding, x.Answer)
	rec.Handles = w.addHandles(rec.Handles, w.found, "give")
	w.rememberAnswer(rec, x)
}

// borrow takes a rewriter that is not in use; they nest, as texts do.
func (w *Worker) borrow() *rewriter {
	if n := len(w.free); n > 0 {
		r := w.free[n-1]
		w.free = w.free[:n-1]
		return r
	}
	return &rewriter{Worker: w, path: make([]byte, 0, 1<<10)}
}

func (w *Worker) giveBack(r *rewriter) { w.free = append(w.free, r) }

// newSeed is a seed for hashes that live in this process only.
func newSeed() uint64 { return maphash.Bytes(maphash.MakeSeed(), nil) | 1 }
