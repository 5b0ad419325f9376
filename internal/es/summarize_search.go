package es

// searchMember reads a member of a search answer, a scroll page, an EQL answer
// or an asynchronous one, which has the answer in its member response.
func (z *Summarizer) searchMember(s *summaryCell, key []byte, outer bool) {
	switch string(key) {
	case "hits":
		z.hits(s)
	case "aggregations", "aggs":
		z.aggregations()
	case "response":
		if outer && z.c.enter(ObjectStart) {
			z.members(s, answerSearch, 200, false)
		} else if !outer {
			z.c.skip()
		}
	case "state": // OpenSearch asynchronous search
		if state := z.c.str(); state != nil {
			s.Running = put(&s.running, string(state) == "RUNNING")
		}
	default:
		z.c.skip()
	}
}

// hits reads the object hits of an answer.
func (z *Summarizer) hits(s *summaryCell) {
	if !z.c.enter(ObjectStart) {
		return
	}
	for key := z.c.member(); key != nil; key = z.c.member() {
		switch string(key) {
		case "total":
			z.total(s)
		case "hits", "events", "sequences":
			z.hitList(s)
		default:
			z.c.skip()
		}
	}
}

// total reads hits.total: an object, or a number as older versions give it.
// Those have -1 where the hits were not counted.
func (z *Summarizer) total(s *summaryCell) {
	k := z.c.next()
	if k.Kind == Number {
		if n, ok := wholeNumber(z.c.in[k.Start:k.End]); ok && n >= 0 {
			s.Total = put(&s.total, Total{Value: n, Relation: "eq"})
		}
		return
	}
	if k.Kind != ObjectStart {
		z.c.leave(k)
		return
	}
	total, known := Total{Relation: "eq"}, false
	for key := z.c.member(); key != nil; key = z.c.member() {
		switch string(key) {
		case "value":
			total.Value, known = z.c.number()
		case "relation":
			if string(z.c.str()) == "gte" {
				total.Relation = "gte"
			}
		default:
			z.c.skip()
		}
	}
	if known {
		s.Total = put(&s.total, total)
	}
}

func (z *Summarizer) hitList(s *summaryCell) {
	if !z.c.enter(ArrayStart) {
		return
	}
	n := 0
	for k, ok := z.c.element(); ok; k, ok = z.c.element() {
		n++
		if k.Kind == ObjectStart && len(z.idText) < MaxTopIDs*digestLen {
			z.hit(true)
		} else {
			z.c.leave(k)
		}
	}
	s.Hits = put(&s.hits, n)
}

// hit takes the id of the open hit. An EQL sequence has events instead.
func (z *Summarizer) hit(outer bool) {
	for key := z.c.member(); key != nil; key = z.c.member() {
		switch {
		case string(key) == "_id":
			z.hitID(z.c.str())
			z.c.skipOpen()
			return
		case outer && string(key) == "events":
			z.sequence()
		default:
			z.c.skip()
		}
	}
}

func (z *Summarizer) sequence() {
	if !z.c.enter(ArrayStart) {
		return
	}
	for k, ok := z.c.element(); ok; k, ok = z.c.element() {
		if k.Kind == ObjectStart {
			z.hit(false)
		} else {
			z.c.leave(k)
		}
	}
}

func (z *Summarizer) hitID(id []byte) {
	if id == nil || len(z.idText) >= MaxTopIDs*digestLen {
		return
	}
	if z.mapper.ID != nil {
		z.mapped = z.mapper.ID(z.mapped[:0], id)
		id = z.mapped
	}
	z.idText = appendDigest(z.idText, id)
}

// shards reads the object _shards.
func (z *Summarizer) shards(s *summaryCell) {
	if !z.c.enter(ObjectStart) {
		return
	}
	var sh Shards
	for key := z.c.member(); key != nil; key = z.c.member() {
		var at *int
		switch string(key) {
		case "total":
			at = &sh.Total
		case "successful":
			at = &sh.Successful
		case "skipped":
			at = &sh.Skipped
		case "failed":
			at = &sh.Failed
		default:
			z.c.skip()
			continue
		}
		n, _ := z.c.number()
		*at = int(n)
	}
	s.Shards = put(&s.shards, sh)
}

// msearchMember reads a member of an msearch answer. Each of its responses is
// summarised as the answer that it is.
func (z *Summarizer) msearchMember(s *summaryCell, key []byte) {
	if string(key) != "responses" {
		z.c.skip()
		return
	}
	if !z.c.enter(ArrayStart) {
		return
	}
	n := 0
	z.items = z.items[:0]
	for k, ok := z.c.element(); ok; k, ok = z.c.element() {
		n++
		if k.Kind != ObjectStart || n > MaxItems {
			z.c.leave(k)
			continue
		}
		z.items = append(z.items, z.item())
	}
	s.Hits = put(&s.hits, n)
	s.Items = append([]Item(nil), z.items...)
	clear(z.items)
	if n > MaxItems {
		s.Cut = append(s.Cut, CutItems)
	}
}

func (z *Summarizer) item() Item {
	s, status := new(summaryCell), int64(0)
	for key := z.c.member(); key != nil; key = z.c.member() {
		switch {
		case string(key) == "status":
			status, _ = z.c.number()
		case z.anyMember(s, key):
		default:
			z.searchMember(s, key, false)
		}
	}
	z.finish(s)
	return Item{Status: int(status), Summary: s.Summary}
}
