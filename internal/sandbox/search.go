package sandbox

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/esshadow/esshadow/internal/es"
)

// maxWindow is the deepest page, and defaultTrack how far hits are counted,
// unless a request says otherwise.
const (
	maxWindow    = 10000
	defaultTrack = 10000
)

// searchRequest is a search body joined with its URL parameters.
type searchRequest struct {
	query, postFilter, after *node
	from, size               int
	sort                     []sortKey
	implicit                 bool // the last sort key was added by a point in time
	source                   *selection
	track                    int64 // count exactly up to; 0: not at all
	aggs                     []*aggregation
	minScore                 float64
	trackScores              bool
	version, seqNo           bool
	totalAsInt, typedKeys    bool
	scroll                   time.Duration
	pit                      string
	keepAlive                time.Duration
	unlimited                bool // scroll: sort everything that matched
}

func parseSearch(body *node, p params) (*searchRequest, error) {
	r := &searchRequest{size: 10, track: defaultTrack, minScore: math.Inf(-1)}
	if body != nil {
		if !body.isObject() {
			return nil, parsing("Expected [START_OBJECT] but found [%s]", body.raw)
		}
		if err := body.only("search", "query", "post_filter", "search_after", "from", "size", "sort", "_source", "track_total_hits",
			"aggs", "aggregations", "min_score", "track_scores", "version", "seq_no_primary_term", "pit", "timeout", "profile", "explain"); err != nil {
			return nil, err
		}
	}
	for _, step := range []func(*node, params) error{r.readPage, r.readOrder, r.readCount, r.readFlags, r.readCursor} {
		if err := step(body, p); err != nil {
			return nil, err
		}
	}
	return r, r.check()
}

func (r *searchRequest) readPage(body *node, p params) (err error) {
	if r.from, err = body.integer("from", 0); err != nil {
		return err
	}
	if r.size, err = body.integer("size", 10); err != nil {
		return err
	}
	if r.from, err = p.integer("from", r.from); err != nil {
		return err
	}
	if r.size, err = p.integer("size", r.size); err != nil {
		return err
	}
	if body != nil {
		r.query, r.postFilter, r.after = body.get("query"), body.get("post_filter"), body.get("search_after")
	}
	if q, ok := p["q"]; ok {
		qs := objectOf("query", q)
		if df := p["df"]; df != "" {
			qs = qs.merge(objectOf("default_field", df))
		}
		if op := p["default_operator"]; op != "" {
			qs = qs.merge(objectOf("default_operator", op))
		}
		r.query = &node{kind: es.ObjectStart, keys: []string{"query_string"}, kids: []*node{qs}}
	}
	return nil
}

func (r *searchRequest) readOrder(body *node, p params) (err error) {
	if r.sort, err = parseSort(body.get("sort")); err != nil {
		return err
	}
	if s := p["sort"]; s != "" {
		r.sort = nil
		for _, part := range strings.Split(s, ",") {
			name, order, _ := strings.Cut(part, ":")
			r.sort = append(r.sort, newSortKey(name, order))
		}
	}
	if r.source, err = sourceSelection(body.get("_source")); err != nil {
		return err
	}
	r.source = sourceParams(p, r.source)
	return nil
}

func (r *searchRequest) readCount(body *node, p params) error {
	s, ok := body.get("track_total_hits").str()
	if v, given := p["track_total_hits"]; given {
		s, ok = v, true
	}
	r.totalAsInt = p.flag("rest_total_hits_as_int")
	r.typedKeys = p.flag("typed_keys")
	switch s {
	case "true", "":
		if ok || r.totalAsInt {
			r.track = math.MaxInt64
		}
	case "false":
		r.track = 0
	default:
		n, err := strconv.ParseInt(s, 10, 32)
		if err != nil || n < -1 {
			return parsing("[track_total_hits] must be true, false or a whole number")
		}
		if r.track = n; n == -1 {
			r.track = math.MaxInt64
		}
		if r.totalAsInt {
			return illegal("[rest_total_hits_as_int] cannot be used if the tracking of total hits is not accurate, got %d", n)
		}
	}
	return nil
}

func (r *searchRequest) readFlags(body *node, _ params) (err error) {
	for _, k := range []string{"profile", "explain"} {
		if on, err := body.boolean(k, false); err != nil || on {
			return unsupported(k)
		}
	}
	if r.minScore, err = body.float("min_score", math.Inf(-1)); err != nil {
		return err
	}
	for key, to := range map[string]*bool{"track_scores": &r.trackScores, "version": &r.version, "seq_no_primary_term": &r.seqNo} {
		if *to, err = body.boolean(key, false); err != nil {
			return err
		}
	}
	aggs := body.get("aggs")
	if aggs == nil {
		aggs = body.get("aggregations")
	}
	r.aggs, err = parseAggs(aggs, 0)
	return err
}

func (r *searchRequest) readCursor(body *node, p params) (err error) {
	if s := p["scroll"]; s != "" {
		if r.scroll, err = keepAlive(s); err != nil {
			return err
		}
		r.unlimited = true
	}
	pit := body.get("pit")
	if pit == nil {
		return nil
	}
	if err := pit.only("pit", "id", "keep_alive"); err != nil {
		return err
	}
	r.pit, _ = pit.get("id").str()
	if s, ok := pit.get("keep_alive").str(); ok {
		r.keepAlive, err = keepAlive(s)
	}
	if last := len(r.sort) - 1; last < 0 || r.sort[last].name != "_shard_doc" {
		if len(r.sort) > 0 {
			r.sort, r.implicit = append(r.sort, newSortKey("_shard_doc", "asc")), true
		}
	}
	return err
}

func (r *searchRequest) check() error {
	switch {
	case r.from < 0:
		return illegal("[from] parameter cannot be negative but was [%d]", r.from)
	case r.size < 0:
		return illegal("[size] parameter cannot be negative, found [%d]", r.size)
	case r.from+r.size > maxWindow || r.scroll > 0 && r.size > maxWindow:
		return illegal("Result window is too large, from + size must be less than or equal to: [%d] but was [%d]. See the scroll api for a more efficient way to request large data sets. This limit can be set by changing the [index.max_result_window] index level setting.", maxWindow, r.from+r.size)
	case r.scroll > 0 && r.from > 0:
		return validation("using [from] is not allowed in a scroll context")
	case r.scroll > 0 && r.size == 0:
		return validation("[size] cannot be [0] in a scroll context")
	case r.scroll > 0 && r.after != nil:
		return validation("`search_after` cannot be used in a scroll context.")
	case r.after != nil && r.from > 0:
		return validation("`from` parameter must be set to 0 when `search_after` is used")
	}
	return nil
}

func validation(reason string) error {
	return failf(400, "action_request_validation_exception", "Validation Failed: 1: %s;", reason)
}

// target is what is searched of one index: its documents now or at the time of
// a snapshot; nil elements are gaps.
type target struct {
	ix   *index
	docs []*doc
}

// found is one hit.
type found struct {
	d     *doc
	ix    *index
	shard int
	score float64
	vals  []sortValue
}

// result is what a search found; hits are sorted and cut to the page.
type result struct {
	total    int64
	hits     []found
	maxScore float64
	scored   bool
	keys     []sortKey
	aggs     []byte // rendered object, nil without aggregations
	shards   int
}

// search runs a request. The caller holds the engine's lock for reading.
func (r *searchRequest) search(targets []target, now time.Time, ties Ties) (*result, error) {
	res := &result{shards: len(targets), keys: r.sort, maxScore: math.Inf(-1)}
	res.scored = r.size > 0 && len(r.sort) == 0 || r.trackScores || slices.ContainsFunc(r.sort, func(k sortKey) bool { return k.name == "_score" })
	top := &topHits{keys: res.keys, ties: ties, limit: r.from + r.size}
	if r.unlimited {
		top.limit = math.MaxInt
	}
	if len(targets) == 0 {
		targets = []target{{ix: newIndex("", "", 0, nil)}}
	}
	sets := make([]docSet, 0, len(targets))
	for shard, t := range targets {
		set, err := r.scan(t, shard, now, res, top)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	if len(r.aggs) > 0 {
		a := aggregator{now: now, typedKeys: r.typedKeys}
		var err error
		if res.aggs, err = a.appendAll([]byte{'{'}, r.aggs, sets); err != nil {
			return nil, err
		}
		res.aggs = append(res.aggs, '}')
	}
	res.hits = top.sorted()
	if !r.unlimited {
		res.hits = res.hits[min(r.from, len(res.hits)):]
	}
	return res, nil
}

func (r *searchRequest) scan(t target, shard int, now time.Time, res *result, top *topHits) (docSet, error) {
	set := docSet{ix: t.ix}
	c := &compiler{ix: t.ix, now: now, scoring: res.scored || !math.IsInf(r.minScore, -1)}
	m, err := c.query(r.query)
	if err != nil {
		return set, err
	}
	post, err := (&compiler{ix: t.ix, now: now}).query(r.postFilter)
	if err != nil {
		return set, err
	}
	keys := r.sort
	if t.ix.name != "" {
		if keys, err = bindSort(r.sort, t.ix); err != nil {
			return set, err
		}
	}
	after, err := parseAfter(r.after, keys, t.ix, r.implicit)
	if err != nil {
		return set, err
	}
	vals := make([]sortValue, len(keys))
	for _, d := range t.docs {
		if d == nil {
			continue
		}
		score, ok := m.match(d)
		score = float64(float32(score)) // as Lucene keeps it, and as it is written
		if !ok || score < r.minScore {
			continue
		}
		if len(r.aggs) > 0 {
			set.docs = append(set.docs, d)
		}
		if r.postFilter != nil {
			if _, ok := post.match(d); !ok {
				continue
			}
		}
		res.total++
		res.maxScore = max(res.maxScore, score)
		for i := range keys {
			vals[i] = keys[i].value(d, shard, score)
		}
		if after == nil || compareAfter(keys, vals, after) > 0 {
			top.add(found{d: d, ix: t.ix, shard: shard, score: score, vals: vals})
		}
	}
	return set, nil
}

func compareAfter(keys []sortKey, vals, after []sortValue) int {
	for i := range after {
		if c := keys[i].compare(&vals[i], &after[i]); c != 0 {
			return c
		}
	}
	return 0
}
