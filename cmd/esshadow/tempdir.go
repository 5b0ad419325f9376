package main

import (
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// tempDir makes a directory that lasts until remove is called, or until a signal
// ends the process. It is for commands that one signal ends at once: what lies in it
// came from a capture, and must not stay behind.
func tempDir() (dir string, remove func() error, err error) {
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // as by nohup
			signal.Notify(signals, s)
		}
	}
	dir, err = os.MkdirTemp("", "esshadow-")
	if err != nil {
		signal.Stop(signals)
		return "", nil, fmt.Errorf("a directory for temporary files: %w", err)
	}
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
			_ = os.RemoveAll(dir)
			os.Exit(exitInterrupted)
		case <-done:
		}
	}()
	return dir, sync.OnceValue(func() error {
		signal.Stop(signals)
		close(done)
		return os.RemoveAll(dir)
	}), nil
}
