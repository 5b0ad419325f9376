package es

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// Summarize reads what an answer says. The Summary aliases nothing of body.
// See Summarizer, which does the same with less garbage.
func Summarize(op Op, status int, contentType, contentEncoding string, body []byte, m Mapper) *Summary {
	var z Summarizer
	return z.Summarize(op, status, contentType, contentEncoding, body, m)
}

// Summarizer makes Summaries and keeps its buffers between them. The zero
// value is ready; two goroutines must not use one at once.
type Summarizer struct {
	MaxDecoded int // bound of a decoded body in bytes, 0 means DefaultMaxDecoded

	decoder Decoder
	c       cursor
	mapper  Mapper
	mapped  []byte // text that the Mapper made
	idText  []byte // hex digits of the hit ids so far
	aggs    aggWalk
	bulk    []BulkCount
	like    itemForm // of the items of a _bulk answer
	items   []Item
}

// summaryCell holds a Summary and what its pointers point at, so that an
// ordinary answer costs one allocation and not ten.
type summaryCell struct {
	Summary
	took, count                       int64
	timedOut, early, partial, running bool
	hits, found, missed, failed       int
	shards                            Shards
	total                             Total
	work                              Work
	ids                               [MaxTopIDs]string
	columns                           int // of a table
}

// Summarize reads what the answer to an operation says: its status and the two
// headers as they came, and its body as it came, compressed or not. An empty
// body, as HEAD gives, is no fault. Where a captured body is known to be
// incomplete the caller should not call but use a Summary with Unreadable set
// to UnreadableLarge.
func (z *Summarizer) Summarize(op Op, status int, contentType, contentEncoding string, body []byte, m Mapper) *Summary {
	s := new(summaryCell)
	kind := answerOf(op)
	if len(body) > 0 && op != OpExists && op != OpBulkStream {
		z.read(s, kind, status, contentType, contentEncoding, body, m)
	}
	if kind == answerGet && s.Unreadable == "" && s.Error == "" {
		switch {
		case status == 404:
			s.Found = put(&s.found, 0)
		case status >= 200 && status < 300 && s.Found == nil:
			s.Found = put(&s.found, 1)
		}
	}
	z.mapper, z.c.in = Mapper{}, nil
	return &s.Summary
}

func (z *Summarizer) read(s *summaryCell, kind answerKind, status int, mediaType, coding string, body []byte, m Mapper) {
	z.decoder.Max = z.MaxDecoded
	body, err := z.decoder.Decode(coding, body)
	if err != nil {
		s.Unreadable = unreadable(err)
		return
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return
	}
	switch form := answerForm(mediaType, body, kind); {
	case form == formJSON:
		z.mapper = m
		z.c.reset(body)
		if z.top(s, kind, status); z.c.err != nil {
			*s = summaryCell{Summary: Summary{Unreadable: unreadable(z.c.err)}}
		}
	case status >= 400 && form != formOpaque:
		s.Error = "text"
	case kind == answerTable && form != formOpaque:
		s.Hits = put(&s.hits, countLines(body, form))
	case kind != answerOther:
		s.Unreadable = UnreadableMedia
	}
}

func unreadable(err error) string {
	switch {
	case errors.Is(err, ErrCut):
		return UnreadableCut
	case errors.Is(err, ErrTooLarge):
		return UnreadableLarge
	case errors.Is(err, ErrCoding):
		return UnreadableCoding
	case errors.Is(err, ErrPacked):
		return UnreadablePacked
	}
	return UnreadableJSON
}

// top reads the whole answer.
func (z *Summarizer) top(s *summaryCell, kind answerKind, status int) {
	k := z.c.next()
	if k.Kind == ObjectStart {
		z.idText = z.idText[:0]
		z.aggs.reset(maxAllAggs)
		z.members(s, kind, status, true)
		z.finish(s)
	} else {
		z.c.leave(k)
	}
	z.c.end()
}

// members reads the members of the open object, which is a whole answer or
// (outer false) one that stands inside another.
func (z *Summarizer) members(s *summaryCell, kind answerKind, status int, outer bool) {
	for key := z.c.member(); key != nil; key = z.c.member() {
		switch {
		case kind == answerGet && status < 400: // may be a bare _source: its members mean nothing
			z.getMember(s, key)
		case z.anyMember(s, key):
		default:
			z.member(s, kind, key, outer)
		}
	}
}

// anyMember reads a member that means the same in the answers of all operations.
func (z *Summarizer) anyMember(s *summaryCell, key []byte) bool {
	c := &z.c
	switch string(key) {
	case "took":
		s.Took = maybe(&s.took)(c.number())
	case "timed_out":
		s.TimedOut = maybe(&s.timedOut)(c.boolean())
	case "terminated_early":
		s.Early = maybe(&s.early)(c.boolean())
	case "is_partial":
		s.Partial = maybe(&s.partial)(c.boolean())
	case "is_running":
		s.Running = maybe(&s.running)(c.boolean())
	case "_shards":
		z.shards(s)
	case "error":
		s.Error, s.Root = z.errorType()
	default:
		return false
	}
	return true
}

// member reads a member whose meaning depends on the operation.
func (z *Summarizer) member(s *summaryCell, kind answerKind, key []byte, outer bool) {
	switch kind {
	case answerSearch:
		z.searchMember(s, key, outer)
	case answerMsearch:
		z.msearchMember(s, key)
	case answerBulk:
		z.bulkMember(s, key)
	case answerMget:
		z.mgetMember(s, key)
	case answerTable:
		z.tableMember(s, key)
	case answerWork:
		z.workMember(s, key)
	default:
		z.smallMember(s, kind, key)
	}
}

// finish moves what was gathered in the Summarizer's buffers into s.
func (z *Summarizer) finish(s *summaryCell) {
	if n := len(z.idText) / digestLen; n > 0 {
		text := string(z.idText)
		for i := range n {
			s.ids[i] = text[i*digestLen : (i+1)*digestLen]
		}
		s.IDs = s.ids[:n:n]
	}
	z.idText = z.idText[:0]
	var cut bool
	if s.Aggs, cut = z.aggs.take(); cut {
		s.Cut = append(s.Cut, CutAggs)
	}
}

// put stores v in a cell's field and returns the field's address.
func put[T any](at *T, v T) *T {
	*at = v
	return at
}

// maybe returns a function that puts its first argument where its second says
// that there is one.
func maybe[T any](at *T) func(T, bool) *T {
	return func(v T, ok bool) *T {
		if !ok {
			return nil
		}
		return put(at, v)
	}
}

const digestLen = 16

// Digest is how ids and names stand in a Summary: the first 8 bytes of the
// SHA-256 of text, as 16 lower-case hex digits. It hides nothing that can be
// guessed; what must not be guessed has to go through a keyed Mapper before.
func Digest(text []byte) string {
	return string(appendDigest(make([]byte, 0, digestLen), text))
}

func appendDigest(dst, text []byte) []byte {
	sum := sha256.Sum256(text)
	return hex.AppendEncode(dst, sum[:8])
}
