package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/configs"
)

// settings layers a command's configuration: defaults, then the file of
// --config, then the environment, then flags. Flags are bound to the fields of
// cfg, so each layer writes to the same place.
type settings struct {
	cfg  configs.Config
	file string
	s    *streams

	// presetSaid: the preset was given by flag or environment, which win over
	// rules files.
	presetSaid bool

	// again reads the configuration anew, by the same layers; it may be nil.
	again func() (configs.Config, error)

	// listening is told the proxy's address; it may be nil.
	listening func(net.Addr)
	// closed is told the capture's sums at the end; it may be nil.
	closed func(capture.Stats)
}

func newSettings(c *cobra.Command, s *streams) *settings {
	set := &settings{cfg: configs.Default(), s: s}
	c.Flags().StringVar(&set.file, "config", "", "configuration `file` (YAML); see 'esshadow config print'")
	return set
}

// load applies the layers. It must run before the command looks at cfg.
func (set *settings) load(c *cobra.Command) error { return set.layer(c, givenFlags(c)) }

func (set *settings) layer(c *cobra.Command, flags given) error {
	if err := set.loadFile(c); err != nil {
		return err
	}
	if err := loadEnv(c, set.s); err != nil {
		return err
	}
	return flags.setAgain()
}

// applyEnv is load for a command without a configuration file.
func applyEnv(c *cobra.Command, s *streams) error {
	flags := givenFlags(c)
	if err := loadEnv(c, s); err != nil {
		return err
	}
	return flags.setAgain()
}

// given are the flags of a command line and their values.
type given []struct {
	flag   *pflag.Flag
	values []string
}

func givenFlags(c *cobra.Command) (g given) {
	c.Flags().Visit(func(f *pflag.Flag) {
		g = append(g, struct {
			flag   *pflag.Flag
			values []string
		}{f, flagValues(f)})
	})
	return g
}

func (g given) setAgain() error {
	for _, x := range g {
		if err := setFlag(x.flag, x.values); err != nil {
			return usage("--%s: %w", x.flag.Name, err)
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
	set.s.file, set.s.text = set.file, text
	if err := configs.Load(set.file, text, &set.cfg); err != nil {
		return &codeError{exitUsage, err}
	}
	return nil
}

// loadEnv sets every flag whose environment variable is set.
func loadEnv(c *cobra.Command, s *streams) error {
	var errs []error
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if v, ok := s.env(envName(c, f.Name)); ok && !special(f.Name) {
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

// special are the flags that say what to do, not how; config is read before.
func special(flag string) bool { return flag == "config" || flag == "help" || flag == "version" }

// said tells whether a flag, or its environment variable, was given.
func said(c *cobra.Command, s *streams, flag string) bool {
	_, env := s.env(envName(c, flag))
	return env || c.Flags().Changed(flag)
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
	return plainValueError(f, values[0], f.Value.Set(values[0]))
}

// readInput reads a file, or standard input for "-".
func readInput(path string, stdin io.Reader) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(path)
}
