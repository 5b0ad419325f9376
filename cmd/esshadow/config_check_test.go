package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What a configuration names and a command would refuse is told by config check, with
// the line, all at once; and nothing is made, changed or asked for it.
func TestConfigCheckLooksAtWhatIsNamed(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"cut.pem": "no certificate\n", "empty": "", "rules.yml": "version: 1\nfields:\n  - {match: a, action: frob}\n", "short": "abc\n", "text": "x\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "esshadow.yml")
	for _, x := range []struct{ yaml, says string }{
		{"proxy:\n  tls:\n    cert: absent.pem\n    key: DIR/cut.pem\n", ":3: proxy.tls.cert: open absent.pem"},
		{"proxy:\n  tls:\n    cert: DIR/cut.pem\n    key: absent.pem\n", ":4: proxy.tls.key: open absent.pem"},
		{"proxy:\n  tls:\n    key: DIR/cut.pem\n    cert: DIR/cut.pem\n", ":4: proxy.tls.cert: DIR/cut.pem holds no certificate"},
		{"proxy:\n  tls:\n    cert: DIR/cut.pem\n", ":3: proxy.tls.cert: belongs together with tls.key"},
		{"proxy:\n  upstream_tls:\n    ca_cert: absent.pem\n", ":3: proxy.upstream_tls.ca_cert: open absent.pem"},
		{"proxy:\n  upstreams: ['https://a:1']\n  upstream_tls:\n    client_cert: DIR/cut.pem\n    client_key: absent\n", ":5: proxy.upstream_tls.client_key: open absent"},
		{"capture:\n  dir: DIR/text/capture\n", ":2: capture.dir: stat DIR/text/capture: not a directory"},
		{"capture:\n  dir: DIR/text\n", ":2: capture.dir: DIR/text is not a directory"},
		{"sanitize:\n  key: absent\n", ":2: sanitize.key: key file: open absent"},
		{"sanitize:\n  key: DIR/short\n", ":2: sanitize.key: DIR/short: key must be 64"},
		{"sanitize:\n  rules: absent.yml\n", ":2: sanitize.rules: open absent.yml"},
		{"sanitize:\n  rules: DIR/rules.yml\n", "DIR/rules.yml:3: fields[0]: "},
		{"sanitize:\n  schema: DIR/text\n", ":2: sanitize.schema: DIR/text: schema:"},
		{"sanitize:\n  preset: sealed\n  recipients: [bob]\n", ":3: sanitize.recipients: "},
		{"mirror:\n  target:\n    password_file: absent\n", ":3: mirror.target.password_file: open absent"},
		{"mirror:\n  target:\n    api_key_file: DIR/empty\n", ":3: mirror.target.api_key_file: DIR/empty is empty"},
		{"mirror:\n  target:\n    ca_cert: DIR/cut.pem\n", ":3: mirror.target.ca_cert: holds no certificate"},
		{"proxy:\n  upstreams: ['http://a:1']\nmirror:\n  target:\n    url: http://a:1\n", ":5: mirror.target.url: the target is the cluster"},
		{"replay:\n  target:\n    ca_cert: absent.pem\n", ":3: replay.target.ca_cert: open absent.pem"},
		{"replay:\n  target:\n    url: http://a:1\n    user: u\n", ":4: replay.target.user: needs a password"},
		{"replay:\n  key: absent\n", ":2: replay.key: key file: open absent"},
		{"replay:\n  identity: DIR/text\n", ":2: replay.identity: DIR/text: no age identities"},
		{"sandbox:\n  slow: [match:title]\n", `:2: sandbox.slow: slow shape "match:title": want`},
		{"sandbox:\n  listen: nowhere\n", `:2: sandbox.listen "nowhere": want host:port`},
	} {
		in := func(s string) string { return strings.ReplaceAll(s, "DIR", dir) }
		if err := os.WriteFile(file, []byte(in(x.yaml)), 0o600); err != nil {
			t.Fatal(err)
		}
		esshadow(t, nil, "config", "check", file).want(t, exitUsage, in(x.says))
	}
	both := "sandbox:\n  slow: [x, y]\nsanitize:\n  key: absent\n"
	if err := os.WriteFile(file, []byte(both), 0o600); err != nil {
		t.Fatal(err)
	}
	esshadow(t, nil, "config", "check", file).want(t, exitUsage, `slow shape "x"`, `slow shape "y"`, file+":4: sanitize.key")
	namesIn(t, dir, "cut.pem", "empty", "esshadow.yml", "rules.yml", "short", "text")
}

// What is right, or cannot be known here, is right.
func TestConfigCheckTakesWhatCommandsTake(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "esshadow.yml")
	text := "capture:\n  dir: " + dir + "/a/b\nmirror:\n  target: {url: 'http://b:1', user: u, password_file: '-'}\n" +
		"proxy:\n  upstreams: ['http://a:1']\n  upstream_tls: {ca_cert: unread.pem}\nsanitize: {rules: '-'}\n" +
		"replay: {identity: '-', target: {url: 'http://a:1', user: u}}\nsandbox: {slow: ['match:title=1ms']}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	esshadow(t, []string{"ESSHADOW_REPLAY_PASSWORD=x"}, "config", "check", file).want(t, exitDone, "esshadow.yml: ok")
	namesIn(t, dir, "esshadow.yml")
}

func namesIn(t *testing.T, dir string, want ...string) {
	t.Helper()
	var all []string
	_ = fs.WalkDir(os.DirFS(dir), ".", func(path string, _ fs.DirEntry, err error) error {
		if path != "." {
			all = append(all, path)
		}
		return err
	})
	if !slices.Equal(all, want) {
		t.Errorf("the directory holds %v", all)
	}
}
