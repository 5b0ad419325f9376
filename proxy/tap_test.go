package proxy

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/size"
)

// The copy is what passed, whatever its size; above the limit its size is.
func TestTapBodies(t *testing.T) {
	body := func(n int) string { return strings.Repeat("0123456789", n/10+1)[:n] }
	n := answering(t, func(s *seen) string {
		b := string(s.body)
		if strings.Contains(s.line, "chunked") {
			return fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s%s%s",
				appendChunkSize(nil, len(b)), b, chunkEnd(len(b)))
		}
		return fmt.Sprintf("HTTP/1.1 200 OK\r\ncontent-type: text/x\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(b), b)
	})
	const stream, limit = 64 << 10, 256 << 10
	for _, above := range []size.Size{stream, 1 << 20, 0} {
		tap := newTap()
		p := start(t, Deps{Tap: tap}, func(c *Config) {
			c.StreamAbove, c.MaxBody = above, limit
			if above == 0 { // no memory: all pass in pieces, none is copied
				c.StreamAbove, c.BodyMemory = 1<<20, 0
			}
		}, n.url())
		c := dial(t, p.addr)
		i := 0
		for _, n := range []int{0, 1, 1023, 1024, 1025, 8191, 8192, 8193, stream - 1, stream, stream + 1, limit - 1, limit, limit + 1, 1<<20 + 1} {
			for _, framing := range []string{"length", "chunked"} {
				b := body(n)
				req := fmt.Sprintf("POST /%s HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", framing, n, b)
				if framing == "chunked" {
					// in two chunks where there is enough
					req = "POST /chunked HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
					if half := n / 2; half > 0 {
						req += fmt.Sprintf("%x\r\n%s\r\n", half, b[:half])
						b = b[half:]
					}
					req += string(appendChunkSize(nil, len(b))) + b + chunkEnd(len(b))
				}
				a := c.ask(req)
				if a.status() != 200 || string(a.body) != body(n) || a.err != nil {
					t.Fatalf("%s %d: answer %q, %d bytes, %v", framing, n, a.line, len(a.body), a.err)
				}
				i++
				x := tap.wait(t, i)[i-1]
				want := body(n)
				if n > limit {
					want = ""
				}
				if above == 0 {
					want = ""
					// What fits into the first buffer of a chunked body is held anyway.
					x.Body = x.Body[:0]
				}
				if string(x.Body) != want || x.BodySize != int64(n) || string(x.Answer) != want || x.AnswerSize != int64(n) {
					t.Fatalf("%s %d: exchange has %d of %d and %d of %d bytes",
						framing, n, len(x.Body), x.BodySize, len(x.Answer), x.AnswerSize)
				}
				if x.Conn != 1 || x.Request != uint64(i) || x.Wait <= 0 || x.Took < x.Wait || x.Time == 0 {
					t.Fatalf("exchange %d: %d/%d, wait %d, took %d", i, x.Conn, x.Request, x.Wait, x.Took)
				}
				if framing == "length" && (x.AnswerType != "text/x" || x.AnswerCoding != "gzip") {
					t.Fatalf("answer type %q coding %q", x.AnswerType, x.AnswerCoding)
				}
			}
		}
	}
}

// What an Exchange holds is its own until it is released, whatever passes next.
func TestExchangesDoNotShareMemory(t *testing.T) {
	n := answering(t, func(s *seen) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: %d\r\n\r\n%s", len(s.body), s.body)
	})
	tap := newTap()
	p := start(t, Deps{Tap: tap}, nil, n.url())
	c := dial(t, p.addr)
	const rounds = 200
	text := func(i int) string { return fmt.Sprintf("%d-", i) + strings.Repeat(fmt.Sprint(i%10), 100*(i%50)) }
	for i := range rounds {
		b := text(i)
		c.ask(fmt.Sprintf("POST /%d HTTP/1.1\r\nHost: h%d\r\nContent-Length: %d\r\n\r\n%s", i, i, len(b), b))
		if i%3 == 0 {
			tap.wait(t, i+1)[i].Release()
		}
	}
	for i, x := range tap.wait(t, rounds) {
		if i%3 == 0 {
			continue
		}
		if string(x.Body) != text(i) || string(x.Answer) != text(i) || x.Target != fmt.Sprintf("/%d", i) || x.Header[0].Value != fmt.Sprintf("h%d", i) {
			t.Fatalf("exchange %d was overwritten", i)
		}
	}
}

// A body that passes in pieces is not copied where the Tap has no room for it; the
// exchange is offered all the same, with its sizes, and clients notice nothing.
func TestTapWithoutRoom(t *testing.T) {
	const above = 64 << 10
	text := strings.Repeat("0123456789", above/5)
	tap := newTap()
	n := answering(t, func(s *seen) string {
		if strings.Contains(s.line, "fill") { // while the answer is awaited
			tap.full.Store(true)
		}
		answer := text[:7]
		if strings.Contains(s.line, "large") {
			answer = text
		}
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(answer), answer)
	})
	p := start(t, Deps{Tap: tap}, func(c *Config) { c.StreamAbove, c.MaxBody = above, 1<<20 }, n.url())
	c := dial(t, p.addr)
	for i, ask := range []struct {
		target  string
		size    int
		chunked bool
		full    bool // from the beginning
		unheld  bool
	}{
		{"/", len(text), false, false, false},
		{"/", len(text), false, true, true},
		{"/", len(text), true, true, true},
		{"/", above, false, true, false}, // is held whole to be forwarded
		{"/large", 5, false, true, true},
		{"/fill", len(text), false, false, false},
		{"/fill/large", len(text), false, false, true},
		{"/large", len(text), true, false, false},
	} {
		tap.full.Store(ask.full)
		body, answer := text[:ask.size], text[:7]
		if strings.Contains(ask.target, "large") {
			answer = text
		}
		head := fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
		if ask.chunked {
			head = "Transfer-Encoding: chunked\r\n\r\n" + string(appendChunkSize(nil, len(body))) + body + chunkEnd(len(body))
		}
		a := c.ask("POST " + ask.target + " HTTP/1.1\r\nHost: h\r\n" + head)
		if a.status() != 200 || string(a.body) != answer || a.err != nil {
			t.Fatalf("%+v: answer %q, %d bytes, %v", ask, a.line, len(a.body), a.err)
		}
		if got := n.requests(); string(got[len(got)-1].body) != body {
			t.Fatalf("%+v: the node got %d bytes", ask, len(got[len(got)-1].body))
		}
		x := tap.wait(t, i+1)[i]
		if x.Unheld != ask.unheld || x.BodySize != int64(len(body)) || x.AnswerSize != int64(len(answer)) {
			t.Errorf("%+v: unheld %v, %d and %d bytes", ask, x.Unheld, x.BodySize, x.AnswerSize)
		}
		if ask.unheld {
			body, answer = "", ""
		}
		if string(x.Body) != body || string(x.Answer) != answer {
			t.Errorf("%+v: %d and %d bytes are copied", ask, len(x.Body), len(x.Answer))
		}
	}
}

type panicTap struct{}

func (panicTap) Offer(x *capture.Exchange) { panic("secret " + x.Target) }

func (panicTap) Room(int64) bool { panic("secret") }

func TestTapPanicsDoNotConcernClients(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	n := recording(t)
	p := start(t, Deps{Tap: panicTap{}, Log: zap.New(core)}, func(c *Config) { c.StreamAbove = 4 << 10 }, n.url())
	c := dial(t, p.addr)
	for _, size := range []int{0, 1, 5000} {
		if a := c.ask(fmt.Sprintf("GET /secret HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", size, strings.Repeat("x", size))); a.status() != 200 {
			t.Fatalf("answer %q", a.line)
		}
	}
	if logs.Len() == 0 {
		t.Error("nothing was logged")
	}
	for _, e := range logs.All() {
		if s := fmt.Sprint(e); strings.Contains(s, "secret") {
			t.Errorf("the log quotes the request: %s", s)
		}
	}
}

// The probe is answered, not passed on.
func TestProbe(t *testing.T) {
	n := recording(t)
	p := start(t, Deps{Version: "1.2.3", Instance: "me"}, nil, n.url())
	c := dial(t, p.addr)
	a := c.ask("GET / HTTP/1.1\r\nHost: h\r\n" + ProbeHeader + ": 1\r\n\r\n")
	if want := `{"esshadow":{"instance":"me","version":"1.2.3"}}`; string(a.body) != want {
		t.Errorf("answer %q, want %q", a.body, want)
	}
	if len(n.requests()) != 0 {
		t.Error("it was passed on")
	}
	if a := c.ask("GET /i/_search HTTP/1.1\r\nHost: h\r\nEsshadow-Probe: 1\r\n\r\n"); string(a.body) != "{}" || len(n.requests()) != 1 {
		t.Error("another request with the header was not passed on")
	}
}

func TestLogsQuoteNothing(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	p := start(t, Deps{Log: zap.New(core)}, nil, "http://127.0.0.1:1")
	for _, req := range []string{
		"GET /secret HTTP/1.1\r\nHost: secret\r\nAuthorization: secret\r\n\r\n",
		"GET /secret HTTP/1.1\r\nsecret\r\n\r\n",
		"secret secret\r\n\r\n",
		"GET /" + strings.Repeat("secret", 50000) + " HTTP/1.1\r\nHost: h\r\n\r\n",
	} {
		a := dial(t, p.addr).ask(req)
		if bytes.Contains(a.body, []byte("secret")) || strings.Contains(fmt.Sprint(a.headers), "secret") {
			t.Errorf("the answer quotes the request: %q", a.body)
		}
	}
	for _, e := range logs.All() {
		if s := fmt.Sprint(e.Message, e.ContextMap()); strings.Contains(s, "secret") {
			t.Errorf("the log quotes the request: %s", s)
		}
	}
}

// What the proxy keeps for reuse is bounded.
func TestBuffersAreBounded(t *testing.T) {
	p := newBuffers(1 << 20)
	var all []*buffer
	for range 10 {
		for _, n := range []int{0, 1, 4096, 4097, 65536, 65537, 300000, 1 << 20, 16 << 20, 17 << 20} {
			b := p.get(n)
			if len(b.b) != 0 || cap(b.b) < n {
				t.Fatalf("get(%d): %d of %d", n, len(b.b), cap(b.b))
			}
			all = append(all, b)
		}
	}
	for _, b := range all {
		p.put(b)
	}
	p.put(nil)
	if got := p.held; got > 1<<20 || got == 0 {
		t.Errorf("%d bytes are kept", got)
	}
}

// What requests hold is accounted for to the byte, by the memory that it takes, and
// never above the bound: while a body of unknown length grows, too.
func TestBodyMemoryBoundsMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bound := int64(rapid.SampledFrom([]int{0, 4 << 10, 100 << 10, 3 << 20, 40 << 20, 1 << 30}).Draw(t, "bound"))
		p := &Proxy{buffers: newBuffers(8 << 20)}
		set := &setup{}
		set.cfg.BodyMemory, set.cfg.MaxBody = size.Size(bound), 16<<20
		jobs := make([]*job, rapid.IntRange(1, 6).Draw(t, "jobs"))
		for i := range jobs {
			jobs[i] = &job{p: p, set: set, copyBody: true, copyAnswer: true}
			jobs[i].req.length, jobs[i].resp.length = -1, rapid.SampledFrom([]int64{-1, 0, 100, 70 << 10, 5 << 20}).Draw(t, "length")
		}
		piece := make([]byte, 2<<20)
		want := make([]int, len(jobs))
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			i := rapid.IntRange(0, len(jobs)-1).Draw(t, "job")
			j, n := jobs[i], rapid.SampledFrom([]int{0, 1, 4096, 64 << 10, 1 << 20, len(piece)}).Draw(t, "bytes")
			switch rapid.SampledFrom([]string{"body", "body", "answer", "answer", "end"}).Draw(t, "step") {
			case "body":
				j.bodySize += int64(n)
				j.keepBody(piece[:n])
				if want[i] += n; j.body != nil && len(j.body.b) != want[i] || j.copyBody != (j.body != nil) {
					t.Fatalf("body %+v, want %d", j.body != nil, want[i])
				}
			case "answer":
				j.keepAnswer(piece[:n])
			case "end":
				j.release()
				*j, want[i] = job{p: p, set: set, copyBody: true, copyAnswer: true}, 0
			}
			var held int64
			for _, j := range jobs {
				for _, b := range []*buffer{j.body, j.answer} {
					if b != nil {
						held += int64(cap(b.b))
					}
				}
			}
			if told := p.BodiesHeld(); told != held || held > bound {
				t.Fatalf("%d bytes of memory, told %d, bound %d", held, told, bound)
			}
		}
		for _, j := range jobs {
			j.release()
		}
		if told := p.BodiesHeld(); told != 0 {
			t.Fatalf("%d bytes in the end", told)
		}
	})
}

// Sizes that were in use once do not keep out those that are: of the buffers that are
// kept, those stay that were used last, whatever their size.
func TestBuffersOfAnEarlierLoadGiveWay(t *testing.T) {
	const limit = 4 << 20
	p := newBuffers(limit)
	inUse := func(n, size int) (reused int) {
		held, made := make([]*buffer, n), map[*buffer]bool{}
		for range 3 {
			for i := range held {
				held[i] = p.get(size)
				if made[held[i]] {
					reused++
				}
				made[held[i]] = true
			}
			for _, b := range held {
				p.put(b)
			}
		}
		return reused
	}
	for _, load := range []struct{ n, size int }{{32, 100_000}, {4, 1 << 20}, {1, 4 << 20}, {32, 100_000}, {8, 500_000}} {
		if got := inUse(load.n, load.size); got != 2*load.n {
			t.Errorf("%d buffers of %d bytes fit: %d were used again, want %d", load.n, load.size, got, 2*load.n)
		}
	}
	if inUse(2, 200_000); len(p.large[shiftOf(500_000)-smallShift-1]) < 6 {
		t.Error("two small buffers pushed out more than their size")
	}
}

// What the pool says that it holds is what it holds, and never more than its limit.
func TestBuffersHeldIsTheirSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newBuffers(rapid.Int64Range(0, 4<<20).Draw(t, "limit"))
		var out []*buffer
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(out) > 0 && rapid.Bool().Draw(t, "put") {
				p.put(out[len(out)-1])
				out = out[:len(out)-1]
			} else {
				out = append(out, p.get(rapid.IntRange(0, 5<<20).Draw(t, "size")))
			}
			sum, newest := int64(0), uint64(0)
			for _, class := range p.large {
				at := uint64(0)
				for _, b := range class {
					sum += int64(cap(b.b))
					if b.at <= at {
						t.Fatalf("a class is not in the order of its puts")
					}
					at = b.at
				}
				newest = max(newest, at)
			}
			if sum != p.held || sum > p.limit || newest > p.puts {
				t.Fatalf("%d bytes are kept, said to be %d, of %d", sum, p.held, p.limit)
			}
		}
	})
}
