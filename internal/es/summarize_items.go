package es

// mgetMember counts the documents of an _mget answer.
func (z *Summarizer) mgetMember(s *summaryCell, key []byte) {
	c := &z.c
	if string(key) != "docs" {
		c.skip()
		return
	}
	if !c.enter(ArrayStart) {
		return
	}
	for k, ok := c.element(); ok; k, ok = c.element() {
		if k.Kind != ObjectStart {
			c.leave(k)
			continue
		}
		switch z.mgetDoc() {
		case docFound:
			s.found++
		case docMissed:
			s.missed++
		case docFailed:
			s.failed++
		}
	}
	s.Found, s.Missed, s.Failed = &s.found, &s.missed, &s.failed
}

type docState uint8

const (
	docUnknown docState = iota // filter_path took it away
	docFound
	docMissed
	docFailed
)

func (z *Summarizer) mgetDoc() docState {
	state := docUnknown
	for key := z.c.member(); key != nil; key = z.c.member() {
		switch string(key) {
		case "found":
			if found, ok := z.c.boolean(); ok && found {
				state = docFound
			} else if ok {
				state = docMissed
			}
		case "error":
			z.c.skip()
			state = docFailed
		default:
			z.c.skip()
		}
	}
	return state
}

// workMember reads a member of the answer of a by-query operation.
func (z *Summarizer) workMember(s *summaryCell, key []byte) {
	var at *int64
	switch string(key) {
	case "total":
		at = &s.work.Total
	case "created":
		at = &s.work.Created
	case "updated":
		at = &s.work.Updated
	case "deleted":
		at = &s.work.Deleted
	case "noops":
		at = &s.work.Noops
	case "version_conflicts":
		at = &s.work.Conflicts
	case "failures":
		s.Failed = maybe(&s.failed)(z.size())
		return
	default:
		z.c.skip()
		return
	}
	if n, ok := z.c.number(); ok {
		*at = n
		s.Work = &s.work
	}
}

// size returns the number of members or elements of the value that comes next.
func (z *Summarizer) size() (n int, ok bool) {
	c := &z.c
	switch k := c.next(); k.Kind {
	case ObjectStart:
		for key := c.member(); key != nil; key = c.member() {
			c.skip()
			n++
		}
	case ArrayStart:
		for k, more := c.element(); more; k, more = c.element() {
			c.leave(k)
			n++
		}
	default:
		return 0, false
	}
	return n, true
}

// tableMember reads a member of an ES|QL, SQL or PPL answer. With columnar the
// values are columns of rows instead of rows of columns, which shows in the
// number of columns.
func (z *Summarizer) tableMember(s *summaryCell, key []byte) {
	switch string(key) {
	case "columns", "schema":
		if n, ok := z.size(); ok {
			s.columns = n
		}
	case "values", "rows", "datarows":
		z.rows(s)
	case "hits": // OpenSearch SQL with format=json
		z.hits(s)
	case "aggregations":
		z.aggregations()
	default:
		z.c.skip()
	}
}

func (z *Summarizer) rows(s *summaryCell) {
	c := &z.c
	if !c.enter(ArrayStart) {
		return
	}
	outer, inner := 0, -1
	for k, ok := c.element(); ok; k, ok = c.element() {
		outer++
		if k.Kind != ArrayStart || inner >= 0 {
			c.leave(k)
			continue
		}
		inner = 0
		for k, ok := c.element(); ok; k, ok = c.element() {
			c.leave(k)
			inner++
		}
	}
	columns, rows := s.columns, outer
	if columns > 0 && outer == columns && inner != columns && inner >= 0 {
		rows = inner
	}
	s.Hits = put(&s.hits, rows)
}

// getMember reads a member of the answer to a GET of a document. It may be the
// bare _source, in which a member found could only be a field of the document.
func (z *Summarizer) getMember(s *summaryCell, key []byte) {
	if string(key) != "found" {
		z.c.skip()
		return
	}
	if found, ok := z.c.boolean(); ok && !found {
		s.Found = put(&s.found, 0)
	}
}

// smallMember reads a member of an answer that has only one of interest.
func (z *Summarizer) smallMember(s *summaryCell, kind answerKind, key []byte) {
	c, name := &z.c, string(key)
	switch {
	case kind == answerCount && name == "count":
		s.Count = maybe(&s.count)(c.number())
	case kind == answerWrite && name == "result":
		s.Result = writeResult(c.str())
	case kind == answerFieldCaps && name == "fields":
		if n, ok := z.size(); ok {
			s.Count = put(&s.count, int64(n))
		}
	case kind == answerFieldCaps && name == "failures":
		s.Failed = maybe(&s.failed)(z.size())
	case kind == answerTerms && name == "terms":
		s.Hits = maybe(&s.hits)(z.size())
	case kind == answerTerms && name == "complete":
		if complete, ok := c.boolean(); ok {
			s.Partial = put(&s.partial, !complete)
		}
	case kind == answerFlag && (name == "valid" || name == "matched" || name == "found"):
		if yes, ok := c.boolean(); ok {
			s.Found = put(&s.found, 0)
			if yes {
				s.found = 1
			}
		}
	default:
		c.skip()
	}
}

func writeResult(b []byte) string {
	switch string(b) {
	case "":
		return ""
	case "created":
		return "created"
	case "updated":
		return "updated"
	case "deleted":
		return "deleted"
	case "noop":
		return "noop"
	case "not_found":
		return "not_found"
	}
	return "other"
}
