package configs

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goccy/go-yaml/parser"
)

// The reference file says what Default says: decoded over nothing it gives the
// same, and it names every key.
func TestReferenceIsTheDefault(t *testing.T) {
	var got Config
	if err := Load("esshadow.yml", []byte(Reference()), &got); err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Proxy.MaxBody = 0 // follows capture.max_body
	yes := true
	want.Sanitize.Postcheck, want.Sanitize.Indices.KeepDateSuffix = &yes, &yes // what every preset says
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("reference against Default (-want +got):\n%s", d)
	}
	if err := Check("esshadow.yml", []byte(Reference())); err != nil {
		t.Errorf("check: %v", err)
	}
}

func TestReferenceNamesEveryKey(t *testing.T) {
	file, err := parser.ParseBytes([]byte(Reference()), 0)
	if err != nil {
		t.Fatal(err)
	}
	var walk func(typ reflect.Type, path string)
	walk = func(typ reflect.Type, path string) {
		for key, ft := range fields(typ) {
			p := join(path, key)
			last := p[strings.LastIndex(p, ".")+1:]
			if line := lineOf(file.Docs[0].Body, p); line == 0 || !strings.Contains(strings.Split(Reference(), "\n")[line-1], last+":") {
				t.Errorf("the reference file lacks %s", p)
			}
			if ft.Kind() == reflect.Struct && !isScalar(ft) {
				walk(ft, p)
			}
		}
	}
	walk(reflect.TypeFor[Config](), "")
}

func TestCheckNamesLines(t *testing.T) {
	err := Check("f.yml", []byte("proxy:\n  admin: nowhere\n  upstreams: [ftp://x]\ncapture:\n  sample: 7\nlog:\n  level: loud\nreplay:\n  in_flight: -3\nmirror:\n  sample: 2\n  target:\n    timeout: -1s\n    url: nowhere\n  index_map:\n    - {from: a}\n"))
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"f.yml:2: proxy.admin", "f.yml:3: proxy.upstreams", "f.yml:5: capture.sample", "f.yml:7: log.level", "f.yml:9: replay.in_flight",
		"f.yml:11: mirror.sample", "f.yml:13: mirror.target.timeout", "f.yml:14: mirror.target.url", "f.yml:15: mirror.index_map",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error lacks %q:\n%v", want, err)
		}
	}
}

func TestExamplesAreValid(t *testing.T) {
	files, err := filepath.Glob("examples/*.yml")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(f, text); err != nil {
			t.Errorf("%v", err)
		}
	}
}
