package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/esshadow/esshadow/configs"
)

// idling are flags that do nothing as a command was called.
type idling struct {
	flags []string
	why   string // "without --capture DIR"
	// fatal: on a command line they are a mistake. From the environment, which
	// many processes share, they never are; nor are the flags of a mode that scripts
	// switch off by leaving its one flag away.
	fatal bool
}

// checkIdle refuses flags that have no effect, or warns of them in one line for
// each reason. Empty values and switches that are off say nothing.
func checkIdle(c *cobra.Command, s *streams, all ...idling) error {
	var errs []error
	for _, x := range all {
		var told []string
		for _, name := range x.flags {
			f := c.Flags().Lookup(name)
			switch {
			case f == nil || !said(c, s, name) || !tells(f):
			case x.fatal && f.Changed:
				errs = append(errs, fmt.Errorf("--%s: has no effect %s", name, x.why))
			case f.Changed:
				told = append(told, "--"+name)
			default:
				told = append(told, envName(c, name))
			}
		}
		if len(told) > 0 {
			s.note("%s: warning: no effect %s: %s", c.CommandPath(), x.why, strings.Join(told, ", "))
		}
	}
	if len(errs) > 0 {
		return &codeError{exitUsage, errors.Join(errs...)}
	}
	return nil
}

// checkIdleKeys is checkIdle for the keys of a configuration file. What a file says
// that holds anyway, as the reference does of every key, asks for nothing.
func (set *settings) checkIdleKeys() error {
	captures, mirrors := set.cfg.Capture.Files.Dir != "", set.cfg.Mirror.On()
	var errs []error
	var told []string
	for _, key := range changedKeys(configs.Default(), set.cfg) {
		if !configs.Given(set.s.text, key) {
			continue
		}
		switch section, _, _ := strings.Cut(key, "."); {
		case section == "mirror" && !mirrors:
			errs = append(errs, fmt.Errorf("%s%s: has no effect without mirror.target.url, or --mirror URL", configs.At(set.file, set.s.text, key), key))
		case section == "capture" && !captures && !(mirrors && key == "capture.max_body"):
			told = append(told, key)
		}
	}
	if len(told) > 0 {
		set.s.note("esshadow proxy: warning: %s: no effect without capture.dir, or --capture DIR: %s", set.file, strings.Join(told, ", "))
	}
	if len(errs) > 0 {
		return &codeError{exitUsage, errors.Join(errs...)}
	}
	return nil
}

// tells reports whether a flag's value asks for something.
func tells(f *pflag.Flag) bool {
	v := strings.Join(flagValues(f), "")
	return v != "" && !(f.Value.Type() == "bool" && v == "false")
}

// idleInProxy are the flags of proxy that do nothing with a configuration.
func idleInProxy(c *cobra.Command, cfg *configs.Config) (all []idling) {
	captures, mirrors := cfg.Capture.Files.Dir != "", cfg.Mirror.On()
	if !mirrors {
		x := idling{why: "without --mirror URL", fatal: true}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if strings.HasPrefix(f.Name, "mirror-") {
				x.flags = append(x.flags, f.Name)
			}
		})
		all = append(all, x)
	}
	if !captures {
		all = append(all, idling{why: "without --capture DIR", flags: []string{
			"sample", "queue", "priority", "rotate-size", "rotate-age", "keep-size", "keep-age", "min-free",
		}})
	}
	if !captures && !mirrors {
		all = append(all, idling{why: "without --capture DIR or --mirror URL", flags: []string{
			"preset", "rules", "schema", "key", "recipient", "i-accept-plaintext-on-disk", "max-body",
		}})
	}
	if mirrors && !cfg.Mirror.Writes {
		all = append(all, idling{why: "without --mirror-writes, since only reads are mirrored", flags: []string{"mirror-same-index"}})
	}
	if cfg.Proxy.Admin == "off" || cfg.Proxy.Admin == "" {
		all = append(all, idling{why: "with --admin off", flags: []string{"admin-token-file"}})
	}
	return append(all, withoutTLS("upstream-", cfg.Proxy.Upstreams...), withoutTLS("mirror-", cfg.Mirror.Target.URL))
}

// idleInReplay are those of replay.
func idleInReplay(cfg *configs.Replay) []idling {
	all := []idling{withoutTLS("", cfg.Target.URL)}
	if cfg.DryRun && cfg.Admin != "off" {
		all = append(all, idling{why: "with --dry-run", flags: []string{"admin"}})
	}
	if !cfg.Writes {
		all = append(all, idling{why: "without --writes, since only reads are sent", flags: []string{"same-index"}})
	}
	return all
}

// withoutTLS are the flags that say whom to trust, where no URL leads to TLS.
func withoutTLS(prefix string, urls ...string) idling {
	if slices.ContainsFunc(urls, func(u string) bool { return !strings.HasPrefix(strings.ToLower(u), "http://") }) {
		return idling{}
	}
	return idling{why: "on http://, which has no certificates", flags: []string{prefix + "ca-cert", prefix + "fingerprint", prefix + "insecure"}}
}
