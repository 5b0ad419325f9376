package es

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/esshadow/esshadow/internal/testenv"
)

// bulkWords returns the items of a body as "line:word>op meta|doc" words.
func bulkWords(body string) (words []string, err error) {
	var r BulkReader
	r.Reset([]byte(body))
	for {
		it, err := r.Next()
		if errors.Is(err, io.EOF) {
			return words, nil
		}
		if err != nil {
			return words, err
		}
		w := fmt.Sprintf("%d:%v %s", it.Line, it.Op, it.Meta)
		if it.Word != it.Op {
			w = fmt.Sprintf("%d:%v>%v %s", it.Line, it.Word, it.Op, it.Meta)
		}
		if it.Doc != nil {
			w += "|" + string(it.Doc)
		}
		if it.NoDoc {
			w += " nodoc"
		}
		if it.Tail != nil {
			w += " tail=" + string(it.Tail)
		}
		words = append(words, w)
	}
}

func TestBulkReader(t *testing.T) {
	tests := []struct {
		name, body string
		want       []string
	}{
		{"empty", "", nil},
		{"only blank lines", "\n \n\r\n\t", nil},
		{
			"four actions", `{"index":{"_id":"1"}}` + "\n{\"a\":1}\n" + `{"create":{}}` + "\n{}\n" + `{"update":{"_id":"2"}}` + "\n{\"doc\":{}}\n" + `{"delete":{"_id":"3"}}` + "\n",
			[]string{`1:index {"_id":"1"}|{"a":1}`, `3:create {}|{}`, `5:update {"_id":"2"}|{"doc":{}}`, `7:delete {"_id":"3"}`},
		},
		{"no final newline", "{\"index\":{}}\n{\"a\":1}", []string{`1:index {}|{"a":1}`}},
		{"delete without final newline", "{\"delete\":{}}", []string{`1:delete {}`}},
		{"carriage returns", "{\"index\":{}}\r\n{\"a\":1}\r\n{\"delete\":{}}\r\n", []string{`1:index {}|{"a":1}`, `3:delete {}`}},
		{"only one carriage return is cut", "{\"index\":{}}\n{}\r\r\n", []string{"1:index {}|{}\r"}},
		{"blank lines before actions", "\n{\"index\":{}}\n{\"a\":1}\n\n \r\n{\"delete\":{}}\n", []string{`2:index {}|{"a":1}`, `6:delete {}`}},
		{"blank document", "{\"index\":{}}\n\n{\"delete\":{}}\n", []string{`1:index {}|`, `3:delete {}`}},
		{"last action without document", "{\"delete\":{}}\n{\"index\":{}}\n", []string{`1:delete {}`, `2:index {} nodoc`}},
		{"last action without document or newline", "{\"update\":{}}", []string{`1:update {} nodoc`}},
		{"document is not looked at", "{\"index\":{}}\n{\"p\":1}{\"index\":{}}\n", []string{`1:index {}|{"p":1}{"index":{}}`}},
		{"a document like an action", "{\"index\":{}}\n{\"delete\":{}}\n", []string{`1:index {}|{"delete":{}}`}},
		{"two objects on the action line", "{\"delete\":{}}{\"x\":1}\n", []string{`1:delete {} tail={"x":1}`}},
		{"op_type create", `{"index":{"op_type":"create","_id":"1"}}` + "\n{}\n", []string{`1:index>create {"op_type":"create","_id":"1"}|{}`}},
		{"op_type index", `{"index":{"op_type":"index"}}` + "\n{}\n", []string{`1:index {"op_type":"index"}|{}`}},
		{"op_type deeper does not count", `{"index":{"x":{"op_type":"create"}}}` + "\n{}\n", []string{`1:index {"x":{"op_type":"create"}}|{}`}},
		{"escaped key", `{"\u0064elete":{}}` + "\n", []string{`1:delete {}`}},
		{"white space", " { \"index\" : { \"_id\" : 7 } } \n {} \n", []string{`1:index { "_id" : 7 }| {} `}},
		{"comment in the action", "/*c*/{\"delete\":{}}\n", []string{`1:delete {}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := bulkWords(tt.body)
			if err != nil || strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestBulkReaderRefuses(t *testing.T) {
	for _, line := range []string{
		"{", "[]", "1", "{}", `{"index":1}`, `{"index":null}`, `{"index":[]}`, `{"Index":{}}`, `{"remove":{}}`, `{"index":{},"delete":{}}`,
		`{"index":{}`, `{"index":{"_id":"\N"}}`, `{"index"}`, "secret text", "{\"index\":{\"_id\":\"\xff\"}}",
	} {
		body := "{\"delete\":{}}\n\n" + line + "\n{\"a\":\"b\"}\n"
		var r BulkReader
		r.Reset([]byte(body))
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		_, err := r.Next()
		if !errors.Is(err, ErrBulkAction) || err.Error() != "bulk line 3: malformed bulk action" {
			t.Errorf("%q: got %v", line, err)
		}
		if _, again := r.Next(); !errors.Is(again, err) {
			t.Errorf("%q: then %v", line, again)
		}
	}
}

// TestBulkReaderExtents: the items' extents and the blank lines between them are
// the whole body, and the parts stand where the offsets say.
func TestBulkReaderExtents(t *testing.T) {
	line := rapid.SampledFrom([]string{"", " ", "{\"index\":{\"_id\":\"1\"}}", "{\"create\": {} }", "{\"update\":{}}\r", "{\"delete\":{}}", "{\"delete\":{}} x"})
	rapid.Check(t, func(t *rapid.T) {
		body := []byte(strings.Join(rapid.SliceOf(line).Draw(t, "lines"), "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(t, "end"))
		var r BulkReader
		r.Reset(body)
		last := 0
		for {
			it, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err) // a document that stands where an action should cannot come
			}
			if !blank(body[last:it.Start]) || it.End <= it.Start {
				t.Fatalf("item %d–%d after %d", it.Start, it.End, last)
			}
			if 1+bytes.Count(body[:it.Start], []byte("\n")) != it.Line {
				t.Fatalf("line %d at %d", it.Line, it.Start)
			}
			if !bytes.HasPrefix(body[it.MetaStart:], it.Meta) || !bytes.HasPrefix(body[it.DocStart:], it.Doc) {
				t.Fatal("parts are elsewhere")
			}
			last = it.End
		}
		if !blank(body[last:]) {
			t.Fatalf("left over at %d of %d", last, len(body))
		}
	})
}

func TestEndsInNewline(t *testing.T) {
	for body, want := range map[string]bool{"": false, "\n": true, "{}": false, "{}\n": true, "{}\n ": false} {
		if EndsInNewline([]byte(body)) != want {
			t.Errorf("%q: not %v", body, want)
		}
	}
}

func TestBulkReaderLongLine(t *testing.T) {
	doc := bytes.Repeat([]byte("x"), 100<<20)
	body := append([]byte("{\"index\":{}}\n\""), doc...)
	body = append(body, "\"\n{\"delete\":{}}\n"...)
	var r BulkReader
	r.Reset(body)
	it, err := r.Next()
	if err != nil || len(it.Doc) != len(doc)+2 {
		t.Fatalf("%d bytes, %v", len(it.Doc), err)
	}
	if it, err = r.Next(); err != nil || it.Op != BulkDelete {
		t.Errorf("then %v, %v", it.Op, err)
	}
}

func TestBulkReaderAllocatesNothing(t *testing.T) {
	body := []byte(strings.Repeat("{\"index\":{\"_id\":\"1\",\"op_type\":\"create\"}}\n{\"a\":1}\n", 20))
	var r BulkReader
	if n := testing.AllocsPerRun(50, func() {
		r.Reset(body)
		for {
			if _, err := r.Next(); err != nil {
				return
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestBulkReaderCorpus(t *testing.T) {
	text, err := os.ReadFile(testenv.Corpus(t, "bulk_bodies.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	bodies, items := 0, 0
	for line := range bytes.Lines(text) {
		var req struct{ Source, Body string }
		if err := json.Unmarshal(line, &req); err != nil {
			t.Fatal(err)
		}
		words, err := bulkWords(req.Body)
		if (err != nil) != strings.Contains(req.Source, "malformed-action") {
			t.Errorf("%s: %v", req.Source, err)
		}
		bodies++
		items += len(words)
	}
	t.Logf("%d bodies, %d items", bodies, items)
	if items < bodies {
		t.Errorf("only %d items", items)
	}
}

func FuzzBulkReader(f *testing.F) {
	for _, s := range []string{"", "\n\n", "{\"index\":{}}\n{}\n", "{\"delete\":{}}x\r\n{\"create\":{\"op_type\":1}}", "{\"index\":{}}\n\n\n", "{\"\\u0064elete\":{}}\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var r BulkReader
		r.Reset(body)
		last := 0
		for {
			it, err := r.Next()
			if err != nil {
				return
			}
			if it.Start < last || it.End <= it.Start || it.End > len(body) || !blank(body[last:it.Start]) {
				t.Fatalf("item %d–%d after %d", it.Start, it.End, last)
			}
			if len(it.Meta) < 2 || bytes.Contains(it.Doc, []byte("\n")) {
				t.Fatal("framing")
			}
			last = it.End
		}
	})
}

// The short way through an action line reads what the long one does.
func TestQuickActionIsAction(t *testing.T) {
	pieces := rapid.SampledFrom([]string{
		`{"index":{`, `{"create":{`, `{"update":{`, `{"delete":{`, `{"index":`, `{`, `}`, `}}`, `,`, `:`, ` `, `"_id":"a"`, `"_id":null`, `"_id":7`, `"_index":"i"`, `"op_type":"create"`,
		`"op_type":"\u0063reate"`, `"\u005fid":"a"`, `"_id"`, `{}`, `[]`, `"a":{}`, `true`, `-`, `/**/`, `"x":1e`, "\"\x00\":1", `"é":"é"`, `"routing":"a"`,
	})
	quick := 0
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOfN(pieces, 1, 9).Draw(t, "line"), "")
		if rapid.Bool().Draw(t, "framed") {
			members := rapid.SliceOfN(rapid.SampledFrom([]string{`"_id":"a"`, `"_id":null`, `"_index":"i"`, `"op_type":"create"`, `"op_type":"index"`, `"x":false`, `"_id":1.5`}), 0, 4).Draw(t, "members")
			line = rapid.SampledFrom([]string{`{"index":{`, `{"create":{`, `{"update":{`, `{"delete":{`}).Draw(t, "word") + strings.Join(members, ",") + "}}"
		}
		var b, spaced BulkReader
		var it BulkItem
		if !b.quick(&it, []byte(line)) {
			if it.Meta != nil || it.Op != 0 || it.Auto {
				t.Fatalf("%s: refused, yet %+v", line, it)
			}
			return
		}
		quick++
		var want BulkItem
		if err := spaced.action(&want, []byte(line+" ")); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if it.Op != want.Op || it.Word != want.Word || it.Auto != want.Auto || string(it.Meta) != string(want.Meta) || it.MetaStart != want.MetaStart {
			t.Fatalf("%s: %+v, want %+v", line, it, want)
		}
	})
	if quick == 0 {
		t.Error("no line went the short way")
	}
}

// Auto is what HandleReader needs: whose id the server chooses.
func TestBulkAuto(t *testing.T) {
	for line, want := range map[string]bool{
		`{"index":{}}`: true, `{"create":{"_index":"i"}}`: true, `{"index":{"_id":null}}`: true, `{ "index":{"_id":null,"_id":"a"}}`: true,
		`{"index":{"_id":null,"_id":"a"}}`: true, `{"index":{"_id":"a","_id":null}}`: false, `{"index":{"_id":""}}`: false, `{"index":{"\u005fid":"a"}}`: false,
		`{"index":{"_id":7}}`: false, `{"update":{}}`: false, `{"delete":{}}`: false, `{"index":{"op_type":"create"}}`: true,
	} {
		var b BulkReader
		b.Reset([]byte(line + "\n{}\n"))
		if it, err := b.Next(); err != nil || it.Auto != want {
			t.Errorf("%s: %v, %v", line, it.Auto, err)
		}
	}
}

// A line says the same behind a line of its form as it does alone.
func TestBulkLinesAgain(t *testing.T) {
	lines := []string{
		`{"index":{"_index":"i","_id":"a"}}`, `{"index":{"_index":"i","_id":"b"}}`, `{"index":{"_index":"i","_id":"b\u0041"}}`, `{"index":{"_index":"i","_id":"é"}}`,
		`{"index":{"_index":"i","_id":"a","routing":"r"}}`, `{"index":{"_index":"i","_id":null}}`, `{"index":{"_index":"i","_id":7}}`, `{"index":{"_index":"i","_id":"a"} }`,
		`{"index":{"_id":null,"_id":"a"}}`, `{"index":{"_id":null,"_id":"b"}}`, `{"index":{"_id":"a","_id":"b"}}`, `{"index":{"_id":"a"}}`, `{"index":{"_id":"a"}}}`, `{"index":{"_id":"a"`,
		`{"index":{"op_type":"create","_id":"a"}}`, `{"index":{"op_type":"create","_id":"b"}}`, `{"create":{"_id":"a"}}`, `{"create":{"_id":"b"}}`, `{"update":{"_id":"b"}}`, `{"index":{"_index":"i","_id":""}}`,
	}
	type seen struct {
		op, word  BulkOp
		auto      bool
		meta, bad string
	}
	look := func(it BulkItem, err error) seen {
		if err != nil {
			return seen{bad: "yes"}
		}
		return seen{it.Op, it.Word, it.Auto, string(it.Meta), ""}
	}
	var alone, after BulkReader
	for _, first := range lines {
		for _, line := range lines {
			alone.Reset([]byte(line + "\n{}\n"))
			want := look(alone.Next())
			body := []byte(" \n" + first + "\n{}\n" + line + "\n{}\n")
			after.Reset(body)
			if _, err := after.Next(); err != nil {
				continue
			}
			it, err := after.Next()
			if got := look(it, err); got != want {
				t.Errorf("%s after %s: %+v, alone %+v", line, first, got, want)
			}
			if err == nil && string(body[it.MetaStart:it.MetaStart+len(it.Meta)]) != string(it.Meta) {
				t.Errorf("%s after %s: metadata at %d", line, first, it.MetaStart)
			}
		}
	}
}
