package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A mistake is told by the name under which it was made: the flag, the variable, or the
// key of the file with its line.
func TestMistakesAreToldByTheirNames(t *testing.T) {
	dir := t.TempDir()
	cut := filepath.Join(dir, "cut.pem")
	if err := os.WriteFile(cut, []byte("no certificate\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := makeCapture(t, 2, 0)
	proxy := "proxy --upstream https://127.0.0.1:1 --listen 127.0.0.1:0 --admin off"
	captures := proxy + " --capture " + filepath.Join(dir, "capture")
	mirrors := proxy + " --mirror https://127.0.0.1:1 --mirror-out " + filepath.Join(dir, "run")
	replays := "replay " + c.dir + " --target https://127.0.0.1:1"
	known := flagKeys()
	for _, x := range []struct{ command, flag, value, says string }{
		{proxy, "listen", "nowhere", ` "nowhere": want host:port`},
		{proxy, "admin", "nowhere", ` "nowhere": want host:port`},
		{"proxy", "upstream", "ftp://x", `: "ftp://x": want http://`},
		{proxy, "upstream-timeout", "-1s", " -1s: want 0s or more"},
		{proxy, "upstream-connections", "0", " 0: want 1 or more"},
		{proxy, "upstream-ca-cert", cut, ": " + cut + " holds no certificate"},
		{proxy, "upstream-fingerprint", "ab", ": want a SHA-256"},
		{proxy, "tls-cert", cut, ": belongs together with --tls-key, which is missing"},
		{proxy, "tls-key", cut, ": belongs together with --tls-cert, which is missing"},
		{proxy + " --tls-key " + cut, "tls-cert", "absent.pem", ": open absent.pem"},
		{proxy + " --tls-cert " + cut, "tls-key", "absent.pem", ": open absent.pem"},
		{proxy, "drain", "-1s", " -1s: want 0s or more"},
		{proxy, "host-header", "mine", ` "mine": want auto`},
		{proxy, "log-level", "loud", `: "loud" is none of`},
		{proxy, "log-format", "xml", `: "xml" is none of`},
		{proxy, "capture", cut, ": mkdir " + cut},
		{captures, "max-body", "0", ": 0B: want at least 1B"},
		{captures, "queue", "2KiB", ": 2KiB: want at least 1MiB"},
		{captures, "priority", "reads", `: "reads": want writes or none`},
		{captures, "sample", "2", ": 2: want a ratio from 0 to 1"},
		{captures, "rotate-size", "-1", `: size "-1": want a number`},
		{captures, "rotate-age", "-1s", ": is below 0"},
		{captures, "keep-size", "-1", `: size "-1": want a number`},
		{captures, "keep-age", "-1s", ": is below 0"},
		{captures, "min-free", "-1", `: size "-1": want a number`},
		{captures, "preset", "lax", `: "lax" is not one of`},
		{captures, "rules", "absent.yml", ": open absent.yml"},
		{captures, "schema", cut, ": " + cut + ": schema:"},
		{captures, "key", "absent", ": key file: open absent"},
		{captures + " --preset sealed", "recipient", "bob", ": "},
		{proxy, "mirror", "ftp://x", ": want http://"},
		{mirrors, "mirror-sample", "2", ": 2: want a ratio from 0 to 1"},
		{mirrors, "mirror-queue", "1KiB", ": 1KiB: want at least 1MiB"},
		{mirrors, "mirror-in-flight", "0", ": 0: want 1 to"},
		{mirrors, "mirror-writes", "true", ": needs --mirror-index-map or --mirror-same-index"},
		{mirrors, "mirror-keep", "-1", `: size "-1": want a number`},
		{mirrors, "mirror-connections", "-1", ": want 0"},
		{mirrors, "mirror-timeout", "-1s", ": want 0"},
		{mirrors, "mirror-user", "u", ": needs a password: --mirror-password-file FILE, or ESSHADOW_PROXY_MIRROR_PASSWORD"},
		{mirrors + " --mirror-user u", "mirror-password-file", "absent", ": open absent"},
		{mirrors, "mirror-api-key-file", "absent", ": open absent"},
		{mirrors, "mirror-ca-cert", cut, ": holds no certificate"},
		{mirrors, "mirror-fingerprint", "ab", ": want the 64 hex digits"},
		{"replay " + c.dir, "target", "ftp://x", ": want http://"},
		{replays, "writes", "true", ": needs --index-map or --same-index"},
		{replays, "in-flight", "-1", ": want 0"},
		{replays, "from", "soon", ": "},
		{replays, "to", "soon", ": "},
		{replays, "duration", "-1s", ": want 0"},
		{replays, "connections", "-1", ": want 0"},
		{replays, "timeout", "-1s", ": want 0"},
		{replays, "admin", "nowhere", `: "nowhere": want host:port`},
		{replays, "key", "absent", ": key file: open absent"},
		{replays, "identity", "absent", ": open absent"},
		{replays, "user", "u", ": needs a password: --password-file FILE, or ESSHADOW_REPLAY_PASSWORD"},
		{replays + " --user u", "password-file", "absent", ": open absent"},
		{replays, "api-key-file", "absent", ": open absent"},
		{replays, "ca-cert", cut, ": holds no certificate"},
		{replays, "fingerprint", "ab", ": want the 64 hex digits"},
		{"report x", "format", "xml", `: "xml" is none of`},
		{"sandbox", "listen", "nowhere", ` "nowhere": want host:port`},
		{"sandbox --listen 127.0.0.1:99999", "latency", "-1s", ": want 0 or more"},
		{"sandbox --listen 127.0.0.1:99999", "slow", "x", `: slow shape "x": want`},
		{"sandbox --listen 127.0.0.1:99999", "drop-every", "-1", ": want 0 or more"},
		{"sandbox --listen 127.0.0.1:99999", "reject-every", "-1", ": want 0 or more"},
		{"sandbox --listen 127.0.0.1:99999", "max-docs", "-1", ": want 0 or more"},
		{"demo", "dir", dir, ": "},
		{"demo", "length", "0s", ": want more than 0"},
		{"demo", "rate", "0", ": want more than 0"},
	} {
		args := strings.Fields(x.command)
		if at := slices.Index(args, "--"+x.flag); at >= 0 {
			args = slices.Delete(args, at, at+2)
		}
		name, _, _ := strings.Cut(args[0]+" "+x.flag, ",")
		t.Run(name, func(t *testing.T) {
			key := known[name]
			variable := envName(commandOf(t, args[0]), x.flag)
			file := filepath.Join(t.TempDir(), "c.yml")
			value := x.value
			if key == "proxy.upstreams" || key == "sanitize.recipients" || key == "sandbox.slow" {
				value = "[" + value + "]"
			}
			if err := os.WriteFile(file, []byte(yamlOf(key, value)), 0o600); err != nil {
				t.Fatal(err)
			}
			line := len(strings.Split(key, "."))
			inFile := file + ":" + string(rune('0'+line)) + ": " + key
			for told, r := range map[string]result{
				"--" + x.flag: esshadow(t, nil, append(args, "--"+x.flag+"="+x.value)...),
				variable:      esshadow(t, []string{variable + "=" + x.value}, args...),
				inFile:        esshadow(t, nil, append(args, "--config", file)...),
			} {
				says := x.says
				if told == inFile { // where siblings are called by their keys, too
					says, _, _ = strings.Cut(says, "--")
				}
				if r.code == exitDone || !strings.Contains(r.err, told+says) {
					t.Errorf("exit code %d, want %q in\n%s", r.code, told+says, r.err)
				}
			}
		})
	}
}

// A file that came on standard input cannot be read twice, and has its lines all the same.
func TestMistakesOfAFileOnStandardInput(t *testing.T) {
	r := esshadowWith(t, strings.NewReader("proxy:\n  host_header: mine\n"), nil, "proxy", "--upstream", "http://127.0.0.1:1", "--config", "-")
	r.want(t, exitUsage, `esshadow: -:2: proxy.host_header "mine": want`)
}
