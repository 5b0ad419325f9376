package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/configs"
	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/internal/testenv"
	"github.com/esshadow/esshadow/replay"
)

// sent is a request as it goes over the wire.
type sent struct{ method, target, body string }

// recordingNode answers every request as an engine might, and remembers it.
type recordingNode struct {
	url string
	mu  sync.Mutex
	got map[sent]int
	n   int
}

func newRecordingNode(t *testing.T) *recordingNode {
	t.Helper()
	n := &recordingNode{got: map[sent]int{}}
	n.url = served(t, n)
	return n
}

func (n *recordingNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Elastic-Product", "Elasticsearch")
	if r.URL.Path == "/" {
		_, _ = fmt.Fprintf(w, `{"name":"n","cluster_uuid":%q,"version":{"number":"8.19.0","build_flavor":"default"}}`, n.url)
		return
	}
	body, _ := io.ReadAll(r.Body)
	n.mu.Lock()
	n.got[sent{r.Method, r.RequestURI, string(body)}]++
	n.n++
	n.mu.Unlock()
	_, _ = io.WriteString(w, `{"took":1,"timed_out":false,"_shards":{"total":1,"successful":1,"failed":0},"hits":{"total":{"value":0,"relation":"eq"},"hits":[]}}`)
}

// corpusRequests are all requests of the corpus.
func corpusRequests(t *testing.T) []sent {
	t.Helper()
	var all []sent
	for _, file := range []string{"search_bodies.ndjson", "bulk_bodies.ndjson", "other_requests.ndjson"} {
		text, err := os.ReadFile(testenv.Corpus(t, file))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var r struct {
				Method, Path string
				Body         json.RawMessage
			}
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			s := sent{method: r.Method, target: r.Path, body: string(r.Body)}
			switch {
			case s.body == "null":
				s.body = ""
			case strings.HasPrefix(s.body, `"`):
				var text string
				if err := json.Unmarshal(r.Body, &text); err != nil {
					t.Fatal(err)
				}
				s.body = text
			}
			if strings.ContainsAny(s.target, " \t") || !strings.HasPrefix(s.target, "/") {
				continue // no request line
			}
			all = append(all, s)
		}
	}
	return all
}

// sendRaw writes requests byte for byte on one connection, one after another.
func sendRaw(addr string, requests []sent) error {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	br := bufio.NewReader(conn)
	for _, s := range requests {
		media := "application/json"
		if op := es.Classify(s.method, s.target).Op; op == es.OpBulk || op == es.OpMsearch {
			media = "application/x-ndjson"
		}
		head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: n\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", s.method, s.target, media, len(s.body))
		if _, err := io.WriteString(conn, head+s.body); err != nil {
			return err
		}
		res, err := http.ReadResponse(br, &http.Request{Method: s.method})
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// Every request of the corpus reaches the source as it is, is captured or
// counted, and reaches the target with the body that the capture has.
func TestCorpusEndToEnd(t *testing.T) {
	requests := corpusRequests(t)
	source, target := newRecordingNode(t), newRecordingNode(t)
	dir := filepath.Join(t.TempDir(), "capture")
	stats := captureCorpus(t, source, dir, requests)
	want := map[sent]int{}
	for _, s := range requests {
		want[s]++
	}
	for s, n := range want {
		if source.got[s] != n {
			t.Errorf("the source got %s %.100s %d times, want %d", s.method, s.target, source.got[s], n)
		}
	}
	total := stats.Captured + stats.SampledOut + capture.Sum(stats.Filtered) + capture.Sum(stats.Dropped)
	if stats.Received != uint64(len(requests)) || total != stats.Received || stats.Pending != 0 {
		t.Errorf("%d sent, received %d = captured %d + filtered %v + dropped %v + pending %d", len(requests), stats.Received, stats.Captured, stats.Filtered, stats.Dropped, stats.Pending)
	}
	t.Logf("%d requests: captured %d, filtered %v, dropped %v", stats.Received, stats.Captured, stats.Filtered, stats.Dropped)
	if float64(stats.Captured) < 0.85*float64(stats.Received) {
		t.Errorf("only %d of %d are captured", stats.Captured, stats.Received)
	}
	replayCorpus(t, dir, target, stats.Captured)
}

func captureCorpus(t *testing.T, source *recordingNode, dir string, requests []sent) (stats capture.Stats) {
	t.Helper()
	throughProxy(t, source.url, dir, func(set *settings) {
		set.cfg.Sanitize.Preset = "fidelity"
		set.closed = func(st capture.Stats) { stats = st }
	}, func(addr string) {
		const conns = 8
		var senders sync.WaitGroup
		failed := make(chan error, conns)
		for i := range conns {
			senders.Go(func() {
				failed <- sendRaw(addr, requests[i*len(requests)/conns:(i+1)*len(requests)/conns])
			})
		}
		senders.Wait()
		for range conns {
			if err := <-failed; err != nil {
				t.Errorf("through the proxy: %v", err)
			}
		}
	})
	return stats
}

func replayCorpus(t *testing.T, dir string, target *recordingNode, captured uint64) {
	t.Helper()
	stored := map[sent]int{}
	src, err := capture.OpenSource([]string{dir}, capture.SourceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = src.Close() }()
	for {
		r, err := src.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind != capture.KindGap {
			stored[sent{r.Method, r.Target, string(r.Body)}]++
		}
	}
	r := &replayCmd{s: &streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard, env: lookup(nil)}}
	r.set = &settings{cfg: configs.Default(), s: r.s}
	cfg := &r.set.cfg.Replay
	cfg.Out = filepath.Join(t.TempDir(), "run")
	cfg.Target.URL, cfg.Writes, cfg.SameIndex, cfg.Speed = target.url, true, true, replay.Max
	if err := r.complete(); err != nil {
		t.Fatal(err)
	}
	rep, err := r.run(t.Context(), []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	c := rep.Counts
	refused := 0
	for _, n := range c.Refused {
		refused += n
	}
	if uint64(c.Records) != captured || c.Records != c.Planned+refused || c.Planned != c.Sent || c.Sent != c.Answered || c.Sent != target.n {
		t.Errorf("captured %d, target got %d, counts %+v", captured, target.n, c)
	}
	t.Logf("records %d, refused %v, sent %d", c.Records, c.Refused, c.Sent)
	for s, n := range target.got {
		if stored[s] < n {
			t.Errorf("the target got %s %.200s %d times, the capture has it %d times", s.method, s.target, n, stored[s])
		}
	}
}
