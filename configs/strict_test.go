package configs

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/esshadow/esshadow/internal/size"
)

type sample struct {
	Name  string        `yaml:"name"`
	Wait  time.Duration `yaml:"wait"`
	Cap   size.Size     `yaml:"cap"`
	Share float64       `yaml:"share"`
	On    bool          `yaml:"on"`
	Sub   struct {
		N     int      `yaml:"n"`
		Items []string `yaml:"items"`
	} `yaml:"sub"`
	Rules []struct {
		Match string `yaml:"match"`
	} `yaml:"rules"`
}

func TestDecode(t *testing.T) {
	s := sample{Name: "kept"}
	err := decode("f.yml", []byte("wait: 1.5s\ncap: 16MiB\nsub:\n  n: 3\n  items: [a, b]\nrules:\n  - match: x\n"), &s)
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "kept" || s.Wait != 1500*time.Millisecond || s.Cap != 16<<20 || s.Sub.N != 3 || len(s.Sub.Items) != 2 || s.Rules[0].Match != "x" {
		t.Errorf("got %+v", s)
	}
	// What is right in more than one writing, and values that refer to others.
	for _, text := range []string{
		"share: 1\n", "share: \"0.5\"\n", "share: 5e-1\n", "on: true\n", "sub: {n: 0x10}\n", "sub: {n: -3}\n", "sub:\n", "sub: {items: }\n",
		"name: &n 5\nsub: {items: [*n, b]}\n", "name: !!str 5\n", "name: 9280\n", "name: |\n  a\n  b\n", "sub: {n: \"3\"}\n", "rules:\n  - &r {match: x}\n  - *r\n",
	} {
		if err := decode("f.yml", []byte(text), new(sample)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := decode("f.yml", nil, &s); err != nil {
		t.Errorf("an empty file: %v", err)
	}
	if err := decode("f.yml", []byte("# only a comment\n"), &s); err != nil {
		t.Errorf("a comment only: %v", err)
	}
}

func TestDecodeNamesLineAndWhatIsAllowed(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"unknown key at the top": {"nomen: x\n", []string{`f.yml:1: unknown key "nomen" at the top`, "allowed: cap, name, on, rules, share, sub, wait", "1 | nomen: x"}},
		"two unknown keys":       {"a: 1\nsub:\n  m: 2\n", []string{`f.yml:1: unknown key "a"`, `f.yml:3: unknown key "m" under sub; allowed: items, n`}},
		"unknown key in a list":  {"rules:\n  - mach: x\n", []string{`f.yml:2: unknown key "mach" under rules[0]; allowed: match`}},
		"a word for a number":    {"sub:\n  n: many\n", []string{"f.yml:2: sub.n: want a whole number", "2 |   n: many"}},
		"half a number":          {"sub:\n  n: 1.5\n", []string{"f.yml:2: sub.n: want a whole number"}},
		"a list for a number":    {"sub:\n  n: [1]\n", []string{"f.yml:2: sub.n: want a whole number"}},
		"a word for a share":     {"share: half\n", []string{"f.yml:1: share: want a number"}},
		"a word for a switch":    {"on: maybe\n", []string{"f.yml:1: on: want true or false"}},
		"a text for a switch":    {"on: \"true\"\n", []string{"f.yml:1: on: want true or false"}},
		"a word for a list":      {"sub:\n  items: a\n", []string{"f.yml:2: sub.items: want a list, such as [a, b]"}},
		"a list for a text":      {"name: [a]\n", []string{"f.yml:1: name: want one text"}},
		"keys for a text":        {"name:\n  a: b\n", []string{"f.yml:2: name: want one text"}},
		"a word for a section":   {"sub: 3\n", []string{"f.yml:1: sub: want keys and values"}},
		"a list for a section":   {"sub: [n]\n", []string{"f.yml:1: sub: want keys and values"}},
		"a word in a list":       {"rules: [x]\n", []string{"f.yml:1: rules[0]: want keys and values"}},
		"several at once":        {"on: 5\nsub:\n  n: x\n", []string{"f.yml:1: on: ", "f.yml:3: sub.n: "}},
		"bad duration":           {"wait: soon\n", []string{"f.yml", "soon", "1 |"}},
		"bad size":               {"cap: 3 apples\n", []string{"f.yml:1: cap: ", "apples", "such as 16MiB", "1 |"}},
		"duplicate key":          {"name: a\nname: b\n", []string{"f.yml:2: ", `"name" already defined`, "2 | name: b"}},
		"two documents":          {"name: a\n---\nname: b\n", []string{"one YAML document"}},
		"not YAML":               {"name: [a\n", []string{"f.yml:1: ", "1 | name: [a"}},
		"a list at the top":      {"- a\n", []string{"f.yml:1: the file: want keys and values"}},
		"a tab":                  {"sub:\n\tn: 1\n", []string{"f.yml:2: ", "2 | \tn: 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			var s sample
			err := decode("f.yml", []byte(c.text), &s)
			if err == nil {
				t.Fatalf("no error for %q", c.text)
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("error lacks %q:\n%v", w, err)
				}
			}
		})
	}
}

// A file without line ends, as a binary one, does not become a message of its length.
func TestOneLongLine(t *testing.T) {
	for _, text := range []string{"nomen: " + strings.Repeat("é", 1<<20), "share: [" + strings.Repeat("é", 1<<20)} {
		var s sample
		err := decode("f.yml", []byte(text), &s)
		if err == nil || len(err.Error()) > 1000 || !strings.Contains(err.Error(), text[:60]) || !strings.HasSuffix(err.Error(), "é …") {
			t.Errorf("%.300v", err)
		}
	}
}

func TestLocate(t *testing.T) {
	text := []byte("name: x\nsub:\n  n: -1\n")
	err := locate("f.yml", text, errors.Join(errors.New("sub.n: -1 is negative"), errors.New("sub.items: none given"), errors.New("other trouble")))
	want := "f.yml:3: sub.n: -1 is negative\nf.yml:2: sub.items: none given\nother trouble"
	if err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if locate("f.yml", text, nil) != nil {
		t.Error("an error out of none")
	}
}
