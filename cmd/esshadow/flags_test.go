package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commands are all commands of the program, made anew.
func commands(s *streams) []*cobra.Command {
	var all []*cobra.Command
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		all = append(all, c)
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot(s))
	return all
}

func commandOf(t *testing.T, name string) *cobra.Command {
	t.Helper()
	c, _, err := newRoot(&streams{env: lookup(nil)}).Find(strings.Fields(name))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// flagsOf are the flags that a command itself has, but for help.
func flagsOf(c *cobra.Command) []*pflag.Flag {
	var all []*pflag.Flag
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" && f.Name != "version" {
			all = append(all, f)
		}
	})
	return all
}

// sampleOf is the n-th value for a flag, none of which is a default.
func sampleOf(t *testing.T, c *cobra.Command, f *pflag.Flag, n int) string {
	t.Helper()
	switch c.Name() + " " + f.Name {
	case "cat on-corrupt", "stat on-corrupt":
		return "skip"
	}
	switch f.Value.Type() {
	case "bool":
		return fmt.Sprint(f.DefValue == "false")
	case "int":
		return fmt.Sprint(70 + n)
	case "float64":
		return fmt.Sprint(0.5 + float64(n)/8)
	case "duration":
		return fmt.Sprintf("%ds", 70+n)
	case "size":
		return fmt.Sprintf("%dMiB", 70+n)
	case "speed":
		return fmt.Sprint(3 + n)
	case "string", "stringSlice", "stringArray":
		return fmt.Sprintf("x%d", n)
	}
	t.Fatalf("%s --%s: no sample for type %s", c.CommandPath(), f.Name, f.Value.Type())
	return ""
}

// settle parses a command line with its layers, but does not do what it says.
// It returns what the flag became.
func settle(t *testing.T, path, flag string, env []string, args ...string) string {
	t.Helper()
	s := &streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard, env: lookup(env)}
	root := newRoot(s)
	c, _, err := root.Find(strings.Fields(path)[1:])
	if err != nil {
		t.Fatal(err)
	}
	ran := false
	c.Args = cobra.ArbitraryArgs
	c.Run, c.RunE = nil, func(*cobra.Command, []string) error { ran = true; return nil }
	root.SetArgs(append(strings.Fields(path)[1:], args...))
	if err := root.Execute(); err != nil || !ran {
		t.Fatalf("%s %v with %v: %v", path, args, env, err)
	}
	return strings.Join(flagValues(c.Flag(flag)), ",")
}

// normal is how a flag's type writes a value.
func normal(t *testing.T, path, flag, value string) string {
	t.Helper()
	return settle(t, path, flag, nil, "--"+flag+"="+value)
}

func TestEveryFlagFromTheEnvironment(t *testing.T) {
	n := 0
	for _, c := range commands(&streams{env: lookup(nil)}) {
		if !c.Runnable() || c.Name() == "help" {
			continue
		}
		for _, f := range flagsOf(c) {
			if f.Name == "config" {
				continue
			}
			n++
			path := c.CommandPath()
			name := strings.ToUpper(strings.NewReplacer(" ", "_", "-", "_").Replace(path + "_" + f.Name))
			t.Run(name, func(t *testing.T) {
				one, two := sampleOf(t, c, f, 1), sampleOf(t, c, f, 2)
				if got, want := settle(t, path, f.Name, []string{name + "=" + one}), normal(t, path, f.Name, one); got != want {
					t.Errorf("environment %q gives %q, want %q", one, got, want)
				}
				if f.Value.Type() == "bool" {
					two = f.DefValue
				}
				if got, want := settle(t, path, f.Name, []string{name + "=" + one}, "--"+f.Name+"="+two), normal(t, path, f.Name, two); got != want {
					t.Errorf("environment %q and flag %q give %q, want the flag", one, two, got)
				}
				if got := settle(t, path, f.Name, []string{name + "_X=" + one, "ESSHADOW_NOTHING=1"}); got != strings.Trim(f.DefValue, "[]") {
					t.Errorf("unknown variables change it to %q", got)
				}
			})
		}
	}
	if n < 60 {
		t.Errorf("looked at %d flags only", n)
	}
}

// noKey are flags that no file may or need hold.
func noKey() map[string]string {
	return map[string]string{
		"proxy config": "names the file", "replay config": "names the file", "report config": "names the file",
		"sandbox config": "names the file", "demo config": "names the file",
		"proxy i-accept-plaintext-on-disk": "has to be said where the program is started",
	}
}

// yamlOf writes one key of a configuration file.
func yamlOf(key, value string) string {
	var b strings.Builder
	parts := strings.Split(key, ".")
	for i, p := range parts {
		fmt.Fprintf(&b, "%s%s:", strings.Repeat("  ", i), p)
		if i < len(parts)-1 {
			b.WriteString("\n")
		}
	}
	return b.String() + " " + value + "\n"
}

func TestFileBelowEnvironmentBelowFlag(t *testing.T) {
	known, exempt := flagKeys(), noKey()
	for _, c := range commands(&streams{env: lookup(nil)}) {
		if c.Flag("config") == nil {
			continue
		}
		for _, f := range flagsOf(c) {
			name := c.Name() + " " + f.Name
			if exempt[name] != "" {
				continue
			}
			t.Run(name, func(t *testing.T) {
				key := known[name]
				if key == "" {
					t.Fatal("no key of the configuration file is known for this flag")
				}
				precedence(t, c, f, key)
			})
			delete(known, name)
		}
	}
	for name := range known {
		t.Errorf("no such flag: %s", name)
	}
}

func precedence(t *testing.T, c *cobra.Command, f *pflag.Flag, key string) {
	path, flag := c.CommandPath(), f.Name
	file := filepath.Join(t.TempDir(), "esshadow.yml")
	one, two, three := sampleOf(t, c, f, 1), sampleOf(t, c, f, 2), sampleOf(t, c, f, 3)
	if f.Value.Type() == "bool" {
		two = f.DefValue
	}
	text := one
	switch {
	case f.Value.Type() == "stringSlice":
		text = "[" + one + "]"
	case strings.HasSuffix(flag, "index-map"): // a list of objects, joined with the flags when the command runs
		text = "[{from: a, to: b}]"
	}
	if err := os.WriteFile(file, []byte(yamlOf(key, text)), 0o600); err != nil {
		t.Fatal(err)
	}
	env := envName(c, flag)
	if got, want := settle(t, path, flag, nil, "--config", file), normal(t, path, flag, one); got != want && !strings.HasSuffix(flag, "index-map") {
		t.Errorf("file %q gives %q, want %q", text, got, want)
	}
	if got, want := settle(t, path, flag, []string{envName(c, "config") + "=" + file, env + "=" + two}), normal(t, path, flag, two); got != want {
		t.Errorf("file %q, environment %q give %q, want the environment", text, two, got)
	}
	if got, want := settle(t, path, flag, []string{env + "=" + two}, "--config", file, "--"+flag+"="+three), normal(t, path, flag, three); got != want {
		t.Errorf("file %q, environment %q, flag %q give %q, want the flag", text, two, three, got)
	}
}

// A value of the environment that its flag would not take is a usage error that
// names the variable.
func TestBadEnvironment(t *testing.T) {
	for _, x := range []struct {
		env  string
		args []string
	}{
		{"ESSHADOW_PROXY_DRAIN=soon", []string{"proxy", "--upstream", "http://127.0.0.1:1"}},
		{"ESSHADOW_REPLAY_SPEED=quick", []string{"replay", "x", "--target", "http://127.0.0.1:1"}},
		{"ESSHADOW_CAPTURE_CAT_LIMIT=few", []string{"capture", "cat", "x"}},
		{"ESSHADOW_VERSION_JSON=perhaps", []string{"version"}},
		{"ESSHADOW_DEMO_RATE=fast", []string{"demo"}},
	} {
		name, _, _ := strings.Cut(x.env, "=")
		esshadow(t, []string{x.env}, x.args...).want(t, exitUsage, name)
	}
}

// Whoever asks for help of any command finds an example.
func TestHelpOfEveryCommand(t *testing.T) {
	for _, c := range commands(&streams{env: lookup(nil)}) {
		if c.Name() == "help" {
			continue
		}
		args := append(strings.Fields(c.CommandPath())[1:], "--help")
		r := esshadow(t, nil, args...).want(t, exitDone)
		for _, want := range []string{"Usage:", "esshadow"} {
			if !strings.Contains(r.out, want) {
				t.Errorf("%v: lacks %q", args, want)
			}
		}
		if c.Name() == "completion" || c.HasParent() && c.Parent().Name() == "completion" {
			continue // cobra's own, which explains by its text
		}
		if _, examples, _ := strings.Cut(r.out, "\nExamples:\n"); !strings.Contains(examples, "esshadow "+strings.Join(args[:len(args)-1], " ")) {
			t.Errorf("%v: no example", args)
		}
		if r.err != "" {
			t.Errorf("%v: stderr %q", args, r.err)
		}
	}
}

// Whatever is asked wrongly ends with code 2 and says so on standard error.
func TestWrongUsage(t *testing.T) {
	for _, x := range []struct {
		args string
		says string
	}{
		{"bogus", `unknown command or argument "bogus"`},
		{"--bogus", "unknown flag: --bogus"},
		{"capture bogus", `unknown command or argument "bogus"`},
		{"config bogus", `unknown command or argument "bogus"`},
		{"help bogus", `help: unknown command or argument "bogus"`},
		{"help capture bogus", `help: unknown command or argument "bogus"`},
		{"help capture ls bogus", `help: unknown command or argument "bogus"`},
		{"key id .", "key file: . is a directory"},
		{"completion nushell", `completion: unknown command or argument "nushell"`},
		{"ctl capture", "esshadow: ctl capture: want on|off"},
		{"ctl status now", "esshadow: ctl status: want no arguments"},
		{"sanitize init --schema flags_test.go", "flags_test.go: schema: "},
		{"proxy --upstream https://127.0.0.1:1 --listen 127.0.0.1:0 --admin off --upstream-ca-cert flags_test.go", "flags_test.go holds no certificate"},
		{"proxy", "--upstream: want the nodes"},
		{"proxy --upstream ftp://x", "upstream"},
		{"proxy --upstream http://127.0.0.1:1 more", "more"},
		{"proxy --upstream http://127.0.0.1:1 --log-level loud", "loud"},
		{"proxy --upstream http://127.0.0.1:1 --log-format xml", "xml"},
		{"proxy --upstream http://127.0.0.1:1 --sample 2 --capture nowhere", "sample"},
		{"proxy --sample half", `--sample: "half": want a number`},
		{"proxy --upstream-connections many", `--upstream-connections: "many": want a whole number`},
		{"proxy --drain 5", `--drain: "5": want a duration with units, such as 1.5s or 10m`},
		{"proxy --reuse-port=maybe", `--reuse-port: "maybe": want true or false`},
		{"proxy --upstream http://127.0.0.1:1 --host-header mine", `--host-header "mine": want auto`},
		{"proxy --upstream http://127.0.0.1:1 --max-body 3apples", "3apples"},
		{"replay", "at least one capture"},
		{"replay x", "--target: want the URL"},
		{"replay x --target nowhere", "target"},
		{"replay x --target http://u:p@h:1", "password"},
		{"replay x --target http://127.0.0.1:1 --writes", "--writes: needs --index-map or --same-index"},
		{"replay x --target http://127.0.0.1:1 --index-map a", "--index-map"},
		{"replay x --target http://127.0.0.1:1 --same-index --index-map a=b", "exclude"},
		{"replay x --target http://127.0.0.1:1 --speed fast", "speed"},
		{"replay x --target http://127.0.0.1:1 --speed 0", "speed"},
		{"replay x --target http://127.0.0.1:1 --duration -5s", "duration"},
		{"replay x --target http://127.0.0.1:1 --in-flight -1", "--in-flight: want 0"},
		{"replay x --target http://127.0.0.1:1 --password-file no/such", "--password-file"},
		{"replay x --target http://127.0.0.1:1 --ca-cert no/such", "--ca-cert"},
		{"replay x --target http://127.0.0.1:1 --user u", "--user: needs a password: --password-file FILE, or ESSHADOW_REPLAY_PASSWORD"},
		{"schema pull --from http://127.0.0.1:1 --user u", "--user: needs a password: --password-file FILE, or ESSHADOW_SCHEMA_PULL_PASSWORD"},
		{"replay x --target http://127.0.0.1:1 --admin nowhere", "admin: \"nowhere\": want host:port, or off"},
		{"replay x --target http://127.0.0.1:1 --config no/such", "--config"},
		{"report", "at least one run directory"},
		{"report x --format xml", `"xml" is none of text, json`},
		{"capture ls", "at least one path"},
		{"capture cat", "at least one path"},
		{"capture stat", "at least one path"},
		{"capture verify", "at least one path"},
		{"capture repair", "at least one path"},
		{"capture cat x --op nonsense", "nonsense"},
		{"capture cat x --limit -1", "--limit"},
		{"capture cat x --on-corrupt pray", "--on-corrupt"},
		{"capture stat x --on-corrupt pray", "--on-corrupt"},
		{"config check", "at least one file"},
		{"config check no/such", "no/such"},
		{"config print x", "x"},
		{"sandbox --slow soon", "--slow"},
		{"demo x", "x"},
		{"demo --rate 0", "--rate"},
		{"sandbox --max-docs -1", "--max-docs: want 0"},
		{"demo --length 0s", "--length"},
		{"version x", "x"},
	} {
		t.Run(x.args, func(t *testing.T) {
			r := esshadow(t, nil, strings.Fields(x.args)...).want(t, exitUsage, x.says)
			if r.out != "" || !strings.HasPrefix(r.err, "esshadow: ") {
				t.Errorf("stdout %q, stderr %q", r.out, r.err)
			}
		})
	}
}
