package sanitize

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/sanitize/audit"
	"github.com/esshadow/esshadow/sanitize/canary"
)

// mutant is a Pipeline in which one position is not handled: what stands there
// is kept, as an option's value would be.
type mutant struct {
	name string
	make func(p *Pipeline) // breaks p, whose tables are its own
	undo func(p *Pipeline)
}

// suite is the canary cases as exchanges, made once.
type suite struct {
	cases []canary.Case
	in    []*capture.Exchange
}

func newSuite(t testing.TB) *suite {
	t.Helper()
	cases, err := canary.Cases()
	if err != nil {
		t.Fatal(err)
	}
	s := &suite{}
	for _, c := range cases {
		if c.Wire { // nothing that the sanitiser sees
			continue
		}
		s.cases = append(s.cases, c)
		s.in = append(s.in, caseExchange(t, &c))
	}
	return s
}

func caseExchange(t testing.TB, c *canary.Case) *capture.Exchange {
	t.Helper()
	body, err := c.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	x := &capture.Exchange{Method: c.Method, Target: c.Path, Status: 200}
	if c.Direction == canary.DirectionOut {
		x.Status, x.Answer, x.AnswerSize = c.Status, body, int64(len(body))
		x.AnswerType, x.AnswerCoding = c.Headers["Content-Type"], c.Headers["Content-Encoding"]
		return x
	}
	x.Body, x.BodySize = body, int64(len(body))
	for _, k := range slices.Sorted(maps.Keys(c.Headers)) {
		x.Header = append(x.Header, capture.Header{Name: k, Value: c.Headers[k]})
	}
	return x
}

// leaks gives the names of the cases whose marks are in their record; first
// stops at the first one.
func (s *suite) leaks(t testing.TB, p *Pipeline, only func(i int) bool, first bool) (names []string, drops map[string]string) {
	t.Helper()
	w := p.Worker()
	drops = map[string]string{}
	for i := range s.cases {
		if only != nil && !only(i) {
			continue
		}
		c := &s.cases[i]
		var rec capture.Record
		if drop := w.Sanitize(&rec, s.in[i]); drop != "" {
			drops[c.Name] = drop
			continue
		}
		if c.Expect == canary.ExpectDropped {
			names = append(names, c.Name+" (not dropped)")
		}
		scan, err := audit.New(audit.Options{Words: c.Canaries})
		if err != nil {
			t.Fatal(err)
		}
		scan.Line("", capture.AppendRecord(nil, &rec))
		if r := scan.Report(); r.Found > 0 && !c.Keeps(p.Preset()) {
			names = append(names, c.Name+" at "+r.Findings[0].Field)
			if first {
				return names, drops
			}
		}
	}
	return names, drops
}

// TestBuiltInCanaries: nothing leaks, and what is to be seen is not dropped
// wholesale.
func TestBuiltInCanaries(t *testing.T) {
	s := newSuite(t)
	for _, name := range []string{PresetStrict, PresetFidelity, PresetECSLogs, PresetCommerce, PresetShapeOnly} {
		p, err := New(preset(name), testKey(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		leaks, drops := s.leaks(t, p, nil, false)
		for _, l := range leaks {
			t.Errorf("%s: LEAKED: %s", name, l)
		}
		absent := 0
		for i := range s.cases {
			if s.cases[i].Expect == canary.ExpectAbsent {
				absent++
				if d, dropped := drops[s.cases[i].Name]; dropped && name == PresetStrict {
					t.Logf("%s: %s is dropped: %s", name, s.cases[i].Name, d)
				}
			}
		}
		t.Logf("%s: %d cases, %d captured, %d dropped, %d leaked", name, len(s.cases), len(s.cases)-len(drops), len(drops), len(leaks))
		if len(s.cases)-len(drops) < absent*8/10 {
			t.Errorf("%s: too many are dropped to say anything", name)
		}
	}
}

// TestCanariesSeeUnsanitised: the suite is not blind: what is stored as it came
// is found, case by case.
func TestCanariesSeeUnsanitised(t *testing.T) {
	s := newSuite(t)
	for i := range s.cases {
		c, x := &s.cases[i], s.in[i]
		rec := capture.Record{Method: x.Method, Target: x.Target, Header: x.Header, Body: x.Body}
		if c.Direction == canary.DirectionOut {
			rec.Body = x.Answer
			for k, v := range c.Headers {
				rec.Header = append(rec.Header, capture.Header{Name: k, Value: v})
			}
		}
		scan, err := audit.New(audit.Options{Words: c.Canaries})
		if err != nil {
			t.Fatal(err)
		}
		scan.Line("", capture.AppendRecord(nil, &rec))
		seen := map[int]bool{}
		for _, f := range scan.Report().Findings {
			seen[f.Word] = true
		}
		if len(seen) < len(c.Canaries) {
			t.Errorf("%s: %d of %d marks are seen in the plain record", c.Name, len(seen), len(c.Canaries))
		}
	}
}

// asOption is a scalar position that lets pass what stands there: the handler of
// options where a word or a phrase is enough, that of objects of options where
// an object must pass.
func asOption(p prim) prim {
	switch p {
	case pDoc, pExt, pSecret, pVector, pGeo, pCursor:
		return pOptions
	}
	return pS
}

// isOptionPrim tells the positions of options: their values are kept as they
// are, if they look like options at all.
func isOptionPrim(p prim) bool {
	_, _, _, ok := markedValue(p, "")
	return !ok
}

// tableMutants is one mutant for each position of the tables.
func tableMutants(p *Pipeline) (all []mutant) {
	for _, on := range slices.Sorted(maps.Keys(p.g.objects)) {
		o := p.g.objects[on]
		for _, k := range slices.Sorted(maps.Keys(o.keys)) {
			n := o.keys[k]
			if !isOptionPrim(n.scalar) {
				broken := n
				broken.scalar = asOption(n.scalar)
				if broken.scalar == pOptions {
					broken.object = nil
				}
				all = append(all, mutant{
					on + "." + k, func(*Pipeline) { *o.member([]byte(k)) = broken }, func(*Pipeline) { *o.member([]byte(k)) = n },
				})
			}
			if n.elem != nil && !isOptionPrim(n.elem.scalar) {
				elem := *n.elem
				elem.scalar = pS
				broken := n
				broken.elem = &elem
				all = append(all, mutant{
					on + "." + k + "[]", func(*Pipeline) { *o.member([]byte(k)) = broken }, func(*Pipeline) { *o.member([]byte(k)) = n },
				})
			}
		}
		if kind := o.otherName; kind != nameNone && kind != nameOption {
			all = append(all, mutant{
				on + ".* (name)", func(*Pipeline) { o.otherName = nameOption }, func(*Pipeline) { o.otherName = kind },
			})
		}
		if scalar := o.other.scalar; !isOptionPrim(scalar) {
			object := o.other.object
			all = append(all, mutant{on + ".*", func(*Pipeline) {
				if o.other.scalar = asOption(scalar); o.other.scalar == pOptions {
					o.other.object = nil
				}
			}, func(*Pipeline) { o.other.scalar, o.other.object = scalar, object }})
		}
	}
	return all
}

// otherMutants break what is not in the tables of bodies: parameters, headers,
// whole documents, and each setting of the preset.
func otherMutants(p *Pipeline, s *suite) (all []mutant) {
	for _, name := range slices.Sorted(maps.Keys(p.params)) {
		kind := p.params[name]
		if kind == pS || kind == pPath2 {
			continue
		}
		all = append(all, mutant{
			"parameter " + name, func(p *Pipeline) { p.params[name] = pKeep }, func(p *Pipeline) { p.params[name] = kind },
		})
	}
	headers := map[string]bool{}
	for i := range s.in {
		for _, h := range s.in[i].Header {
			headers[strings.ToLower(h.Name)] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		kind, listed := p.headers[name]
		if name == "content-type" || name == "content-encoding" {
			continue // they say how the body is read
		}
		all = append(all, mutant{
			"header " + name, func(p *Pipeline) { p.headers[name] = headerKeep }, func(p *Pipeline) {
				if p.headers[name] = kind; !listed {
					delete(p.headers, name)
				}
			},
		})
	}
	doc := p.bodies.doc
	all = append(all, mutant{"document lines", func(p *Pipeline) { p.bodies.doc.scalar = pOptions }, func(p *Pipeline) { p.bodies.doc = doc }})
	for op, n := range p.bodies.byOp {
		if n.scalar == pDoc {
			all = append(all, mutant{
				"body of " + op.String(), func(p *Pipeline) { p.bodies.byOp[op] = node{scalar: pOptions} }, func(p *Pipeline) { p.bodies.byOp[op] = n },
			})
		}
	}
	cfg := p.cfg
	for name, set := range map[string]func(c *Config){
		"field names": func(c *Config) { c.FieldNames = "keep" },
		"places":      func(c *Config) { c.Geo = "keep" },
		"vectors":     func(c *Config) { c.Vectors = "keep" },
		"index names": func(c *Config) { c.Indices.Other = "keep" },
		"ids":         func(c *Config) { c.IDs.Action = "keep" },
	} {
		all = append(all, mutant{"setting: " + name, func(p *Pipeline) { set(&p.cfg) }, func(p *Pipeline) { p.cfg = cfg }})
	}
	shift, ints := p.style.shiftDates, p.ints
	return append(all, mutant{
		"setting: numbers", func(p *Pipeline) { p.ints = numbersKeep }, func(p *Pipeline) { p.ints = ints },
	}, mutant{
		"setting: dates", func(p *Pipeline) { p.style.shiftDates = !shift }, func(p *Pipeline) { p.style.shiftDates = shift },
	})
}

// survivors are mutants that no canary can tell, each with the reason.
func survivors() map[string]string {
	stricter := "tags that look like options stay by design, others become pseudonyms; an option in their place drops the record"
	return map[string]string{
		"highlight.pre_tags": stricter, "highlight.post_tags": stricter, "tags.pre_tag": stricter, "tags.post_tag": stricter,
	}
}

// TestMutations removes the handling of every position, one at a time: some
// canary must leak each time, or the suite would be blind there.
func TestMutations(t *testing.T) {
	s := newSuite(t)
	p, err := New(preset(PresetStrict), testKey(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	if leaks, _ := s.leaks(t, p, nil, true); len(leaks) > 0 {
		t.Fatalf("leaks without a mutation: %v", leaks)
	}
	known := survivors()
	killed, total := 0, 0
	var lived []string
	for _, m := range append(tableMutants(p), otherMutants(p, s)...) {
		total++
		m.make(p)
		if s.killed(t, p, m) {
			killed++
		} else if known[m.name] == "" {
			lived = append(lived, m.name)
		}
		m.undo(p)
	}
	if leaks, _ := s.leaks(t, p, nil, true); len(leaks) > 0 {
		t.Fatalf("a mutation was not undone: %v", leaks)
	}
	score := float64(killed) / float64(total)
	t.Logf("mutation score: %d of %d positions killed (%.1f %%); survivors with a reason: %d, without: %d", killed, total, 100*score, len(known), len(lived))
	for _, name := range lived {
		t.Errorf("no canary notices that %s is not handled", name)
	}
	if score < 0.95 {
		t.Errorf("mutation score %.3f, want at least 0.95", score)
	}
}

// killed runs the cases that are about the position first, then the others.
func (s *suite) killed(t testing.TB, p *Pipeline, m mutant) bool {
	object, _, _ := strings.Cut(m.name, ".")
	about := func(i int) bool {
		return strings.HasPrefix(s.cases[i].Name, "at "+object) || s.cases[i].Name == "at "+m.name
	}
	if leaks, _ := s.leaks(t, p, about, true); len(leaks) > 0 {
		return true
	}
	leaks, _ := s.leaks(t, p, func(i int) bool { return !about(i) }, true)
	return len(leaks) > 0
}

// Words of positions must differ, or one could hide another's leak.
func TestMarksDiffer(t *testing.T) {
	seen := map[string]string{}
	s := newSuite(t)
	for i := range s.cases {
		for _, m := range s.cases[i].Canaries {
			if at := seen[m]; at != "" && strings.HasPrefix(s.cases[i].Name, "at ") {
				t.Errorf("%q is a mark of %s and of %s", m, at, s.cases[i].Name)
			}
			seen[m] = fmt.Sprint(s.cases[i].Name)
		}
	}
}
