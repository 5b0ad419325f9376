package replay

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
)

// liveList is a Feed of what it holds.
type liveList struct{ list []*Live }

func (f *liveList) Next(context.Context) (*Live, error) {
	if len(f.list) == 0 {
		return nil, io.EOF
	}
	q := f.list[0]
	f.list = f.list[1:]
	return q, nil
}

// liveSearch is the n-th live search, of which told is told.
func liveSearch(n int, told *Told, done func()) *Live {
	q := &Live{Told: told, Done: done}
	search(&q.Record, n)
	q.Record.Time, q.Record.Conn = captureStart+int64(n), 1
	return q
}

func mirrored(t *testing.T, cfg Config, feed Feed, target Target, who func() es.Identity) (Stats, []Outcome) {
	t.Helper()
	cfg.InFlight, cfg.InFlightMemory = 0, 0
	lines := &memoryLines{}
	e := New(cfg, Deps{Feed: feed, Target: target, Lines: lines, Who: who})
	if err := e.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkSums(t, e.Stats(), lines.outcomes)
	return e.Stats(), lines.outcomes
}

// An outcome tells what it was given to tell, and nothing of what was sent.
func TestLiveTellsWhatItIsGiven(t *testing.T) {
	var c counter
	long := strings.Repeat("x", 2*MaxExampleBody)
	done := 0
	feed := &liveList{[]*Live{
		liveSearch(0, &Told{Shape: "sh", Method: "POST", Target: "/told/_search?n=t", Body: []byte(`{"told":1}`)}, func() { done++ }),
		liveSearch(1, nil, func() { done++ }),
		liveSearch(2, &Told{Shape: "other", Method: "POST", Target: "/told/_search", Body: []byte(long), Text: "readable"}, nil),
	}}
	feed.list[1].Why = "unknown_clause"
	_, out := mirrored(t, Default(), feed, client(t, serve(t, c.handle), nil), func() es.Identity { return es.Identity{Flavor: es.FlavorSandbox} })
	if len(out) != 3 || done != 2 {
		t.Fatalf("%d outcomes, %d done", len(out), done)
	}
	by := map[uint64]Outcome{}
	for _, o := range out {
		by[o.Seq] = o
		if text := fmt.Sprintf("%+v %+v", o, o.Example); strings.Contains(text, "logs") || strings.Contains(text, `"user"`) {
			t.Errorf("it tells what was sent: %s", text)
		}
	}
	if o := by[1]; o.Shape != "sh" || o.Index != "told" || o.Fidelity != capture.Exact || o.Got == nil || o.Example == nil || o.Example.Body != `{"told":1}` || o.Example.Target != "/told/_search?n=t" {
		t.Errorf("outcome %+v", o)
	}
	if o := by[2]; o.Fidelity != capture.Broken || o.FidWhy != "unknown_clause" || o.Got != nil || o.Example != nil || o.Shape != "" || o.Index != "" || o.Status != 200 {
		t.Errorf("untold outcome %+v", o)
	}
	if o := by[3]; o.Example == nil || o.Example.Shape != "readable" || len(o.Example.Body) != MaxExampleBody {
		t.Errorf("long outcome %+v", o)
	}
}

// A target that is known late, or becomes another, gets the media types that it
// speaks then.
func TestLiveFollowsTheTarget(t *testing.T) {
	var got []string
	target := &keptTarget{send: func(s *Shot) { got = append(got, headerIn(s, "Accept")+" "+headerIn(s, MirrorHeader)) }}
	vendor := "application/vnd.elasticsearch+json;compatible-with=9"
	feed := &liveList{}
	for i := range 2 {
		q := liveSearch(i, nil, nil)
		q.Record.Header = append(q.Record.Header, capture.Header{Name: "Accept", Value: vendor}, capture.Header{Name: MirrorHeader, Value: "forged"})
		feed.list = append(feed.list, q)
	}
	asked := 0
	mirrored(t, Default(), feed, target, func() es.Identity {
		if asked++; asked == 1 {
			return es.Identity{Flavor: es.FlavorOpenSearch, Major: 2}
		}
		return es.Identity{Flavor: es.FlavorElasticsearch, Major: 9}
	})
	if want := []string{"application/json 1", vendor + " 1"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Times count from the run's beginning, which another process may have seen.
func TestLiveGoesOnWithARun(t *testing.T) {
	cfg := Default()
	cfg.Origin = time.Hour
	_, out := mirrored(t, cfg, &liveList{[]*Live{liveSearch(0, nil, nil)}}, &keptTarget{send: func(*Shot) {}}, nil)
	if len(out) != 1 || time.Duration(out[0].Planned) < time.Hour || out[0].Sent < out[0].Planned {
		t.Errorf("%+v", out)
	}
}

// keptTarget shows each shot to send, one after the other, and answers with body.
type keptTarget struct {
	send func(*Shot)
	body string
}

func (k *keptTarget) Send(s *Shot, ans *Answer) {
	k.send(s)
	ans.Sent = time.Now()
	ans.Status, ans.Done = 200, time.Now()
	if k.body != "" {
		ans.Type, ans.Body, ans.Size = "application/json", []byte(k.body), int64(len(k.body))
	}
}

func (*keptTarget) Release(*Answer) {}
func (*keptTarget) Abort()          {}

func headerIn(s *Shot, name string) string {
	for _, h := range s.Header {
		if h.Name == name {
			return h.Value
		}
	}
	return ""
}
