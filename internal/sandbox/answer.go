package sandbox

import "math"

// appendSearch writes a search answer without its closing brace, so that a
// status can follow.
func (r *searchRequest) appendSearch(b []byte, res *result, tookMS int64, scrollID, pitID string) []byte {
	b = append(b, '{')
	if scrollID != "" {
		b = append(appendString(append(b, `"_scroll_id":`...), scrollID), ',')
	}
	if pitID != "" {
		b = append(appendString(append(b, `"pit_id":`...), pitID), ',')
	}
	b = appendInt(append(b, `"took":`...), tookMS)
	b = append(b, `,"timed_out":false,"_shards":`...)
	b = appendShards(b, res.shards)
	b = append(b, `,"hits":{`...)
	b = r.appendTotal(b, res.total)
	b = append(b, `"max_score":`...)
	if res.scored && res.total > 0 && r.size > 0 {
		b = appendScore(b, res.maxScore)
	} else {
		b = append(b, "null"...)
	}
	b = append(b, `,"hits":[`...)
	for i := range res.hits {
		if i > 0 {
			b = append(b, ',')
		}
		b = r.appendHit(b, res, &res.hits[i])
	}
	b = append(b, "]}"...)
	if res.aggs != nil {
		b = append(append(b, `,"aggregations":`...), res.aggs...)
	}
	return b
}

func appendShards(b []byte, n int) []byte {
	b = appendInt(append(b, `{"total":`...), int64(n))
	b = appendInt(append(b, `,"successful":`...), int64(n))
	return append(b, `,"skipped":0,"failed":0}`...)
}

func (r *searchRequest) appendTotal(b []byte, total int64) []byte {
	if r.track == 0 {
		return b
	}
	relation := "eq"
	if total > r.track {
		total, relation = r.track, "gte"
	}
	b = append(b, `"total":`...)
	if r.totalAsInt {
		return append(appendInt(b, total), ',')
	}
	b = appendInt(append(b, `{"value":`...), total)
	b = append(b, `,"relation":"`...)
	return append(append(b, relation...), `"},`...)
}

// appendScore writes a score with the precision of a float, as Lucene has it.
func appendScore(b []byte, s float64) []byte {
	if s == math.Trunc(s) {
		return appendFloat(b, s)
	}
	return appendFloat32(b, float32(s))
}

func (r *searchRequest) appendHit(b []byte, res *result, h *found) []byte {
	b = appendString(append(b, `{"_index":`...), h.ix.name)
	b = appendString(append(b, `,"_id":`...), h.d.id)
	if r.version {
		b = appendInt(append(b, `,"_version":`...), h.d.version)
	}
	if r.seqNo {
		b = appendInt(append(b, `,"_seq_no":`...), h.d.seq)
		b = append(b, `,"_primary_term":1`...)
	}
	b = append(b, `,"_score":`...)
	if res.scored {
		b = appendScore(b, h.score)
	} else {
		b = append(b, "null"...)
	}
	b = appendSource(b, h.d.source, r.source)
	if len(res.keys) > 0 {
		b = append(b, `,"sort":[`...)
		for i := range res.keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = res.keys[i].append(b, &h.vals[i])
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

// appendSource writes ,"_source":… as far as it is wanted.
func appendSource(b, source []byte, s *selection) []byte {
	if s != nil && s.none {
		return b
	}
	b = append(b, `,"_source":`...)
	if s.all() {
		return append(b, source...)
	}
	root, err := parseJSON(source)
	if err != nil { // it was read when it was stored
		return append(b, "{}"...)
	}
	return s.apply(root).append(b)
}
