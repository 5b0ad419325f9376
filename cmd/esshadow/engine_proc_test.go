//go:build engine

package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// esshadow runs the program and returns its exit code and what it wrote.
func esshadow(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary(t), args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatalf("esshadow %v: %v", args, err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// good runs the program, wants exit code 0 and returns standard output.
func good(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := esshadow(t, args...)
	if code != 0 {
		t.Fatalf("esshadow %s: exit code %d\n%s\n%s", strings.Join(args, " "), code, out, errs)
	}
	return out
}

// goodJSON is good for a command that prints JSON.
func goodJSON(t *testing.T, to any, args ...string) {
	t.Helper()
	out := good(t, args...)
	if err := json.Unmarshal([]byte(out), to); err != nil {
		t.Fatalf("esshadow %s: %v:\n%s", strings.Join(args, " "), err, out)
	}
}

// gate is a proxy process that captures.
type gate struct {
	url     string
	capture string
	key     string
	cmd     *exec.Cmd
	ended   chan string // all of standard error, when it is closed
}

// The test key: captures of one run must agree with each other.
const testKey = "5f1d7a3c9be04826a1f07d2c4e6b8093ad15c7e2f94b3608d17ce5a20f9b4d61"

// startGate starts a proxy before a node. Its capture goes below dir, which may
// outlive the test at hand: other engines can be its target.
func startGate(t *testing.T, n *node, dir string) *gate {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	g := &gate{capture: filepath.Join(dir, "capture"), key: filepath.Join(dir, "key"), ended: make(chan string, 1)}
	if err := os.WriteFile(g.key, []byte(testKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	g.cmd = exec.Command(binary(t), "proxy", "--upstream", n.url, "--listen", "127.0.0.1:0", "--admin", "off",
		"--capture", g.capture, "--key", g.key, "--preset", "fidelity", "--min-free", "0")
	stderr, err := g.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := g.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if g.cmd.ProcessState == nil {
			_ = g.cmd.Process.Kill()
			<-g.ended
			_ = g.cmd.Wait()
		}
	})
	listening := make(chan string, 1)
	go g.listen(stderr, listening)
	select {
	case addr := <-listening:
		g.url = "http://" + addr
	case text := <-g.ended:
		g.ended <- text
		t.Fatalf("the proxy ended before it listened:\n%s", text)
	case <-time.After(startWait):
		t.Fatal("the proxy does not listen")
	}
	return g
}

func (g *gate) listen(stderr io.Reader, listening chan<- string) {
	var all strings.Builder
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		fmt.Fprintln(&all, lines.Text())
		if _, rest, ok := strings.Cut(lines.Text(), "listening on "); ok && len(listening) == 0 {
			addr, _, _ := strings.Cut(rest, ",")
			listening <- addr
		}
	}
	g.ended <- all.String()
}

// sums are what the proxy says of its capture when it ends.
type sums struct {
	received, captured, filtered, sampledOut, dropped int
	text                                              string
}

// stop drains the proxy and returns its sums. Reading ends before Wait, which
// closes the pipe.
func (g *gate) stop(t *testing.T) sums {
	t.Helper()
	if err := g.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var text string
	select {
	case text = <-g.ended:
	case <-time.After(2 * stopWait):
		t.Fatal("the proxy does not stop")
	}
	if err := g.cmd.Wait(); err != nil {
		t.Fatalf("the proxy ended with %v:\n%s", err, text)
	}
	s := sums{text: text}
	if _, line, ok := strings.Cut(text, "esshadow capture: received "); ok {
		s.text, _, _ = strings.Cut("received "+line, "\n")
	}
	for name, to := range map[string]*int{
		"received": &s.received, "captured": &s.captured, "filtered": &s.filtered, "sampled out": &s.sampledOut, "dropped": &s.dropped,
	} {
		m := regexp.MustCompile(name + ` (\d+)`).FindStringSubmatch(s.text)
		if m == nil {
			t.Fatalf("the proxy does not say what it %s:\n%s", name, text)
		}
		*to, _ = strconv.Atoi(m[1])
	}
	if s.received != s.captured+s.filtered+s.sampledOut+s.dropped {
		t.Errorf("the sums of the capture do not agree: %s", s.text)
	}
	return s
}

// stat is what `capture stat --json` says of a capture.
type stat struct {
	Records  int            `json:"records"`
	ByOp     map[string]int `json:"by_op"`
	ByStatus map[string]int `json:"by_status"`
	Fidelity map[string]int `json:"fidelity"`
	Dropped  map[string]int `json:"dropped"`
	Gaps     int            `json:"gaps"`
	Torn     int            `json:"torn"`
	Source   struct {
		Flavor  string `json:"flavor"`
		Version string `json:"version"`
		UUID    string `json:"uuid"`
	} `json:"source"`
}

// checked verifies a capture's files and returns what they hold.
func checked(t *testing.T, capture string) stat {
	t.Helper()
	var files []struct {
		File string `json:"file"`
		OK   bool   `json:"ok"`
	}
	goodJSON(t, &files, "capture", "verify", "--json", capture)
	if len(files) == 0 {
		t.Fatal("the capture has no files")
	}
	for _, f := range files {
		if !f.OK {
			t.Errorf("%s is not whole", f.File)
		}
	}
	var st stat
	goodJSON(t, &st, "capture", "stat", "--json", capture)
	if st.Torn != 0 || st.Gaps != 0 {
		t.Errorf("the capture has %d torn files and %d gaps", st.Torn, st.Gaps)
	}
	return st
}

func total(m map[string]int) int {
	n := 0
	for _, v := range m {
		n += v
	}
	return n
}
