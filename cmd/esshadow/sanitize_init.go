package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/esshadow/esshadow/configs"
	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/sanitize"
)

func newSanitizeInit(s *streams) *cobra.Command {
	var schemaFile, preset, output string
	c := &cobra.Command{
		Use:   "init --schema FILE",
		Short: "Draft rules for the fields of a cluster",
		Long: `init reads what 'esshadow schema pull' wrote and prints a file of rules: each field
with its type and analyser, the action that lets its queries still match, and, where
a name looks like that of personal data, an action that fits. It is a draft: only
people know what their fields hold. Where an action is easily undone it is proposed
in a comment, with the reason.`,
		Example: `  esshadow schema pull --from http://10.0.0.5:9200 -o schema.json
  esshadow sanitize init --schema schema.json --preset fidelity -o rules.yml
  esshadow proxy --upstream http://10.0.0.5:9200 --capture /var/lib/esshadow --rules rules.yml --schema schema.json`,
		Args: noArgs,
	}
	f := c.Flags()
	f.StringVar(&schemaFile, "schema", "", "`file` that schema pull wrote, - for standard input")
	f.StringVar(&preset, "preset", sanitize.PresetStrict, "`preset` whose defaults hold for all else: strict, fidelity, ecs-logs, commerce or shape-only")
	f.StringVarP(&output, "output", "o", "-", "write to a new `file` instead of standard output")
	c.RunE = func(*cobra.Command, []string) error {
		if schemaFile == "" {
			return usage("--schema: want a file that 'esshadow schema pull' wrote")
		}
		rules, err := draftRules(schemaFile, preset, s.in)
		if err != nil {
			return usage("%w", err)
		}
		return writeOutput(s, output, func(w io.Writer) error {
			_, err := w.Write(rules)
			return err
		})
	}
	return c
}

// draftRules drafts, and makes sure that the draft can be used as it stands.
func draftRules(schemaFile, preset string, stdin io.Reader) ([]byte, error) {
	text, err := readInput(schemaFile, stdin)
	if err != nil {
		return nil, err
	}
	schema, err := es.DecodeSchema(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; 'esshadow schema pull' writes one", schemaFile, err)
	}
	rules, err := sanitize.Draft(schema, preset)
	if err != nil {
		return nil, err
	}
	_, err = configs.LoadRules("draft", rules)
	return rules, err
}
