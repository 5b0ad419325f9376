package sanitize

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/esshadow/esshadow/capture"
)

// TestScripts holds what becomes of an inline script by policy; "" as the form
// in strict means that the record is dropped.
func TestScripts(t *testing.T) {
	for _, c := range []struct{ name, script, literals, strict string }{
		{"code", `doc['n'].value * params.k + 12`, ``, `doc['n'].value * params.k + 12`},
		{"a literal", `doc['f'].value == '«anna»'`, ``, ``},
		{"both quotes", `return "«anna b»" + '«bo»'`, ``, ``},
		{"split over two", `def a='«canary»-«0053»'; def b="@«example»"+'.«test»'; return doc['email'].value==a+b`, ``, ``},
		{"escaped quotes", `return '«it»\'«s»' + "\"«anna»\""`, ``, ``},
		{"line comment", "int a = 1; // secret\nreturn a", "int a = 1;  \nreturn a", "int a = 1;  \nreturn a"},
		{"block comment", `return /* secret */ 1`, `return   1`, `return   1`},
		{"no comment in a literal", `return '«http»://«x»'`, ``, ``},
		{"division", `return doc['a'].value / 2 / params.b`, ``, `return doc['a'].value / 2 / params.b`},
		{"kind of write", `if (ctx._source.n > 3) { ctx.op = 'delete' } else { ctx.op='noop' }`, ``, `if (ctx._source.n > 3) { ctx.op = 'delete' } else { ctx.op='noop' }`},
		{"not a kind of write", `x = 'delete'`, ``, ``},
		{"field taken out", `ctx._source.remove('new_field'); ctx._source['b'] = params.v`, ``, `ctx._source.remove('new_field'); ctx._source['b'] = params.v`},
		{"value taken out", `ctx._source.tags.remove('«anna»')`, ``, ``},
		{"key that is data", `doc['anna@x.test'].value`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, name := range []string{PresetFidelity, PresetStrict} {
				w := newWorker(t, preset(name))
				in, want := marked(w, c.script)
				body, _ := json.Marshal(map[string]any{"script": in})
				var rec capture.Record
				drop := w.Sanitize(&rec, exchange("POST", "/i/_update/1", string(body)))
				if name == PresetStrict {
					want = c.strict
				} else if c.literals != "" {
					want = c.literals
				}
				if name == PresetStrict && want == "" {
					if drop != string(dropScript) {
						t.Errorf("strict: %q %s", drop, rec.Body)
					}
					continue
				}
				var out struct{ Script string }
				if drop != "" || json.Unmarshal(rec.Body, &out) != nil {
					t.Fatalf("%s: %s", name, drop)
				}
				if c.name == "not a kind of write" || c.name == "key that is data" {
					if strings.Contains(out.Script, "delete") || strings.Contains(out.Script, "anna") {
						t.Errorf("became %s", out.Script)
					}
				} else if out.Script != want {
					t.Errorf("%s: became\n%s, want\n%s", name, out.Script, want)
				}
			}
		})
	}
}

// TestScriptNumbers: long numbers of a script go the way of numbers.
func TestScriptNumbers(t *testing.T) {
	cfg := preset(PresetStrict)
	cfg.Scripts = "literals"
	w := newWorker(t, cfg)
	for in, want := range map[string]bool{"return 123": true, "return 1234": true, "return 123456": false, "return 13800138000L": false, "return 0x1F": true} {
		w.reset()
		out, why := w.scriptText(nil, []byte(in))
		if why != kept || (string(out) == in) != want {
			t.Errorf("%s became %s (%s)", in, out, why)
		}
		if !want && string(out[:7]) != "return " || len(out) != len(in) {
			t.Errorf("%s became %s", in, out)
		}
	}
}

// FuzzScript: no script makes it panic; what comes out is UTF-8, has no comment
// and the same again.
func FuzzScript(f *testing.F) {
	for _, s := range []string{`doc['f'].value == 'anna'`, `a / b // c`, `/* x */ "y\"z" + 12345`, `ctx.op = 'noop'`, `return /re/.matcher(x)`} {
		f.Add(s)
	}
	w := newWorker(f, preset(PresetFidelity))
	f.Fuzz(func(t *testing.T, s string) {
		if !utf8.ValidString(s) {
			return
		}
		w.reset()
		out, why := w.scriptText(nil, []byte(s))
		if !utf8.Valid(out) {
			t.Fatalf("%q became %q", s, out)
		}
		if why != kept {
			return
		}
		first := string(out)
		w.reset()
		if out, why = w.scriptText(nil, []byte(s)); why != kept || string(out) != first {
			t.Errorf("%q became %q, then %q", s, first, out)
		}
	})
}
