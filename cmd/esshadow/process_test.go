package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long a test waits for another process.
const patience = 20 * time.Second

// process is the program in a process of its own.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	lines  chan string // of standard error, as they come
	exited chan struct{}

	out    bytes.Buffer // standard output; read after the end
	mu     sync.Mutex
	stderr strings.Builder
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	return startWith(t, func(*exec.Cmd) {}, args...)
}

func startWith(t *testing.T, change func(*exec.Cmd), args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command("esshadow", args...), lines: make(chan string, 1<<12), exited: make(chan struct{})}
	change(p.cmd)
	p.cmd.Stdout = &p.out
	errs, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.exited)
		p.read(errs)
		_ = p.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.exited
	})
	return p
}

func (p *process) read(r io.Reader) {
	defer close(p.lines)
	in := bufio.NewScanner(r)
	for in.Scan() {
		p.mu.Lock()
		p.stderr.WriteString(in.Text() + "\n")
		p.mu.Unlock()
		select {
		case p.lines <- in.Text():
		default:
		}
	}
}

func (p *process) err() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String()
}

// find waits for a line of standard error and returns its groups.
func (p *process) find(pattern string) []string {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("ended without a line %q:\n%s", pattern, p.err())
			}
			if m := re.FindStringSubmatch(line); m != nil {
				return m
			}
		case <-late.C:
			p.t.Fatalf("no line %q:\n%s", pattern, p.err())
		}
	}
}

// listening gives the addresses that a proxy says it listens on.
func (p *process) listening() (url, admin string) {
	p.t.Helper()
	m := p.find(`^esshadow proxy: listening on (\S+), admin on (\S+), upstream `)
	return "http://" + m[1], "http://" + m[2]
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// code waits for the end, within limit.
func (p *process) code(limit time.Duration) int {
	p.t.Helper()
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case <-p.exited:
		return p.cmd.ProcessState.ExitCode()
	case <-late.C:
		p.t.Fatalf("still runs after %s:\n%s", limit, p.err())
		return 0
	}
}

// ends ends a proxy in order.
func ends(t *testing.T, p *process) {
	t.Helper()
	p.signal(syscall.SIGTERM)
	if code := p.code(patience); code != exitDone {
		t.Errorf("exit code %d:\n%s", code, p.err())
	}
	if strings.Contains(p.err(), "panic") {
		t.Errorf("a panic:\n%s", p.err())
	}
}

// proxyArgs are the flags of a proxy that captures.
func proxyArgs(t *testing.T, upstream, dir string, more ...string) []string {
	t.Helper()
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte(testKey), 0o600); err != nil {
		t.Fatal(err)
	}
	return append([]string{
		"proxy", "--upstream", upstream, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
		"--capture", dir, "--key", key, "--preset", "fidelity", "--min-free", "0",
	}, more...)
}
