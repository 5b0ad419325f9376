package sanitize

import (
	"fmt"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/capture"
)

// pairOfWorkers is one that remembers requests and one that does not, with one key.
func pairOfWorkers(t testing.TB, cfg Config) (with, without *Worker) {
	t.Helper()
	with = newWorker(t, cfg)
	cfg.RequestCache = 0
	return with, newWorker(t, cfg)
}

// sameRecords holds what the two make of x, and tells whether it was recalled.
func sameRecords(t *testing.T, with, without *Worker, x *capture.Exchange) (recalled bool) {
	t.Helper()
	var a, b capture.Record
	dropA, dropB := with.Sanitize(&a, x), without.Sanitize(&b, x)
	if dropA != dropB {
		t.Fatalf("%s %s %.300s: dropped %q, without a memo %q", x.Method, x.Target, x.Body, dropA, dropB)
	}
	got, want := capture.AppendRecord(nil, &a), capture.AppendRecord(nil, &b)
	if dropA == "" && string(got) != string(want) {
		t.Fatalf("%s %s %.300s:\n%s\nwithout a memo\n%s", x.Method, x.Target, x.Body, got, want)
	}
	return with.asking.recalled != nil && dropA == ""
}

// memoFixtures are requests whose forms depend on more than themselves, and some
// that do not. The last of an exchange is a header.
func memoFixtures() []*capture.Exchange {
	search := func(body string, header ...string) *capture.Exchange {
		x := exchange("POST", "/logs-2024/_search?size=3&q=anna", body, header...)
		x.Answer, x.AnswerType = []byte(`{"took":3,"hits":{"total":{"value":1,"relation":"eq"},"hits":[{"_id":"anna-17"},{"_id":"bert-99"}]},"_scroll_id":"abc"}`), "application/json"
		x.AnswerSize = int64(len(x.Answer))
		return x
	}
	answered := func(status int, media, answer string) *capture.Exchange {
		x := exchange("POST", "/logs/_search", `{"query":{"match":{"message":"`+media+`"}}}`)
		x.Status, x.AnswerType, x.Answer, x.AnswerSize = status, media, []byte(answer), int64(len(answer))
		return x
	}
	const hits = `"timed_out":false,"hits":{"total":{"value":2,"relation":"eq"},"hits":[{"_id":"anna-17"}]}`
	out := []*capture.Exchange{
		search(`{"query":{"match":{"message":"anna bertram"}}}`),
		search(`{"query":{"match":{"message":"anna bertram"}}}`, "X-Opaque-Id", "anna bertram", "Content-Type", "application/json"),
		search(`{"query":{"range":{"at":{"gte":"now-15m","lt":"now"}}},"sort":["_score"]}`),
		search(`{"query":{"range":{"at":{"gte":"2024-05-01","lt":"2024-06-01"}}},"aggs":{"top people":{"terms":{"field":"person.name"}}}}`),
		search(`{"query":{"ids":{"values":["anna-17"]}}}`),
		search(`{"query":{"script":{"script":"doc['a'].value > 'secret'"}}}`),
		search(`{"query":{"match":{"message":`),
		search(``),
		exchange("GET", "/_cluster/health", ""),
		exchange("GET", "/people/_doc/anna", ""),
		exchange("PUT", "/people/_doc/anna", `{"name":"Anna Bertram","age":17,"mail":"anna@example.test"}`),
		exchange("POST", "/_bulk", "{\"index\":{\"_index\":\"people\",\"_id\":\"anna\"}}\n{\"name\":\"Anna\"}\n"),
		exchange("POST", "/_msearch", "{\"index\":\"people\"}\n{\"query\":{\"match\":{\"name\":\"anna\"}}}\n{}\n{\"query\":{\"match_all\":{}}}\n"),
		exchange("POST", "/_search/scroll", `{"scroll_id":"abcdefgh","scroll":"1m"}`),
		answered(200, "application/json", `{"took":3,`+hits+`}`),
		answered(200, "application/json", `{"took":31,`+hits+`}`),
		answered(200, "application/json", `{"took":3,`+hits+`}`),
		answered(500, "application/json", `{"took":3,`+hits+`}`),
		answered(200, "application/json", `{"took":3,`+hits+`,"_scroll_id":"abc"}`),
		answered(200, "application/json", `{"took":3,`+hits+`,"took":5}`),
		answered(200, "application/json", `{"took":03,`+hits+`}`),
		answered(200, "application/json", `{"took":,`+hits+`}`),
		answered(200, "application/json", `{`+hits+`,"took":3}`),
		answered(200, "application/json", `{"took":3,`),
		answered(200, "application/json", `{"took":3`),
		answered(200, "application/yaml", `took: 3`),
		answered(200, "application/json", ""),
		exchange("POST", "/people/_search", "anna", "Content-Type", "text/plain"),
		exchange("POST", "/people/_search", "\x1f\x8b broken", "Content-Encoding", "gzip"),
	}
	return out
}

// TestMemoChangesNothing: what is recalled is what would have been made, and what
// is counted is counted as often.
func TestMemoChangesNothing(t *testing.T) {
	memoChangesNothing(t, memoFixtures())
}

func TestMemoChangesNothingOfTheCorpus(t *testing.T) {
	var xs []*capture.Exchange
	for _, file := range []string{"search_bodies.ndjson", "other_requests.ndjson", "canary_cases.ndjson"} {
		for _, r := range corpus(t, file) {
			xs = append(xs, r.exchange(t))
		}
	}
	memoChangesNothing(t, xs)
}

func memoChangesNothing(t *testing.T, xs []*capture.Exchange) {
	t.Helper()
	kept := preset(PresetStrict)
	kept.Fields = []FieldRule{{Match: Globs{"message", "name", "mail"}, Action: "keep", Why: "a test"}}
	kept.Detectors = DetectorRules{InKeptFields: detectReport}
	masked := kept
	masked.Detectors.InKeptFields = detectMask
	for name, cfg := range map[string]Config{
		"strict": preset(PresetStrict), "fidelity": preset(PresetFidelity), "kept": kept, "masked": masked,
	} {
		t.Run(name, func(t *testing.T) {
			with, without := pairOfWorkers(t, cfg)
			recalled := 0
			for round := range 3 {
				for i, x := range xs {
					x.Time = int64(1_714_521_600e9) + int64(round*len(xs)+i)*1e9
					x.Conn, x.Request = uint64(i), uint64(round)
					if sameRecords(t, with, without, x) {
						recalled++
					}
				}
			}
			if recalled < len(xs)/3 {
				t.Errorf("%d of %d requests were recalled", recalled, len(xs))
			}
			a, b := with.p.Detected(), without.p.Detected()
			for i := range a {
				if a[i] != b[i] {
					t.Errorf("detected %v, without a memo %v", a[i], b[i])
				}
			}
		})
	}
}

// TestMemoDoubtedRecord: what the remembered part keeps is not known any more when
// the post-check looks at it beside a header. Then the request is looked at in full.
func TestMemoDoubtedRecord(t *testing.T) {
	cfg := preset(PresetStrict)
	cfg.Fields = []FieldRule{{Match: Globs{"colour"}, Action: "keep", Why: "a test"}}
	with, without := pairOfWorkers(t, cfg)
	plain := exchange("POST", "/i/_search", `{"query":{"term":{"colour":"vermilion"}}}`)
	for range 3 {
		sameRecords(t, with, without, plain)
	}
	if with.asking.recalled == nil {
		t.Fatal("not recalled: the test shows nothing")
	}
	named := exchange("POST", "/i/_search", string(plain.Body), "X-Opaque-Id", "vermilion")
	if sameRecords(t, with, without, named) {
		t.Error("recalled although a header has a word of it")
	}
}

// TestMemoTellingHeader: a header that stays as it came is held against what the
// request hides, remembered or not.
func TestMemoTellingHeader(t *testing.T) {
	with, without := pairOfWorkers(t, preset(PresetStrict))
	const body = `{"query":{"match":{"message":"vermilion"}}}`
	plain := exchange("POST", "/i/_search", body, "Accept-Encoding", "gzip, deflate")
	for range 3 {
		sameRecords(t, with, without, plain)
	}
	if with.asking.recalled == nil {
		t.Fatal("not recalled: the test shows nothing")
	}
	for _, h := range [][2]string{{"Accept-Encoding", "vermilion"}, {"X-Elastic-Client-Meta", "es=8,vermilion=1"}} {
		var rec capture.Record
		if drop := with.Sanitize(&rec, exchange("POST", "/i/_search", body, h[0], h[1])); drop != string(dropPostcheck) {
			t.Errorf("%s: %s: dropped %q, headers %v", h[0], h[1], drop, rec.Header)
		}
	}
}

// TestMemoAnswerBound: what a long answer is remembered by counts as much as it takes.
func TestMemoAnswerBound(t *testing.T) {
	w := newWorker(t, preset(PresetFidelity))
	var rec capture.Record
	x := exchange("POST", "/_msearch", strings.Repeat("{}\n{}\n", 100))
	x.Answer = []byte(`{"responses":[` + strings.Repeat(`{"status":200},`, 99) + `{"status":200}]}`)
	x.AnswerType, x.AnswerSize = "application/json", int64(len(x.Answer))
	for range 3 {
		if drop := w.Sanitize(&rec, x); drop != "" {
			t.Fatal(drop)
		}
	}
	if least := 100 * 800; w.asking.recalled == nil || w.memo.bytes < least {
		t.Errorf("recalled %v, %d bytes counted, at least %d taken", w.asking.recalled != nil, w.memo.bytes, least)
	}
	w.memo.forget(w.asking.hash)
	if w.memo.bytes != 0 {
		t.Errorf("%d bytes in an empty memo", w.memo.bytes)
	}
}

// TestMemoAfterPanic: what fails while a request is looked at in full ends with it.
func TestMemoAfterPanic(t *testing.T) {
	w := newWorker(t, preset(PresetStrict))
	x := exchange("POST", "/i/_search", `{"query":{"match_all":{}}}`)
	w.noMemo = true
	var rec capture.Record
	for range 4 {
		w.Sanitize(&rec, x)
	}
	if w.noMemo || w.asking.recalled == nil {
		t.Error("no request is recalled any more")
	}
}

// TestMemoAnswers: the same answer is not read again, however long it took.
func TestMemoAnswers(t *testing.T) {
	with, without := pairOfWorkers(t, preset(PresetStrict))
	x := exchange("POST", "/i/_search", `{"query":{"match_all":{}}}`)
	x.AnswerType = "application/json"
	ask := func(took int, id string) (known bool) {
		x.Answer = fmt.Appendf(nil, `{"took":%d,"timed_out":false,"hits":{"total":7,"hits":[{"_id":"%s"}]}}`, took, id)
		x.AnswerSize = int64(len(x.Answer))
		e := with.asking.recalled
		known = e != nil && e.answer != nil && e.answer.is == with.memo.mark(x, x.Answer[9:])
		sameRecords(t, with, without, x)
		return known
	}
	for i, a := range []struct {
		took  int
		id    string
		known bool
	}{{3, "a", false}, {4, "a", false}, {5, "a", false}, {6, "a", true}, {7, "b", false}, {8, "b", true}, {8, "a", false}} {
		if known := ask(a.took, a.id); known != a.known {
			t.Errorf("answer %d: known %v", i, known)
		}
	}
	var rec capture.Record
	if with.Sanitize(&rec, x); rec.Want.Took == nil || *rec.Want.Took != 8 {
		t.Errorf("summary %+v", rec.Want)
	}
}

func FuzzSplitTook(f *testing.F) {
	for _, s := range []string{`{"took":12,"a":1}`, `{"took":0,`, `{"took":007,`, `{"took":9999999999999999999,`, `{"took":-1,`, `{"took":1}`, `{"took":`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, s []byte) {
		took, rest, ok := splitTook(s)
		if ok && fmt.Sprintf(`{"took":%d%s`, took, rest) != string(s) || !ok && string(rest) != string(s) {
			t.Errorf("%q: %d, %q, %v", s, took, rest, ok)
		}
	})
}

// TestMemoBound: it keeps within its bytes, and what came last is known.
func TestMemoBound(t *testing.T) {
	cfg := preset(PresetFidelity)
	cfg.RequestCache = 64 << 10
	w := newWorker(t, cfg)
	var rec capture.Record
	early := 0
	for i := range 2000 {
		x := exchange("POST", "/i/_search", fmt.Sprintf(`{"query":{"match":{"message":"word%d"}}}`, i))
		for round := range 3 {
			if drop := w.Sanitize(&rec, x); drop != "" {
				t.Fatal(drop)
			}
			switch got := w.asking.recalled != nil; {
			case got && round == 1:
				early++ // it was taken for one that was met before
			case got != (round == 2):
				t.Fatalf("request %d, time %d: recalled %v", i, round+1, got)
			}
		}
		sum := 0
		for _, e := range w.memo.byHash {
			sum += e.size()
		}
		if sum != w.memo.bytes || sum > 64<<10 {
			t.Fatalf("holds %d bytes in %d entries, says %d", sum, len(w.memo.byHash), w.memo.bytes)
		}
	}
	if early > 100 {
		t.Errorf("%d of 2000 requests were remembered when they came first", early)
	}
	if n := len(w.memo.byHash); n < 30 {
		t.Errorf("only %d requests are remembered", n)
	}
	large := exchange("POST", "/i/_search", fmt.Sprintf(`{"query":{"match":{"message":"%0*d"}}}`, memoBody, 1))
	for range 3 {
		w.Sanitize(&rec, large)
	}
	if w.asking.recalled != nil {
		t.Error("a large body is remembered")
	}
}
