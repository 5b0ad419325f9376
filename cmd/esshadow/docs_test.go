package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// docs/cli.md is what the commands say of themselves. `make golden` rewrites it.
func TestManualOfTheCommandLine(t *testing.T) {
	golden(t, "../../docs/cli.md", manual(newRoot(&streams{env: lookup(nil)})))
}

func manual(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("<!-- written by `make golden` from the commands themselves; do not edit -->\n\n# The command line\n\n")
	fmt.Fprintf(&b, "%s\n\n", prose(root.Long))
	b.WriteString("Standard output carries what was asked for; everything else goes to standard error.\n\n")
	b.WriteString("| command | does |\n|---|---|\n")
	var each func(*cobra.Command, func(*cobra.Command))
	each = func(c *cobra.Command, do func(*cobra.Command)) {
		for _, sub := range c.Commands() {
			if sub.Name() == "help" || sub.Hidden {
				continue
			}
			do(sub)
			if sub.Name() != "completion" {
				each(sub, do)
			}
		}
	}
	each(root, func(c *cobra.Command) {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", c.CommandPath(), strings.ReplaceAll(c.CommandPath(), " ", "-"), c.Short)
	})
	each(root, func(c *cobra.Command) { section(&b, c) })
	return b.String()
}

// prose keeps Markdown from taking <NAME> for a tag.
func prose(text string) string { return strings.ReplaceAll(text, "<", "\\<") }

func section(b *strings.Builder, c *cobra.Command) {
	fmt.Fprintf(b, "\n## %s\n\n%s.\n\n", c.CommandPath(), c.Short)
	if c.Long != "" && c.Name() != "completion" {
		fmt.Fprintf(b, "%s\n\n", prose(c.Long))
	}
	if c.Runnable() && !c.HasSubCommands() {
		fmt.Fprintf(b, "```\n%s\n```\n\n", c.UseLine())
	}
	if c.Name() == "completion" {
		fmt.Fprintf(b, "```\n%s [bash|zsh|fish|powershell]\n```\n\n`%s bash --help` says how to load it.\n", c.CommandPath(), c.CommandPath())
		return
	}
	fmt.Fprintf(b, "```sh\n%s\n```\n", strings.ReplaceAll(strings.TrimPrefix(c.Example, "  "), "\n  ", "\n"))
	flags := 0
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		if flags++; flags == 1 {
			b.WriteString("\n| flag | environment | default | |\n|---|---|---|---|\n")
		}
		row(b, c, f)
	})
}

func row(b *strings.Builder, c *cobra.Command, f *pflag.Flag) {
	name, text := pflag.UnquoteUsage(f)
	flag := "--" + f.Name
	if f.Shorthand != "" {
		flag = "-" + f.Shorthand + ", " + flag
	}
	if name != "" {
		flag += " " + name
	}
	value := f.DefValue
	switch value {
	case "", "[]", "false":
		value = ""
	default:
		value = "`" + value + "`"
	}
	fmt.Fprintf(b, "| `%s` | `%s` | %s | %s |\n", flag, envName(c, f.Name), value, strings.ReplaceAll(prose(text), "|", `\|`))
}
