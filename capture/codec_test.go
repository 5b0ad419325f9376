package capture

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/internal/es"
)

var update = flag.Bool("update", false, "write the vectors in testdata anew")

func ptr[T any](v T) *T { return &v }

// vectors are the records whose lines stand in testdata/lines.ndjson for ever.
func vectors() []Record {
	return []Record{
		{
			Seq: 1, Time: 1_700_000_000_123_456_789, Conn: 7, Request: 3, Op: "search", Method: "POST",
			Target: "/logs-%2A/_search?size=5&typed_keys",
			Header: []Header{{"Content-Type", "application/json"}, {"Accept", "*/*"}},
			Body:   []byte(`{"query":{"match":{"title":"t_9f\u0000"}}}` + "\n"), BodySize: 44, AnswerSize: 2031,
			Wait: 1200, Took: 1350, Status: 200, Shape: "s1/5d0c", Fidelity: Approx, FidWhy: "text_tokens",
			Want: &es.Summary{
				Took: ptr(int64(3)), TimedOut: ptr(false), Shards: &es.Shards{Total: 5, Successful: 4, Failed: 1},
				Total: &es.Total{Value: 10000, Relation: "gte"}, Hits: ptr(5), IDs: []string{"a1", "b2"},
				Aggs: []es.Agg{{Path: "p1", Buckets: 2, Counts: []int64{9, 1}, Other: ptr(int64(4))}},
			},
			Handles: []Handle{{"scroll", "give", "h1"}, {"pit", "use", "h2"}},
		},
		{
			Seq: 2, Time: 1_700_000_000_200_000_000, Conn: 8, Request: 1, Op: "bulk", Method: "POST", Target: "/_bulk",
			Header: []Header{{"X-Opaque-Id", "caf\u00e9 \"x\""}},
			Body:   []byte("{\"index\":{}}\r\n{\"a\":\"\xff\"}\n"), BodySize: 25, AnswerSize: 300, Wait: 5, Took: 6, Status: 200,
			Want: &es.Summary{Bulk: []es.BulkCount{{Op: "index", Status: 429, Error: "es_rejected_execution_exception", N: 1}}},
		},
		{Seq: 3, Time: -1, Op: "get", Method: "GET", Target: "/i/_doc/\xe9", Err: "timeout", Took: 90_000_000},
		{
			Seq: 4, Time: 1, Op: "msearch", Method: "GET", Target: "/_msearch", Status: 200,
			Want: &es.Summary{
				Items: []es.Item{{Status: 200, Summary: es.Summary{Hits: ptr(0)}}, {Status: 404, Summary: es.Summary{Error: "index_not_found_exception"}}},
				Cut:   []string{"items"},
			},
		},
		{Seq: 18446744073709551615, Kind: KindGap, Time: 20, Gap: &Gap{Reason: "queue_full", Count: 12, From: 10, To: 20}},
	}
}

func TestVectors(t *testing.T) {
	path := filepath.Join("testdata", "lines.ndjson")
	var got []byte
	for _, r := range vectors() {
		got = append(AppendRecord(got, &r), '\n')
	}
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("the lines changed (-file +code):\n%s", diff)
	}
	lines := bytes.SplitAfter(want, []byte("\n"))
	for i, r := range vectors() {
		var back Record
		if err := DecodeRecord(lines[i], &back); err != nil {
			t.Fatalf("line %d: %v", i, err)
		}
		if diff := cmp.Diff(r, back, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("line %d (-record +decoded):\n%s", i, diff)
		}
	}
}

func drawSummary(t *rapid.T) *es.Summary {
	var s es.Summary
	fill(t, reflect.ValueOf(&s).Elem(), 0)
	return &s
}

// fill draws a value for every part of v, whatever fields it has.
func fill(t *rapid.T, v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "set") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem(), depth)
		}
	case reflect.Slice:
		n := rapid.IntRange(0, 3).Draw(t, "n")
		if depth > 2 || n == 0 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(t, v.Index(i), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), depth)
		}
	case reflect.String:
		v.SetString(rapid.String().Draw(t, "s"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "b"))
	case reflect.Uint8:
		v.SetUint(uint64(rapid.Byte().Draw(t, "byte")))
	case reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, "u"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(t, "i"))
	default:
		t.Fatalf("a field of kind %v: teach fill and the codec", v.Kind())
	}
}

// AppendSummary must say what the json tags of es.Summary say: a field added
// there and not here fails this test.
func TestSummaryAsEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSummary(t)
		got := AppendSummary(nil, s)
		var plain, back es.Summary
		if err := json.Unmarshal(got, &plain); err != nil {
			t.Fatalf("%v in %s", err, got)
		}
		if diff := cmp.Diff(s, &plain, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("encoding/json reads (-summary +read):\n%s", diff)
		}
		var d Decoder
		if err := d.DecodeSummary(got, &back); err != nil {
			t.Fatalf("%v in %s", err, got)
		}
		if diff := cmp.Diff(s, &back, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("DecodeSummary reads (-summary +read):\n%s", diff)
		}
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var a, b any
		if json.Unmarshal(want, &a) != nil || json.Unmarshal(got, &b) != nil || !reflect.DeepEqual(a, b) {
			t.Fatalf("differs from encoding/json:\n%s\n%s", got, want)
		}
	})
}

func drawRecord(t *rapid.T) Record {
	var r Record
	fill(t, reflect.ValueOf(&r).Elem(), 0)
	r.Kind = rapid.SampledFrom([]string{"", KindGap}).Draw(t, "kind")
	r.Body = []byte(rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) })).Draw(t, "body"))
	r.Target = string(rapid.SliceOf(rapid.Byte()).Draw(t, "target"))
	if r.Kind == KindGap {
		gap := Gap{}
		if r.Gap != nil {
			gap = *r.Gap
		}
		return Record{Kind: KindGap, Seq: r.Seq, Time: r.Time, Gap: &gap}
	}
	r.Gap, r.BodyEncoded, r.WantEncoded = nil, nil, nil
	seen := map[string]bool{}
	headers := r.Header[:0]
	for _, h := range r.Header { // what a repeated name becomes has its own test
		if key := strings.ToLower(h.Name); !seen[key] && !seen[strings.ToUpper(h.Name)] {
			seen[key], seen[strings.ToUpper(h.Name)] = true, true
			headers = append(headers, h)
		}
	}
	r.Header = headers
	return r
}

func TestRecordRoundTrip(t *testing.T) {
	var d Decoder
	var back Record // used again and again, so that leftovers show
	rapid.Check(t, func(t *rapid.T) {
		r := drawRecord(t)
		line := AppendRecord([]byte("before"), &r)[len("before"):]
		if !json.Valid(line) || bytes.ContainsAny(line, "\n\r") || !utf8.Valid(line) {
			t.Fatalf("not one line of JSON: %q", line)
		}
		if err := d.Decode(line, &back); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		for i := range line {
			line[i] = 'x' // nothing may alias the line
		}
		if diff := cmp.Diff(r, back, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-record +decoded):\n%s", diff)
		}
	})
}

// What was encoded before makes the same line, whatever the answer took this time.
func TestEncodedParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRecord(t)
		want := AppendRecord(nil, &r)
		r.BodyEncoded = EncodeBody(r.Body)
		if r.Want != nil {
			before := *r.Want
			before.Took = drawSummary(t).Took
			r.WantEncoded = EncodeWant(&before)
		}
		if got := AppendRecord(nil, &r); string(got) != string(want) {
			t.Fatalf("\n%s\nnot\n%s", got, want)
		}
	})
}

func TestRepeatedHeaders(t *testing.T) {
	r := Record{Header: []Header{{"Accept", "a"}, {"X", "1"}, {"accept", "b"}, {"ACCEPT", `"c"`}, {"x", ""}}}
	var back Record
	if err := DecodeRecord(AppendRecord(nil, &r), &back); err != nil {
		t.Fatal(err)
	}
	want := []Header{{"Accept", `a, b, "c"`}, {"X", "1, "}}
	if diff := cmp.Diff(want, back.Header); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeTolerates(t *testing.T) {
	for name, line := range map[string]string{
		"unknown fields":  `{"new":{"a":[1,{"t":5}]},"t":9,"want":{"x":[],"took":1},"ids":[{"id":"i","z":null}]}`,
		"nulls":           `{"t":9,"headers":null,"body":null,"size":null,"want":{"took":1,"hits":null,"ids":null},"ids":[{"id":"i"}],"op":null}`,
		"white space":     " {\"t\" : 9 ,\t\"ids\":[ {\"id\":\"i\"} ] , \"want\":{ \"took\" : 1 } } \n",
		"twice":           `{"t":8,"t":9,"ids":[{"id":"h"},{}],"ids":[{"id":"i"}],"want":{"took":4},"want":{"took":1}}`,
		"escaped names":   `{"\u0074":9,"\u0069ds":[{"id":"\u0069"}],"want":{"\u0074ook":1}}`,
		"kind record":     `{"kind":"record","t":9,"ids":[{"id":"i"}],"want":{"took":1}}`,
		"more than asked": `{"t":9,"size":[0,0,5],"reason":"x","count":4,"ids":[{"id":"i"}],"want":{"took":1}}`,
	} {
		var r Record
		if err := DecodeRecord([]byte(line), &r); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		r.Kind = ""
		want := Record{Time: 9, Handles: []Handle{{ID: "i"}}, Want: &es.Summary{Took: ptr(int64(1))}}
		if diff := cmp.Diff(want, r, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	const secret = "SECRET"
	for _, c := range []struct{ name, line, says string }{
		{"empty", ``, "no json value"},
		{"no object", `["SECRET"]`, "wrong type"},
		{"cut", `{"t":9,"body":"SECRET`, "body: malformed json"},
		{"trailing", `{"t":9} SECRET`, "more text"},
		{"fraction", `{"t":1.5}`, "t: not a whole number"},
		{"too large", `{"seq":18446744073709551616}`, "seq: not a whole number"},
		{"negative count", `{"conn":-1}`, "conn: not a whole number"},
		{"text for number", `{"t":"SECRET"}`, "t: wrong type"},
		{"number for text", `{"target":5}`, "target: wrong type"},
		{"base64", `{"body64":"SECRET!"}`, "body64: malformed base64"},
		{"surrogate", `{"body":"SECRET\ud800"}`, "body: half a surrogate"},
		{"header value", `{"headers":{"SECRET":1}}`, "headers: value: wrong type"},
		{"nested", `{"want":{"shards":{"failed":"SECRET"}}}`, "want: summary: shards: failed: wrong type"},
		{"size", `{"size":["SECRET"]}`, "size: wrong type"},
		{"ids", `{"ids":["SECRET"]}`, "ids: wrong type"},
		{"kind", `{"kind":"SECRET"}`, "unknown kind"},
	} {
		var r Record
		err := DecodeRecord([]byte(c.line), &r)
		if !errors.Is(err, ErrLine) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want ErrLine with %q", c.name, err, c.says)
		} else if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the error quotes the line: %v", c.name, err)
		}
	}
}

func TestDecoderMemoryIsBounded(t *testing.T) {
	var d Decoder
	var r Record
	for i := range 3 * maxInterned {
		line := AppendRecord(nil, &Record{Op: strings.Repeat("x", i%200), Header: []Header{{"X-Opaque-Id", string(rune('a' + i))}}})
		if err := d.Decode(line, &r); err != nil {
			t.Fatal(err)
		}
		if len(d.known) > maxInterned {
			t.Fatalf("%d texts remembered", len(d.known))
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, r := range vectors() {
		f.Add(AppendRecord(nil, &r))
	}
	f.Add([]byte(`{"body64":"//8=","headers":{"a":"b"},"size":[1,2],"want":{"items":[{"items":[{}]}]}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		var r, again Record
		if DecodeRecord(line, &r) != nil {
			return
		}
		// What was understood is written and read again as the same, once headers
		// of one name are joined.
		first := AppendRecord(nil, &r)
		if err := DecodeRecord(first, &again); err != nil {
			t.Fatalf("%v in own line %s", err, first)
		}
		if second := AppendRecord(nil, &again); !bytes.Equal(first, second) {
			t.Fatalf("not stable:\n%s\n%s", first, second)
		}
	})
}

func benchRecord() Record {
	r := vectors()[0]
	r.Body = []byte(`{"query":{"bool":{"filter":[{"term":{"user.id":"t_9f3a77c1d0"}},{"range":{"@timestamp":{"gte":"now-15m","lt":"now"}}}],"must":[{"match":{"message":{"query":"t_aa t_bb t_cc","operator":"and"}}}]}},"size":20,"sort":[{"@timestamp":{"order":"desc"}},"_score"],"aggs":{"per_minute":{"date_histogram":{"field":"@timestamp","fixed_interval":"1m"}}},"track_total_hits":true,"_source":["a","b","c"],"timeout":"2s"}`)
	return r
}

func BenchmarkEncode(b *testing.B) {
	r := benchRecord()
	dst := AppendRecord(nil, &r)
	b.SetBytes(int64(len(dst)))
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendRecord(dst[:0], &r)
	}
}

func BenchmarkEncodeSummary(b *testing.B) {
	s := benchRecord().Want
	var dst []byte
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			dst = AppendSummary(dst[:0], s)
		}
	})
	b.Run("encoding_json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := json.Marshal(s); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	r := benchRecord()
	line := AppendRecord(nil, &r)
	var d Decoder
	var back Record
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if err := d.Decode(line, &back); err != nil {
			b.Fatal(err)
		}
	}
}
