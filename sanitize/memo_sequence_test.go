package sanitize

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/capture"
)

// memoParts are what exchanges of a sequence are put together from. They are few, so
// that requests come again, with other headers, answers and times.
func memoParts() (requests [][3]string, headers [][2]string, answers [][2]string) {
	requests = [][3]string{
		{"POST", "/logs-2024/_search", `{"query":{"match":{"message":"vermilion anna"}}}`},
		{"GET", "/logs-2024/_search", `{"query":{"match":{"message":"vermilion anna"}}}`},
		{"POST", "/kinds/_search?q=kw:vermilion&typed_keys=true", `{"aggs":{"people":{"terms":{"field":"kw"}}}}`},
		{"POST", "/kinds/_search?scroll=1m", `{"query":{"term":{"colour":"vermilion"}}}`},
		{"POST", "/logs/_search", `{"query":{"range":{"at":{"gte":"now-15m","lt":"2024-05-01"}}}}`},
		{"POST", "/logs/_search?q=at:[now-1d+TO+now]", ``},
		{"POST", "/logs/_search", `{"query":{"wrapper":{"query":"eyJ0ZXJtIjp7ImNvbG91ciI6InZlcm1pbGlvbiJ9fQ=="}}}`},
		{"POST", "/_search", `{"pit":{"id":"cGl0","keep_alive":"1m"},"query":{"term":{"mail":"anna@example.test"}}}`},
		{"POST", "/_search", `{"query":{"term":{"colour":"anna@example.test"}}}`},
		{"POST", "/_search/scroll", `{"scroll_id":"c2Nyb2xs","scroll":"1m"}`},
		{"GET", "/_async_search/YXN5bmM", ``},
		{"POST", "/logs/_async_search", `{"query":{"match_all":{}}}`},
		{"GET", "/people/_doc/vermilion", ``},
		{"HEAD", "/people/_doc/vermilion", ``},
		{"DELETE", "/people/_doc/vermilion", ``},
		{"POST", "/people/_doc", `{"name":"vermilion","colour":"vermilion","note":"now-1d"}`},
		{"POST", "/_bulk", "{\"index\":{\"_index\":\"people\",\"_id\":\"anna\"}}\n{\"name\":\"vermilion\"}\n"},
		{"POST", "/_bulk", "{\"index\":{\"_index\":\"people\"}}\n{\"name\":\"vermilion\"}\n{\"delete\":{\"_index\":\"people\",\"_id\":\"b\"}}\n"},
		{"POST", "/logs/_msearch", "{\"index\":\"kinds\"}\n{\"query\":{\"term\":{\"kw\":\"vermilion\"}}}\n{}\n{\"query\":{\"match\":{\"message\":\"anna\"}}}\n"},
		{"POST", "/logs/_search/template", `{"source":"{\"query\":{\"term\":{\"message\":\"{{word}}\"}}}","params":{"word":"vermilion"}}`},
		{"POST", "/logs/_search/template", `{"source":{"query":{"term":{"message":"{{word}}"}}},"params":{"word":"now-1d"}}`},
		{"POST", "/logs/_search", `{"query":{"match":`},
		{"POST", "/_sql", `{"query":"SELECT kw FROM kinds WHERE kw = 'vermilion'"}`},
		{"POST", "/_nothing", `{}`},
	}
	headers = [][2]string{
		{"Content-Type", "application/json"},
		{"Content-Type", "application/x-ndjson"},
		{"Content-Type", "text/plain"},
		{"Accept", "application/vnd.elasticsearch+json;compatible-with=8"},
		{"Accept", "text/event-stream"},
		{"Accept-Encoding", "gzip, deflate"},
		{"Accept-Encoding", "vermilion"},
		{"X-Elastic-Client-Meta", "people=1"},
		{"X-Opaque-Id", "vermilion"},
		{"X-Opaque-Id", "colour term 20240501"},
		{"X-Kept", "vermilion"},
		{"X-Anna-Kept", "message"},
		{"Authorization", "Basic dmVybWlsaW9u"},
	}
	answers = [][2]string{
		{"", ""},
		{"application/json", ``},
		{"text/plain", `vermilion`},
		{"application/json", `{"took":`},
		{"application/json", `{"took":#,"timed_out":false,"_scroll_id":"c2Nyb2xs","pit_id":"cGl0","id":"YXN5bmM","hits":{"total":{"value":1,"relation":"eq"},"hits":[{"_id":"vermilion"}]}}`},
		{"application/json", `{"took":#,"hits":{"total":1,"hits":[{"_id":"anna"}]},"aggregations":{"sterms#people":{"buckets":[{"key":"a","doc_count":#}]}}}`},
		{"application/json", `{"took":#,"took":1,"hits":{"total":1}}`},
		{"application/json", `{"took":1,"hits":{"total":1},"took":#}`},
		{"application/json", `{"_index":"people","_id":"vermilion","found":true,"result":"created","_source":{}}`},
		{"application/json", `{"took":#,"errors":false,"items":[{"index":{"_id":"vermilion","status":201}},{"delete":{"_id":"b","status":#}}]}`},
		{"application/json", `{"took":#,"responses":[{"took":1,"status":200,"hits":{"total":#}},{"error":{"type":"vermilion"},"status":404}]}`},
		{"application/json", `{"error":{"type":"index_not_found_exception","reason":"vermilion"},"status":404}`},
	}
	return requests, headers, answers
}

// drawExchange puts an exchange together.
func drawExchange(t *rapid.T, requests [][3]string) *capture.Exchange {
	_, headers, answers := memoParts()
	r := rapid.SampledFrom(requests).Draw(t, "request")
	x := exchange(r[0], r[1], r[2])
	x.Header = nil
	for _, i := range rapid.SliceOfNDistinct(rapid.IntRange(0, len(headers)-1), 0, 3, rapid.ID).Draw(t, "headers") {
		x.Header = append(x.Header, capture.Header{Name: headers[i][0], Value: headers[i][1]})
	}
	if rapid.IntRange(0, 7).Draw(t, "packed") == 0 {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(x.Body)
		_ = z.Close()
		x.Body, x.BodySize = b.Bytes(), int64(b.Len())
		x.Header = append(x.Header, capture.Header{Name: "Content-Encoding", Value: "gzip"})
	}
	a := rapid.SampledFrom(answers).Draw(t, "answer")
	x.AnswerType, x.Answer = a[0], []byte(strings.ReplaceAll(a[1], "#", fmt.Sprint(rapid.IntRange(0, 2).Draw(t, "number"))))
	x.AnswerSize = int64(len(x.Answer)) + int64(rapid.SampledFrom([]int{0, 0, 0, 5}).Draw(t, "cut"))
	x.Status = rapid.SampledFrom([]int{200, 200, 200, 404, 0}).Draw(t, "status")
	x.Time = rapid.SampledFrom([]int64{0, 1_714_521_600e9, 1_714_525_200e9}).Draw(t, "time")
	x.Wait, x.Took, x.Conn, x.Request = 2000, 3000, 1, rapid.Uint64Range(1, 2).Draw(t, "n")
	if x.Status == 0 {
		x.Err = "timeout"
	}
	return x
}

// TestMemoSequences: no sequence of exchanges tells a worker with a memo from one
// without.
func TestMemoSequences(t *testing.T) {
	rules := []FieldRule{{Match: Globs{"colour"}, Action: "keep", Why: "a test"}}
	known := knownConfig(t, PresetFidelity, rules...)
	for name, cfg := range map[string]Config{"strict": preset(PresetStrict), "fidelity": preset(PresetFidelity), "schema": known} {
		cfg.Fields = rules
		cfg.Headers.Keep = Globs{"x-kept", "x-anna-kept"}
		cfg.Dates = "shift"
		cfg.Detectors.InKeptFields = detectMask
		cfg.WordCache = 1 << 8
		for _, room := range []int{4 << 10, 1 << 20} {
			t.Run(fmt.Sprint(name, room), func(t *testing.T) {
				with, without := pairOfWorkers(t, cfg)
				recalled := 0
				rapid.Check(t, func(rt *rapid.T) {
					with, without := with.p.Worker(), without.p.Worker()
					with.memo = newMemo(room)
					if memoSequence(rt, with, without) {
						recalled++
					}
				})
				if recalled == 0 {
					t.Error("nothing was recalled")
				}
			})
		}
	}
}

func memoSequence(t *rapid.T, with, without *Worker) (recalled bool) {
	var a, b capture.Record
	requests, _, _ := memoParts()
	few := rapid.SliceOfN(rapid.SampledFrom(requests), 1, 3).Draw(t, "few")
	for range 16 {
		x := drawExchange(t, few)
		dropA, dropB := with.Sanitize(&a, x), without.Sanitize(&b, x)
		got, want := capture.AppendRecord(nil, &a), capture.AppendRecord(nil, &b)
		if dropA != dropB || dropA == "" && !bytes.Equal(got, want) {
			t.Fatalf("%s %s %v %s, answer %s\n%q %s\nwithout a memo\n%q %s", x.Method, x.Target, x.Header, x.Body, x.Answer, dropA, got, dropB, want)
		}
		recalled = recalled || with.asking.recalled != nil && dropA == ""
		sum := 0
		for _, e := range with.memo.byHash {
			sum += e.size()
		}
		if sum != with.memo.bytes || sum > with.memo.limit && len(with.memo.byHash) > 1 {
			t.Fatalf("%d bytes, says %d of %d", sum, with.memo.bytes, with.memo.limit)
		}
	}
	if !slices.Equal(with.p.Detected(), without.p.Detected()) {
		t.Fatalf("detected %v, without a memo %v", with.p.Detected(), without.p.Detected())
	}
	return recalled
}
