package main

import (
	"errors"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/esshadow/esshadow/configs"
)

// flagKeys are the keys of the configuration file by command and flag.
func flagKeys() map[string]string {
	return map[string]string{
		"proxy listen": "proxy.listen", "proxy admin": "proxy.admin", "proxy upstream": "proxy.upstreams",
		"proxy upstream-timeout": "proxy.upstream_timeout", "proxy upstream-connections": "proxy.upstream_connections",
		"proxy upstream-ca-cert": "proxy.upstream_tls.ca_cert", "proxy upstream-fingerprint": "proxy.upstream_tls.fingerprint",
		"proxy upstream-insecure": "proxy.upstream_tls.insecure", "proxy tls-cert": "proxy.tls.cert", "proxy tls-key": "proxy.tls.key",
		"proxy drain": "proxy.drain", "proxy host-header": "proxy.host_header",
		"proxy capture": "capture.dir", "proxy admin-token-file": "proxy.admin_token_file",
		"proxy reuse-port": "proxy.reuse_port", "proxy max-body": "capture.max_body", "proxy queue": "capture.queue", "proxy priority": "capture.priority", "proxy sample": "capture.sample",
		"proxy rotate-size": "capture.rotate_size", "proxy rotate-age": "capture.rotate_age",
		"proxy keep-size": "capture.keep_size", "proxy keep-age": "capture.keep_age", "proxy min-free": "capture.min_free",
		"proxy preset": "sanitize.preset", "proxy rules": "sanitize.rules", "proxy schema": "sanitize.schema", "proxy key": "sanitize.key", "proxy recipient": "sanitize.recipients",
		"proxy mirror": "mirror.target.url", "proxy mirror-sample": "mirror.sample", "proxy mirror-out": "mirror.out", "proxy mirror-queue": "mirror.queue",
		"proxy mirror-in-flight": "mirror.in_flight", "proxy mirror-writes": "mirror.writes", "proxy mirror-index-map": "mirror.index_map",
		"proxy mirror-same-index": "mirror.same_index", "proxy mirror-keep": "mirror.keep_size",
		"proxy mirror-connections": "mirror.target.connections", "proxy mirror-timeout": "mirror.target.timeout",
		"proxy mirror-user": "mirror.target.user", "proxy mirror-password-file": "mirror.target.password_file",
		"proxy mirror-api-key-file": "mirror.target.api_key_file", "proxy mirror-ca-cert": "mirror.target.ca_cert",
		"proxy mirror-fingerprint": "mirror.target.fingerprint", "proxy mirror-insecure": "mirror.target.insecure",
		"proxy log-level": "log.level", "proxy log-format": "log.format",
		"replay target": "replay.target.url", "replay speed": "replay.speed", "replay writes": "replay.writes",
		"replay same-index": "replay.same_index", "replay index-map": "replay.index_map", "replay in-flight": "replay.in_flight",
		"replay out": "replay.out", "replay from": "replay.from", "replay to": "replay.to", "replay duration": "replay.duration", "replay dry-run": "replay.dry_run",
		"replay connections": "replay.target.connections", "replay timeout": "replay.target.timeout", "replay key": "replay.key", "replay identity": "replay.identity",
		"replay user": "replay.target.user", "replay password-file": "replay.target.password_file", "replay api-key-file": "replay.target.api_key_file",
		"replay ca-cert": "replay.target.ca_cert", "replay fingerprint": "replay.target.fingerprint", "replay insecure": "replay.target.insecure",
		"replay admin": "replay.admin", "replay log-level": "log.level", "replay log-format": "log.format",
		"report format": "report.format", "report output": "report.output",
		"sandbox listen": "sandbox.listen", "sandbox latency": "sandbox.latency", "sandbox slow": "sandbox.slow", "sandbox drop-every": "sandbox.drop_every",
		"sandbox reject-every": "sandbox.reject_every", "sandbox max-docs": "sandbox.max_docs",
		"demo dir": "demo.dir", "demo length": "demo.length", "demo rate": "demo.rate",
	}
}

// otherKeys are the keys by which mistakes come to commands without a configuration
// file, by command and flag.
func otherKeys() map[string]string {
	all := map[string]string{
		"sanitize test key": "sanitize.key", "sanitize test rules": "sanitize.rules", "sanitize test schema": "sanitize.schema", "sanitize test preset": "sanitize.preset",
		"schema pull from": "pull.target.url",
	}
	for _, command := range []string{"preview", "explain", "check", "filter"} {
		for _, flag := range []string{"key", "rules", "schema", "preset"} {
			all["sanitize "+command+" "+flag] = "sanitize." + flag
		}
	}
	for _, flag := range []string{"user", "password-file", "api-key-file", "ca-cert", "fingerprint", "insecure"} {
		all["schema pull "+flag] = "pull.target." + strings.ReplaceAll(flag, "-", "_")
	}
	return all
}

// names say by which name a setting was given to a command: as a flag, as a variable,
// or as a key of the configuration file.
type names struct {
	c     *cobra.Command
	s     *streams
	flags map[string]string // by key
	file  string            // the configuration file's name and text; empty: none
	text  []byte
}

func namesOf(c *cobra.Command, s *streams) *names {
	n := &names{c: c, s: s, flags: map[string]string{}, file: s.file, text: s.text}
	path := strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ")
	for _, table := range []map[string]string{flagKeys(), otherKeys()} {
		for name, key := range table {
			if flag, ok := strings.CutPrefix(name, path+" "); ok && c.Flags().Lookup(flag) != nil {
				n.flags[key] = flag
			}
		}
	}
	return n
}

// name is how the user would call the setting: what was said last, the flag where
// nothing was said, and "" where the setting is none of the command.
func (n *names) name(key string) string {
	flag, known := n.flags[key]
	switch {
	case known && n.c.Flags().Changed(flag):
		return "--" + flag
	case known && said(n.c, n.s, flag):
		return envName(n.c, flag)
	case configs.Given(n.text, key):
		return key
	case known:
		return "--" + flag
	}
	return ""
}

// told is a mistake's text with the names that the user knows. Layers below speak of
// keys: what they are called on a command line is none of their business.
func (n *names) told(text string) string {
	key := configs.KeyOf(text)
	whole, _, _ := strings.Cut(key, "[")
	name := n.name(whole)
	if name == "" {
		return text
	}
	rest := text[len(whole):]
	if name == whole { // of the file, whose keys stand below each other
		return configs.At(n.file, n.text, key) + text
	}
	words := regexp.MustCompile(`\b[a-z]+([._][a-z]+)+\b`) // of its sentence, keys of siblings among them
	return name + words.ReplaceAllStringFunc(rest, func(word string) string {
		for at := len(whole); at > 0; {
			if at = strings.LastIndexByte(whole[:at], '.'); at < 0 {
				break
			}
			if sibling := n.name(whole[:at+1] + word); sibling != "" && sibling != whole[:at+1]+word {
				return sibling
			}
		}
		return word
	})
}

// named is an error that speaks of flags where flags were given.
func (n *names) named(err error) error {
	switch e := err.(type) { //nolint:errorlint // each layer is looked at by itself
	case nil:
		return nil
	case *codeError:
		return &codeError{e.code, n.named(e.err)}
	case interface{ Unwrap() []error }:
		var lines []string
		var all []error
		for _, inner := range e.Unwrap() {
			lines = append(lines, inner.Error())
			all = append(all, n.named(inner))
		}
		if strings.Join(lines, "\n") == err.Error() {
			return errors.Join(all...)
		}
	}
	if text := n.told(err.Error()); text != err.Error() {
		return &retold{text, err}
	}
	return err
}

// retold is an error under another text.
type retold struct {
	text string
	err  error
}

func (r *retold) Error() string { return r.text }
func (r *retold) Unwrap() error { return r.err }
