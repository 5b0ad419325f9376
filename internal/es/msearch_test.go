package es

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func msearchWords(body string) (words []string) {
	var r MsearchReader
	r.Reset([]byte(body))
	for {
		it, err := r.Next()
		if errors.Is(err, io.EOF) {
			return words
		}
		w := fmt.Sprintf("%d:%s|%s", it.Line, it.Header, it.Body)
		if it.NoBody {
			w += " nobody"
		}
		words = append(words, w)
	}
}

func TestMsearchReader(t *testing.T) {
	tests := []struct {
		name, body string
		want       []string
	}{
		{"empty", "", nil},
		{"blank", "\n\n \r\n", nil},
		{"two", "{\"index\":\"a\"}\n{\"size\":0}\n{}\n{}\n", []string{`1:{"index":"a"}|{"size":0}`, `3:{}|{}`}},
		{"no final newline", "{}\n{\"a\":1}", []string{`1:{}|{"a":1}`}},
		{"carriage returns", "{}\r\n{\"a\":1}\r\n", []string{`1:{}|{"a":1}`}},
		{"empty header later", "{}\n{\"a\":1}\n\n{\"b\":1}\n", []string{`1:{}|{"a":1}`, `3:|{"b":1}`}},
		{"empty header first", "\n{\"a\":1}\n", []string{`1:|{"a":1}`}},
		{"empty header first, then more", "\n{\"a\":1}\n{}\n{\"b\":1}\n", []string{`1:|{"a":1}`, `3:{}|{"b":1}`}},
		{"leading blank line of version 7", "\n{}\n{\"a\":1}\n", []string{`2:{}|{"a":1}`}},
		{"empty body", "{}\n\n{}\n{\"b\":1}\n", []string{`1:{}|`, `3:{}|{"b":1}`}},
		{"header without body", "{}\n{\"a\":1}\n{\"index\":\"b\"}\n", []string{`1:{}|{"a":1}`, `3:{"index":"b"}| nobody`}},
		{"blank lines at the end", "{}\n{\"a\":1}\n\n\n", []string{`1:{}|{"a":1}`}},
		{"nothing is parsed", "x\ny\n", []string{"1:x|y"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := msearchWords(tt.body); strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestMsearchReaderExtents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := []byte(strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"", " ", "{}", "{\"a\":1}\r"})).Draw(t, "lines"), "\n"))
		checkMsearch(t, body)
	})
}

func checkMsearch(t interface{ Fatalf(string, ...any) }, body []byte) {
	var r MsearchReader
	r.Reset(body)
	last := 0
	for {
		it, err := r.Next()
		if err != nil {
			break
		}
		if !blank(body[last:it.Start]) || it.End <= it.Start || it.End > len(body) {
			t.Fatalf("item %d–%d after %d", it.Start, it.End, last)
		}
		if !bytes.HasPrefix(body[it.Start:], it.Header) || !bytes.HasPrefix(body[it.BodyStart:], it.Body) {
			t.Fatalf("parts are elsewhere")
		}
		last = it.End
	}
	if !blank(body[last:]) {
		t.Fatalf("left over at %d of %d", last, len(body))
	}
}

func FuzzMsearchReader(f *testing.F) {
	for _, s := range []string{"", "\n{}\n{}\n", "{}\n", "\n\n\n", "{}\r\n{}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) { checkMsearch(t, body) })
}
