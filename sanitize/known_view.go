package sanitize

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/esshadow/esshadow/internal/es"
)

// view is what the schema says of the indices that a request names.
type view struct {
	table *es.FieldTable
	plans map[string]*plan // by path
	many  map[string]*plan // by the names of several fields
}

func newView(t *es.FieldTable) *view {
	return &view{table: t, plans: map[string]*plan{}, many: map[string]*plan{}}
}

func (v *view) forget() {
	clear(v.plans)
	clear(v.many)
}

// Bounds of the plans that a worker remembers, of all its views together.
const (
	maxPlans   = 1 << 16
	maxPlanKey = 1 << 10 // bytes; what has a longer name is worked out each time
)

// rememberPlan keeps a plan for the next time.
func (w *Worker) rememberPlan(in map[string]*plan, key string, pl *plan) {
	if len(key) > maxPlanKey {
		return
	}
	if w.viewPlans++; w.viewPlans > maxPlans {
		w.viewPlans = 1
		w.all.forget()
		for _, v := range w.groups {
			v.forget()
		}
	}
	in[key] = pl
}

// field is what is known of a path in the view's indices. What is not known of it
// in all indices is not known here: values are treated alike everywhere.
func (v *view) field(path string, typed *es.FieldFacts) *es.FieldFacts {
	here := v.table.Field(path)
	switch {
	case here == nil || here == typed:
		return typed
	case here.Kind != typed.Kind:
		open := *here
		open.Kind = typed.Kind
		return &open
	}
	return here
}

// What a worker remembers: index expressions, and fields of the views for them.
// Where a cluster has more, queries are judged by all indices, which is never less
// cautious.
const (
	maxViews      = 1 << 10
	maxViewFields = 1 << 17
	maxGroupViews = 1 << 8
)

// look makes the view that of an index expression: of the indices that its names and
// patterns match, or of all where one of them may be an alias or a remote cluster's.
func (w *Worker) look(expr string) {
	if w.p.schema == nil {
		return
	}
	v := w.views[expr]
	switch {
	case v != nil:
	case len(expr) > maxPlanKey:
		v = w.viewOf(expr)
	default:
		if w.views == nil || len(w.views) >= maxViews {
			w.views = map[string]*view{}
		}
		v = w.viewOf(expr)
		w.views[strings.Clone(expr)] = v
	}
	if v != w.view {
		w.view = v
		clear(w.recent)
	}
}

// viewOf is the view of the groups of indices that an expression names.
func (w *Worker) viewOf(expr string) *view {
	groups := make([]byte, len(w.p.snapshot.Groups))
	for part := range strings.SplitSeq(expr, ",") {
		if part == "" || strings.ContainsAny(part, ":<>{}") || strings.HasPrefix(part, "-") || part == "_all" || part == "*" || !w.markGroups(groups, part) {
			return w.all
		}
	}
	if bytes.IndexByte(groups, 0) < 0 {
		return w.all
	}
	if v := w.groups[string(groups)]; v != nil {
		return v
	}
	table := w.p.snapshot.TableOf(func(i int) bool { return groups[i] != 0 })
	if w.viewFields += table.Len(); w.viewFields > maxViewFields || len(w.groups) >= maxGroupViews {
		w.viewFields = maxViewFields
		return w.all
	}
	v := newView(table)
	w.groups[string(groups)] = v
	return v
}

// markGroups marks the groups that have an index of a name, or of a pattern; it is
// false where none has.
func (w *Worker) markGroups(groups []byte, pattern string) (found bool) {
	for i := range groups {
		if slices.ContainsFunc(w.p.snapshot.Groups[i].Indices, func(index string) bool { return glob(pattern, index) }) {
			groups[i], found = 1, true
		}
	}
	return found
}

// lookAtHeader is look for a search of an _msearch: the indices of its header are
// before those of the path.
func (w *Worker) lookAtHeader(header []byte) {
	if w.p.schema == nil {
		return
	}
	var h struct {
		Index, Indices json.RawMessage
	}
	if json.Unmarshal(header, &h) != nil {
		w.look("")
		return
	}
	if len(h.Index) == 0 {
		h.Index = h.Indices
	}
	var names []string
	if json.Unmarshal(h.Index, &names) != nil {
		var one string
		if json.Unmarshal(h.Index, &one) != nil {
			w.look(w.route.Index)
			return
		}
		names = []string{one}
	}
	w.look(strings.Join(names, ","))
}
