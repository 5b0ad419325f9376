package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/esshadow/esshadow/configs"
)

// proxyCommand is the command with its flags, parsed but not run.
func proxyCommand(t *testing.T, s *streams, args ...string) (*cobra.Command, *settings) {
	t.Helper()
	root := &cobra.Command{Use: "esshadow", SilenceErrors: true, SilenceUsage: true}
	c := &cobra.Command{Use: "proxy", RunE: func(*cobra.Command, []string) error { return nil }}
	root.AddCommand(c)
	set := newSettings(c, s)
	proxyFlags(c, set)
	c.PreRunE = func(c *cobra.Command, _ []string) error { return set.load(c) }
	root.SetArgs(append([]string{"proxy"}, args...))
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	return c, set
}

// So is every key of a mirror, but for those that say what holds anyway; what a file
// says of a capture that there is not is warned of.
func TestKeysWithoutTheirMode(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yml")
	args := []string{"proxy", "--upstream", "http://127.0.0.1:1", "--listen", "nowhere", "--config", file}
	for _, x := range []struct {
		text, says, not string
	}{
		{"mirror:\n  sample: 0.5\n", file + ":2: mirror.sample: has no effect without mirror.target.url, or --mirror URL", ""},
		{"mirror:\n  out: x\n  breaker_failures: 3\n", file + ":3: mirror.breaker_failures: has no effect", ""},
		{"mirror:\n  target:\n    user: u\n", file + ":3: mirror.target.user: has no effect", ""},
		{"mirror:\n  sample: 1\n  writes: false\n", "want host:port", "no effect"},
		{"mirror:\n  sample: 0.5\n  target: {url: 'http://a:1'}\n", "want host:port", "no effect"},
		{configs.Reference(), "want host:port", "no effect"},
		{"capture:\n  sample: 0.5\n  max_body: 1MiB\n", "warning: " + file + ": no effect without capture.dir, or --capture DIR: capture.max_body, capture.sample\n", ""},
		{"capture:\n  max_body: 1MiB\nmirror: {target: {url: 'http://a:1'}}\n", "want host:port", "no effect"},
	} {
		if err := os.WriteFile(file, []byte(x.text), 0o600); err != nil {
			t.Fatal(err)
		}
		r := esshadow(t, nil, args...).want(t, exitUsage, x.says)
		if x.not != "" && strings.Contains(r.err, x.not) {
			t.Errorf("%.80q: %s", x.text, r.err)
		}
	}
}

// Every flag of a mirror is refused by its name without one, and from the
// environment warned of; a value that is empty, or a switch that is off, says nothing.
func TestMirrorFlagsWithoutMirror(t *testing.T) {
	some, _ := proxyCommand(t, &streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard, env: lookup(nil)})
	n := 0
	some.Flags().VisitAll(func(f *pflag.Flag) {
		if !strings.HasPrefix(f.Name, "mirror-") {
			return
		}
		n++
		value := sampleOf(t, some, f, 1)
		if f.Name == "mirror-index-map" {
			value = "a=b"
		}
		with := []string{"proxy", "--upstream", "http://127.0.0.1:1", "--listen", "127.0.0.1:0"}
		esshadow(t, nil, append(with, "--"+f.Name+"="+value)...).want(t, exitUsage, "--"+f.Name+": has no effect without --mirror URL")

		var said bytes.Buffer
		s := &streams{in: strings.NewReader(""), out: io.Discard, err: &said, env: lookup([]string{envName(some, f.Name) + "=" + value})}
		c, set := proxyCommand(t, s)
		if err := checkIdle(c, s, idleInProxy(c, &set.cfg)...); err != nil || !strings.Contains(said.String(), "warning: no effect without --mirror URL: "+envName(some, f.Name)+"\n") {
			t.Errorf("%s from the environment: %v, %s", f.Name, err, said.String())
		}
	})
	if n < 16 {
		t.Errorf("%d flags of a mirror", n)
	}
}

func TestIdleFlags(t *testing.T) {
	for _, x := range []struct {
		args, says string // says "": nothing
	}{
		{"", ""},
		{"--mirror-insecure=false --mirror-user=", ""},
		{"--preset strict --key k --max-body 1MiB", "without --capture DIR or --mirror URL: --preset, --key, --max-body"},
		{"--rules r --schema s --recipient age1x --i-accept-plaintext-on-disk", "without --capture DIR or --mirror URL: --rules, --schema, --recipient, --i-accept-plaintext-on-disk"},
		{"--sample 0.1 --queue 2MiB --priority none", "without --capture DIR: --sample, --queue, --priority"},
		{"--rotate-size 1MiB --rotate-age 1h --keep-size 1MiB --keep-age 1h --min-free 0", "without --capture DIR: --rotate-size, --rotate-age, --keep-size, --keep-age, --min-free"},
		{"--sample 0.1 --key k --rotate-age 1h --capture d", ""},
		{"--key k --preset strict --mirror http://h:1 --mirror-user u", ""},
		{"--queue 2MiB --mirror http://h:1", "without --capture DIR: --queue"},
		{"--mirror http://h:1 --mirror-same-index", "without --mirror-writes, since only reads are mirrored: --mirror-same-index"},
		{"--mirror http://h:1 --mirror-same-index --mirror-writes", ""},
		{"--mirror http://h:1 --mirror-ca-cert c", "on http://, which has no certificates: --mirror-ca-cert"},
		{"--mirror HTTPS://h:1 --mirror-insecure", ""},
		{"--upstream http://a:1,https://b:1 --upstream-insecure", ""},
		{"--upstream http://a:1 --upstream-fingerprint f --upstream-insecure", "on http://, which has no certificates: --upstream-fingerprint, --upstream-insecure"},
		{"--admin off --admin-token-file t", "with --admin off: --admin-token-file"},
		{"--admin-token-file t", ""},
	} {
		t.Run(x.args, func(t *testing.T) {
			var said bytes.Buffer
			s := &streams{in: strings.NewReader(""), out: io.Discard, err: &said, env: lookup(nil)}
			c, set := proxyCommand(t, s, strings.Fields(x.args)...)
			err := checkIdle(c, s, idleInProxy(c, &set.cfg)...)
			want := ""
			if x.says != "" {
				want = "esshadow proxy: warning: no effect " + x.says + "\n"
			}
			if err != nil || said.String() != want {
				t.Errorf("%v, %q, want %q", err, said.String(), want)
			}
		})
	}
}

// Each flag of the table is one that proxy has.
func TestIdleFlagsExist(t *testing.T) {
	s := &streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard, env: lookup(nil)}
	c, _ := proxyCommand(t, s)
	cfg := configs.Default()
	cfg.Proxy.Admin = "off"
	none := idleInProxy(c, &cfg)
	cfg.Mirror.Target.URL = "http://h:1"
	for _, x := range append(none, idleInProxy(c, &cfg)...) {
		for _, name := range x.flags {
			if c.Flags().Lookup(name) == nil {
				t.Errorf("proxy has no flag %s", name)
			}
		}
	}
}

func TestIdleFlagsElsewhere(t *testing.T) {
	for _, x := range []struct {
		args string
		code int
		says string
	}{
		{"replay no-such-capture --target http://127.0.0.1:1 --same-index", exitFailed, "esshadow replay: warning: no effect without --writes, since only reads are sent: --same-index"},
		{"replay no-such-capture --target http://127.0.0.1:1 --insecure", exitFailed, "esshadow replay: warning: no effect on http://, which has no certificates: --insecure"},
		{"schema pull --from http://127.0.0.1:1 --insecure", exitRefused, "esshadow schema pull: warning: no effect on http://, which has no certificates: --insecure"},
		{"sanitize canary send --via http://127.0.0.1:1 --marks / --insecure", exitUsage, "esshadow sanitize canary send: warning: no effect on http://, which has no certificates: --insecure"},
		{"sanitize audit x --detect=false", exitUsage, "--detect=false: without --words there is nothing to look for"},
	} {
		t.Run(x.args, func(t *testing.T) { esshadow(t, nil, strings.Fields(x.args)...).want(t, x.code, x.says) })
	}
}
