package sanitize

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// TestManual: docs/sanitize.md names every reason for a drop and for a lower
// fidelity, and its example is a valid configuration.
func TestManual(t *testing.T) {
	text, err := os.ReadFile("../docs/sanitize.md")
	if err != nil {
		t.Fatal(err)
	}
	manual := string(text)
	for _, r := range Reasons() {
		if !strings.Contains(manual, "`"+r+"`") {
			t.Errorf("drop reason %s is not in the manual", r)
		}
	}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	note := regexp.MustCompile(`note\((?:approx|broken), "([a-z_]+)"\)`)
	found := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") {
			continue
		}
		code, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range note.FindAllStringSubmatch(string(code), -1) {
			found++
			if !strings.Contains(manual, "`"+m[1]+"`") {
				t.Errorf("%s: fidelity reason %s is not in the manual", f.Name(), m[1])
			}
		}
	}
	if found < 20 {
		t.Errorf("found %d notes", found)
	}
	_, example, _ := strings.Cut(manual, "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	cfg := Default()
	if err := yaml.UnmarshalWithOptions([]byte(example), &cfg, yaml.Strict()); err != nil {
		t.Fatalf("example: %v", err)
	}
	if err := cfg.Validate(); err != nil {
		t.Errorf("example: %v", err)
	}
}
