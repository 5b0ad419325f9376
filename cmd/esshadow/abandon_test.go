package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/esshadow/esshadow/replay"
)

// entries are the names in a directory; none if it is not there.
func entries(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// A proxy that is refused leaves nothing: the corrected command is the first one.
func TestRefusedProxyLeavesNothing(t *testing.T) {
	source, target := newEngine(t), newEngine(t)
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = busy.Close() }()
	at := busy.Addr().String()
	for name, x := range map[string]struct {
		target string
		code   int
		args   []string
	}{
		"target is the source": {source.url, exitRefused, nil},
		"by another name":      {strings.Replace(source.url, "127.0.0.1", "localhost", 1), exitRefused, nil},
		"target is itself":     {"http://" + at, exitRefused, []string{"--listen", at}},
		"port taken":           {target.url, exitFailed, []string{"--listen", at}},
		"admin port taken":     {target.url, exitFailed, []string{"--admin", at}},
		"no certificate":       {target.url, exitUsage, []string{"--tls-cert", "no", "--tls-key", "no"}},
		"no such rules":        {target.url, exitUsage, []string{"--rules", "no"}},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			captured, run := filepath.Join(top, "capture"), filepath.Join(top, "run")
			more := append([]string{"--mirror", x.target, "--mirror-out", run}, x.args...)
			esshadow(t, nil, proxyArgs(t, source.url, captured, more...)...).want(t, x.code)
			if names := append(entries(t, run), entries(t, captured)...); len(names) > 0 {
				t.Errorf("it left %v", names)
			}
			if _, err := os.Lstat(run); !os.IsNotExist(err) {
				t.Errorf("the run directory is there: %v", err)
			}
		})
	}
}

// A run that is gone on with stays as it was when the process that wanted to is
// refused.
func TestRefusedProxyLeavesRun(t *testing.T) {
	source, target := newEngine(t), newEngine(t)
	send(t, "POST", source.url+"/_bulk", bulkBody("items", 0, 4))
	dir := filepath.Join(t.TempDir(), "run")
	p := start(t, mirrorArgs(t, source.url, target.url, dir)...)
	url, admin := p.listening()
	send(t, "POST", url+"/items/_search", searchBody(1))
	waitSums(t, admin, 1)
	ends(t, p)
	was, err := replay.ReadRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	before := entries(t, dir)
	esshadow(t, nil, mirrorArgs(t, source.url, target.url, dir, "--tls-cert", "no", "--tls-key", "no")...).want(t, exitUsage)
	now, err := replay.ReadRun(dir)
	if after := entries(t, dir); err != nil || now.Writer != was.Writer || now.Sums == nil || now.Sums.Sent != 1 || strings.Join(after, " ") != strings.Join(before, " ") {
		t.Errorf("it left %v of %v, writer %s of %s, %+v, %v", after, before, now.Writer, was.Writer, now.Sums, err)
	}
}

// Of two proxies with one run directory the second is refused, and the first goes
// on; one that was killed is in nobody's way.
func TestTwoMirrorsOneDirectory(t *testing.T) {
	source, target := newEngine(t), newEngine(t)
	send(t, "POST", source.url+"/_bulk", bulkBody("items", 0, 4))
	dir := filepath.Join(t.TempDir(), "run")
	first := start(t, mirrorArgs(t, source.url, target.url, dir)...)
	url, admin := first.listening()
	before := entries(t, dir)
	esshadow(t, nil, mirrorArgs(t, source.url, target.url, dir)...).want(t, exitFailed, "another process writes to the run directory", dir)
	esshadow(t, nil, mirrorArgs(t, source.url, target.url, dir, "--reuse-port")...).want(t, exitFailed, "another process writes to the run directory")
	if after := entries(t, dir); strings.Join(after, " ") != strings.Join(before, " ") {
		t.Errorf("the refused one left %v of %v", after, before)
	}
	send(t, "POST", url+"/items/_search", searchBody(1))
	waitSums(t, admin, 1)
	first.signal(syscall.SIGKILL)
	first.code(patience)
	next := start(t, mirrorArgs(t, source.url, target.url, dir)...)
	next.listening()
	ends(t, next)
}

// Processes that hand a port over to each other share the run directory meanwhile.
func TestMirrorHandedOver(t *testing.T) {
	source, target := newEngine(t), newEngine(t)
	send(t, "POST", source.url+"/_bulk", bulkBody("items", 0, 4))
	dir := filepath.Join(t.TempDir(), "run")
	old := start(t, mirrorArgs(t, source.url, target.url, dir, "--reuse-port")...)
	url, admin := old.listening()
	send(t, "POST", url+"/items/_search", searchBody(1))
	waitSums(t, admin, 1)
	next := start(t, mirrorArgs(t, source.url, target.url, dir, "--reuse-port", "--listen", strings.TrimPrefix(url, "http://"))...)
	_, admin = next.listening()
	esshadow(t, nil, mirrorArgs(t, source.url, target.url, dir)...).want(t, exitFailed, "another process writes to the run directory")
	ends(t, old)
	send(t, "POST", url+"/items/_search", searchBody(2))
	waitSums(t, admin, 1)
	ends(t, next)
	run, err := replay.ReadRun(dir)
	if err != nil || run.Ended == nil || len(run.Processes) != 2 || run.Sums == nil || run.Sums.Sent != 2 {
		t.Errorf("%+v, %v", run, err)
	}
	if r := esshadow(t, nil, "report", dir).want(t, exitDone); !strings.Contains(r.out, "2") {
		t.Errorf("report %s", r.out)
	}
}

// Two proxies may write to one capture directory: each to files of its own.
func TestTwoCapturesOneDirectory(t *testing.T) {
	e := newEngine(t)
	send(t, "POST", e.url+"/_bulk", bulkBody("items", 0, 4))
	dir := filepath.Join(t.TempDir(), "capture")
	first, second := start(t, proxyArgs(t, e.url, dir)...), start(t, proxyArgs(t, e.url, dir)...)
	for _, p := range []*process{first, second} {
		url, _ := p.listening()
		send(t, "POST", url+"/items/_search", searchBody(1))
	}
	ends(t, first)
	ends(t, second)
	esshadow(t, nil, "capture", "verify", dir).want(t, exitDone)
	st := decode[struct {
		Records, Writers int
	}](t, esshadow(t, nil, "capture", "stat", "--json", dir).want(t, exitDone).out)
	if st.Records != 2 || st.Writers != 2 {
		t.Errorf("%+v", st)
	}
}
