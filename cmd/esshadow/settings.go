package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/esshadow/esshadow/configs"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// settings layers a command's configuration: defaults, then the file of
// --config, then the environment, then flags. Flags are bound to the fields of
// cfg, so each layer writes to the same place.
type settings struct {
	cfg  configs.Config
	file string
	s    *streams
}

func newSettings(c *cobra.Command, s *streams) *settings {
	set := &settings{cfg: configs.Default(), s: s}
	c.Flags().StringVar(&set.file, "config", "", "configuration `file` (YAML); see 'esshadow config print'")
	return set
}

// load applies the layers. It must run before the command looks at cfg.
func (set *settings) load(c *cobra.Command) error {
	type given struct {
		flag   *pflag.Flag
		values []string
	}
	var flags []given
	c.Flags().Visit(func(f *pflag.Flag) { flags = append(flags, given{f, flagValues(f)}) })
	if err := set.loadFile(c); err != nil {
		return err
	}
	if err := set.loadEnv(c); err != nil {
		return err
	}
	for _, g := range flags {
		if err := setFlag(g.flag, g.values); err != nil {
			return usage("--%s: %w", g.flag.Name, err)
		}
	}
	return nil
}

func (set *settings) loadFile(c *cobra.Command) error {
	if v, ok := set.s.env(envName(c, "config")); ok && set.file == "" {
		set.file = v
	}
	if set.file == "" {
		return nil
	}
	text, err := readInput(set.file, set.s.in)
	if err != nil {
		return usage("--config: %w", err)
	}
	if err := configs.Load(set.file, text, &set.cfg); err != nil {
		return &codeError{exitUsage, err}
	}
	return nil
}

// loadEnv sets every flag whose environment variable is set, and complains of
// variables that look like ours and are none.
func (set *settings) loadEnv(c *cobra.Command) error {
	var errs []error
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if v, ok := set.s.env(envName(c, f.Name)); ok && f.Name != "config" && f.Name != "help" {
			if err := setFlag(f, splitList(f, v)); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", envName(c, f.Name), err))
			}
		}
	})
	if len(errs) > 0 {
		return &codeError{exitUsage, errors.Join(errs...)}
	}
	return nil
}

// envName is ESSHADOW_<COMMAND>_<FLAG>.
func envName(c *cobra.Command, flag string) string {
	path := strings.ReplaceAll(c.CommandPath(), " ", "_")
	return strings.ToUpper(strings.ReplaceAll(path+"_"+flag, "-", "_"))
}

func flagValues(f *pflag.Flag) []string {
	if v, ok := f.Value.(pflag.SliceValue); ok {
		return v.GetSlice()
	}
	return []string{f.Value.String()}
}

func splitList(f *pflag.Flag, v string) []string {
	if _, ok := f.Value.(pflag.SliceValue); ok {
		return strings.Split(v, ",")
	}
	return []string{v}
}

func setFlag(f *pflag.Flag, values []string) error {
	if v, ok := f.Value.(pflag.SliceValue); ok {
		return v.Replace(values)
	}
	return f.Value.Set(values[0])
}

// readInput reads a file, or standard input for "-".
func readInput(path string, stdin io.Reader) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(path)
}
