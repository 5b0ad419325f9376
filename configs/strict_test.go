package configs

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/esshadow/esshadow/internal/size"
)

type sample struct {
	Name string        `yaml:"name"`
	Wait time.Duration `yaml:"wait"`
	Cap  size.Size     `yaml:"cap"`
	Sub  struct {
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
		"unknown key at the top": {"nomen: x\n", []string{`f.yml:1: unknown key "nomen" at the top`, "allowed: cap, name, rules, sub, wait", "1 | nomen: x"}},
		"two unknown keys":       {"a: 1\nsub:\n  m: 2\n", []string{`f.yml:1: unknown key "a"`, `f.yml:3: unknown key "m" under sub; allowed: items, n`}},
		"unknown key in a list":  {"rules:\n  - mach: x\n", []string{`f.yml:2: unknown key "mach" under rules[0]; allowed: match`}},
		"a word for a number":    {"sub:\n  n: many\n", []string{"f.yml", "many", "2 |"}},
		"bad duration":           {"wait: soon\n", []string{"f.yml", "soon", "1 |"}},
		"bad size":               {"cap: 3 apples\n", []string{"f.yml:1: cap: ", "apples", "such as 16MiB", "1 |"}},
		"duplicate key":          {"name: a\nname: b\n", []string{"f.yml", "name", "2 |"}},
		"two documents":          {"name: a\n---\nname: b\n", []string{"one YAML document"}},
		"not YAML":               {"name: [a\n", []string{"f.yml"}},
		"a list at the top":      {"- a\n", []string{"f.yml"}},
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
