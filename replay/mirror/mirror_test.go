package mirror

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/capture/segment"
	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/replay"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// cluster is a target that answers by act, which may wait for ctx.
type cluster struct {
	act   func(ctx context.Context, s *replay.Shot) replay.Answer
	ctx   context.Context //nolint:containedctx // ends with Abort
	abort context.CancelFunc
	mu    sync.Mutex
	got   []replay.Shot
}

func newCluster(act func(ctx context.Context, s *replay.Shot) replay.Answer) *cluster {
	c := &cluster{act: act}
	c.ctx, c.abort = context.WithCancel(context.Background())
	return c
}

func (c *cluster) Send(s *replay.Shot, ans *replay.Answer) {
	c.mu.Lock()
	c.got = append(c.got, *s)
	c.mu.Unlock()
	sent := time.Now()
	*ans = c.act(c.ctx, s)
	ans.Sent, ans.Done = sent, time.Now()
}

func (c *cluster) Release(*replay.Answer) {}
func (c *cluster) Abort()                 { c.abort() }

func (c *cluster) shots() []replay.Shot {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.got
}

const found = `{"took":1,"timed_out":false,"_shards":{"total":1,"successful":1,"failed":0},"hits":{"total":{"value":1,"relation":"eq"},"hits":[]}}`

func answers(context.Context, *replay.Shot) replay.Answer {
	return replay.Answer{Status: 200, Type: "application/json", Body: []byte(found), Size: int64(len(found))}
}

// freezes is a target that answers nobody.
func freezes(ctx context.Context, _ *replay.Shot) replay.Answer {
	<-ctx.Done()
	return replay.Answer{Err: replay.ErrCancelled}
}

// covers is a Sanitizer that lets nothing through but a constant, drops what says
// so, and panics where it is told to.
type covers struct{ z es.Summarizer }

func (c *covers) Sanitize(rec *capture.Record, x *capture.Exchange) string {
	switch body := string(x.Body); {
	case strings.Contains(body, "drop"):
		return "unknown_clause"
	case strings.Contains(body, "panic"):
		panic(body)
	}
	rec.Method, rec.Target, rec.Shape = x.Method, "/covered/_search", "s1"
	rec.Body = append(rec.Body, `{"covered":true}`...)
	rec.Want = c.z.Summarize(es.OpSearch, x.Status, x.AnswerType, x.AnswerCoding, x.Answer, es.Mapper{})
	return ""
}

type bench struct {
	*Mirror
	*cluster
	dir      string
	released atomic.Int64
	offered  int64
}

func begin(t testing.TB, set func(*Config, *Options), act func(ctx context.Context, s *replay.Shot) replay.Answer) *bench {
	b := &bench{cluster: newCluster(act), dir: t.TempDir()}
	cfg := Default()
	cfg.MinFree = 0
	o := Options{
		Target: b.cluster, Ask: func(context.Context) (es.Identity, error) {
			return es.Identity{UUID: "target", Flavor: es.FlavorSandbox}, nil
		},
		NewSanitizer: func() capture.Sanitizer { return &covers{} }, Dir: b.dir,
		Run: replay.NewRun(time.Now(), "test", []string{"live traffic"}, cfg.Engine(), replay.TargetConfig{URL: "http://target"}),
	}
	if set != nil {
		set(&cfg, &o)
	}
	var err error
	if b.Mirror, err = New(cfg, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = b.Close() })
	return b
}

// offer offers a search on a connection.
func (b *bench) offer(conn uint64, body string, headers ...capture.Header) {
	b.offered++
	b.Offer(&capture.Exchange{
		Time: time.Now().UnixNano(), Conn: conn, Request: uint64(b.offered), Method: "POST", Target: fmt.Sprintf("/secret/_search?n=%d", b.offered),
		Header: append([]capture.Header{{Name: "Content-Type", Value: "application/json"}}, headers...),
		Body:   []byte(body), BodySize: int64(len(body)), Status: 200, AnswerType: "application/json", Answer: []byte(found), AnswerSize: int64(len(found)),
		Free: func(*capture.Exchange) { b.released.Add(1) },
	})
}

// end closes the mirror and checks what must hold at the end of every one.
func (b *bench) end(t testing.TB) Stats {
	t.Helper()
	s, err := b.Close()
	if err != nil {
		t.Fatal(err)
	}
	if s.Pending != 0 || s.Offered != uint64(b.offered) || s.Offered != s.Sent+s.SampledOut+sum(s.Refused)+sum(s.Shed) {
		t.Errorf("the sums do not hold: %+v", s)
	}
	if n := b.released.Load(); n != b.offered {
		t.Errorf("%d exchanges are released, %d were offered", n, b.offered)
	}
	if s.State() != "off" {
		t.Errorf("state %s", s.State())
	}
	return s
}

// outcomes reads what was written, and the drops of the footers.
func (b *bench) outcomes(t testing.TB) (list []replay.Outcome, turned map[string]uint64) {
	t.Helper()
	files, err := segment.List(segment.SuffixOutcomes, b.dir)
	if err != nil {
		t.Fatal(err)
	}
	turned = map[string]uint64{}
	for _, f := range files {
		r, err := segment.Open(f)
		if err != nil {
			t.Fatal(err)
		}
		for line, err := r.Next(); err == nil; line, err = r.Next() {
			var o replay.Outcome
			if err := replay.DecodeOutcome(line, &o); err != nil {
				t.Fatal(err)
			}
			list = append(list, o)
		}
		for reason, n := range r.Drops() {
			turned[reason] += n
		}
		_ = r.Close()
	}
	return list, turned
}

const search = `{"query":{"match":{"name":"secret"}}}`

func TestMirrorSends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := begin(t, nil, answers)
		b.offer(1, search) // the target is not known yet
		if err := b.Identify(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.offer(1, search, capture.Header{Name: "Authorization", Value: "secret"}, capture.Header{Name: "X-Opaque-Id", Value: "mine"},
			capture.Header{Name: "Cookie", Value: "secret"}, capture.Header{Name: "X-Any-Key", Value: "secret"})
		b.offer(1, `{"drop":1}`)
		b.offer(1, search, capture.Header{Name: "eSSHADOW-mIRROR", Value: "1"})
		b.offered++
		b.Offer(&capture.Exchange{Method: "DELETE", Target: "/secret", Free: func(*capture.Exchange) { b.released.Add(1) }})
		b.offered++
		b.Offer(&capture.Exchange{Method: "GET", Target: "/", Free: func(*capture.Exchange) { b.released.Add(1) }})
		b.offered++
		b.Offer(&capture.Exchange{Method: "POST", Target: "/secret/_search", BodySize: 99, Free: func(*capture.Exchange) { b.released.Add(1) }})
		b.Pause(true)
		b.offer(1, search)
		b.Pause(false)
		b.SetSample(0)
		b.offer(1, search)
		b.Offer(nil)
		s := b.end(t)
		if !maps.Equal(s.Shed, map[string]uint64{ShedLoop: 1, ShedBreaker: 1, ShedBodyTooLarge: 1, ShedPaused: 1}) ||
			!maps.Equal(s.Refused, map[string]uint64{"destructive": 1, "info": 1}) || s.SampledOut != 1 || s.Sent != 2 || s.Answered != 2 {
			t.Errorf("%+v", s)
		}
		if s.QueueBytes != 0 || s.InFlight != 0 {
			t.Errorf("%d bytes of %d requests are still held", s.QueueBytes, s.InFlight)
		}
		shots := b.shots()
		if len(shots) != 2 {
			t.Fatalf("%d shots", len(shots))
		}
		want := []capture.Header{{Name: "Content-Type", Value: "application/json"}, {Name: "X-Opaque-Id", Value: "mine"}, {Name: replay.MirrorHeader, Value: b.mark}}
		if x := shots[0]; x.Method != "POST" || x.Target != "/secret/_search?n=2" || string(x.Body) != search || fmt.Sprint(x.Header) != fmt.Sprint(want) {
			t.Errorf("sent %+v", x)
		}
		list, turned := b.outcomes(t)
		if len(list) != 2 || turned["shed.loop@search"] != 1 || turned["refused.info@info"] != 1 || turned["shed.breaker_open@search"] != 1 {
			t.Fatalf("%d outcomes, %v", len(list), turned)
		}
		if o := list[0]; o.Shape != "s1" || o.Index != "covered" || o.Fidelity != "exact" || o.Want == nil || o.Got == nil || o.Want.Total.Value != 1 ||
			o.Example == nil || o.Example.Body != `{"covered":true}` || o.Planned == 0 || o.Status != 200 {
			t.Errorf("outcome %+v", o)
		}
		if o := list[1]; o.Shape != "" || o.Index != "" || o.Want != nil || o.Got != nil || o.Example != nil || o.Fidelity != "broken" ||
			o.FidWhy != "unknown_clause" || o.Status != 200 || o.Op != "search" {
			t.Errorf("of what the sanitiser drops: %+v", o)
		}
	})
}

// A target that answers nobody costs no more than the bounds, and Offer never
// waits.
func TestMirrorBounds(t *testing.T) {
	for name, x := range map[string]struct {
		set    func(*Config, *Options)
		size   int
		reason string
	}{
		"number": {func(c *Config, _ *Options) { c.InFlight = 10 }, 10, ShedInFlight},
		"bytes":  {func(c *Config, _ *Options) { c.Queue = 1 << 20 }, 200 << 10, ShedQueueFull},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := begin(t, x.set, freezes)
				_ = b.Identify(t.Context())
				before := time.Now()
				body := `{"query":"` + strings.Repeat("x", x.size) + `"}`
				for i := range 100 {
					b.offer(uint64(i+1), body)
					synctest.Wait()
				}
				if d := time.Since(before); d > 0 { // of the test's clock, which stands still while anybody runs
					t.Errorf("Offer took %s", d)
				}
				s := b.Stats()
				if s.InFlight > 10 || s.QueueBytes > 1<<20 && name == "bytes" || s.Shed[x.reason] < 80 || s.Pending != uint64(s.InFlight) {
					t.Errorf("%d in flight, %d bytes, shed %v, pending %d", s.InFlight, s.QueueBytes, s.Shed, s.Pending)
				}
				before = time.Now()
				s = b.end(t)
				if d := time.Since(before); d > 5*time.Second+closeGrace {
					t.Errorf("closing took %s", d)
				}
				if s.Errors[replay.ErrCancelled] == 0 {
					t.Errorf("%+v", s)
				}
			})
		})
	}
}

// A sick target is left alone, and gets requests again when it is well.
func TestMirrorBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sick atomic.Bool
		b := begin(t, func(c *Config, _ *Options) { c.BreakerFailures = 3 }, func(ctx context.Context, s *replay.Shot) replay.Answer {
			if sick.Load() {
				return replay.Answer{Status: 503}
			}
			return answers(ctx, s)
		})
		_ = b.Identify(t.Context())
		sick.Store(true)
		for range 10 {
			b.offer(1, search)
			synctest.Wait()
			<-time.After(2 * linger)
		}
		s := b.Stats()
		if s.Breaker != BreakerOpen || s.Why != replay.ErrUnavailable || s.Sent != 3 || s.Shed[ShedBreaker] != 7 || s.Errors[replay.ErrUnavailable] != 3 {
			t.Errorf("%+v", s)
		}
		<-time.After(1100 * time.Millisecond)
		b.offer(1, search) // tries, and fails
		<-time.After(10 * time.Millisecond)
		if s := b.Stats(); s.Breaker != BreakerOpen || s.Sent != 4 {
			t.Errorf("%s, %d sent", s.Breaker, s.Sent)
		}
		sick.Store(false)
		<-time.After(2100 * time.Millisecond)
		b.offer(1, search)
		<-time.After(10 * time.Millisecond)
		b.offer(1, search)
		<-time.After(10 * time.Millisecond)
		if s := b.Stats(); s.Breaker != BreakerClosed || s.Sent != 6 {
			t.Errorf("%s, %d sent", s.Breaker, s.Sent)
		}
		b.end(t)
	})
}

// A target that turns out to be the source, or a proxy, gets nothing.
func TestMirrorAsksWhoItIs(t *testing.T) {
	for why, x := range map[string]struct {
		id  es.Identity
		err error
	}{
		"target_is_source": {es.Identity{UUID: "source"}, nil},
		"target_is_proxy":  {es.Identity{}, replay.ErrTargetIsProxy},
		"unauthorised":     {es.Identity{}, fmt.Errorf("x: %w", replay.ErrTargetUnauthorised)},
		"not_identified":   {es.Identity{}, errors.New("other")},
	} {
		t.Run(why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				b := begin(t, func(_ *Config, o *Options) {
					o.Source = func(context.Context) es.Identity { return es.Identity{UUID: "source"} }
					o.Ask = func(context.Context) (es.Identity, error) {
						asked++
						return x.id, x.err
					}
				}, answers)
				if err := b.Identify(t.Context()); err == nil {
					t.Error("no error")
				}
				<-time.After(time.Minute)
				b.offer(1, search)
				if s := b.end(t); s.Sent != 0 || s.Why != why || asked < 3 || asked > 10 {
					t.Errorf("sent %d, why %q, asked %d times in a minute", s.Sent, s.Why, asked)
				}
			})
		})
	}
}

// The source may tell only its clients who it is: then what they hear counts.
func TestMirrorHearsWhoTheSourceIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := begin(t, nil, answers)
		if err := b.Identify(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.offer(1, search)
		<-time.After(10 * time.Millisecond)
		for _, answer := range []string{`{"error":"no"}`, `{"version":{"number":"8.19.0"},"cluster_uuid":"target"}`} {
			b.offered++
			b.Offer(&capture.Exchange{Method: "GET", Target: "/", Status: 200, Answer: []byte(answer), Free: func(*capture.Exchange) { b.released.Add(1) }})
		}
		b.offer(1, search)
		<-time.After(time.Minute)
		b.offer(1, search)
		if s := b.end(t); s.Sent != 1 || s.Why != "target_is_source" || s.Shed[ShedBreaker] != 2 {
			t.Errorf("%+v", s)
		}
	})
}

// A target that answers well may become the source, or a proxy, while requests go to
// it: by a name that leads elsewhere, on either side.
func TestMirrorTargetThatTurns(t *testing.T) {
	target := es.Identity{UUID: "target", Flavor: es.FlavorSandbox}
	for name, x := range map[string]struct {
		target, source es.Identity
		err            error
		want           string
	}{
		"target becomes source": {es.Identity{UUID: "source"}, es.Identity{UUID: "source"}, nil, "target_is_source"},
		"source becomes target": {target, target, nil, "target_is_source"},
		"target becomes proxy":  {es.Identity{}, es.Identity{UUID: "source"}, replay.ErrTargetIsProxy, "target_is_proxy"},
		"another cluster":       {es.Identity{UUID: "other"}, es.Identity{UUID: "source"}, nil, ""},
		"neither says":          {es.Identity{}, es.Identity{}, replay.ErrTargetUnreachable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var turned atomic.Bool
				var asked atomic.Int64
				b := begin(t, func(_ *Config, o *Options) {
					o.Source = func(context.Context) es.Identity {
						if turned.Load() {
							return x.source
						}
						return es.Identity{UUID: "source"}
					}
					o.Ask = func(context.Context) (es.Identity, error) {
						if asked.Add(1); turned.Load() {
							return x.target, x.err
						}
						return target, nil
					}
				}, answers)
				if err := b.Identify(t.Context()); err != nil {
					t.Fatal(err)
				}
				<-time.After(time.Minute)
				b.offer(1, search)
				<-time.After(time.Second)
				if n := asked.Load(); n < 6 || n > 8 {
					t.Errorf("asked %d times in a minute", n)
				}
				turned.Store(true)
				<-time.After(identifyEvery + time.Second)
				b.offer(1, search)
				<-time.After(time.Minute)
				b.offer(1, search)
				<-time.After(time.Second)
				if st := b.Stats(); x.want != "" && (st.Sent != 1 || st.Why != x.want) || x.want == "" && (st.Sent != 3 || st.Breaker != BreakerClosed) {
					t.Errorf("%d sent, %s, %s", st.Sent, st.Breaker, st.Why)
				}
				turned.Store(false)
				<-time.After(Default().BreakerMaxWait + time.Second)
				b.offer(1, search)
				<-time.After(time.Second)
				if st := b.end(t); st.Breaker != BreakerClosed {
					t.Errorf("%s, though it is back: %s", st.Breaker, st.Why)
				}
			})
		})
	}
}

// A proxy may come to stand before another cluster: what its clients heard first
// does not hold for ever.
func TestMirrorHearsThatTheSourceIsAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := begin(t, nil, answers)
		if err := b.Identify(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, uuid := range []string{"first", "target"} {
			b.offer(1, search)
			<-time.After(time.Second)
			b.offered++
			b.Offer(&capture.Exchange{
				Method: "GET", Target: "/", Status: 200, Answer: []byte(`{"version":{"number":"8.19.0"},"cluster_uuid":"` + uuid + `"}`),
				Free: func(*capture.Exchange) { b.released.Add(1) },
			})
		}
		b.offer(1, search)
		if s := b.end(t); s.Sent != 2 || s.Why != "target_is_source" {
			t.Errorf("%d sent, %q", s.Sent, s.Why)
		}
	})
}

// What comes back from the target's place tells at once that it leads here; what
// another mirror sent does not.
func TestMirrorSeesItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := begin(t, nil, answers)
		if err := b.Identify(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.offer(1, search)
		<-time.After(time.Second)
		shots := b.shots()
		if len(shots) != 1 {
			t.Fatalf("%d sent", len(shots))
		}
		b.offer(2, search, capture.Header{Name: replay.MirrorHeader, Value: "1"})
		if st := b.Stats(); st.Breaker != BreakerClosed {
			t.Errorf("%s for another's request", st.Breaker)
		}
		b.offer(2, search, shots[0].Header...)
		b.offer(1, search)
		if s := b.end(t); s.Sent != 1 || s.Why != "target_is_proxy" || s.Shed[ShedLoop] != 2 || s.Shed[ShedBreaker] != 1 {
			t.Errorf("%d sent, %q, %v", s.Sent, s.Why, s.Shed)
		}
	})
}

// A fault of ours costs the request, not the process.
func TestMirrorPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := begin(t, nil, answers)
		_ = b.Identify(t.Context())
		b.offer(1, `{"panic":1}`)
		b.offer(1, search)
		if s := b.end(t); s.Shed[ShedPanic] != 1 || s.Sent != 1 {
			t.Errorf("%+v", s)
		}
	})
}

// Requests of one connection keep their order, others do not wait for them.
func TestMirrorOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := begin(t, nil, func(ctx context.Context, s *replay.Shot) replay.Answer {
			<-time.After(10 * time.Millisecond)
			return answers(ctx, s)
		})
		_ = b.Identify(t.Context())
		for i := range 100 {
			b.offer(uint64(i%5+1), search)
		}
		b.end(t)
		last := map[int]int{}
		for _, s := range b.shots() {
			var n int
			_, _ = fmt.Sscanf(s.Target, "/secret/_search?n=%d", &n)
			if conn := n % 5; n <= last[conn] {
				t.Errorf("%d after %d", n, last[conn])
			}
			last[n%5] = n
		}
	})
}

// Whatever the target does and whenever the mirror is closed, the sums hold and
// every exchange is given back once.
func TestMirrorSumsAlways(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.SliceOfN(rapid.IntRange(0, 5), 1, 60).Draw(rt, "what happens")
		limit := rapid.IntRange(1, 30).Draw(rt, "in flight")
		synctest.Test(t, func(t *testing.T) {
			var n atomic.Int64
			b := begin(t, func(c *Config, _ *Options) { c.InFlight, c.BreakerFailures = limit, 2 }, func(ctx context.Context, s *replay.Shot) replay.Answer {
				switch seed[int(n.Add(1))%len(seed)] {
				case 0:
					return freezes(ctx, s)
				case 1:
					return replay.Answer{Status: 429}
				case 2:
					return replay.Answer{Err: replay.ErrReset}
				case 3:
					return replay.Answer{Shed: "local_limit"}
				}
				return answers(ctx, s)
			})
			_ = b.Identify(t.Context())
			for i, what := range seed {
				b.offer(uint64(i%7+1), search)
				if what == 5 {
					<-time.After(700 * time.Millisecond)
				}
			}
			s := b.end(t)
			list, turned := b.outcomes(t)
			if uint64(len(list))+sum(turned) != s.Offered-s.SampledOut {
				t.Errorf("%d outcomes and %v, %d were offered", len(list), turned, s.Offered)
			}
			checkSums(t, b.dir, &s, turned)
		})
	})
}

// A body that becomes too large without its coding is sent as it came.
func TestABodyIsDecodedUpToABound(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(bytes.Repeat([]byte{' '}, 2<<20))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for max, whole := range map[int]bool{1 << 20: false, 4 << 20: true} {
		b := begin(t, func(_ *Config, o *Options) { o.MaxBody = max }, answers)
		if err := b.Identify(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.offer(1, packed.String(), capture.Header{Name: "Content-Encoding", Value: "gzip"})
		b.end(t)
		if shots := b.shots(); len(shots) != 1 || (len(shots[0].Body) == 2<<20) != whole {
			t.Errorf("bound %d: %d shots", max, len(shots))
		}
	}
}

// What was begun in vain is taken away, and what another process does meanwhile
// stays.
func TestAbandon(t *testing.T) {
	for _, other := range []bool{false, true} {
		b := begin(t, func(_ *Config, o *Options) { o.Shared = true }, nil)
		if err := b.Identify(t.Context()); err != nil { // run.json tells of it; nothing writes it from now on
			t.Fatal(err)
		}
		if other {
			next := begin(t, func(_ *Config, o *Options) { o.Dir, o.Shared = b.dir, true }, nil)
			defer func() { _, _ = next.Close() }()
			if err := next.Identify(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Abandon(); err != nil {
			t.Error(err)
		}
		left, err := os.ReadDir(b.dir)
		want := 0
		if other {
			want = 3 // its run.json, with the lock of that, and its file
		}
		if err != nil || len(left) != want {
			t.Errorf("other %v: %v, %v", other, left, err)
		}
	}
}

func TestRunDirectoryOfAnother(t *testing.T) {
	b := begin(t, nil, nil)
	o := b.opt
	if _, err := New(b.cfg, o); !errors.Is(err, replay.ErrRunBusy) {
		t.Errorf("a second mirror: %v", err)
	}
	b.end(t)
	next, err := New(b.cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := next.Close(); err != nil {
		t.Error(err)
	}
}

// checkSums compares run.json with what the mirror counted, and tells a counter
// without an operation.
func checkSums(t testing.TB, dir string, s *Stats, turned map[string]uint64) {
	t.Helper()
	for name := range turned {
		if x, ok := replay.ParseTurned(name); !ok || x.Op == "" || x.String() != name {
			t.Errorf("counter %s", name)
		}
	}
	run, err := replay.ReadRun(dir)
	if err != nil || run.Sums == nil {
		t.Errorf("run %+v, %v", run, err)
		return
	}
	c := run.Sums.Counts
	if c.Records != s.Offered-s.SampledOut || c.Records != c.Planned+sum(c.Refused) || c.Planned != c.Sent+sum(c.Shed) ||
		!maps.Equal(c.Refused, s.Refused) || !maps.Equal(c.Shed, s.Shed) || c.Sent != s.Sent {
		t.Errorf("run.json %+v, counted %+v", c, s)
	}
}

// run.json says which part is mirrored now, also after a change.
func TestRunTellsSample(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := begin(t, nil, nil)
		asked := func() replay.Asked {
			t.Helper()
			synctest.Wait()
			run, err := replay.ReadRun(b.dir)
			if err != nil {
				t.Fatal(err)
			}
			return run.Asked
		}
		if a := asked(); a.Sample != 1 || a.InFlight != b.cfg.InFlight {
			t.Errorf("at first %+v", a)
		}
		b.SetSample(0.5)
		if a := asked(); a.Sample != 0.5 {
			t.Errorf("after a change %+v", a)
		}
		cfg := b.cfg
		cfg.Sample, cfg.InFlight = 0.25, 7
		if err := b.Reload(cfg); err != nil {
			t.Fatal(err)
		}
		if a := asked(); a.Sample != 0.25 || a.InFlight != 7 {
			t.Errorf("after a reload %+v", a)
		}
		cfg.Sample = 7
		if err := b.Reload(cfg); err == nil || asked().Sample != 0.25 {
			t.Errorf("a bad configuration: %v, %+v", err, asked())
		}
		b.end(t)
		if a := asked(); a.Sample != 0.25 {
			t.Errorf("at the end %+v", a)
		}
	})
}

// What the engine does not reach is shed under its operation, and a request that
// came out under another one makes no count wrong.
func TestForsaken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDoor()
		ops := rapid.SampledFrom([]string{"search", "bulk", "get", "unknown"})
		in := rapid.SliceOfN(ops, 0, 30).Draw(t, "in")
		n := rapid.IntRange(0, len(in)).Draw(t, "out")
		for _, op := range in {
			d.pass(op, 1)
		}
		for _, op := range in[:n] {
			if rapid.IntRange(0, 9).Draw(t, "fault") == 0 {
				op = "unknown"
			}
			d.pass(op, -1)
		}
		d.forsake(ShedClosed)
		if got := sum(d.counters()); got != uint64(len(in)-n) {
			t.Fatalf("%d of %d came out, %v are shed", n, len(in), d.counters())
		}
	})
}

// Making a request of a large exchange takes memory that the queue does not count:
// the process must expect it, and not for ever.
func TestMirrorMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := begin(t, nil, answers)
		if err := b.Identify(t.Context()); err != nil {
			t.Fatal(err)
		}
		const large = 4 << 20
		b.offer(1, `{"query":{"match":{"name":"`+strings.Repeat("x", large)+`"}}}`)
		<-time.After(time.Second)
		if n := b.MemoryBytes(); n < 4*large || n > 6*large {
			t.Errorf("%d bytes after a request of %d", n, large)
		}
		for range 1000 {
			b.offer(1, search)
			<-time.After(10 * time.Millisecond)
		}
		if n := b.MemoryBytes(); n > 64<<10 {
			t.Errorf("%d bytes after many small requests", n)
		}
		b.end(t)
	})
}
