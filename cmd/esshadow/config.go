package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/esshadow/esshadow/configs"
)

func newConfigCmd(s *streams) *cobra.Command {
	c := &cobra.Command{
		Use:     "config",
		Short:   "Check a configuration file, or print the reference",
		Example: "  esshadow config print > esshadow.yml\n  esshadow config check esshadow.yml",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(&cobra.Command{
		Use:   "check FILE...",
		Short: "Check configuration files: every mistake with its line",
		Long: `check says what the commands would refuse at their start: unknown keys, values that
are none, and files that the configuration names (certificates, keys, secrets, rules,
a schema) and that are missing, cannot be read, or do not hold what they should. It
looks at no address, asks no cluster and changes nothing. What only a command line
can complete, an upstream or a target, may be missing. Relative paths are looked for
where check is started, as they are where a command is started.`,
		Example: "  esshadow config check esshadow.yml\n  esshadow config check - < esshadow.yml",
		Args:    someArgs("file"),
		RunE: func(_ *cobra.Command, paths []string) error {
			var errs []error
			for _, p := range paths {
				text, err := readInput(p, s.in)
				if err == nil {
					err = checkConfig(s, p, text)
				}
				if err != nil {
					errs = append(errs, err)
					continue
				}
				s.note("%s: ok", p)
			}
			if err := errors.Join(errs...); err != nil {
				return &codeError{exitUsage, err}
			}
			return nil
		},
	}, &cobra.Command{
		Use:     "print",
		Short:   "Print the reference configuration: every key with its default",
		Example: "  esshadow config print",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(s.out, configs.Reference())
			return err
		},
	})
	return c
}
