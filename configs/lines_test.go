package configs

import (
	"strings"
	"testing"
)

// Every mistake of a file of rules has the line of what it is about.
func TestRulesMistakesHaveTheirLines(t *testing.T) {
	text := []byte(strings.TrimLeft(`
version: 1
fields:
  - match: a
    action: keep
  - action: frob
    match: b
  - match: c..d
    action: tokens
    unit: day
`, "\n"))
	_, err := LoadRules("r.yml", text)
	if err == nil {
		t.Fatal("taken")
	}
	for _, want := range []string{
		"r.yml:3: fields[0]: why:", "r.yml:5: fields[1]: action:", "r.yml:7: fields[2]: match:", "r.yml:9: fields[2]: unit:",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in:\n%v", want, err)
		}
	}
	for path, want := range map[string]int{"version": 1, "fields": 2, "fields[0]": 3, "fields[1].match": 6, "fields[7]": 2, "other": 0} {
		if got := Line(text, path); got != want {
			t.Errorf("%s is in line %d, want %d", path, got, want)
		}
	}
}
