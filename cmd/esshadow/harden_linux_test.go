package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/esshadow/esshadow/internal/testenv"
)

// A proxy leaves no core dump, and nobody but root reads its memory.
func TestProxyIsHardened(t *testing.T) {
	e := newEngine(t)
	p := start(t, proxyArgs(t, e.url, filepath.Join(t.TempDir(), "capture"))...)
	_, admin := p.listening()
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^Max core file size\s+0\s+0\s`).Match(limits) {
		t.Errorf("core dumps are allowed:\n%s", limits)
	}
	// The files of a process that is not dumpable belong to root.
	st, err := os.Stat(fmt.Sprintf("/proc/%d/mem", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	if sys, ok := st.Sys().(*syscall.Stat_t); !ok || sys.Uid != 0 {
		t.Errorf("the memory belongs to user %d", sys.Uid)
	}
	// The process may still count its own files.
	if _, text := get(t, admin+"/metrics"); metric(text, "process_open_fds") < 3 {
		t.Error("process_open_fds is gone")
	}
	endProxy(t, p)
}

// As a user without rights the process stays observable, too: that is where the
// kernel would hide /proc/self.
func TestProxyIsHardenedAsAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		testenv.Skip(t, "needs root to become another user")
	}
	program, err := exec.LookPath("esshadow")
	if err != nil {
		t.Fatal(err)
	}
	binary, err := filepath.EvalSymlinks(program)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/tmp", "esshadow-user-*") // one that others may enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dir, "esshadow")
	if err := os.WriteFile(copied, text, 0o755); err != nil {
		t.Fatal(err)
	}
	e := newEngine(t)
	p := startWith(t, func(c *exec.Cmd) {
		c.Path, c.Dir = copied, "/"
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}, "proxy", "--upstream", e.url, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	_, admin := p.listening()
	if _, text := get(t, admin+"/metrics"); metric(text, "process_open_fds") < 3 {
		t.Errorf("process_open_fds is gone for a user without rights: %s", strings.Join(regexp.MustCompile(`(?m)^process_\w+`).FindAllString(text, -1), " "))
	}
	st, err := os.Stat(fmt.Sprintf("/proc/%d/mem", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	if sys, ok := st.Sys().(*syscall.Stat_t); !ok || sys.Uid != 0 {
		t.Errorf("the memory belongs to user %d", sys.Uid)
	}
	endProxy(t, p)
}
