package sandbox

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestServe(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- shop(t, Options{}).Serve(ctx, ln) }()
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	res, err := (&http.Client{Transport: tr}).Get("http://" + ln.Addr().String() + "/shop/_count")
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK || res.Header.Get("X-Elastic-Product") != "Elasticsearch" {
		t.Error(res.Status, res.Header)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := shop(t, Options{}).Serve(context.Background(), ln); err == nil {
		t.Error("serves on a closed listener")
	}
}

func TestConcurrentUse(t *testing.T) {
	e := newEngine(t, Options{})
	must(t, e, 200, "PUT /c", plainMapping)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 40 {
				id := fmt.Sprint(i % 7)
				for _, s := range [][2]string{
					{"POST /c/_bulk", fmt.Sprintf("{\"index\":{\"_id\":%q}}\n{\"title\":\"red %d\",\"new%d\":%d}\n{\"delete\":{\"_id\":\"%d\"}}\n", id, i, w, i, w)},
					{"POST /c/_search", `{"query":{"match":{"title":"red"}},"aggs":{"a":{"terms":{"field":"brand"}}}}`},
					{"POST /c/_search?scroll=1m", `{"size":1}`},
					{"GET /c/_mapping", ""},
					{"GET /c/_doc/3", ""},
					{"DELETE /_search/scroll/_all", ""},
				} {
					if rec := call(e, s[0], s[1]); rec.Code != 200 && rec.Code != 404 {
						t.Errorf("%s: %d %s", s[0], rec.Code, rec.Body)
					}
				}
				e.SetFaults(Faults{})
			}
		})
	}
	for range 20 {
		pit := text1(must(t, e, 200, "POST /c/_pit?keep_alive=1m", ""), "id")
		must(t, e, 200, "POST /_search", `{"pit":{"id":`+pit+`},"query":{"match":{"title":"red"}},"sort":["_id"]}`)
		must(t, e, 200, "DELETE /_pit", `{"id":`+pit+`}`)
	}
	wg.Wait()
}

func TestManyUpdatesAreCompacted(t *testing.T) {
	e := newEngine(t, Options{})
	for i := range 1500 {
		must(t, e, []int{200, 201}[map[bool]int{true: 1}[i < 3]], fmt.Sprintf("PUT /u/_doc/%d", i%3), fmt.Sprintf(`{"t":"word%d same"}`, i))
		if i%50 == 0 {
			must(t, e, 200, "GET /u/_search?q=same", "")
		}
	}
	if out := must(t, e, 200, "GET /u/_search?q=t:same", ""); text1(out, "hits.total.value") != "3" {
		t.Error(out)
	}
	if n := len(e.indices["u"].docs); n > 1200 {
		t.Errorf("%d slots for 3 documents", n)
	}
	if n := len(e.indices["u"].text.parts); n > 2*fanIn {
		t.Errorf("%d parts", n)
	}
}

func TestDeadDocumentsLeaveTheText(t *testing.T) {
	e := newEngine(t, Options{})
	for i := range 100 {
		call(e, "PUT /u/_doc/1", fmt.Sprintf(`{"t":"word%d same"}`, i))
		must(t, e, 200, "GET /u/_search?q=same", "")
	}
	n := 0
	for _, p := range e.indices["u"].text.parts {
		n += len(p.docs)
	}
	if n > 2*fanIn {
		t.Errorf("%d versions of one document are held", n)
	}
}

func TestPhraseEndsWithItsValue(t *testing.T) {
	e := newEngine(t, Options{})
	must(t, e, 201, "PUT /a/_doc/1", `{"t":["red shoe","fast coat"]}`)
	for phrase, want := range map[string]string{"red shoe": "1", "fast coat": "1", "shoe fast": "", "red fast": ""} {
		if got := ids(must(t, e, 200, "POST /a/_search", `{"query":{"match_phrase":{"t":"`+phrase+`"}}}`)); got != want {
			t.Errorf("%s: %q", phrase, got)
		}
	}
}

func TestFaults(t *testing.T) {
	t.Run("every third document is lost", func(t *testing.T) {
		e := shop(t, Options{Faults: Faults{DropEvery: 3}})
		run(t, e, []step{{"POST /shop/_search", `{"sort":["_id"]}`, 200, []string{`hits.total.value=4`}}, {"HEAD /shop/_doc/3", "", 404, nil}})
	})
	t.Run("chosen documents are lost", func(t *testing.T) {
		e := shop(t, Options{Faults: Faults{Drop: func(id string) bool { return id == "2" || id == "5" }}})
		if got := ids(must(t, e, 200, "POST /shop/_search", "")); got != "1 3 4" {
			t.Error(got)
		}
	})
	t.Run("every second request is rejected", func(t *testing.T) {
		e := shop(t, Options{})
		e.SetFaults(Faults{RejectEvery: 2})
		for i := range 6 {
			must(t, e, 200, "GET /", "")
			must(t, e, []int{200, 429}[i%2], "GET /shop/_count", "")
		}
	})
}

// took is how long a request takes on the bubble's clock.
func took(t *testing.T, e *Engine, line, body string) time.Duration {
	start := time.Now()
	must(t, e, 200, line, body)
	return time.Since(start)
}

func TestSlowness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := shop(t, Options{})
		e.SetFaults(Faults{Latency: time.Second, Slow: []SlowShape{
			{Kind: "match", Field: "title", Delay: 10 * time.Second}, {Agg: true, Kind: "terms", Field: "brand", Delay: 100 * time.Second},
		}})
		for _, tc := range []struct {
			line, body string
			want       time.Duration
		}{
			{"GET /", "", 1},
			{"POST /shop/_search", `{"query":{"term":{"title":"a"}}}`, 1},
			{"POST /shop/_search", `{"query":{"match":{"brand":"a"}}}`, 1},
			{"POST /shop/_search", `{"query":{"terms":{"brand":["a"]}}}`, 1},
			{"POST /shop/_search", `{"query":{"bool":{"must":[{"match":{"title":"a"}}]}}}`, 11},
			{"POST /shop/_count", `{"query":{"match":{"title":{"query":"a"}}}}`, 11},
			{"POST /shop/_search", `{"aggs":{"x":{"terms":{"field":"brand"}}}}`, 101},
			{"POST /shop/_search", `{"query":{"match":{"title":"a"}},"aggs":{"x":{"terms":{"field":"brand"}}}}`, 111},
			{"POST /shop/_msearch", "{}\n{\"query\":{\"match\":{\"title\":\"a\"}}}\n{}\n{}\n", 11},
		} {
			if got := took(t, e, tc.line, tc.body); got != tc.want*time.Second {
				t.Errorf("%s %s took %v, want %v s", tc.line, tc.body, got, int(tc.want))
			}
		}
		e.SetFaults(Faults{})
		e.Freeze(5 * time.Second)
		e.Freeze(time.Second)
		if got := took(t, e, "GET /shop/_count", ""); got != 5*time.Second {
			t.Errorf("frozen for %v", got)
		}
		if got := took(t, e, "GET /shop/_count", ""); got != 0 {
			t.Errorf("still frozen for %v", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		e.Freeze(time.Hour)
		e.Handler().ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil).WithContext(ctx)) // a client that gives up does not wait
		if ctx.Err() == nil {
			t.Error("answered while frozen")
		}
	})
}

func TestParseSlowShape(t *testing.T) {
	for in, want := range map[string]SlowShape{
		"match:title=50ms":    {Kind: "match", Field: "title", Delay: 50 * time.Millisecond},
		"agg:terms:brand=1s":  {Agg: true, Kind: "terms", Field: "brand", Delay: time.Second},
		"range=2ms":           {Kind: "range", Delay: 2 * time.Millisecond},
		"match:maker.city=1s": {Kind: "match", Field: "maker.city", Delay: time.Second},
	} {
		if got, err := ParseSlowShape(in); err != nil || got != want {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "match:title", "=5ms", "match:title=5", "match:title=-1s"} {
		if _, err := ParseSlowShape(in); err == nil {
			t.Errorf("%q is taken", in)
		}
	}
}
