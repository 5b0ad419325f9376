package es

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// FuzzSummarize holds that no answer makes Summarize panic, that its result
// does not depend on what the Summarizer read before, and that it can be
// stored.
func FuzzSummarize(f *testing.F) {
	for _, s := range []string{
		`{"took":3,"timed_out":false,"_shards":{"total":5,"failed":1},"hits":{"total":{"value":1,"relation":"eq"},"hits":[{"_id":"1"}]},"aggregations":{"t#a":{"buckets":[{"doc_count":1,"b":{"buckets":{"x":{"doc_count":2}}}}]}}}`,
		`{"responses":[{"took":1,"hits":{"total":1,"hits":[]},"status":200},{"error":{"type":"x"},"status":404}]}`,
		`{"took":30,"errors":true,"items":[{"index":{"_id":"1","status":201}},{"create":{"status":409,"error":{"type":"v","root_cause":[{"type":"w"}]}}}]}`,
		`{"docs":[{"found":true},{"error":{}}]}`, `{"columns":[{}],"values":[[1],[2]]}`, `{"error":"x"}`, `[1]`, `"`, `{"hits":{"events":[{"_id":"\ud800"}]}}`,
		"\x1f\x8b\x08\x00", `{"id":"x","is_running":true,"response":{"response":{}}}`, `{"count":1e3}`, "a,b\n1,2\n",
	} {
		for _, op := range []Op{OpSearch, OpMsearch, OpBulk, OpMget, OpESQL, OpAsyncGet, OpUpdateByQuery} {
			f.Add(uint8(op), 200, jsonType, "", []byte(s))
		}
	}
	f.Add(uint8(OpSQL), 200, "text/csv", "gzip", []byte("a\n1"))
	var used Summarizer
	used.MaxDecoded = 1 << 20
	f.Fuzz(func(t *testing.T, op uint8, status int, mediaType, coding string, body []byte) {
		in := bytes.Clone(body)
		got := used.Summarize(Op(op), status, mediaType, coding, in, Mapper{})
		fresh := Summarizer{MaxDecoded: 1 << 20}
		clear(in)
		a, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(fresh.Summarize(Op(op), status, mediaType, coding, body, Mapper{}))
		if err != nil || !bytes.Equal(a, b) {
			t.Fatalf("after others %s\nfresh %s, %v", a, b, err)
		}
	})
}

// searchAnswer is a search answer of about 2 KB.
func searchAnswer() []byte {
	var b strings.Builder
	b.WriteString(`{"took":5,"timed_out":false,"_shards":{"total":5,"successful":5,"skipped":0,"failed":0},"hits":{"total":{"value":1234,"relation":"eq"},"max_score":7.25,"hits":[`)
	for i := range 10 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"_index":"products-2024","_id":"product-%06d","_score":%d.5,"_source":{"title":"Stainless steel bottle, %d ml","price":%d.99,"tags":["kitchen","outdoor"],"in_stock":true}}`, i*37, 9-i, i, i)
	}
	b.WriteString(`]}}`)
	return []byte(b.String())
}

// bulkAnswer is the answer to a bulk of n items, about 179 bytes each.
func bulkAnswer(n int) []byte {
	var b strings.Builder
	b.WriteString(`{"took":311,"errors":false,"items":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"index":{"_index":"logs-2024.05.01","_id":"fGk1tY8BbN-9wT%06d","_version":1,"result":"created","_shards":{"total":2,"successful":1,"failed":0},"_seq_no":%d,"_primary_term":1,"status":201}}`, i, i)
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

func aggAnswer() []byte {
	var b strings.Builder
	b.WriteString(`{"took":5,"timed_out":false,"hits":{"total":{"value":10000,"relation":"gte"},"hits":[]},"aggregations":{"date_histogram#per_day":{"buckets":[`)
	for i := range 300 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"key_as_string":"2024-05-01T00:00:00.000Z","key":1714521600000,"doc_count":%d,"sterms#status":{"doc_count_error_upper_bound":0,"sum_other_doc_count":0,"buckets":[{"key":"ok","doc_count":%d},{"key":"failed","doc_count":3}]},"avg#price":{"value":12.5}}`, i, i)
	}
	b.WriteString(`]}}}`)
	return []byte(b.String())
}

func BenchmarkSummarize(b *testing.B) {
	big := bytes.Replace(searchAnswer(), []byte(`"hits":[`), append([]byte(`"hits":[`), bytes.Repeat([]byte(`{"_index":"a","_id":"b","_source":{"message":"GET /images/hubble.jpg HTTP/1.0 answered with \"200\"","clientip":"10.0.0.1","size":24736,"tags":["a","b"]}},`), 8000)...), 1)
	for _, c := range []struct {
		name   string
		op     Op
		coding string
		body   []byte
	}{
		{"search", OpSearch, "", searchAnswer()},
		{"search_gzip", OpSearch, "gzip", gzipped(b, searchAnswer())},
		{"search_1MB", OpSearch, "", big},
		{"bulk", OpBulk, "", bulkAnswer(1860)},
		{"aggs", OpSearch, "", aggAnswer()},
	} {
		b.Run(fmt.Sprintf("%s/%d", c.name, len(c.body)), func(b *testing.B) {
			var z Summarizer
			b.SetBytes(int64(len(c.body)))
			b.ReportAllocs()
			for b.Loop() {
				if got := z.Summarize(c.op, 200, jsonType, c.coding, c.body, Mapper{}); got.Unreadable != "" {
					b.Fatal(got.Unreadable)
				}
			}
		})
	}
}

// Strings of all lengths about two words, with all runs of backslashes before a
// quote at every place, end where the plain way says.
func TestQuoteEnd(t *testing.T) {
	for n := range 27 {
		for at := range n {
			for slashes := range at + 1 {
				in := bytes.Repeat([]byte("a"), n)
				in[at] = '"'
				for j := range slashes {
					in[at-1-j] = '\\'
				}
				for i := range n {
					if got, want := quoteEnd(in, i), farQuoteEnd(in, i); got != want {
						t.Fatalf("quoteEnd(%q, %d) = %d, want %d", in, i, got, want)
					}
				}
			}
		}
	}
	if got := quoteEnd([]byte(`!"#"`), 0); got != 2 { // neighbours of the quote's code
		t.Errorf("got %d", got)
	}
}
