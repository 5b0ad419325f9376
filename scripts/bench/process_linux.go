package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// startWait bounds the wait for a server that was started, stopWait for its end.
const startWait, stopWait = 15 * time.Second, 20 * time.Second

// process is one that this program started. Only such are ever signalled.
type process struct {
	cmd   *exec.Cmd
	pids  []int // it and its children, whose work is counted
	lines *lines
	ended chan struct{}
}

// startProcess starts a command whose output is kept as lines. The command gets
// SIGTERM when this program dies without a word.
func startProcess(dir, name string, args ...string) (*process, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, pids: []int{cmd.Process.Pid}, lines: &lines{more: make(chan struct{}, 1)}, ended: make(chan struct{})}
	go func() {
		p.lines.keep(stderr)
		_ = cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// environment is this program's without what would change what is measured.
func environment() []string {
	var out []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "ESSHADOW_") {
			out = append(out, v)
		}
	}
	return out
}

// stop asks a process to end and waits; after stopWait it is killed.
func (p *process) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	t := time.NewTimer(stopWait)
	defer t.Stop()
	select {
	case <-p.ended:
		return nil
	case <-t.C:
	}
	for _, pid := range p.pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	<-p.ended
	return fmt.Errorf("%s did not end within %s of SIGTERM", p.cmd.Args[0], stopWait)
}

// awaitLine waits for a line with this text.
func (p *process) awaitLine(text string) (string, error) {
	t := time.NewTimer(startWait)
	defer t.Stop()
	for {
		if line, ok := p.lines.find(text); ok {
			return line, nil
		}
		select {
		case <-p.lines.more:
		case <-p.ended:
			if line, ok := p.lines.find(text); ok {
				return line, nil
			}
			return "", fmt.Errorf("%s ended early: %s", p.cmd.Args[0], p.lines.last())
		case <-t.C:
			return "", fmt.Errorf("%s: not ready within %s: %s", p.cmd.Args[0], startWait, p.lines.last())
		}
	}
}

// addChildren counts the processes that p has started.
func (p *process) addChildren() {
	dirs, _ := os.ReadDir("/proc")
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		if parent, ok := parentOf(pid); ok && parent == p.cmd.Process.Pid {
			p.pids = append(p.pids, pid)
		}
	}
}

func parentOf(pid int) (int, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, false
	}
	// The name between the parentheses may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return parent, err == nil
}

// cpu is the processor time, user and system, that the processes have had. It
// is the sum of /proc/PID/stat, read from the processes' clocks, which count
// nanoseconds where that file counts 10 ms.
func (p *process) cpu() time.Duration {
	var sum time.Duration
	for _, pid := range p.pids {
		var ts unix.Timespec
		// clock_getcpuclockid(3): the clock of a process is made of its id.
		if unix.ClockGettime(int32(^pid<<3|2), &ts) == nil {
			sum += time.Duration(ts.Nano())
		}
	}
	return sum
}

// forgetPeak begins a new peak of resident memory.
func (p *process) forgetPeak() {
	for _, pid := range p.pids {
		_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
	}
}

// peakBytes is the most resident memory since forgetPeak.
func (p *process) peakBytes() int64 {
	var sum int64
	for _, pid := range p.pids {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			continue
		}
		_, rest, _ := bytes.Cut(status, []byte("\nVmHWM:"))
		if f := bytes.Fields(rest); len(f) > 0 {
			kib, _ := strconv.ParseInt(string(f[0]), 10, 64)
			sum += kib << 10
		}
	}
	return sum
}

// lines keeps the last lines of an output.
type lines struct {
	mu   sync.Mutex
	kept []string
	more chan struct{}
}

func (l *lines) keep(r io.Reader) {
	s := bufio.NewScanner(r)
	for s.Scan() {
		l.mu.Lock()
		if l.kept = append(l.kept, s.Text()); len(l.kept) > 200 {
			l.kept = l.kept[100:]
		}
		l.mu.Unlock()
		select {
		case l.more <- struct{}{}:
		default:
		}
	}
	// A line that is too long ends the scanner; the writer must not wait for it.
	_, _ = io.Copy(io.Discard, r)
}

func (l *lines) find(text string) (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.kept {
		if strings.Contains(s, text) {
			return s, true
		}
	}
	return "", false
}

func (l *lines) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.kept) == 0 {
		return "it said nothing"
	}
	return strings.Join(l.kept[max(0, len(l.kept)-3):], " | ")
}

// wordAfter is the word that follows text in a line, without a comma.
func wordAfter(line, text string) (string, error) {
	_, rest, ok := strings.Cut(line, text)
	word, _, _ := strings.Cut(rest, " ")
	if word = strings.TrimSuffix(word, ","); !ok || word == "" {
		return "", errors.New("no word after " + strconv.Quote(text))
	}
	return word, nil
}
