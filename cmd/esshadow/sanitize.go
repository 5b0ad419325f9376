package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Exit codes of the commands that look for leaks; the numbers are those of gates.
const (
	exitFindings  = exitWorse  // something is there that should not be
	exitUndecoded = exitUnsure // not everything could be looked at
)

func newSanitizeCmd(s *streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "sanitize",
		Short: "Try rules, test the sanitiser, and prove that a capture holds nothing it should not",
		Long: `The commands below sanitize look at rules and at captures. None of them prints a
value that it found, and none but filter and canary send writes anything but to
standard output and to the file it was told.

Exit codes: 0 clean; 3 findings; 4 something could not be decoded; 2 wrong usage
or rules.`,
		Example: "  esshadow sanitize test\n  esshadow sanitize audit capture/",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		newSanitizeTest(s), newSanitizeAudit(s), newSanitizeCanary(s), newSanitizeReport(s),
		newSanitizeCheck(s), newSanitizeExplain(s), newSanitizePreview(s), newSanitizeFilter(s), newSanitizeInit(s),
	)
	return c
}

// verdict is how a command that looks for leaks ends.
func verdict(found, undecoded int) error {
	switch {
	case found > 0:
		return &codeError{code: exitFindings}
	case undecoded > 0:
		return &codeError{code: exitUndecoded}
	}
	return nil
}

// readWords reads words, one a line. Errors quote none.
func readWords(path string, stdin io.Reader) ([]string, error) {
	text, err := readInput(path, stdin)
	if err != nil {
		return nil, err
	}
	defer clear(text)
	var words []string
	in := bufio.NewScanner(strings.NewReader(string(text)))
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		if w := strings.TrimSpace(in.Text()); w != "" {
			words = append(words, w)
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("words: %w", err)
	}
	return words, nil
}
