package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/esshadow/esshadow/configs"
	"github.com/esshadow/esshadow/internal/sandbox"
	"github.com/esshadow/esshadow/internal/testenv"
)

// TestMain makes the program a command named esshadow, for scripts and for
// tests that need a process of its own.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"esshadow": main})
}

func TestScripts(t *testing.T) {
	if runtime.GOOS == "windows" {
		testenv.Skip(t, "the scripts need a shell")
	}
	testscript.Run(t, testscript.Params{
		Dir:      "testdata/script",
		Deadline: time.Now().Add(2 * time.Minute),
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			return os.WriteFile(filepath.Join(e.WorkDir, "key"), []byte(testKey), 0o600)
		},
	})
}

const testKey = "00112233445566778899aabbccddeeff0123456789abcdef0123456789abcdef\n"

// result is what a command left behind.
type result struct {
	code     int
	out, err string
}

// esshadow runs the program in this process. env holds KEY=value.
func esshadow(t *testing.T, env []string, args ...string) result {
	t.Helper()
	return esshadowWith(t, strings.NewReader(""), env, args...)
}

func esshadowWith(t *testing.T, stdin io.Reader, env []string, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(args, stdin, &out, &errs, lookup(env))
	return result{code, out.String(), errs.String()}
}

func lookup(env []string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for _, kv := range env {
			if v, ok := strings.CutPrefix(kv, name+"="); ok {
				return v, true
			}
		}
		return "", false
	}
}

func (r result) want(t *testing.T, code int, inErr ...string) result {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d\nstdout: %.500s\nstderr: %.2000s", r.code, code, r.out, r.err)
	}
	for _, w := range inErr {
		if !strings.Contains(r.err, w) {
			t.Errorf("stderr lacks %q:\n%.2000s", w, r.err)
		}
	}
	return r
}

// engine is a sandbox that counts its requests and keeps their Authorization.
type engine struct {
	*sandbox.Engine
	url      string
	requests atomic.Int64
	last     atomic.Int64                    // Unix ns of the latest one
	auth     atomic.Value                    // string: the last one
	stall    atomic.Int64                    // ns that every search waits
	held     atomic.Pointer[context.Context] // searches wait until it is done, nil: they do not
}

// hold makes searches wait until release is called; once is enough.
func (e *engine) hold() (release func()) {
	ctx, release := context.WithCancel(context.Background())
	e.held.Store(&ctx)
	return release
}

func newEngine(t *testing.T) *engine {
	t.Helper()
	return newEngineWith(t, sandbox.Options{Ties: sandbox.TiesByArrival})
}

func newEngineWith(t *testing.T, o sandbox.Options) *engine {
	t.Helper()
	e := &engine{Engine: sandbox.New(o)}
	t.Cleanup(e.Close)
	inner := e.Handler()
	e.url = served(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.last.Store(time.Now().UnixNano())
		e.requests.Add(1)
		e.auth.Store(r.Header.Get("Authorization"))
		if d := e.stall.Load(); d > 0 && strings.HasSuffix(r.URL.Path, "/_search") {
			pause(r.Context(), time.Duration(d))
		}
		if held := e.held.Load(); held != nil && strings.HasSuffix(r.URL.Path, "/_search") {
			select {
			case <-(*held).Done():
			case <-r.Context().Done():
			}
		}
		inner.ServeHTTP(w, r)
	}))
	return e
}

// served is where a server with that handler is, until the test ends.
func served(t *testing.T, h http.Handler) (url string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(ln)
	}()
	t.Cleanup(func() {
		_ = s.Close()
		<-done
	})
	return "http://" + ln.Addr().String()
}

// send does one request and wants a status below 300.
func send(t *testing.T, method, url, body string) string {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		t.Fatalf("%s %s: %d %v: %.300s", method, url, res.StatusCode, err, text)
	}
	return string(text)
}

func bulkBody(index string, from, n int) string {
	var b strings.Builder
	for i := from; i < from+n; i++ {
		fmt.Fprintf(&b, `{"index":{"_index":%q,"_id":"%d"}}`+"\n"+`{"title":"amber %s","price":%d}`+"\n", index, i, demoWords()[i%24], i)
	}
	return b.String()
}

func searchBody(i int) string {
	return fmt.Sprintf(`{"query":{"match":{"title":%q}},"size":3}`, demoWords()[i%24])
}

// captured is a capture made by a real proxy before a sandbox.
type captured struct {
	dir    string
	source *engine
	key    string
}

// makeCapture sends one bulk and so many searches, one every gap,
// through a proxy.
func makeCapture(t *testing.T, searches int, gap time.Duration) captured {
	t.Helper()
	c := captured{dir: filepath.Join(t.TempDir(), "capture"), source: newEngine(t), key: filepath.Join(t.TempDir(), "key")}
	if err := os.WriteFile(c.key, []byte(testKey), 0o600); err != nil {
		t.Fatal(err)
	}
	told := throughProxy(t, c.source.url, c.dir, func(set *settings) {
		set.cfg.Sanitize.Key, set.cfg.Sanitize.Preset = c.key, "fidelity"
	}, func(addr string) {
		send(t, "POST", "http://"+addr+"/_bulk", bulkBody("items", 0, 48))
		for i := range searches {
			send(t, "POST", "http://"+addr+"/items/_search", searchBody(i))
			pause(t.Context(), gap)
		}
	})
	if want := fmt.Sprintf("received %d = captured %d", searches+1, searches+1); !strings.Contains(told, want) {
		t.Fatalf("not all is captured, want %q:\n%s", want, told)
	}
	http.DefaultClient.CloseIdleConnections()
	return c
}

// throughProxy runs a capturing proxy in this process while use is at work, and gives
// what it told at its end.
func throughProxy(t *testing.T, upstream, dir string, change func(*settings), use func(addr string)) (told string) {
	t.Helper()
	var errs bytes.Buffer
	s := &streams{in: strings.NewReader(""), out: io.Discard, err: &errs, env: lookup(nil)}
	set := &settings{cfg: configs.Default(), s: s}
	set.cfg.Proxy.Upstreams, set.cfg.Proxy.Listen, set.cfg.Proxy.Admin = []string{upstream}, "127.0.0.1:0", "off"
	set.cfg.Capture.Files.Dir, set.cfg.Capture.Files.MinFree = dir, 0
	change(set)
	ready := make(chan net.Addr, 1)
	set.listening = func(a net.Addr) { ready <- a }
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- runProxy(ctx, s, set) }()
	select {
	case a := <-ready:
		use(a.String())
	case err := <-ended:
		t.Fatalf("proxy: %v\n%s", err, &errs)
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatalf("proxy: %v\n%s", err, &errs)
	}
	return errs.String()
}

// decode reads JSON and fails on anything else.
func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("not JSON: %v: %.300s", err, text)
	}
	return v
}

// fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// What cannot be printed is an error of every command, of those that print help too.
func TestOutputOnAFullDisk(t *testing.T) {
	for _, args := range [][]string{
		{"--help"},
		{"version"},
		{"version", "--json"},
		{"config"},
		{"config", "print"},
		{"replay", "--help"},
		{"sanitize", "check", "--preset", "strict"},
		{"sanitize", "explain", "--preset", "strict", "user.name"},
		{"sanitize", "test", "--preset", "strict"},
	} {
		var stderr bytes.Buffer
		code := run(args, strings.NewReader(""), fullDisk{}, &stderr, func(string) (string, bool) { return "", false })
		if code != exitFailed || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%v: exit code %d, says %q", args, code, stderr.String())
		}
	}
}
