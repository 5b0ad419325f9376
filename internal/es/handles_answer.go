package es

import (
	"bytes"
)

// Answer is AnswerHandles.
func (h *HandleReader) Answer(dst []Handle, r Route, request []byte, contentType, contentEncoding string, answer []byte) []Handle {
	wanted := givenBy(r, request)
	if wanted == (given{}) || len(answer) == 0 {
		return dst
	}
	if wanted.bulk {
		if h.findAuto(request); len(h.auto) == 0 {
			return dst
		}
	}
	h.decoder.Max = h.MaxDecoded
	answer, err := h.decoder.Decode(contentEncoding, answer)
	if err != nil || answerForm(contentType, answer, answerOther) != formJSON {
		return dst
	}
	c, before := &h.c, len(dst)
	c.reset(answer)
	if !c.enter(ObjectStart) {
		return dst
	}
	for key := c.member(); key != nil; key = c.member() {
		switch kind := wanted.kind(key); {
		case kind != "":
			dst = add(dst, kind, h.str())
			if wanted.first && len(dst) > before {
				return dst // it stands at the top of what may be a large answer
			}
		case wanted.bulk && string(key) == "items":
			dst = h.bulkIDs(dst)
		case wanted.items && string(key) == "responses":
			dst = h.responses(dst)
		default:
			c.skip()
		}
	}
	if c.err != nil {
		return dst[:before]
	}
	return dst
}

// given says which members of an answer may hold a handle.
type given struct {
	scroll, pit, id, task, cursor, doc bool
	first                              bool // one is all there can be
	bulk, items                        bool
	idKind                             string
}

func givenBy(r Route, request []byte) (g given) {
	switch r.Op {
	case OpSearch, OpSearchTemplate:
		g.scroll, g.pit = param(r.Query, "scroll") != "", mayHavePIT(request)
		g.first = g.scroll || g.pit
	case OpScroll:
		g.scroll, g.first = true, true
	case OpMsearch:
		g.items = mayHavePIT(request)
	case OpOpenPIT:
		g.id, g.pit, g.idKind = true, true, HandlePIT
	case OpAsyncSearch, OpAsyncGet, OpAsyncStatus:
		g.id, g.idKind, g.first, g.pit = true, HandleAsync, !mayHavePIT(request), mayHavePIT(request)
	case OpEQL, OpEQLAsync, OpESQL, OpESQLAsync:
		g.id, g.idKind, g.first = true, HandleAsync, true
	case OpSQL, OpSQLAsync, OpPPL:
		g.id, g.idKind, g.cursor = true, HandleAsync, true
	case OpUpdateByQuery, OpDeleteByQuery, OpReindex, OpAdmin:
		g.task = param(r.Query, "wait_for_completion") == "false"
	case OpIndex:
		g.doc = r.ID == ""
	case OpBulk:
		g.bulk = true
	}
	return g
}

// kind is the kind of the handle in the member key, "" if it holds none.
func (g given) kind(key []byte) string {
	switch string(key) {
	case "_scroll_id":
		if g.scroll {
			return HandleScroll
		}
	case "pit_id":
		if g.pit {
			return HandlePIT
		}
	case "id":
		if g.id {
			return g.idKind
		}
	case "task":
		if g.task {
			return HandleTask
		}
	case "cursor":
		if g.cursor {
			return HandleCursor
		}
	case "_id":
		if g.doc {
			return HandleID
		}
	}
	return ""
}

// str takes the string that comes next; what it returns stays good.
func (h *HandleReader) str() []byte {
	s := h.c.str()
	if len(s) > 0 && len(h.c.text) > 0 && &s[0] == &h.c.text[0] {
		return bytes.Clone(s)
	}
	return s
}

// responses takes the PIT ids of the answers of an msearch.
func (h *HandleReader) responses(dst []Handle) []Handle {
	c := &h.c
	if !c.enter(ArrayStart) {
		return dst
	}
	for k, ok := c.element(); ok; k, ok = c.element() {
		if k.Kind != ObjectStart {
			c.leave(k)
			continue
		}
		for key := c.member(); key != nil; key = c.member() {
			if string(key) == "pit_id" {
				dst = add(dst, HandlePIT, h.str())
			} else {
				c.skip()
			}
		}
	}
	return dst
}

// findAuto finds the items of a bulk request whose id the server chooses.
func (h *HandleReader) findAuto(request []byte) {
	h.auto = h.auto[:0]
	h.bulk.Reset(request)
	for n := 0; len(h.auto) < MaxHandles; n++ {
		it, err := h.bulk.Next()
		if err != nil {
			return
		}
		if it.NoDoc {
			n-- // the engines pass over it, and answer nothing
			continue
		}
		if it.Auto {
			h.auto = append(h.auto, n)
		}
	}
}

// bulkIDs takes from a bulk answer the ids of the items that findAuto found.
func (h *HandleReader) bulkIDs(dst []Handle) []Handle {
	c := &h.c
	if !c.enter(ArrayStart) {
		return dst
	}
	n, next := 0, 0
	for k, ok := c.element(); ok; k, ok = c.element() {
		if k.Kind != ObjectStart || next >= len(h.auto) || h.auto[next] != n {
			c.leave(k)
			n++
			continue
		}
		for op := c.member(); op != nil; op = c.member() {
			dst = h.bulkID(dst)
		}
		n++
		next++
	}
	return dst
}

func (h *HandleReader) bulkID(dst []Handle) []Handle {
	c := &h.c
	if !c.enter(ObjectStart) {
		return dst
	}
	for key := c.member(); key != nil; key = c.member() {
		if string(key) == "_id" {
			dst = add(dst, HandleID, h.str())
		} else {
			c.skip()
		}
	}
	return dst
}
