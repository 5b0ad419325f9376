package capture

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/internal/es"
)

func TestChoice(t *testing.T) {
	ops := func(in, out string) Config {
		return Config{Ops: Choice{strings.Fields(in), strings.Fields(out)}}
	}
	indices := func(in, out string) Config {
		return Config{Indices: Choice{strings.Fields(in), strings.Fields(out)}}
	}
	for name, c := range map[string]struct {
		cfg            Config
		method, target string
		want           string
	}{
		"nothing said":               {Config{}, "POST", "/a/_search", ""},
		"included operation":         {ops("search", ""), "POST", "/a/_search", ""},
		"other operation":            {ops("search", ""), "POST", "/a/_bulk", FilteredOperation},
		"excluded operation":         {ops("", "bulk"), "POST", "/a/_bulk", FilteredOperation},
		"not excluded":               {ops("", "bulk"), "POST", "/a/_search", ""},
		"exclude wins":               {ops("bulk", "bulk"), "POST", "/a/_bulk", FilteredOperation},
		"included index":             {indices("logs-*", ""), "POST", "/logs-1/_search", ""},
		"other index":                {indices("logs-*", ""), "POST", "/shop/_search", FilteredIndex},
		"one part included":          {indices("logs-*", ""), "POST", "/shop,logs-2/_search", ""},
		"one part excluded":          {indices("", "secret*"), "POST", "/shop,secret1/_search", FilteredIndex},
		"a part that takes away":     {indices("", "secret*"), "POST", "/shop*,-secret1/_search", ""},
		"percent-encoded comma":      {indices("", "secret*"), "POST", "/shop%2Csecret1/_search", FilteredIndex},
		"percent-encoded name":       {indices("<logs-{now/d}>", ""), "POST", "/%3Clogs-%7Bnow%2Fd%7D%3E/_search", ""},
		"an expression is text":      {indices("logs-1", ""), "POST", "/logs-*/_search", FilteredIndex},
		"an expression in a pattern": {indices("logs-*", ""), "POST", "/logs-2024-*/_search", ""},
		"no index in the path":       {indices("logs-*", ""), "POST", "/_bulk", ""},
		"every index by name":        {indices("logs-*", ""), "POST", "/_all/_search", FilteredIndex},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := newFilter(c.cfg)
			if err != nil {
				t.Fatal(err)
			}
			if got := f.reason(es.Classify(c.method, c.target)); got != c.want {
				t.Errorf("reason %q, want %q", got, c.want)
			}
		})
	}
}

func TestChoiceNamesMistakes(t *testing.T) {
	c := Default()
	c.Ops.Include, c.Ops.Exclude = []string{"serach"}, []string{"all"}
	c.Indices.Include, c.Indices.Exclude = []string{"a,b"}, []string{""}
	err := c.Validate()
	for _, want := range []string{`ops.include: "serach"`, `ops.exclude: "all"`, `indices.include: "a,b"`, `indices.exclude: ""`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error lacks %s: %v", want, err)
		}
	}
}

// A pattern says what the regular expression of the same meaning says.
func TestMatchesIsARegularExpression(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`[ab*]{0,8}`).Draw(t, "pattern")
		name := rapid.StringMatching(`[ab]{0,8}`).Draw(t, "name")
		want := regexp.MustCompile(`\A` + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `.*`) + `\z`).MatchString(name)
		if got := matches(pattern, name); got != want {
			t.Errorf("%q and %q: %v, want %v", pattern, name, got, want)
		}
	})
}

func TestReloadWhileItRuns(t *testing.T) {
	r := start(t, Default(), &memory{}, nil)
	offer := func(target string, n int) {
		r.Offer(&Exchange{Method: "POST", Target: target, Body: make([]byte, n), BodySize: int64(n)})
	}
	offer("/a/_search", 100)
	cfg := Default()
	cfg.Ops.Exclude, cfg.MaxBody, cfg.Sample = []string{"bulk"}, 50, 0.5
	if err := r.Reload(cfg); err != nil {
		t.Fatal(err)
	}
	cfg.Sample = 7
	if err := r.Reload(cfg); err == nil || r.Sample() != 0.5 {
		t.Errorf("an invalid one: %v, sample %v", err, r.Sample())
	}
	cfg.Sample = 1
	if err := r.Reload(cfg); err != nil {
		t.Fatal(err)
	}
	offer("/a/_search", 100)
	offer("/a/_bulk", 1)
	s, err := r.Close(t.Context())
	if err != nil || s.Received != 3 || s.Captured != 1 || s.Dropped[DropBodyTooLarge] != 1 || s.Filtered[FilteredOperation] != 1 {
		t.Errorf("sums %+v, %v", s, err)
	}
}
