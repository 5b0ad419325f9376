package sanitize

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func rulesOf(match ...string) Config {
	c := preset(PresetStrict)
	for _, m := range match {
		f := FieldRule{Match: strings.Split(strings.TrimPrefix(m, "!"), ","), Action: "mask", Locked: strings.HasPrefix(m, "!")}
		c.Fields = append(c.Fields, f)
	}
	return c
}

func TestShadowed(t *testing.T) {
	for _, c := range []struct {
		name  string
		match []string
		want  string
	}{
		{"none", []string{"a", "b", "a.b"}, ""},
		{"the same twice", []string{"a", "a"}, "fields[1]"},
		{"one level", []string{"a.*", "a.b"}, "fields[1]"},
		{"any level", []string{"**", "a.b.c"}, "fields[1]"},
		{"any level at the end", []string{"a.**", "a.b.*.c"}, "fields[1]"},
		{"the other way round", []string{"a.b", "a.*"}, ""},
		{"* does not cover **", []string{"*", "**"}, ""},
		{"part of a name", []string{"a*", "ab*"}, "fields[1]"},
		{"both of a list", []string{"a", "b", "a,b"}, "fields[2]"},
		{"one of a list", []string{"a", "a,b"}, ""},
		{"a locked rule comes first", []string{"a", "!a"}, "fields[0]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, s := range rulesOf(c.match...).Shadowed() {
				got = append(got, s.Rule.Name())
			}
			if strings.Join(got, ",") != c.want {
				t.Errorf("shadowed %v, want %q", got, c.want)
			}
		})
	}
}

// A shadowed rule decides about no field.
func TestShadowedDecidesNothing(t *testing.T) {
	part := rapid.SampledFrom([]string{"a", "b", "*", "**", "a*", "*b"})
	pattern := rapid.Map(rapid.SliceOfN(part, 1, 3), func(p []string) string { return strings.Join(p, ".") })
	name := rapid.SampledFrom([]string{"a", "b", "ab", "c"})
	rapid.Check(t, func(rt *rapid.T) {
		c := rulesOf(rapid.SliceOfN(pattern, 2, 4).Draw(rt, "rules")...)
		field := strings.Join(rapid.SliceOfN(name, 1, 4).Draw(rt, "field"), ".")
		rule, ok := c.RuleFor(field)
		if !ok {
			return
		}
		for _, s := range c.Shadowed() {
			if s.Rule.Index == rule.Index {
				rt.Fatalf("%s decides about %s, but is said to be shadowed by %s", rule.Name(), field, s.By.Name())
			}
		}
	})
}

// RuleFor says what the workers do.
func TestRuleForIsWhatHolds(t *testing.T) {
	for _, name := range []string{PresetStrict, PresetECSLogs, PresetCommerce} {
		c := preset(name)
		c.Fields = []FieldRule{
			{Match: Globs{"user.*"}, Action: "mask"}, {Match: Globs{"a"}, Action: "keep", Why: "x"}, {Match: Globs{"**.password"}, Action: "drop", Locked: true},
		}
		p, err := New(c, testKey(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		w := p.Worker()
		for _, field := range []string{"a", "a.keyword", "b", "user.name", "user.password", "x.password", "client.ip", "order.status", "log.level", "user.email"} {
			want := "tokens"
			if rule, ok := c.RuleFor(field); ok {
				want = rule.Action
			}
			if got := Actions()[w.actionFor([]byte(field))]; got != want {
				t.Errorf("%s: %s: a worker does %s, RuleFor says %s", name, field, got, want)
			}
		}
	}
}

func TestNumberActions(t *testing.T) {
	for name, want := range map[string]string{PresetStrict: "fpe bucket", PresetFidelity: "guard keep", PresetShapeOnly: "mask mask"} {
		i, f := preset(name).NumberActions()
		if i+" "+f != want {
			t.Errorf("%s: %s %s, want %s", name, i, f, want)
		}
	}
}
