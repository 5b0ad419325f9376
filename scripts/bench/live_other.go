//go:build !linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
)

var errLinux = errors.New("the load needs Linux: it reads /proc and waits by epoll")

// live says what is absent.
func (o options) live(_ context.Context, _, _ string, out, _ io.Writer) error {
	_, err := fmt.Fprintf(out, "\nThe proxy and the replayer were not measured: %v.\n", errLinux)
	return err
}

func runBackend(context.Context, []string, io.Writer) error { return errLinux }

func runLoad(context.Context, []string, io.Writer) error { return errLinux }
