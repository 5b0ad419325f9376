package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
)

func scrollOf(id string) []capture.Handle { return []capture.Handle{{Kind: "scroll", ID: id}} }

// use puts what one request uses into its shot.
func (h *handles) use(ctx context.Context, seq uint64, uses []capture.Handle, wait time.Duration, s *Shot) bool {
	p := plan{uses: uses, shot: *s}
	defer func() { *s = p.shot }()
	return h.substitute(ctx, seq, &p, wait)
}

func TestHandleOfAnEarlierAnswer(t *testing.T) {
	var h handles
	h.init()
	h.expect(1, scrollOf("dig1"))
	h.settle(1, scrollOf("dig1"), []given{{"pit", "wrong"}, {"scroll", `live"+/=`}})
	s := Shot{Target: "/_search/scroll/dig1?x=dig1", Body: []byte(`{"scroll_id":"dig1"}`)}
	if !h.use(t.Context(), 2, scrollOf("dig1"), time.Hour, &s) {
		t.Fatal("not found")
	}
	if s.Target != "/_search/scroll/live%22%2B%2F%3D?x=live%22%2B%2F%3D" || string(s.Body) != `{"scroll_id":"live\"+/="}` {
		t.Errorf("%s %s", s.Target, s.Body)
	}
	if h.use(t.Context(), 2, scrollOf("dig2"), time.Hour, &s) {
		t.Error("an id that nobody gave was found")
	}
}

func TestHandleThatTheTargetDidNotGive(t *testing.T) {
	var h handles
	h.init()
	h.expect(1, scrollOf("d"))
	h.settle(1, scrollOf("d"), nil)
	if h.use(t.Context(), 2, scrollOf("d"), time.Hour, &Shot{Body: []byte("d d0 d99")}) || len(h.known) != 0 {
		t.Error("found, or still remembered")
	}
}

func TestHandleStillOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h handles
		h.init()
		h.expect(1, scrollOf("d"))
		time.AfterFunc(3*time.Second, func() { h.settle(1, scrollOf("d"), []given{{"scroll", "live"}}) })
		began := time.Now()
		s := Shot{Body: []byte("d never self")}
		if !h.use(t.Context(), 2, scrollOf("d"), time.Minute, &s) || string(s.Body) != "live never self" || time.Since(began) != 3*time.Second {
			t.Errorf("after %v: %s", time.Since(began), s.Body)
		}
		h.expect(3, scrollOf("never"))
		if h.use(t.Context(), 4, scrollOf("never"), time.Minute, &s) || time.Since(began) != 63*time.Second {
			t.Errorf("the wait ended after %v", time.Since(began))
		}
		// A page gives the id that it uses: it must not wait for itself.
		h.expect(5, scrollOf("self"))
		if h.use(t.Context(), 5, scrollOf("self"), time.Minute, &s) || time.Since(began) != 63*time.Second {
			t.Errorf("waited for itself: %v", time.Since(began))
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if h.use(ctx, 4, scrollOf("never"), time.Minute, &s) || time.Since(began) != 64*time.Second {
			t.Errorf("an interrupt was heard after %v", time.Since(began))
		}
	})
}

func TestHandleMemoryIsBounded(t *testing.T) {
	var h handles
	h.init()
	long := strings.Repeat("x", 1<<20)
	for i := range uint64(100) {
		id := scrollOf(fmt.Sprint("d", i))
		h.expect(i, id)
		h.settle(i, id, []given{{"scroll", long}})
	}
	if h.bytes > maxHandleBytes || len(h.known) != maxHandleBytes>>20-1 {
		t.Errorf("%d bytes in %d handles", h.bytes, len(h.known))
	}
	if h.use(t.Context(), 200, scrollOf("d0"), time.Second, &Shot{Body: []byte("d d0 d99")}) || !h.use(t.Context(), 200, scrollOf("d99"), time.Second, &Shot{Body: []byte("d d0 d99")}) {
		t.Error("the oldest must go first")
	}
}

func TestIDsOfDocuments(t *testing.T) {
	var h handles
	h.init()
	auto := []capture.Handle{{Kind: es.HandleID, ID: "auto1"}}
	h.expect(1, auto)
	h.settle(1, auto, []given{{es.HandleID, "made/here"}})
	for target, want := range map[string]string{
		"/auto1/_doc/5?x=auto1":     "/auto1/_doc/5?x=auto1",
		"/logs/_doc/auto1?x=auto1":  "/logs/_doc/made%2Fhere?x=auto1",
		"/auto1/_doc/auto1":         "/auto1/_doc/made%2Fhere",
		"/logs/_update/auto1/":      "/logs/_update/made%2Fhere/",
		"/logs/_doc/chosen%2Fby-me": "/logs/_doc/chosen%2Fby-me",
	} {
		p := plan{route: es.Classify("POST", target), shot: Shot{Target: target, Body: []byte(`{"a":"auto1"}`)}}
		for _, u := range es.RequestHandles(nil, p.route, nil) {
			p.uses = append(p.uses, capture.Handle{Kind: u.Kind, ID: string(u.Value)})
		}
		if len(p.uses) != 1 || !h.substitute(t.Context(), 2, &p, time.Second) || p.shot.Target != want || string(p.shot.Body) != `{"a":"auto1"}` {
			t.Errorf("%s: %s, want %s", target, p.shot.Target, want)
		}
	}
}

func TestRawIDsInURLs(t *testing.T) {
	for target, want := range map[string]string{
		"/_search/scroll/a%2Fb%3D%3D":           "/_search/scroll/new%3D",
		"/_search/scroll?scroll_id=a%2Fb%3D%3D": "/_search/scroll?scroll_id=new%3D",
		"/_search/scroll/a%2Fb==":               "/_search/scroll/new%3D",
	} {
		s := Shot{Target: target}
		if !s.replace("a/b==", "new=") || s.Target != want {
			t.Errorf("%s: %s, want %s", target, s.Target, want)
		}
	}
	if s := (Shot{Target: "/_search/scroll", Body: []byte("{}")}); s.replace("id", "other") {
		t.Error("an id that stands nowhere was replaced")
	}
}

// scrollServer gives scroll ids, new ones with each page, and knows only its own.
type scrollServer struct {
	mu      sync.Mutex
	live    map[string]bool
	next    int
	pages   atomic.Int64
	unknown atomic.Int64
}

func (s *scrollServer) handle(ctx *fasthttp.RequestCtx) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var body struct {
		ID string `json:"scroll_id"`
	}
	_ = json.Unmarshal(ctx.PostBody(), &body)
	ctx.SetContentType("application/json")
	if string(ctx.Method()) == "DELETE" {
		var list struct {
			IDs []string `json:"scroll_id"`
		}
		if json.Unmarshal(ctx.PostBody(), &list) == nil {
			for _, id := range list.IDs {
				delete(s.live, id)
			}
		}
		return
	}
	if strings.HasSuffix(string(ctx.Path()), "/scroll") {
		if !s.live[body.ID] {
			s.unknown.Add(1)
			ctx.SetStatusCode(404)
			ctx.SetBodyString(`{"error":{"type":"search_context_missing_exception"},"status":404}`)
			return
		}
		delete(s.live, body.ID)
		s.pages.Add(1)
	}
	s.next++
	id := fmt.Sprintf("live%d==", s.next)
	s.live[id] = true
	ctx.SetBodyString(fmt.Sprintf(`{"_scroll_id":%q,"took":1,"timed_out":false,"hits":{"total":{"value":1,"relation":"eq"},"hits":[]}}`, id))
}

func TestScrollsAreContinued(t *testing.T) {
	server := scrollServer{live: map[string]bool{}}
	addr := serve(t, server.handle)
	const scrolls, pages = 20, 10
	src := &records{n: scrolls*pages + 1, make: func(i int, r *capture.Record) {
		r.Time, r.Method, r.Status = int64(i)*int64(500*time.Microsecond)+1, "POST", 200
		// Pages of one scroll come over different connections, and follow each
		// other sooner than the target may answer.
		r.Conn = uint64(i%7) + 1
		s, page := i/pages, i%pages
		digest := func(p int) string { return fmt.Sprintf("digest-%d-%d.", s, p) }
		if page == 0 {
			r.Target, r.Body = "/logs/_search?scroll=1m", append(r.Body, `{"size":1}`...)
		} else {
			r.Target, r.Body = "/_search/scroll", fmt.Appendf(r.Body, `{"scroll":"1m","scroll_id":"%s"}`, digest(page-1))
			r.Handles = append(r.Handles, capture.Handle{Kind: "scroll", Dir: "use", ID: digest(page - 1)})
		}
		r.BodySize = int64(len(r.Body))
		r.Handles = append(r.Handles, capture.Handle{Kind: "scroll", Dir: "give", ID: digest(page)})
		if i == scrolls*pages { // a scroll that began before the capture
			r.Handles, r.Target = r.Handles[:0], "/_search/scroll"
			r.Handles = append(r.Handles, capture.Handle{Kind: "scroll", Dir: "use", ID: "before."})
		}
	}}
	for _, speed := range []Speed{1, Max} {
		server.pages.Store(0)
		src.i = 0
		cfg := Default()
		cfg.Speed = speed
		s, _ := replayed(t, cfg, src, client(t, addr, nil))
		if len(server.live) != 0 {
			t.Errorf("%d scrolls are left open", len(server.live))
		}
		if s.Answered != scrolls*pages || s.Refused[RefusedHandle] != 1 || server.unknown.Load() != 0 || server.pages.Load() != scrolls*(pages-1) {
			t.Errorf("speed %v: %+v; pages %d, unknown %d", speed, s.Counts, server.pages.Load(), server.unknown.Load())
		}
	}
}

// What is opened and closed for weeks leaves nothing behind.
func TestHandlesOfWeeks(t *testing.T) {
	var h handles
	h.init()
	for i := range uint64(20_000) {
		ids := scrollOf(fmt.Sprint("scroll of the source ", i))
		h.expect(i+1, ids)
		h.settle(i+1, ids, []given{{"scroll", fmt.Sprint("live ", i)}})
		h.drop(ids)
	}
	if len(h.known) != 0 || h.bytes != 0 || len(h.oldest) > 2048 {
		t.Errorf("%d ids are known, %d bytes held, %d keys listed", len(h.known), h.bytes, len(h.oldest))
	}
}
