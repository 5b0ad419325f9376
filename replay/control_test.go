package replay

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/esshadow/esshadow/internal/testenv"

	"github.com/valyala/fasthttp"

	"github.com/esshadow/esshadow/internal/es"
)

const rootES8 = `{"name":"n1","cluster_name":"c","cluster_uuid":"u-8","version":{"number":"8.19.0","build_flavor":"default"},` +
	`"tagline":"You Know, for Search"}`

const rootOpenSearch = `{"name":"n1","cluster_name":"c","cluster_uuid":"u-os","version":{"distribution":"opensearch","number":"2.19.6"},` +
	`"tagline":"The OpenSearch Project: https://opensearch.org/"}`

func TestIdentify(t *testing.T) {
	type answers map[string]struct {
		status int
		body   string
	}
	for name, c := range map[string]struct {
		answers answers
		want    es.Identity
		err     error
	}{
		"elasticsearch": {
			answers{"/": {200, rootES8}},
			es.Identity{Flavor: "elasticsearch", Version: "8.19.0", Major: 8, UUID: "u-8", Name: "n1"},
			nil,
		},
		"opensearch, without the product's header": {
			answers{"/": {200, rootOpenSearch}},
			es.Identity{Flavor: "opensearch", Version: "2.19.6", Major: 2, UUID: "u-os", Name: "n1"},
			nil,
		},
		"a node without GET /": {
			answers{
				"/": {400, `{"error":"no handler found"}`}, "/_nodes/_local": {200, `{"nodes":{"x":{"version":"8.19.0","build_flavor":"default"}}}`},
				"/_cluster/state/metadata": {200, `{"cluster_uuid":"u-9"}`},
			},
			es.Identity{Flavor: "elasticsearch", Version: "8.19.0", Major: 8, UUID: "u-9"},
			nil,
		},
		"an esshadow proxy":       {answers{"/": {200, `{"esshadow":{"version":"1"}}`}}, es.Identity{}, ErrTargetIsProxy},
		"bad credentials":         {answers{"/": {401, `{}`}}, es.Identity{}, ErrTargetUnauthorised},
		"no rights":               {answers{"/": {403, `{}`}}, es.Identity{}, ErrTargetUnauthorised},
		"behind a dead gateway":   {answers{"/": {502, `oops`}}, es.Identity{}, ErrTargetUnreachable},
		"some other web server":   {answers{"/": {200, `<html>`}, "/_nodes/_local": {404, `<html>`}}, es.Identity{}, ErrTargetUnknown},
		"something else in json":  {answers{"/": {200, `{"a":1}`}, "/_nodes/_local": {200, `{"nodes":{}}`}}, es.Identity{}, ErrTargetUnknown},
		"no uuid to be found out": {answers{"/": {404, ``}, "/_nodes/_local": {200, `{"nodes":{"x":{"version":"1.0"}}}`}}, es.Identity{Flavor: "unknown", Version: "1.0", Major: 1}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			addr := serve(t, func(ctx *fasthttp.RequestCtx) {
				a, ok := c.answers[string(ctx.Path())]
				if !ok {
					a.status, a.body = 404, "{}"
				}
				if len(ctx.Request.Header.Peek(ProbeHeader)) == 0 {
					a.status = 500
				}
				ctx.SetStatusCode(a.status)
				ctx.SetContentType("application/json")
				ctx.SetBodyString(a.body)
			})
			cfg := DefaultTarget()
			cfg.URL = "http://" + addr
			got, err := Identify(t.Context(), cfg)
			if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) || got != c.want {
				t.Errorf("got %+v, %v; want %+v, %v", got, err, c.want, c.err)
			}
		})
	}
}

func TestIdentifyNobody(t *testing.T) {
	dead, _ := testenv.DeadAddress(t)
	cfg := DefaultTarget()
	cfg.URL = "http://" + dead
	if _, err := Identify(t.Context(), cfg); !errors.Is(err, ErrTargetUnreachable) {
		t.Error(err)
	}
}

func TestIdentifySendsCredentialsAndPrefix(t *testing.T) {
	var path, auth, accept string
	addr := serve(t, func(ctx *fasthttp.RequestCtx) {
		path, auth = string(ctx.Path()), string(ctx.Request.Header.Peek("Authorization"))
		accept = string(ctx.Request.Header.Peek("Accept"))
		ctx.SetBodyString(rootES8)
	})
	cfg := DefaultTarget()
	cfg.URL, cfg.APIKey = "http://"+addr+"/es/", "a2V5"
	if _, err := Identify(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	if path != "/es/" || auth != "ApiKey a2V5" || accept != "application/json" {
		t.Errorf("path %q, authorization %q, accept %q", path, auth, accept)
	}
}

func TestDistinct(t *testing.T) {
	for _, c := range []struct {
		target, source string
		want           error
	}{{"a", "b", nil}, {"a", "a", ErrTargetIsSource}, {"", "", nil}, {"a", "", nil}, {"_na_", "_na_", nil}} {
		if got := Distinct(es.Identity{UUID: c.target}, c.source); !errors.Is(got, c.want) {
			t.Errorf("Distinct(%q, %q) = %v", c.target, c.source, got)
		}
	}
}

func TestRunDirectory(t *testing.T) {
	const secret = "correct-horse"
	addr := serve(t, answerSearch)
	cfg, target := Default(), DefaultTarget()
	target.URL, target.User, target.Password = "http://"+addr, "replayer", secret
	cfg.IndexMap = []IndexRule{{"logs-*", "copy-*"}}
	dir := filepath.Join(t.TempDir(), "run")
	run := NewRun(time.Now(), "1.2.3", []string{"captures"}, cfg, target)
	lines, err := CreateRunDir(dir, run)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ReadRun(dir); err != nil || got.Ended != nil || got.Asked.Auth != "basic" {
		t.Errorf("while it runs: %+v, %v", got, err)
	}
	c, err := NewClient(target)
	if err != nil {
		t.Fatal(err)
	}
	e := New(cfg, Deps{Source: searches(100, time.Millisecond, 5), Target: c, Lines: lines})
	if err := e.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	c.Abort()
	run.End(time.Now(), e.Stats(), false, nil)
	if err := WriteRun(dir, run); err != nil {
		t.Fatal(err)
	}
	got, err := ReadRun(dir)
	if err != nil || got.Ended == nil || got.Sums.Answered != 100 || got.Sums.InFlightMax == 0 {
		t.Errorf("at the end: %+v, %v", got, err)
	}
	if _, err := CreateRunDir(dir, run); !errors.Is(err, ErrRunExists) {
		t.Errorf("a run was overwritten: %v", err)
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) != 2 {
		t.Errorf("%d files, want run.json and one outcome file", len(entries))
	}
	for _, f := range entries {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", f.Name(), info.Mode(), err)
		}
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil || bytes.Contains(text, []byte(secret)) {
			t.Errorf("%s holds the password, or %v", f.Name(), err)
		}
	}
}

func TestSecretsDoNotPrint(t *testing.T) {
	cfg := DefaultTarget()
	cfg.URL, cfg.User, cfg.Password = "http://user:hunter2@h:1\n", "u", "hunter2"
	if _, err := cfg.parseURL(); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
	cfg.URL = "http://user:hunter2@h:1"
	if err := cfg.Validate(); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
	text, _ := Secret("hunter2").MarshalText()
	if string(text) != hidden || Secret("hunter2").String() != hidden {
		t.Error("a secret prints")
	}
}
