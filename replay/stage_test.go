package replay

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
	"go.uber.org/goleak"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		// fasthttp's servers keep these for a while after Shutdown.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"))
}

// records is a Source of n records, made one by one.
type records struct {
	n    int
	make func(i int, r *capture.Record)
	i    int
	rec  capture.Record
	fail error // instead of io.EOF
}

func (s *records) Next() (*capture.Record, error) {
	if s.i == s.n {
		if s.fail != nil {
			return nil, s.fail
		}
		return nil, io.EOF
	}
	s.rec = capture.Record{Header: s.rec.Header[:0], Body: s.rec.Body[:0], Handles: s.rec.Handles[:0]}
	s.make(s.i, &s.rec)
	s.i++
	return &s.rec, nil
}

const captureStart = int64(1_700_000_000e9)

// searches makes n searches, spaced evenly, over so many connections.
func searches(n int, gap time.Duration, conns int) *records {
	return &records{n: n, make: func(i int, r *capture.Record) {
		search(r, i)
		r.Time = captureStart + int64(i)*int64(gap)
		r.Conn = uint64(i%conns) + 1
	}}
}

// search is a search that carries its number in its query string.
func search(r *capture.Record, i int) {
	r.Op, r.Method, r.Target = "search", "POST", "/logs/_search?n="+strconv.Itoa(i)
	r.Header = append(r.Header, capture.Header{Name: "Content-Type", Value: "application/json"})
	r.Body = append(r.Body, `{"query":{"term":{"user":"u"}},"size":1}`...)
	r.BodySize = int64(len(r.Body))
	r.Status, r.Shape = 200, "s1"
}

const searchAnswer = `{"took":1,"timed_out":false,"_shards":{"total":1,"successful":1,"skipped":0,"failed":0},` +
	`"hits":{"total":{"value":1,"relation":"eq"},"max_score":1,"hits":[{"_index":"logs","_id":"1","_score":1,"_source":{}}]}}`

// serve runs a server until the test ends.
func serve(t testing.TB, h fasthttp.RequestHandler) (addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &fasthttp.Server{Handler: h, Concurrency: 100_000, MaxRequestBodySize: 256 << 20, CloseOnShutdown: true}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.Serve(ln)
	}()
	t.Cleanup(func() {
		_ = s.Shutdown()
		<-done
	})
	return ln.Addr().String()
}

func answerSearch(ctx *fasthttp.RequestCtx) {
	ctx.SetContentType("application/json")
	ctx.SetBodyString(searchAnswer)
}

// counter counts requests by their number.
type counter struct {
	mu   sync.Mutex
	seen map[string]int
	all  []string
}

func (c *counter) handle(ctx *fasthttp.RequestCtx) {
	n := string(ctx.QueryArgs().Peek("n"))
	c.mu.Lock()
	if c.seen == nil {
		c.seen = map[string]int{}
	}
	c.seen[n]++
	c.all = append(c.all, n)
	c.mu.Unlock()
	answerSearch(ctx)
}

func client(t testing.TB, addr string, set func(*TargetConfig)) *Client {
	t.Helper()
	cfg := DefaultTarget()
	cfg.URL = "http://" + addr
	if set != nil {
		set(&cfg)
	}
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	c, err := NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Abort)
	return c
}

// memoryLines keeps the outcomes.
type memoryLines struct {
	outcomes []Outcome
	closed   bool
	failAt   int // the Append that fails, from 1
}

var errDisk = errors.New("disk full")

func (m *memoryLines) Append(line []byte, _ int64) error {
	if m.failAt > 0 && len(m.outcomes)+1 >= m.failAt {
		return errDisk
	}
	var o Outcome
	if err := json.Unmarshal(line, &o); err != nil {
		return err
	}
	m.outcomes = append(m.outcomes, o)
	return nil
}

func (m *memoryLines) Tick(time.Time) error { return nil }

func (m *memoryLines) Close(map[string]uint64) error { m.closed = true; return nil }

// replayed runs a whole replay and checks what must hold of every one.
func replayed(t testing.TB, cfg Config, src Source, target Target) (Stats, []Outcome) {
	t.Helper()
	return replayedBy(t, cfg, src, target, newPacer)
}

func replayedBy(t testing.TB, cfg Config, src Source, target Target, p func() pacer) (Stats, []Outcome) {
	t.Helper()
	lines := &memoryLines{}
	e := New(cfg, Deps{Source: src, Target: target, Lines: lines, Identity: es.Identity{Flavor: es.FlavorSandbox}})
	e.newPacer = p
	if err := e.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := e.Stats()
	checkSums(t, s, lines.outcomes)
	if !lines.closed {
		t.Error("the outcome file was not closed")
	}
	return s, lines.outcomes
}

func checkSums(t testing.TB, s Stats, outcomes []Outcome) {
	t.Helper()
	total := func(m map[string]uint64) (n uint64) {
		for _, v := range m {
			n += v
		}
		return n
	}
	if s.Records != s.Planned+total(s.Refused) || s.Planned != s.Sent+total(s.Shed) || s.Sent != s.Answered+total(s.Errors) {
		t.Errorf("sums do not hold: %+v", s.Counts)
	}
	if uint64(len(outcomes)) != s.Records {
		t.Errorf("%d outcomes of %d records", len(outcomes), s.Records)
	}
	if s.InFlight != 0 || s.Backlog != 0 {
		t.Errorf("at the end %d are in flight and %d not noted", s.InFlight, s.Backlog)
	}
	seen := map[uint64]bool{}
	for _, o := range outcomes {
		if seen[o.Seq] || o.Seq == 0 {
			t.Fatalf("record %d has two outcomes", o.Seq)
		}
		seen[o.Seq] = true
		if o.Sent != 0 && (o.Planned == 0 || o.Sent < o.Planned || o.Done < o.Sent || o.First != 0 && (o.First < o.Sent || o.First > o.Done)) {
			t.Errorf("times out of order: planned %d, sent %d, first %d, done %d", o.Planned, o.Sent, o.First, o.Done)
		}
	}
}
