package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/capture/segment"
	"github.com/esshadow/esshadow/configs"
	"github.com/esshadow/esshadow/sanitize"
	"github.com/esshadow/esshadow/sanitize/audit"
	"github.com/esshadow/esshadow/sanitize/canary"
)

// canaryRun sends cases through a whole proxy of this program, in front of an
// upstream that plays the answers, and looks at all that the proxy leaves behind.
type canaryRun struct {
	cases       []canary.Case
	preset      string
	rules, key  string
	schema      string
	dir         string // for the capture
	presetGiven bool
	adjust      func(*settings) // for tests; nil
	policy      sanitize.Config // as it was used

	upstream playedUpstream
	log      lockedBuffer
	metrics  []byte
}

// canaryTimeout bounds one case; malformed requests may get no answer at all.
const canaryTimeout = 5 * time.Second

// lockedBuffer collects what several goroutines write.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) Bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.buf.Bytes())
}

// playedUpstream answers what the case at hand says.
type playedUpstream struct {
	now      atomic.Pointer[canary.Case]
	requests atomic.Int64
}

func (u *playedUpstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	u.requests.Add(1)
	_, _ = io.Copy(io.Discard, r.Body)
	c := u.now.Load()
	w.Header().Set("Content-Type", "application/json")
	if c == nil || c.Direction != canary.DirectionOut {
		_, _ = io.WriteString(w, `{"took":1,"timed_out":false,"_shards":{"total":1,"successful":1,"failed":0},"hits":{"total":{"value":0,"relation":"eq"},"hits":[]}}`)
		return
	}
	for k, v := range c.Headers {
		w.Header().Set(k, v)
	}
	body, err := c.Bytes()
	if err != nil {
		body = nil
	}
	status := c.Status
	if status < 200 {
		status = http.StatusOK
	}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// run plays all cases and scans. The scanner's report is of everything.
func (r *canaryRun) run(ctx context.Context) (*canaryResult, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	up := &http.Server{Handler: &r.upstream, ReadHeaderTimeout: canaryTimeout}
	upDone := make(chan error, 1)
	go func() { upDone <- up.Serve(ln) }()
	err = r.throughProxy(ctx, ln.Addr().String())
	_ = up.Close()
	if ended := <-upDone; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	if err != nil {
		return nil, err
	}
	return r.judge()
}

func (r *canaryRun) throughProxy(ctx context.Context, upstream string) error {
	s := &streams{in: strings.NewReader(""), out: &r.log, err: &r.log, env: func(string) (string, bool) { return "", false }}
	set := &settings{cfg: configs.Default(), s: s, presetSaid: r.presetGiven}
	set.cfg.Proxy.Upstreams, set.cfg.Proxy.Listen, set.cfg.Proxy.Admin = []string{"http://" + upstream}, "127.0.0.1:0", "127.0.0.1:0"
	set.cfg.Capture.Files.Dir, set.cfg.Capture.Files.MinFree = r.dir, 0
	set.cfg.Sanitize.Preset, set.cfg.Sanitize.Rules, set.cfg.Sanitize.Key, set.cfg.Sanitize.Schema = r.preset, r.rules, r.key, r.schema
	set.cfg.Log.Level, set.cfg.Log.Format = "debug", "json"
	if r.adjust != nil {
		r.adjust(set)
	}
	ready := make(chan net.Addr, 1)
	set.listening = func(a net.Addr) { ready <- a }
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- runProxy(ctx, s, set) }()
	var addr string
	select {
	case a := <-ready:
		addr = a.String()
	case err := <-ended:
		return err
	}
	for i := range r.cases {
		if err := ctx.Err(); err != nil {
			break
		}
		r.upstream.now.Store(&r.cases[i])
		if err := playCase(addr, &r.cases[i]); err != nil {
			stop()
			return errors.Join(fmt.Errorf("case %d: %w", i+1, err), <-ended)
		}
	}
	scraped, err := r.scrape(ctx)
	r.metrics = scraped
	stop()
	err = errors.Join(<-ended, err)
	r.preset, r.policy = set.cfg.Sanitize.Preset, set.cfg.Sanitize.Config // the rules' own, if they have some
	return err
}

// scrape reads the pages of the admin port.
func (r *canaryRun) scrape(ctx context.Context) ([]byte, error) {
	m := regexp.MustCompile(`admin on ([0-9.:]+),`).FindSubmatch(r.log.Bytes())
	if m == nil {
		return nil, errors.New("the proxy did not say where its metrics are")
	}
	var all []byte
	for _, page := range []string{"/metrics", "/readyz", "/healthz"} {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+string(m[1])+page, nil)
		if err != nil {
			return nil, err
		}
		client := http.Client{Timeout: canaryTimeout, Transport: &http.Transport{DisableKeepAlives: true}}
		res, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil {
			return nil, err
		}
		all = append(append(all, text...), '\n')
	}
	return all, nil
}

// playCase sends one case on a connection of its own. How the answer looks does
// not matter, but there is one, or the connection ends.
func playCase(addr string, c *canary.Case) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(canaryTimeout)); err != nil {
		return err
	}
	request, err := wireForm(c)
	if err != nil {
		return err
	}
	if _, err := conn.Write(request); err != nil {
		return nil //nolint:nilerr // the proxy may have hung up on a malformed one
	}
	if c.Wire {
		if t, ok := conn.(*net.TCPConn); ok {
			_ = t.CloseWrite()
		}
		_, _ = io.Copy(io.Discard, conn)
		return nil
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: c.Method})
	if err != nil {
		return errors.New("no answer from the proxy")
	}
	_, _ = io.Copy(io.Discard, res.Body)
	return res.Body.Close()
}

// wireForm is a case as it goes over the connection.
func wireForm(c *canary.Case) ([]byte, error) {
	body, err := c.Bytes()
	if err != nil || c.Wire {
		return body, err
	}
	if c.Direction == canary.DirectionOut {
		return []byte(c.Method + " " + c.Path + " HTTP/1.1\r\nHost: source\r\nContent-Length: 0\r\n\r\n"), nil
	}
	b := []byte(c.Method + " " + c.Path + " HTTP/1.1\r\n")
	host := false
	for _, k := range slices.Sorted(maps.Keys(c.Headers)) {
		if strings.EqualFold(k, "content-length") {
			continue
		}
		host = host || strings.EqualFold(k, "host")
		b = append(b, k+": "+c.Headers[k]+"\r\n"...)
	}
	if !host {
		b = append(b, "Host: source\r\n"...)
	}
	b = fmt.Appendf(b, "Content-Length: %d\r\n\r\n", len(body))
	return append(b, body...), nil
}

// canaryResult is what became of the cases.
type canaryResult struct {
	Preset     string            `json:"preset"`
	Cases      int               `json:"cases"`
	Absent     int               `json:"absent"`         // captured, without a mark
	Dropped    int               `json:"dropped"`        // not captured
	Kept       int               `json:"kept"`           // the case says that the preset keeps the value
	ByPolicy   int               `json:"kept_by_preset"` // the policy keeps values of that class
	Leaked     int               `json:"leaked"`
	NotDropped int               `json:"not_dropped"` // captured, though they must not be
	Leaks      []canaryLeak      `json:"leaks"`
	KeptCases  []canaryKept      `json:"kept_cases,omitempty"` // of kept_by_preset
	Reasons    map[string]uint64 `json:"dropped_by_reason"`
	Looked     map[string]int64  `json:"looked_through"` // bytes of capture, log, metrics
	Undecoded  int               `json:"undecoded"`
}

// canaryLeak is one case that went wrong.
type canaryLeak struct {
	Case     string `json:"case"`
	Position string `json:"position"`
	What     string `json:"what"` // leaked or not dropped
	Where    string `json:"where,omitempty"`
	Way      string `json:"way,omitempty"`
}

// judge scans the capture, the log and the pages of metrics.
func (r *canaryRun) judge() (*canaryResult, error) {
	var words []string
	var owner []int // case of a word
	for i, c := range r.cases {
		for _, w := range c.Canaries {
			words, owner = append(words, w), append(owner, i)
		}
	}
	scan, err := audit.New(audit.Options{Words: words, List: 1 << 20})
	if err != nil {
		return nil, &codeError{exitUsage, err}
	}
	files, err := segment.List("", r.dir)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if err := scan.File(f); err != nil {
			return nil, err
		}
	}
	res := &canaryResult{Preset: r.preset, Cases: len(r.cases), Looked: map[string]int64{"capture": scan.Report().Bytes}}
	scan.Text("log", r.log.Bytes())
	scan.Text("metrics", r.metrics)
	res.Looked["log"], res.Looked["metrics"] = int64(len(r.log.Bytes())), int64(len(r.metrics))
	report := scan.Report()
	res.Undecoded = report.Undecoded
	captured, err := r.captured(files, res)
	if err != nil {
		return nil, err
	}
	marks := make([][]*audit.Finding, len(r.cases))
	for i := range report.Findings {
		if f := &report.Findings[i]; f.Word >= 0 {
			marks[owner[f.Word]] = append(marks[owner[f.Word]], f)
		}
	}
	lines, err := readRecords(files, report.Findings)
	if err != nil {
		return nil, err
	}
	kept := keptBy(r.policy)
	for i := range r.cases {
		c := &r.cases[i]
		if len(marks[i]) > 0 && !c.Keeps(res.Preset) {
			classes, ok, err := keptMarks(kept, c, marks[i], lines)
			if err != nil {
				return nil, err
			}
			if ok {
				res.ByPolicy++
				res.KeptCases = append(res.KeptCases, canaryKept{c.Name, c.Position, classes, place(marks[i][0])})
				continue
			}
		}
		res.add(c, captured[i], marks[i])
	}
	return res, nil
}

// captured tells which cases have a record: each went over a connection of its
// own, in order.
func (r *canaryRun) captured(files []string, res *canaryResult) ([]bool, error) {
	out := make([]bool, len(r.cases))
	if len(files) == 0 {
		return out, nil
	}
	src, err := capture.OpenSource(files, capture.SourceOptions{})
	if err != nil {
		return nil, err
	}
	defer func() { _ = src.Close() }()
	for {
		rec, err := src.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if i := int(rec.Conn) - 1; i >= 0 && i < len(out) {
			out[i] = true
		}
	}
	st, err := capture.ReadStat(files, capture.SourceOptions{})
	res.Reasons = st.Dropped
	return out, err
}

// add counts a case by what was found of it, the first of which is shown.
func (res *canaryResult) add(c *canary.Case, captured bool, marks []*audit.Finding) {
	var mark *audit.Finding
	if len(marks) > 0 {
		mark = marks[0]
	}
	byDesign := c.Keeps(res.Preset) && mark != nil && mark.Segment != "log" && mark.Segment != "metrics"
	switch {
	case mark != nil && byDesign:
		res.Kept++
		return
	case mark != nil:
		res.Leaked++
		res.Leaks = append(res.Leaks, canaryLeak{c.Name, c.Position, "leaked", place(mark), mark.Way})
		return
	case captured && c.Expect == canary.ExpectDropped:
		res.NotDropped++
		res.Leaks = append(res.Leaks, canaryLeak{Case: c.Name, Position: c.Position, What: "not dropped"})
		return
	case captured:
		res.Absent++
	default:
		res.Dropped++
	}
}

func place(f *audit.Finding) string {
	where := filepath.Base(f.Segment)
	if f.Seq >= 0 {
		where = fmt.Sprintf("record %d of %s", f.Seq, where)
	}
	return where + ", " + f.Field
}
