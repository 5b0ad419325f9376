package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// graceful makes the run of a command that has something to bring to an end:
// its context ends with the first SIGINT or SIGTERM, and a second one ends the
// process. What only reads and prints does without, so that one signal is enough.
func graceful(do func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		ctx, stop := interruptible(c.Context())
		defer stop()
		err := do(ctx, args)
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return &codeError{exitInterrupted, errors.New("interrupted")}
		}
		return err
	}
}

// interruptible is cancelled by the first SIGINT or SIGTERM; the second one ends
// the process at once.
func interruptible(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
			cancel()
		case <-done:
			return
		}
		select {
		case <-signals:
			os.Exit(exitInterrupted)
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel()
	}
}
