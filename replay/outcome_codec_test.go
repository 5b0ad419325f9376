package replay

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
)

// fillAny sets every field of v, or some of them, to anything.
func fillAny(t *rapid.T, v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "set") {
			v.Set(reflect.New(v.Type().Elem()))
			fillAny(t, v.Elem(), depth)
		}
	case reflect.Slice:
		n := rapid.IntRange(0, 3).Draw(t, "n")
		if depth > 2 {
			n = 0
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fillAny(t, v.Index(i), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fillAny(t, v.Field(i), depth)
		}
	case reflect.String:
		v.SetString(rapid.OneOf(rapid.Just(""), rapid.String()).Draw(t, "s"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "b"))
	case reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, "u"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64()).Draw(t, "i"))
	default:
		t.Fatalf("a field of kind %v: teach the codec, then this test", v.Kind())
	}
}

// The codec and encoding/json write the same and read each other's lines.
func TestOutcomeCodecIsEncodingJSONs(t *testing.T) {
	var d OutcomeDecoder // used again, so that leftovers show
	var back Outcome
	rapid.Check(t, func(t *rapid.T) {
		var o, plain Outcome
		fillAny(t, reflect.ValueOf(&o).Elem(), 0)
		own := AppendOutcome([]byte("before"), &o)[len("before"):]
		std, err := json.Marshal(&o)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(own, &plain); err != nil {
			t.Fatalf("%v in %s", err, own)
		}
		if diff := cmp.Diff(o, plain, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("encoding/json reads (-outcome +read):\n%s", diff)
		}
		if again, err := json.Marshal(&plain); err != nil || string(again) != string(std) {
			t.Fatalf("%v\n%s\n%s", err, std, again)
		}
		for _, line := range [][]byte{own, std} {
			if err := d.Decode(line, &back); err != nil {
				t.Fatalf("%v in %s", err, line)
			}
			for i := range line {
				line[i] = 'x' // nothing may alias the line
			}
			if diff := cmp.Diff(o, back, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("Decode reads (-outcome +read):\n%s", diff)
			}
		}
	})
}

// names are the JSON names of v's fields in their order.
func names(v reflect.Type) (all []string) {
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Field(i).Tag.Get("json"), ",")
		all = append(all, name)
	}
	return all
}

// full is a value of which no field is empty. Of a Summary one field is enough.
func full(t *testing.T, v reflect.Value) {
	t.Helper()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Interface().(type) {
		case string:
			f.SetString("x<" + v.Type().Field(i).Name)
		case bool:
			f.SetBool(true)
		case uint64:
			f.SetUint(uint64(i) + 7)
		case int, int64:
			f.SetInt(int64(i) + 7)
		case *es.Summary:
			took := int64(i)
			f.Set(reflect.ValueOf(&es.Summary{Took: &took}))
		case *Example:
			f.Set(reflect.ValueOf(new(Example)))
			full(t, f.Elem())
		default:
			t.Fatalf("a field of type %v: teach the codec, then this test", f.Type())
		}
	}
}

// A field that Outcome gains must be in the codec, at its place.
func TestOutcomeCodecHasEveryField(t *testing.T) {
	var o, back Outcome
	full(t, reflect.ValueOf(&o).Elem())
	line := string(AppendOutcome(nil, &o))
	at := 0
	for _, part := range []struct {
		in    string
		names []string
	}{{line, names(reflect.TypeFor[Outcome]())}, {line[strings.Index(line, `"example":`):], names(reflect.TypeFor[Example]())}} {
		at = 0
		for _, name := range part.names {
			i := strings.Index(part.in[at:], `"`+name+`":`)
			if i < 0 {
				t.Fatalf("no %s behind byte %d of %s", name, at, part.in)
			}
			at += i + 1
		}
	}
	if err := DecodeOutcome([]byte(line), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(o, back); diff != "" {
		t.Error(diff)
	}
}

func TestDecodeOutcomeTolerates(t *testing.T) {
	took := int64(4)
	want := Outcome{Seq: 3, Got: &es.Summary{Took: &took}}
	for name, line := range map[string]string{
		"unknown fields": `{"new":{"a":[1]},"seq":3,"got":{"took":4,"z":{}}}`,
		"nulls":          `{"seq":3,"op":null,"planned":null,"want":null,"example":null,"got":{"took":4},"sorted":null}`,
		"white space":    " { \"seq\" : 3 , \"got\" : { \"took\" : 4 } } ",
		"twice":          `{"seq":2,"got":{"hits":1},"seq":3,"got":{"took":4},"example":{},"example":null,"want":{},"want":null}`,
		"escaped names":  `{"\u0073eq":3,"go\u0074":{"\u0074ook":4}}`,
	} {
		var o Outcome
		if err := DecodeOutcome([]byte(line), &o); err != nil {
			t.Errorf("%s: %v", name, err)
		} else if diff := cmp.Diff(want, o); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

func TestDecodeOutcomeRefuses(t *testing.T) {
	for line, says := range map[string]string{
		``: "no json value", `["SECRET"]`: "wrong type", `{"op":"SECRET`: "op: malformed json", `{"seq":1} SECRET`: "more text",
		`{"seq":-1}`: "seq: not a whole number", `{"planned":1.5}`: "planned: not a whole", `{"status":"SECRET"}`: "status: wrong type",
		`{"got":{"shards":{"ok":"SECRET"}}}`: "got: summary: shards: ok: wrong type", `{"example":{"body":{}}}`: "example: body: wrong type",
		`{"example":"SECRET"}`: "example: wrong type", `{"index":"SECRET\ud800"}`: "index: half a surrogate", `{"sorted":1}`: "sorted: wrong type",
	} {
		var o Outcome
		err := DecodeOutcome([]byte(line), &o)
		if !errors.Is(err, capture.ErrLine) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v, want ErrLine with %q", line, err, says)
		}
	}
}

func FuzzDecodeOutcome(f *testing.F) {
	o := benchOutcome()
	f.Add(AppendOutcome(nil, &o))
	f.Add([]byte(`{"got":{"items":[{"items":[{}]}]},"example":{},"want":null}`))
	var d OutcomeDecoder
	f.Fuzz(func(t *testing.T, line []byte) {
		var o, again, plain Outcome
		if d.Decode(line, &o) != nil {
			return
		}
		first := AppendOutcome(nil, &o)
		if err := DecodeOutcome(first, &again); err != nil {
			t.Fatalf("%v in own line %s", err, first)
		}
		if second := AppendOutcome(nil, &again); string(second) != string(first) {
			t.Fatalf("not stable:\n%s\n%s", first, second)
		}
		if err := json.Unmarshal(first, &plain); err != nil || string(AppendOutcome(nil, &plain)) != string(first) {
			t.Fatalf("encoding/json differs (%v) on %s", err, first)
		}
	})
}

// benchOutcome is that of an ordinary search.
func benchOutcome() Outcome {
	body := `{"took":12,"timed_out":false,"_shards":{"total":5,"successful":5,"skipped":0,"failed":0},"hits":{"total":{"value":10000,"relation":"gte"},"hits":[` +
		`{"_id":"0"},{"_id":"1"},{"_id":"2"},{"_id":"3"},{"_id":"4"},{"_id":"5"},{"_id":"6"},{"_id":"7"},{"_id":"8"},{"_id":"9"}]},` +
		`"aggregations":{"a":{"sum_other_doc_count":9,"buckets":[{"key":1,"doc_count":80},{"key":2,"doc_count":50},{"key":3,"doc_count":7}]}}}`
	answer := func() *es.Summary {
		return es.Summarize(es.OpSearch, 200, "application/json", "", []byte(body), es.Mapper{})
	}
	return Outcome{
		Seq: 123456, Time: 1760000000123456789, Conn: 77, Op: "search", Class: "read", Shape: "0123456789abcdef", Index: "products",
		Planned: 12345678901, Sent: 12345690123, First: 12349999999, Done: 12350012345, Status: 200, AnswerSize: 2048,
		SourceStatus: 200, SourceWait: 4100, SourceTook: 4200, Got: answer(), Want: answer(), Fidelity: "approx", FidWhy: "text_tokens",
	}
}

func BenchmarkOutcome(b *testing.B) {
	o := benchOutcome()
	line := AppendOutcome(nil, &o)
	measure := func(name string, once func() error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if err := once(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	var d OutcomeDecoder
	var back Outcome
	var out []byte
	measure("append", func() error { out = AppendOutcome(out[:0], &o); return nil })
	measure("decode", func() error { return d.Decode(line, &back) })
	measure("encoding_json_append", func() error { _, err := json.Marshal(&o); return err })
	measure("encoding_json_decode", func() error { return json.Unmarshal(line, new(Outcome)) })
}
