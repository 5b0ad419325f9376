package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/esshadow/esshadow/configs"
	"github.com/esshadow/esshadow/replay/diff"
	"github.com/esshadow/esshadow/replay/report"
)

func newReportCmd(s *streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "report RUN...",
		Short: "Judge the outcomes of a replay and draw the report",
		Long: `report reads run directories that 'esshadow replay' wrote, compares the target's
answers with the captured ones, and draws what became slower or answers
differently. It changes nothing, and can be drawn again with other tolerances.`,
		Example: `  esshadow report esshadow-run-20260102T030405Z
  esshadow report --format json -o report.json RUN`,
		Args: someArgs("run directory"),
	}
	set := newSettings(c, s)
	cfg := &set.cfg.Report
	c.PreRunE = func(c *cobra.Command, _ []string) error { return set.load(c) }
	c.RunE = func(_ *cobra.Command, runs []string) error {
		if err := cfg.Validate(); err != nil {
			return &codeError{exitUsage, configs.Under("report", err)}
		}
		return writeOutput(s, cfg.Output, func(w io.Writer) error { return drawAll(runs, drawer(cfg.Format), w) })
	}
	c.Flags().StringVar(&cfg.Format, "format", cfg.Format, "text or json")
	c.Flags().StringVarP(&cfg.Output, "output", "o", cfg.Output, "write to a new `file` instead of standard output")
	return c
}

// drawer draws in a format that is valid.
func drawer(format string) func(*report.Report, io.Writer) error {
	if format == "json" {
		return (*report.Report).JSON
	}
	return (*report.Report).Text
}

func drawAll(runs []string, draw func(*report.Report, io.Writer) error, w io.Writer) error {
	for _, dir := range runs {
		r, err := report.Load(dir, report.Options{Tolerances: diff.DefaultTolerances()})
		if err != nil {
			return err
		}
		if err := draw(r, w); err != nil {
			return err
		}
	}
	return nil
}

// writeOutput writes to standard output, or to a file that did not exist.
func writeOutput(s *streams, path string, write func(io.Writer) error) error {
	if path == "-" {
		return write(s.out)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("output: %w (nothing existing is overwritten)", err)
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		_ = os.Remove(path) // half a report is worse than none
		return err
	}
	return nil
}
