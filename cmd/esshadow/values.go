package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"
)

// plainFlagError says in plain words what a flag wants, where the parser's own
// words are those of Go's library.
func plainFlagError(err error) error {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err
	}
	return fmt.Errorf("--%s: %w", bad.GetFlag().Name, plainValueError(bad.GetFlag(), bad.GetValue(), errors.Unwrap(bad)))
}

// plainValueError is the same for a value from anywhere. Types of ours say well
// themselves what they want.
func plainValueError(f *pflag.Flag, value string, err error) error {
	want, ok := map[string]string{
		"int":      "a whole number",
		"float64":  "a number",
		"bool":     "true or false",
		"duration": "a duration with units, such as 1.5s or 10m",
	}[f.Value.Type()]
	if err == nil || !ok {
		return err
	}
	return fmt.Errorf("%q: want %s", value, want)
}
