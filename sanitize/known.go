package sanitize

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/esshadow/esshadow/internal/es"
)

// addSchema takes over what the source says of its fields.
func (p *Pipeline) addSchema(s *es.Schema) error {
	p.byField = len(p.rules) > 0 || s != nil
	if s == nil {
		return nil
	}
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("sanitize: hash schema: %w", err)
	}
	sum := sha256.Sum256(text)
	p.snapshot, p.schema, p.schemaHash = s, s.Table(), hex.EncodeToString(sum[:8])
	p.styles = make(map[string]styleKey)
	p.schema.Each(func(_ string, f *es.FieldFacts) bool {
		root := valueField(f)
		k, ok := p.styles[root]
		t := &f.Text
		p.styles[root] = styleKey{
			fold: (k.fold || !ok) && t.Folds && t.Class != es.TextNone,
			stem: (k.stem || !ok) && t.Class == es.TextStem && t.Porter && t.Breaks == "",
		}
		return true
	})
	for path := range p.styles {
		if p.other != actTokens || p.schema.Field(path) == nil || p.schema.Copies(path) || len(p.schema.Sources(path)) > 0 {
			delete(p.styles, path)
		} else if p.styles[path] != (styleKey{}) && p.ruleFor(path) < 0 {
			p.mixed = true
		}
	}
	return nil
}

// valueField is the field whose value a field indexes.
func valueField(f *es.FieldFacts) string {
	if f.Parent != "" {
		return f.Parent
	}
	return f.Path
}

// SchemaHash names the schema that the fields' types come from, 16 hex digits;
// "" without one.
func (p *Pipeline) SchemaHash() string { return p.schemaHash }

// styleKey is how words are made equal that a field's analyser makes equal.
type styleKey struct{ fold, stem bool }

// normalizing is what the analysers of a value call for: of the field and of all
// its sub-fields, which are filled from one value.
func (p *Pipeline) normalizing(f *es.FieldFacts) styleKey { return p.styles[valueField(f)] }

// knownPlan is the plan of a path of which the schema may know.
func (w *Worker) knownPlan(path string) *plan {
	if pl, ok := w.view.plans[path]; ok {
		return pl
	}
	pl := w.newKnownPlan(path)
	w.rememberPlan(w.view.plans, path, pl)
	return pl
}

// newKnownPlan treats values of a field as the whole schema says, so that they are
// treated alike in all indices, and judges queries by what the indices at hand say.
func (w *Worker) newKnownPlan(path string) *plan {
	i := w.p.ruleFor(path)
	typed := w.p.schema.Field(path)
	if i < 0 && typed != nil {
		i = w.p.ruleFor(w.p.schema.Target(path))
	}
	if typed == nil {
		return w.rulePlan(i)
	}
	pl := *w.rulePlan(i)
	pl.copied = w.p.copiedInto(w.p.schema.Target(path), typed)
	pl.facts, pl.typed, pl.native = w.view.field(path, typed), typed, i < 0 && pl.action == actTokens
	if !pl.native {
		return &pl
	}
	if typed.Kind == es.KindIP {
		pl.action = actIPPrefix
	}
	if k := w.p.normalizing(typed); k != (styleKey{}) {
		pl.d = w.styledDomain(k)
	}
	pl.usual = isText(typed) && pl.d == w.other.d
	return &pl
}

// copied says what of a field's values came from fields that are treated unlike it.
type copied uint8

const (
	copiedNothing copied = iota
	copiedNumbers        // numbers, which stay in documents
	copiedText
)

// copiedInto is what copy_to puts into a field, or into the one that it is a
// sub-field of.
func (p *Pipeline) copiedInto(path string, f *es.FieldFacts) (c copied) {
	if f.Parent != "" {
		path = f.Parent
	}
	for _, source := range p.schema.Sources(path) {
		rule := p.ruleFor(source)
		switch g := p.schema.Field(source); {
		case rule != p.ruleFor(path):
			return copiedText
		case rule < 0 && (g == nil || !isText(g) && g.Kind != es.KindDate && g.Kind != es.KindIP && g.Kind != es.KindBoolean):
			c = copiedNumbers
		}
	}
	return c
}

// styledDomain makes pseudonyms of the default's domain of words in one form.
func (w *Worker) styledDomain(k styleKey) *domain {
	d := w.styled[k]
	if d == nil {
		const small = 12
		s := w.p.style
		s.fold, s.stem, s.runwise = k.fold, k.stem, true
		d = newDomain(w.p.text, &s, &w.post, small)
		if w.styled == nil {
			w.styled = make(map[styleKey]*domain)
		}
		w.styled[k] = d
	}
	return d
}

// manyPlan is the plan of a clause over several fields, by their names; none:
// over all.
func (w *Worker) manyPlan(names []string) *plan {
	key := strings.Join(names, ",")
	if pl, ok := w.view.many[key]; ok {
		return pl
	}
	f := w.factsOf(names)
	pl := &plan{action: w.other.action, d: w.other.d, facts: f, typed: f}
	w.rememberPlan(w.view.many, key, pl)
	return pl
}

// factsOf is what holds in all fields that names and patterns stand for, nil
// where one of them is not known.
func (w *Worker) factsOf(names []string) *es.FieldFacts {
	if len(names) == 0 {
		names = []string{"*"}
	}
	var all *es.FieldFacts
	add := func(f *es.FieldFacts) {
		if all == nil {
			all = f
			return
		}
		both := all.And(*f)
		all = &both
	}
	for _, name := range names {
		if !strings.Contains(name, "*") {
			f := w.knownPlan(name).facts
			if f == nil { // as without a schema, but for what the others break
				f = &es.FieldFacts{}
			}
			add(f)
			continue
		}
		w.view.table.Each(func(path string, f *es.FieldFacts) bool {
			if glob(name, path) && !f.Runtime {
				add(w.view.field(path, w.p.schema.Field(path)))
			}
			return true
		})
	}
	return all
}

// about makes facts those of the value at hand, until what it returns is called.
// Where fields of several kinds are at hand, only what their analysers break tells
// them from a field that is not known.
func (w *Worker) about(f *es.FieldFacts) func() {
	fact, open := w.fact, w.open
	if w.fact, w.open = f, nil; f != nil && f.Kind == es.KindOpen {
		w.fact, w.open = nil, f
	}
	return func() { w.fact, w.open = fact, open }
}

// paramFields is the plan of the fields that q= searches.
func (w *Worker) paramFields() *plan {
	for name, value := range es.Params(w.route.Query) {
		if name == "df" && value != "" {
			if text, ok := es.Unescape(nil, value, true); ok {
				return w.manyPlan([]string{string(text)})
			}
		}
	}
	return w.manyPlan(nil)
}

// fieldPlans are the plans for the text of a clause that names its fields: of all of
// them, and, where it is one, of that one.
type fieldPlans struct{ all, one *plan }

func (w *Worker) plansOf(names []string) fieldPlans {
	f := fieldPlans{all: w.manyPlan(names)}
	if len(names) == 1 && !strings.Contains(names[0], "*") {
		f.one = w.knownPlan(names[0])
	}
	return f
}

// over is the plan for a text that is not for one field by its place: pl, but for
// clauses that name fields by a list.
func (r *rewriter) over(p prim, pl *plan) *plan {
	switch {
	case pl.facts != nil || r.inDoc || len(r.path) > 0 || r.fields.all == nil:
		return pl
	case r.fields.one != nil && p != pLucene: // in which words for other fields may stand
		return r.fields.one
	}
	return r.fields.all
}

// peekFields are the plans for the fields that an object which was just opened
// names.
func (r *rewriter) peekFields() fieldPlans {
	saved := r.t
	defer func() { r.t = saved }()
	var names []string
	for {
		k, err := r.t.Next()
		if err != nil || k.Kind != es.Key {
			return r.plansOf(names) // the walk itself reports what is wrong
		}
		key := string(r.t.Raw(k))
		start, end, err := r.t.Skip()
		if err != nil {
			return r.plansOf(names)
		}
		if key != `"fields"` && key != `"default_field"` {
			continue
		}
		var list []string
		if raw := r.in[start:end]; json.Unmarshal(raw, &list) != nil {
			list = make([]string, 1)
			if json.Unmarshal(raw, &list[0]) != nil {
				continue
			}
		}
		for _, name := range list {
			name, _, _ = strings.Cut(name, "^")
			names = append(names, name)
		}
	}
}

func isText(f *es.FieldFacts) bool {
	return f != nil && (f.Kind == es.KindWhole || f.Kind == es.KindText)
}

func isNumeric(f *es.FieldFacts) bool {
	return f.Kind == es.KindInteger || f.Kind == es.KindFraction
}

// keepsOrder tells that values of a field stand in the same order as the values
// that took their places.
func (w *Worker) keepsOrder(pl *plan) bool {
	f := pl.facts
	if f == nil || f.Runtime {
		return false
	}
	switch {
	case pl.action == actKeep:
		return pl.values == nil && f.Kind != es.KindOpen && w.p.cfg.Detectors.InKeptFields != detectMask
	case pl.action == actShift:
		return isNumeric(f)
	case pl.action == actDateShift:
		return f.Kind == es.KindDate
	case !pl.native:
		return false
	}
	switch f.Kind {
	case es.KindBoolean:
		return w.p.boolean == actKeep
	case es.KindInteger:
		// In strict a document's number in a string is permuted, one without is not.
		return w.p.ints == numbersKeep || w.p.ints == numbersGuard && f.Digits > 0
	case es.KindFraction:
		return w.p.ints == numbersKeep && w.p.floats == numbersKeep
	case es.KindDate:
		return !w.p.style.shiftDates || movable(f.Format)
	}
	return false
}

// movable tells that dates of all forms that a mapping allows are moved by whole
// weeks: those with the year first, and no points in time as numbers.
func movable(format string) bool {
	if format == "" {
		return false // epoch_millis is allowed where nothing is said
	}
	for part := range strings.SplitSeq(format, "||") {
		part = strings.TrimPrefix(strings.TrimSpace(part), "strict_")
		if part = strings.TrimPrefix(part, "8"); !slices.Contains([]string{"date", "date_time", "date_time_no_millis"}, part) &&
			!strings.HasPrefix(part, "yyyy-MM-dd") && !strings.HasPrefix(part, "yyyy/MM/dd") && !strings.HasPrefix(part, "uuuu-MM-dd") {
			return false
		}
	}
	return true
}

// basicDates tells that a mapping's dates may be eight digits.
func basicDates(format string) bool {
	return strings.Contains(format, "basic_date") || slices.Contains(strings.Split(format, "||"), "yyyyMMdd")
}

func hasIdeographs(s []byte) bool {
	return bytes.ContainsFunc(s, isCJK)
}

// ByType says what becomes of the values of a field that no rule is for, by the
// type that the schema gives it, in the words of the rules.
func (p *Pipeline) ByType(path string) string {
	action := Actions()[p.other]
	if p.schema == nil || p.other != actTokens {
		return action
	}
	f := p.schema.Field(path)
	if f == nil {
		return action
	}
	switch f.Kind {
	case es.KindIP:
		return "ip-prefix"
	case es.KindInteger, es.KindFraction:
		return "numbers: " + p.cfg.Numbers
	case es.KindDate:
		return "dates: " + p.cfg.Dates
	case es.KindBoolean:
		return Actions()[p.boolean]
	case es.KindOpen:
		return "by value"
	}
	var norm []string
	k := p.normalizing(f)
	if k.fold {
		norm = append(norm, "fold")
	}
	if k.stem {
		norm = append(norm, "stem:english")
	}
	if len(norm) > 0 {
		action += " [" + strings.Join(norm, ", ") + "]"
	}
	return action
}
