package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// A command that only reads and prints ends with the first signal, as any other
// program in a pipe does.
func TestOneSignalEndsReading(t *testing.T) {
	c := makeCapture(t, 500, 0) // more than pipe and buffer hold
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Close() }()
	cmd := exec.Command("esshadow", "capture", "cat", c.dir)
	cmd.Stdout = in
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = in.Close()
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
		if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !s.Signaled() || s.Signal() != syscall.SIGINT {
			t.Errorf("it ended with %v", cmd.ProcessState)
		}
	case <-time.After(5 * time.Second):
		_ = cmd.Process.Kill()
		<-ended
		t.Error("it does not end")
	}
}

// Interrupted while it asks the target who it is, a replay has no report, and
// says that it was interrupted, not that the target is bad.
func TestInterruptedBeforeTheRun(t *testing.T) {
	c := makeCapture(t, 1, 0)
	asked, free := make(chan struct{}, 8), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-free
	}))
	defer s.Close()
	defer close(free)
	p := start(t, "replay", c.dir, "--target", s.URL, "--out", t.TempDir())
	<-asked
	p.signal(os.Interrupt)
	if code := p.code(patience); code != exitInterrupted || p.err() != "esshadow: interrupted\n" || p.out.Len() > 0 {
		t.Errorf("exit code %d\n%s\n%s", code, p.err(), &p.out)
	}
}

// An interrupted demo takes its directory away.
func TestInterruptedDemo(t *testing.T) {
	tmp := t.TempDir()
	p := startWith(t, func(c *exec.Cmd) { c.Env = append(os.Environ(), "TMPDIR="+tmp) }, "demo")
	p.find("listening on")
	p.signal(os.Interrupt)
	if code := p.code(patience); code != exitInterrupted {
		t.Errorf("exit code %d\n%s", code, p.err())
	}
	if left := readAll(t, tmp); len(left) > 0 {
		t.Errorf("it left %d files", len(left))
	}
}
