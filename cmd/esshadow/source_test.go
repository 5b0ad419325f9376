package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/esshadow/esshadow/proxy"
)

// The upstream's name may lead to another cluster one day: what it said first does
// not hold for ever, and what it said last holds while it says nothing.
func TestSourceIsAskedAgain(t *testing.T) {
	var uuid atomic.Value
	var asked atomic.Int64
	uuid.Store("first")
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		if uuid.Load() == "" {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"cluster_uuid":%q,"version":{"number":"8.19.0","build_flavor":"default"}}`, uuid.Load())
	}))
	defer srv.Close()
	c := &sourceCluster{cfg: proxy.Config{Upstreams: []string{srv.URL}}, log: zap.NewNop()}
	for _, want := range []struct{ says, id string }{{"first", "first"}, {"second", "second"}, {"", "second"}} {
		uuid.Store(want.says)
		c.again = time.Time{}
		if got := c.ask(t.Context()).UUID; got != want.id {
			t.Errorf("it says %q: %q, want %q", want.says, got, want.id)
		}
		n := asked.Load()
		if got := c.ask(t.Context()).UUID; got != want.id || asked.Load() != n {
			t.Errorf("at once again: %q, asked %d times more", got, asked.Load()-n)
		}
	}
}
