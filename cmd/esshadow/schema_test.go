package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/configs"
	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/sanitize"
)

const pulledMapping = `{"shop-1":{"mappings":{"properties":{"name":{"type":"text","analyzer":"auto"},"phone":{"type":"keyword"},"a \"b\": c\n#":{"type":"keyword"},
	"..":{"type":"keyword"},"ü*":{"type":"text"},"\u2028":{"type":"text"},"when":{"type":"date"},"n":{"type":"long"},"code":{"type":"text","analyzer":"english"}}}}}`

// fakeCluster answers as one that has one index; settings with the given status.
func fakeCluster(t *testing.T, settings int) (url string, asked *[]string) {
	t.Helper()
	asked = new([]string)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.URL.EscapedPath()+" "+r.Header.Get("Authorization"))
		switch {
		case r.URL.Path == "/":
			fmt.Fprint(w, `{"cluster_uuid":"u","version":{"number":"8.19.3","build_flavor":"default"},"tagline":"You Know, for Search"}`)
		case strings.HasSuffix(r.URL.Path, "/_mapping"):
			fmt.Fprint(w, pulledMapping)
		case settings != http.StatusOK:
			w.WriteHeader(settings)
			fmt.Fprint(w, `{"error":"secret"}`)
		default:
			fmt.Fprint(w, `{"shop-1":{"settings":{"index":{"analysis":{"analyzer":{"auto":{"tokenizer":"edge_ngram"}}}}}}}`)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL, asked
}

func runSchema(args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = run(args, strings.NewReader("pw\n"), &o, &e, lookup(nil))
	return code, o.String(), e.String()
}

func TestSchemaPullAndDraft(t *testing.T) {
	url, asked := fakeCluster(t, http.StatusOK)
	path := filepath.Join(t.TempDir(), "schema.json")
	if code, _, errs := runSchema("schema", "pull", "--from", url, "--index", "shop-*,x/y", "--user", "u", "--password-file", "-", "-o", path); code != 0 || errs != "" {
		t.Fatalf("code %d: %s", code, errs)
	}
	if got := strings.Join(*asked, "\n"); !strings.Contains(got, "/shop-*%2Cx%2Fy/_mapping Basic dTpwdw==") {
		t.Errorf("asked:\n%s", got)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := es.DecodeSchema(text)
	if err != nil {
		t.Fatal(err)
	}
	if f, ok := s.Field("name"); !ok || f.Index != es.TextEdge || s.Engine != "8.19.3" {
		t.Errorf("%+v, engine %s", f, s.Engine)
	}
	for _, preset := range []string{"strict", "fidelity", "ecs-logs", "commerce", "shape-only"} {
		code, out, errs := runSchema("sanitize", "init", "--schema", path, "--preset", preset)
		if code != 0 {
			t.Fatalf("%s: code %d: %s", preset, code, errs)
		}
		c, err := configs.LoadRules("draft", []byte(out))
		if err != nil {
			t.Fatalf("%s: %v\n%s", preset, err, out)
		}
		key, _ := sanitize.EphemeralKey()
		if _, err := sanitize.New(c, key, make([]byte, 32)); err != nil || c.Preset != preset || len(c.Fields) < 3 {
			t.Errorf("%s: %v, %d rules", preset, err, len(c.Fields))
		}
	}
}

func TestSchemaPullWithoutSettings(t *testing.T) {
	for _, status := range []int{http.StatusBadRequest, http.StatusGone, http.StatusForbidden} {
		url, _ := fakeCluster(t, status)
		code, out, errs := runSchema("schema", "pull", "--from", url)
		s, err := es.DecodeSchema([]byte(out))
		if code != 0 || err != nil || s.Unread == "" || !strings.Contains(errs, "does not tell its analysers") || strings.Contains(out+errs, "secret") {
			t.Errorf("status %d: code %d, %v\n%s\n%s", status, code, err, out, errs)
		}
		if f, _ := s.Field("name"); f.Index != es.TextOther {
			t.Errorf("status %d: %+v", status, f)
		}
	}
}

func TestSchemaErrors(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.json")
	if err := os.WriteFile(bad, []byte(`{"version":7}`), 0o600); err != nil {
		t.Fatal(err)
	}
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer refusing.Close()
	empty := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{}`) }))
	defer empty.Close()
	for _, c := range []struct {
		name string
		code int
		args string
	}{
		{"no such index", exitFailed, "schema pull --from " + empty.URL + " --index nobody"},
		{"no cluster", exitUsage, "schema pull"},
		{"no URL", exitUsage, "schema pull --from host:9200"},
		{"password in the URL", exitUsage, "schema pull --from http://u:hunter2@127.0.0.1:1"},
		{"password without a user", exitUsage, "schema pull --from http://127.0.0.1:1 --password-file -"},
		{"no file", exitUsage, "schema pull --from http://127.0.0.1:1 --user u --password-file " + dir + "/none"},
		{"nobody there", exitRefused, "schema pull --from http://127.0.0.1:1"},
		{"refused", exitRefused, "schema pull --from " + refusing.URL},
		{"no schema", exitUsage, "sanitize init"},
		{"schema of another version", exitUsage, "sanitize init --schema " + bad},
		{"standard input is no schema", exitUsage, "sanitize init --schema -"},
		{"preset without rules", exitUsage, "sanitize init --preset off --schema " + bad},
	} {
		code, out, errs := runSchema(strings.Fields(c.args)...)
		if code != c.code || out != "" || errs == "" || strings.Contains(errs, "hunter2") {
			t.Errorf("%s: code %d, want %d: %s%s", c.name, code, c.code, out, errs)
		}
	}
	if _, _, errs := runSchema("schema", "pull", "--from", "http://127.0.0.1:1", "--user", "u", "--password-file", dir+"/none"); !strings.Contains(errs, "--password-file: ") {
		t.Errorf("the error does not name the flag: %s", errs)
	}
}
