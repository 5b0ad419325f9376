package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/esshadow/esshadow/internal/testenv"
	"github.com/esshadow/esshadow/replay"
)

// steadyLoad sends searches by clients that keep their connections, and by
// others that make one for each request, until stop is called. No request is
// sent twice: each failure is one that a client would see.
type steadyLoad struct {
	sent, failed atomic.Int64
	first        atomic.Value // string: the first failure
	ended        chan struct{}
	clients      sync.WaitGroup
}

func newLoad(url string, kept, short int) *steadyLoad {
	l := &steadyLoad{ended: make(chan struct{})}
	for i := range kept + short {
		l.clients.Go(func() {
			tr := &http.Transport{DisableKeepAlives: i >= kept}
			defer tr.CloseIdleConnections()
			c := &http.Client{Transport: tr, Timeout: patience}
			for {
				select {
				case <-l.ended:
					return
				default:
				}
				l.one(c, url)
			}
		})
	}
	return l
}

func (l *steadyLoad) one(c *http.Client, url string) {
	l.sent.Add(1)
	res, err := c.Post(url+"/items/_search", "application/json", strings.NewReader(searchBody(1)))
	what := ""
	if err == nil {
		var n int64
		n, err = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			what = fmt.Sprintf("status %d, %d bytes", res.StatusCode, n)
		}
	}
	if err != nil {
		what = err.Error()
	}
	if what != "" {
		l.failed.Add(1)
		l.first.CompareAndSwap(nil, what)
	}
}

func (l *steadyLoad) stop(t *testing.T) {
	t.Helper()
	close(l.ended)
	l.clients.Wait()
	t.Logf("%d requests, %d failed", l.sent.Load(), l.failed.Load())
	if l.failed.Load() > 0 {
		t.Errorf("the first failure: %v", l.first.Load())
	}
}

// after waits until the load has sent n more requests.
func (l *steadyLoad) after(t *testing.T, n int64) {
	t.Helper()
	want := l.sent.Load() + n
	wait(t, "the load goes on", func() bool { return l.sent.Load() >= want })
}

// Processes take the port over from each other under load: no connection is
// refused and no request fails.
func TestHandOverByReusePort(t *testing.T) {
	if runtime.GOOS != "linux" {
		testenv.Skip(t, "only Linux steers connections from one socket of a port to another")
	}
	e := newEngine(t)
	send(t, "POST", e.url+"/_bulk", bulkBody("items", 0, 4))
	args := func(listen string) []string {
		return []string{"proxy", "--upstream", e.url, "--listen", listen, "--admin", "127.0.0.1:0", "--reuse-port"}
	}
	old := start(t, args("127.0.0.1:0")...)
	url, _ := old.listening()
	l := newLoad(url, 4, 4)
	for range 3 {
		l.after(t, 200)
		next := start(t, args(strings.TrimPrefix(url, "http://"))...)
		next.listening()
		l.after(t, 200)
		old.signal(syscall.SIGTERM)
		if code := old.code(patience); code != exitDone {
			t.Errorf("exit code %d:\n%s", code, old.err())
		}
		old = next
	}
	l.after(t, 200)
	l.stop(t)
	old.signal(syscall.SIGTERM)
	if code := old.code(patience); code != exitDone {
		t.Errorf("exit code %d:\n%s", code, old.err())
	}
}

// Processes hand over while they mirror: each request is in the sums of run.json once,
// and each process stands there with its own.
func TestHandOverWhileMirroring(t *testing.T) {
	if runtime.GOOS != "linux" {
		testenv.Skip(t, "only Linux steers connections from one socket of a port to another")
	}
	source, target := newEngine(t), newEngine(t)
	for _, e := range []*engine{source, target} {
		send(t, "POST", e.url+"/_bulk", bulkBody("items", 0, 4))
	}
	dir := filepath.Join(t.TempDir(), "run")
	old := start(t, mirrorArgs(t, source.url, target.url, dir, "--reuse-port")...)
	url, _ := old.listening()
	l := newLoad(url, 4, 0)
	for range 3 {
		l.after(t, 100)
		next := start(t, mirrorArgs(t, source.url, target.url, dir, "--reuse-port", "--listen", strings.TrimPrefix(url, "http://"))...)
		next.listening()
		l.after(t, 100)
		ends(t, old)
		old = next
	}
	l.after(t, 100)
	l.stop(t)
	ends(t, old)
	run, err := replay.ReadRun(dir)
	if err != nil || run.Ended == nil || run.Sums == nil || len(run.Processes) != 4 {
		t.Fatalf("%+v, %v", run, err)
	}
	var each uint64
	for _, p := range run.Processes {
		if p.Ended == nil || p.Sums == nil {
			t.Fatalf("process %+v", p)
		}
		each += p.Sums.Records
	}
	if all := uint64(l.sent.Load()); run.Sums.Records != all || each != all {
		t.Errorf("%d requests, %d in the sums, %d in those of each", all, run.Sums.Records, each)
	}
}

// byManager is a proxy that gets its sockets as systemd gives them.
func byManager(t *testing.T, env []string, sockets []*net.TCPListener, args ...string) *process {
	t.Helper()
	return startWith(t, func(c *exec.Cmd) {
		// The shell knows the number of the process that it becomes.
		c.Path, c.Args = "/bin/sh", append([]string{"sh", "-c", `LISTEN_PID=$$ exec esshadow "$@"`, "sh"}, args...)
		c.Env = append(os.Environ(), env...)
		for _, ln := range sockets {
			f, err := ln.File()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = f.Close() })
			c.ExtraFiles = append(c.ExtraFiles, f)
		}
	})
}

func socket(t *testing.T) *net.TCPListener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	return ln.(*net.TCPListener)
}

// A service manager keeps the sockets: one process ends before the next begins,
// and connections wait meanwhile.
func TestSocketActivation(t *testing.T) {
	if runtime.GOOS == "windows" {
		testenv.Skip(t, "sockets are handed over on Unix systems")
	}
	e := newEngine(t)
	send(t, "POST", e.url+"/_bulk", bulkBody("items", 0, 4))
	clients, admin := socket(t), socket(t)
	url := "http://" + clients.Addr().String()
	run := func() *process {
		p := byManager(t, []string{"LISTEN_FDS=2", "LISTEN_FDNAMES=admin:proxy"}, []*net.TCPListener{admin, clients},
			"proxy", "--upstream", e.url, "--listen", "127.0.0.1:1", "--admin", "127.0.0.1:1")
		if at, adminAt := p.listening(); at != url || adminAt != "http://"+admin.Addr().String() {
			t.Errorf("listens on %s and %s", at, adminAt)
		}
		return p
	}
	p := run()
	wait(t, "it is ready", func() bool {
		code, _ := get(t, "http://"+admin.Addr().String()+"/readyz")
		return code == 200
	})
	l := newLoad(url, 4, 4)
	for range 2 {
		l.after(t, 200)
		p.signal(syscall.SIGTERM)
		if code := p.code(patience); code != exitDone {
			t.Errorf("exit code %d:\n%s", code, p.err())
		}
		p = run()
	}
	l.after(t, 200)
	l.stop(t)
}

func TestInheritedSocketsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		testenv.Skip(t, "sockets are handed over on Unix systems")
	}
	for name, x := range map[string]struct {
		env     []string
		sockets int
		says    string
	}{
		"none":         {[]string{"LISTEN_FDS=0"}, 0, "want 1 or 2 sockets"},
		"three":        {[]string{"LISTEN_FDS=3"}, 2, "want 1 or 2 sockets"},
		"no number":    {[]string{"LISTEN_FDS=x"}, 0, "want 1 or 2 sockets"},
		"not there":    {[]string{"LISTEN_FDS=2"}, 1, "inherited socket admin"},
		"twice a name": {[]string{"LISTEN_FDS=2", "LISTEN_FDNAMES=proxy:proxy"}, 2, "two inherited sockets"},
	} {
		var sockets []*net.TCPListener
		for range x.sockets {
			sockets = append(sockets, socket(t))
		}
		p := byManager(t, x.env, sockets, "proxy", "--upstream", "http://127.0.0.1:1", "--listen", "127.0.0.1:0", "--admin", "off")
		if code := p.code(patience); code != exitFailed || !strings.Contains(p.err(), x.says) {
			t.Errorf("%s: exit code %d:\n%s", name, code, p.err())
		}
	}
}

// The service manager is told when the proxy is ready, reloads and ends.
func TestNotify(t *testing.T) {
	if runtime.GOOS == "windows" {
		testenv.Skip(t, "there is no service manager that would listen")
	}
	e := newEngine(t)
	path := filepath.Join(t.TempDir(), "n")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	hears := func(want string) {
		t.Helper()
		var b [1024]byte
		_ = c.SetReadDeadline(time.Now().Add(patience))
		n, err := c.Read(b[:])
		if err != nil {
			t.Fatalf("waiting for %s: %v", want, err)
		}
		first, _ := bufio.NewReader(bytes.NewReader(b[:n])).ReadString('\n')
		if strings.TrimSpace(first) != want || want == "RELOADING=1" && !bytes.Contains(b[:n], []byte("\nMONOTONIC_USEC=")) {
			t.Errorf("told %q, want %s", b[:n], want)
		}
	}
	p := startWith(t, func(c *exec.Cmd) { c.Env = append(os.Environ(), "NOTIFY_SOCKET="+path) },
		"proxy", "--upstream", e.url, "--listen", "127.0.0.1:0", "--admin", "off")
	hears("READY=1")
	p.signal(syscall.SIGHUP)
	hears("RELOADING=1")
	hears("READY=1")
	p.signal(syscall.SIGTERM)
	hears("STOPPING=1")
	if code := p.code(patience); code != exitDone {
		t.Errorf("exit code %d:\n%s", code, p.err())
	}
}
