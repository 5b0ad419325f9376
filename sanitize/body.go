package sanitize

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
)

// body appends the form of a decoded request body.
func (w *Worker) body(dst []byte, op es.Op, body []byte) ([]byte, reason) {
	if len(body) == 0 {
		return dst, kept
	}
	switch op {
	case es.OpBulk:
		return w.bulkBody(dst, body)
	case es.OpMsearch, es.OpMsearchTemplate:
		return w.msearchBody(dst, body, w.p.bodies.byOp[op])
	}
	if blank(body) {
		return dst, kept
	}
	n, ok := w.p.bodies.byOp[op]
	if op == es.OpAdmin {
		n, ok = w.p.bodies.byOp[es.OpSearch], true // of a plugin: no other is admitted
	}
	if !ok {
		return dst, dropEndpoint
	}
	return w.rewrite(dst, body, n)
}

// blank tells that there is nothing but white space of JSON.
func blank(s []byte) bool {
	for _, c := range s {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return false
		}
	}
	return true
}

// bulkBody handles a _bulk body line by line: framing, blank lines and a
// missing last line end stay as they came.
func (w *Worker) bulkBody(dst, body []byte) ([]byte, reason) {
	w.bulk.Reset(body)
	w.tally, w.ownIDs = es.BulkTally{}, true
	pos := 0
	for {
		it, err := w.bulk.Next()
		if errors.Is(err, io.EOF) {
			if !blank(body[pos:]) {
				return dst, dropNDJSON
			}
			return append(dst, body[pos:]...), kept
		}
		if err != nil || it.Tail != nil {
			return dst, dropNDJSON
		}
		w.tally.Add(it.Op)
		w.ownIDs = w.ownIDs && (!it.Auto || it.NoDoc)
		// What stands around the metadata is {"index":…}: the action's word, and
		// white space.
		head := body[pos:it.MetaStart]
		if hasComment(head) {
			return dst, dropNDJSON
		}
		dst = appendPiece(dst, head)
		// Reading them in whole words is quicker where their array goes on.
		it.Meta, it.Doc = body[it.MetaStart:it.MetaStart+len(it.Meta)], body[it.DocStart:it.DocStart+len(it.Doc)]
		var why reason
		if dst, why = w.framed(dst, it.Meta, w.p.bodies.bulkMeta, w.metaFrames, len(body)-it.End > len(it.Doc)); why != kept {
			return dst, why
		}
		pos = it.MetaStart + len(it.Meta)
		if it.Op == es.BulkDelete || it.NoDoc {
			if tail := body[pos:it.End]; hasComment(tail) {
				return dst, dropNDJSON
			}
			dst = appendPiece(dst, body[pos:it.End])
			pos = it.End
			continue
		}
		if tail := body[pos:it.DocStart]; hasComment(tail) {
			return dst, dropNDJSON
		}
		dst = appendPiece(dst, body[pos:it.DocStart])
		pos = it.DocStart + len(it.Doc)
		switch {
		case blank(it.Doc):
			dst, why = append(dst, it.Doc...), kept
		case it.Op == es.BulkUpdate:
			dst, why = w.rewrite(dst, it.Doc, w.p.bodies.update)
		default:
			dst, why = w.framed(dst, it.Doc, w.p.bodies.doc, w.docFrames, len(body)-it.End > len(it.Doc))
		}
		if why != kept {
			return dst, why
		}
		dst = appendPiece(dst, body[pos:it.End])
		pos = it.End
	}
}

// hasComment tells a comment in what stands around the objects of a line.
func hasComment(s []byte) bool { return bytesHas(s, '/') }

// msearchBody handles an _msearch body line by line.
func (w *Worker) msearchBody(dst, body []byte, search node) ([]byte, reason) {
	w.msearch.Reset(body)
	pos := 0
	for {
		it, err := w.msearch.Next()
		if err != nil {
			if !blank(body[pos:]) {
				return dst, dropNDJSON
			}
			return append(dst, body[pos:]...), kept
		}
		if !blank(body[pos:it.Start]) {
			return dst, dropNDJSON
		}
		dst = append(dst, body[pos:it.Start]...)
		var why reason
		if dst, why = w.line(dst, it.Header, w.p.bodies.msearchHeader); why != kept {
			return dst, why
		}
		w.lookAtHeader(it.Header)
		pos = it.Start + len(it.Header)
		if it.NoBody {
			dst = append(dst, body[pos:it.End]...)
			pos = it.End
			continue
		}
		dst = append(dst, body[pos:it.BodyStart]...)
		if dst, why = w.line(dst, it.Body, search); why != kept {
			return dst, why
		}
		pos = it.BodyStart + len(it.Body)
		dst = append(dst, body[pos:it.End]...)
		pos = it.End
	}
}

func (w *Worker) line(dst, line []byte, n node) ([]byte, reason) {
	if blank(line) {
		return append(dst, line...), kept
	}
	return w.rewrite(dst, line, n)
}

// state appends the digests of ids that the server issued, joined by commas. They
// serialise names of indices and parts of queries; the digest stands for one in
// the record and in its Handles alike, so that a replay can put the target's in
// its place.
func (w *Worker) state(dst, s []byte) []byte {
	if string(s) == "_all" {
		return append(dst, s...)
	}
	for i, id := range bytes.Split(s, []byte{','}) {
		if i > 0 {
			dst = append(dst, ',')
		}
		if len(id) > 0 {
			dst = w.handles.digest(dst, bytes.TrimSpace(id))
		}
	}
	return dst
}

// addHandles appends handles in the form in which they stand in records.
func (w *Worker) addHandles(dst []capture.Handle, from []es.Handle, dir string) []capture.Handle {
	for _, h := range from {
		switch {
		case h.Kind == es.HandleID:
			w.val = w.MapID(w.val[:0], h.Value)
		case w.p.cfg.whole():
			w.val = append(w.val[:0], h.Value...)
		default:
			w.val = w.state(w.val[:0], h.Value)
		}
		dst = append(dst, capture.Handle{Kind: h.Kind, Dir: dir, ID: string(w.val)})
	}
	return dst
}

// plain copies a request as it is, preset off; credentials in headers go all the
// same, as a capture is no place for them.
func (w *Worker) plain(rec *capture.Record, x *capture.Exchange) reason {
	w.reset()
	target, why := originForm(x.Target)
	if why != kept {
		return why
	}
	route := es.Classify(x.Method, target)
	if int64(len(x.Body)) < x.BodySize {
		return dropBodyTooLarge
	}
	body, err := w.dec.Decode(header(x.Header, "Content-Encoding"), x.Body)
	switch {
	case err != nil:
		return dropDecompress
	case route.Op == es.OpReindex && bytes.Contains(body, []byte("remote")):
		return dropSecret // the remote cluster's password
	}
	w.route, w.plainBody = route, body
	rec.Op, rec.Method, rec.Target = route.Op.String(), strings.Clone(x.Method), strings.Clone(target)
	for _, h := range x.Header {
		if !secretHeader(h.Name) && !equalFold(h.Name, "Content-Encoding") && !equalFold(h.Name, "Content-Length") {
			rec.Header = append(rec.Header, capture.Header{Name: strings.Clone(h.Name), Value: strings.Clone(h.Value)})
		}
	}
	rec.Body = append(rec.Body, body...)
	rec.Shape = w.shape.Fingerprint(route.Op, route.Index, route.Query, rec.Body).ID
	w.facts(rec, x)
	w.answer(rec, x)
	return kept
}
