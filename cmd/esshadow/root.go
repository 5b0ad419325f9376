package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// streams are the process around a command.
type streams struct {
	in  io.Reader
	out io.Writer
	err io.Writer
	env func(string) (string, bool)

	// file is the configuration file that was read, and text what stood in it.
	file string
	text []byte
}

func newRoot(s *streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "esshadow",
		Short: "Capture, replay and compare Elasticsearch and OpenSearch traffic",
		Long: `esshadow captures the live traffic of an Elasticsearch or OpenSearch cluster
through a proxy, sanitised before a byte reaches the disk, replays it against
another cluster at the original or another speed, and reports which queries
became slower and which answers differ.

Every flag of a command can also be given as an environment variable,
ESSHADOW_<COMMAND>_<FLAG>, and most as a key of the file named by --config.
A flag wins over the environment, which wins over the file.

Exit codes: 0 done; 1 failed; 2 wrong usage or configuration; 3 a gate says
worse; 4 a gate cannot say; 5 the target or the upstream was refused
(unreachable, unauthorised, guard); 130 interrupted, report written.`,
		Example: `  esshadow demo
  esshadow proxy --upstream http://10.0.0.5:9200 --capture /var/lib/esshadow
  esshadow replay /var/lib/esshadow --target https://new.example:9200 --speed 2`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		Version:       readBuild().Version,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			if c.Flag("config") != nil {
				return nil // layers its file below the environment itself
			}
			return applyEnv(c, s)
		},
	}
	root.SetVersionTemplate("esshadow {{.Version}}\n")
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage("%w\nSee '%s --help'.", plainFlagError(err), c.CommandPath())
	})
	root.AddCommand(
		newProxyCmd(s), newReplayCmd(s), newReportCmd(s), newCaptureCmd(s),
		newKeyCmd(s), newSanitizeCmd(s), newCtlCmd(s), newDemoCmd(s), newSandboxCmd(s), newSchemaCmd(s), newConfigCmd(s), newVersionCmd(s),
	)
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "completion": // without these, a shell that is not known gets help and exit code 0
			c.Args, c.RunE = noArgs, func(c *cobra.Command, _ []string) error { return c.Help() }
		case "help": // as does a command that is not known
			c.Args = topic
		}
	}
	return root
}

func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage("%s: unknown command or argument %q\nSee '%s --help'.", c.CommandPath(), args[0], c.CommandPath())
	}
	return nil
}

// topic wants the words of a command.
func topic(c *cobra.Command, args []string) error {
	if _, rest, err := c.Root().Find(args); err != nil || len(rest) > 0 {
		return noArgs(c, append(rest, args...))
	}
	return nil
}

func someArgs(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usage("%s: want at least one %s\nSee '%s --help'.", c.CommandPath(), what, c.CommandPath())
		}
		return nil
	}
}

// note writes a line for people, never to standard output.
func (s *streams) note(format string, args ...any) {
	fmt.Fprintf(s.err, format+"\n", args...)
}
