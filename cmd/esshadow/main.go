package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// version is set by the linker.
var version = "devel"

// Exit codes, as docs/cli.md states them.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitWorse       = 3
	exitUnsure      = 4
	exitRefused     = 5
	exitInterrupted = 130
)

// codeError is an error that knows its exit code. A nil err is told by the code
// alone: what was to say is said.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *codeError) Unwrap() error { return e.err }

func usage(format string, args ...any) error {
	return &codeError{exitUsage, fmt.Errorf(format, args...)}
}

func refused(err error) error { return &codeError{exitRefused, err} }

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.LookupEnv))
}

// run is the whole program but for the process around it.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer, env func(string) (string, bool)) int {
	out := &output{to: stdout}
	s := &streams{in: stdin, out: out, err: stderr, env: env}
	root := newRoot(s)
	root.SetArgs(args)
	c, err := root.ExecuteContextC(context.Background())
	if err == nil {
		err = out.err // of a command that did not look
	}
	if err != nil {
		err = namesOf(c, s).named(err)
	}
	return exitCode(err, stderr)
}

// output remembers that something could not be written: half a list on a full disk
// must not pass for the whole.
type output struct {
	to  io.Writer
	err error // the first
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.to.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// exitCode says what went wrong, if anything did, and with which code to end.
func exitCode(err error, stderr io.Writer) int {
	if err == nil {
		return exitDone
	}
	code := exitFailed
	var coded *codeError
	if errors.As(err, &coded) {
		code = coded.code
	}
	if msg := sealedHint(err).Error(); msg != "" {
		fmt.Fprintf(stderr, "esshadow: %s\n", strings.TrimPrefix(strings.TrimPrefix(msg, "esshadow: "), "esshadow "))
	}
	return code
}
