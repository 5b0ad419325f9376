package configs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// The configuration files inside the Kubernetes examples are valid, and so is
// the YAML around them.
func TestDeployedConfigurationsAreValid(t *testing.T) {
	files, err := filepath.Glob("deploy/kubernetes/*.yml")
	if err != nil || len(files) != 2 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, doc := range strings.Split(string(text), "\n---\n") {
			var object struct {
				Kind string            `yaml:"kind"`
				Data map[string]string `yaml:"data"`
			}
			if err := yaml.Unmarshal([]byte(doc), &object); err != nil || object.Kind == "" {
				t.Errorf("%s: kind %q, %v", f, object.Kind, err)
			}
			if inner, ok := object.Data["esshadow.yml"]; ok {
				found++
				if err := Check(f, []byte(inner)); err != nil {
					t.Error(err)
				}
			}
		}
		if found != 1 {
			t.Errorf("%s: %d configurations", f, found)
		}
	}
}
