package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/capture/segment"
	"github.com/esshadow/esshadow/internal/sandbox"
	"github.com/esshadow/esshadow/replay/report"
)

// mirrorArgs are the flags of a proxy that mirrors and does not capture.
func mirrorArgs(t *testing.T, upstream, target, dir string, more ...string) []string {
	t.Helper()
	args := proxyArgs(t, upstream, "")
	return append(append(args, "--mirror", target, "--mirror-out", dir), more...)
}

// waitSums waits until all that was offered to a mirror has come to an end, and gives the
// metrics from then on: those of one scrape are not of one moment.
func waitSums(t *testing.T, admin string, offered float64) string {
	t.Helper()
	wait(t, fmt.Sprint("the mirror is done with ", offered), func() bool {
		_, text := get(t, admin+"/metrics")
		ended := 0.0
		for _, name := range []string{"sent", "sampled_out", "refused", "shed"} {
			ended += metricSum(text, "esshadow_mirror_"+name+"_total")
		}
		return metric(text, "esshadow_mirror_offered_total") == offered && ended == offered && metric(text, "esshadow_mirror_in_flight") == 0
	})
	_, text := get(t, admin+"/metrics")
	return text
}

// An exchange is copied where any of the taps has room for it.
func TestTapsRoom(t *testing.T) {
	for _, c := range []struct {
		taps taps
		want bool
	}{
		{taps{roomTap(10)}, true},
		{taps{roomTap(9)}, false},
		{taps{roomTap(9), roomTap(10)}, true},
		{taps{roomTap(10), roomTap(9)}, true},
		{taps{roomTap(9), roomTap(9)}, false},
	} {
		if got := c.taps.Room(10); got != c.want {
			t.Errorf("%v: room %v", c.taps, got)
		}
	}
}

// roomTap has room for so many bytes.
type roomTap int64

func (r roomTap) Room(size int64) bool  { return size <= int64(r) }
func (roomTap) Offer(*capture.Exchange) {}

// A mirror of one engine to another with the same documents: all is sent, nothing
// differs, and the report says so.
func TestMirrorOfTheSame(t *testing.T) {
	source, target := newEngine(t), newEngine(t)
	for _, e := range []*engine{source, target} {
		send(t, "POST", e.url+"/_bulk?refresh=true", bulkBody("items", 0, 48))
	}
	dir := filepath.Join(t.TempDir(), "run")
	p := start(t, mirrorArgs(t, source.url, target.url, dir)...)
	url, admin := p.listening()
	const n = 60
	for i := range n {
		send(t, "POST", url+"/items/_search", searchBody(i))
	}
	send(t, "POST", url+"/_bulk", bulkBody("items", 48, 1)) // writes are not mirrored
	text := waitSums(t, admin, n+1)
	for name, want := range map[string]float64{
		"esshadow_mirror_sent_total": n, `esshadow_mirror_answers_total{code="200"}`: n,
		`esshadow_mirror_compared_total{result="same"}`:      n,
		`esshadow_mirror_refused_total{reason="write"}`:      1,
		`esshadow_mirror_breaker_state{state="closed"}`:      1,
		`esshadow_mirror_state{state="on"}`:                  1,
		"esshadow_mirror_response_seconds_count":             n,
		"esshadow_mirror_source_seconds_count":               n,
		"esshadow_mirror_queue_bytes":                        0,
		`esshadow_mirror_compared_total{result="different"}`: 0,
	} {
		if got := metric(text, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	esshadow(t, nil, "ctl", "status", "--admin", admin).want(t, exitDone).has(t, "mirror on to "+target.url+", breaker closed", "offered 61 = sent 60 + refused 1 (write 1)")
	p.signal(syscall.SIGTERM)
	if code := p.code(patience); code != exitDone || !strings.Contains(p.err(), "offered 61 = sent 60 + refused 1 (write 1) + sampled out 0 + shed 0; answered 60") {
		t.Errorf("exit code %d:\n%s", code, p.err())
	}
	r := decode[struct {
		Run    struct{ Mirror bool }
		Counts struct {
			Records, Planned, Sent, Answered, Compared, Same int
			Refused                                          map[string]int
		}
		Verdict  struct{ State string }
		Warnings []string
	}](t, esshadow(t, nil, "report", "--format", "json", dir).want(t, exitDone).out)
	if !r.Run.Mirror || r.Counts.Records != n+1 || r.Counts.Refused["write"] != 1 || r.Counts.Sent != n || r.Counts.Same != n || len(r.Warnings) > 0 {
		t.Errorf("report %+v", r)
	}
	esshadow(t, nil, "report", dir).want(t, exitDone).has(t, "esshadow mirror of live traffic since")
}

// What the sanitiser dropped has no shape: it counts by operation, and the report
// says what it is.
func TestMirrorReportOfWhatIsDropped(t *testing.T) {
	source, target := newEngine(t), newEngine(t)
	dir := filepath.Join(t.TempDir(), "run")
	p := start(t, mirrorArgs(t, source.url, target.url, dir)...)
	url, admin := p.listening()
	for range 2 {
		demand(t, "POST", url+"/items/_search", `{"nobody_knows":1}`)
	}
	demand(t, "POST", url+"/items/_count", `{"nobody_knows":1}`)
	waitSums(t, admin, 3)
	ends(t, p)
	r := decode[report.Report](t, esshadow(t, nil, "report", "--format", "json", dir).want(t, exitDone).out)
	got := map[string]int{}
	for _, s := range r.Shapes {
		got[s.Shape] = s.N
	}
	if want := map[string]int{"search: dropped by the sanitiser": 2, "count: dropped by the sanitiser": 1}; !maps.Equal(got, want) {
		t.Errorf("shapes %v, want %v", got, want)
	}
}

// A target that is slower and loses documents: both show in the metrics and in the
// report, and clients notice nothing of it.
func TestMirrorOfAnother(t *testing.T) {
	source := newEngine(t)
	target := newEngineWith(t, sandbox.Options{Ties: sandbox.TiesByArrival, Faults: sandbox.Faults{DropEvery: 4}})
	for _, e := range []*engine{source, target} {
		send(t, "POST", e.url+"/_bulk?refresh=true", bulkBody("items", 0, 48))
	}
	target.stall.Store(int64(30 * time.Millisecond))
	dir := filepath.Join(t.TempDir(), "run")
	p := start(t, mirrorArgs(t, source.url, target.url, dir)...)
	url, admin := p.listening()
	const n = 96
	for i := range n {
		if got, want := send(t, "POST", url+"/items/_search", searchBody(i)), send(t, "POST", source.url+"/items/_search", searchBody(i)); hits(got) != hits(want) {
			t.Fatalf("the client got %s, the source says %s", got, want)
		}
	}
	text := waitSums(t, admin, n)
	differ := metric(text, `esshadow_mirror_compared_total{result="different"}`)
	if differ < 10 || metric(text, `esshadow_mirror_differences_total{kind="total"}`) < 10 || metric(text, "esshadow_mirror_sent_total") != n {
		t.Errorf("%v answers differ:\n%s", differ, text)
	}
	if own, source := metric(text, "esshadow_mirror_response_seconds_sum"), metric(text, "esshadow_mirror_source_seconds_sum"); own < n*0.03 || own < source {
		t.Errorf("the target took %v s, the source %v s", own, source)
	}
	ends(t, p)
	r := decode[report.Report](t, esshadow(t, nil, "report", "--format", "json", dir).want(t, exitDone).out)
	if r.Counts.Different != int(differ) || r.Differences["total"] == 0 || r.Verdict.State != report.Worse || r.Sender.State == report.Saturated {
		t.Errorf("verdict %+v, counts %+v, sender %s", r.Verdict, r.Counts, r.Sender.State)
	}
	if s := r.Shapes[0]; s.Change.State != "slower" || s.Example == nil || !strings.Contains(s.Example.Target, "_search") {
		t.Errorf("shape %+v", s)
	}
}

// hits is what of an answer to a search does not change from one to the next.
func hits(text string) string {
	_, rest, _ := strings.Cut(text, `"hits"`)
	return rest
}

// marks are words that stand in every part of the requests of TestMirrorKeepsWhatItSends.
func marks() map[string]string {
	return map[string]string{
		"path": "zqpathmark", "query": "zqquerymark", "body": "zqbodymark", "header": "zqheadermark", "secret": "zqsecretmark",
		"id": "zqidmark", "field": "zqvaluemark", "agg": "zqaggmark",
	}
}

// No word of a request reaches the disk, the log or the metrics, whatever becomes
// of it: sent and the same, sent and different, dropped by the sanitiser, refused,
// failed. The target gets the words as they are, and no credentials.
func TestMirrorTellsNothingOfWhatItSends(t *testing.T) {
	source, inner := newEngine(t), newEngine(t)
	m := marks()
	docs := `{"index":{"_index":"` + m["path"] + `","_id":"` + m["id"] + `"}}` + "\n" + `{"title":"` + m["field"] + `","price":1}` + "\n"
	send(t, "POST", source.url+"/_bulk?refresh=true", docs)
	var mu sync.Mutex
	var got strings.Builder
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		fmt.Fprintf(&got, "%s %s\n%v\n%s\n", r.Method, r.RequestURI, r.Header, body)
		mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		inner.Handler().ServeHTTP(w, r) // without the document: 404, which differs
	}))
	defer target.Close()
	for _, preset := range []string{"strict", "fidelity", "sealed"} {
		t.Run(preset, func(t *testing.T) {
			top := t.TempDir()
			dir := filepath.Join(top, "run")
			more := []string{"--preset", preset, "--log-level", "debug"}
			if preset == "sealed" {
				identity, err := age.GenerateX25519Identity()
				if err != nil {
					t.Fatal(err)
				}
				more = append(more, "--recipient", identity.Recipient().String())
			}
			p := start(t, mirrorArgs(t, source.url, target.URL, dir, more...)...)
			url, admin := p.listening()
			ask := func(method, path, body string) {
				t.Helper()
				demand(t, method, url+path, body, "Content-Type", "application/json", "X-Opaque-Id", m["header"], "Authorization", "Basic "+m["secret"],
					"X-Api-Token", m["secret"], "Cookie", m["secret"], "Es-Secondary-Authorization", m["secret"])
			}
			body := `{"query":{"match":{"title":"` + m["body"] + `"}},"aggs":{"` + m["agg"] + ` of a person@example.com":{"terms":{"field":"price"}}}}`
			for range 3 {
				ask("POST", "/"+m["path"]+"/_search?routing="+m["query"], body)
			}
			ask("GET", "/"+m["path"]+"/_doc/"+m["id"], "")
			ask("POST", "/"+m["path"]+"/_search", `{"query":{"`+m["body"]+`":{}}}`) // the sanitiser drops it
			ask("POST", "/"+m["path"]+"/_search", `{"query":{"match":{"`+m["body"]) // no JSON
			ask("POST", "/"+m["path"]+"/_search?"+m["query"]+"=1", `{"size":1}`)    // unknown parameter
			ask("POST", "/"+m["path"]+"/_doc", docs)                                // a write
			ask("DELETE", "/"+m["path"]+"x", "")                                    // destructive
			ask("POST", "/"+m["path"]+"/_"+m["query"], body)                        // no API
			ask("POST", "/_search/scroll", `{"scroll_id":"`+m["id"]+`"}`)           // nobody gave it
			metrics := waitSums(t, admin, 11)
			if n := metric(metrics, "esshadow_mirror_sent_total"); n != 7 {
				t.Errorf("%v are sent, want 7", n)
			}
			_, ready := get(t, admin+"/readyz")
			status := esshadow(t, nil, "ctl", "status", "--json", "--admin", admin).want(t, exitDone).out
			ends(t, p)
			report := esshadow(t, nil, "report", "--format", "json", dir).want(t, exitDone).out
			mu.Lock()
			sent := got.String()
			got.Reset()
			mu.Unlock()
			secret := maps.Clone(m)
			if preset == "fidelity" {
				delete(secret, "path") // names of indices stay
			}
			for name, word := range m {
				if has := strings.Contains(sent, word); has != (name != "secret" && name != "field") {
					t.Errorf("%s: the target got it: %v", name, has)
				}
				for where, text := range map[string]string{"metrics": metrics, "log": p.err(), "readyz": ready, "status": status, "report": report} {
					if secret[name] != "" && strings.Contains(text, word) {
						t.Errorf("%s stands in the %s", name, where)
					}
				}
			}
			if n := linesWith(t, dir, secret); n < 7 {
				t.Errorf("only %d outcome lines were looked at", n)
			}
		})
	}
}

// linesWith looks for words in all files below dir, and in the lines of its
// outcome files. It tells how many lines there are.
func linesWith(t *testing.T, dir string, words map[string]string) (lines int) {
	t.Helper()
	look := func(where string, text []byte) {
		for name, word := range words {
			if bytes.Contains(bytes.ToLower(text), []byte(word)) {
				t.Errorf("%s stands in %s: %.500s", name, where, text)
			}
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		look(e.Name(), text)
		if !segment.HasSuffix(path, segment.SuffixOutcomes) {
			continue
		}
		r, err := segment.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		for line, err := r.Next(); err == nil; line, err = r.Next() {
			lines++
			look("an outcome", line)
		}
		_ = r.Close()
	}
	return lines
}
