package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestMessageAtEveryCut(t *testing.T) {
	for _, tc := range []struct {
		name   string
		answer bool
		bytes  string
	}{
		{"answer", true, string(bulkAnswer(2048))},
		{"empty answer", true, "HTTP/1.1 200 OK\r\nDate: x\r\nCONTENT-LENGTH:  0\r\n\r\n"},
		{"request", false, string(searches(1)[0])},
		{"request without a body", false, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			// What follows is of the next message.
			all := []byte(tc.bytes + "HTTP")
			for cut := 1; cut <= len(tc.bytes); cut++ {
				m := message{answer: tc.answer}
				n, done, err := m.feed(all[:cut])
				if err != nil || done != (cut == len(tc.bytes)) || n != cut {
					t.Fatalf("cut at %d: %d, %t, %v", cut, n, done, err)
				}
				if done {
					continue
				}
				n, done, err = m.feed(all[cut:])
				if err != nil || !done || n != len(tc.bytes)-cut {
					t.Fatalf("after the cut at %d: %d, %t, %v", cut, n, done, err)
				}
				if tc.answer && m.status() != 200 {
					t.Fatalf("status %d", m.status())
				}
			}
		})
	}
}

func TestMessageRefuses(t *testing.T) {
	for _, tc := range []struct {
		name, bytes string
		want        error
	}{
		{"chunks", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", errLength},
		{"a body up to the end", "HTTP/1.1 200 OK\r\n\r\n", errLength},
		{"a negative length", "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n", errLength},
		{"a head without an end", strings.Repeat("x", maxHead), errHead},
	} {
		m := message{answer: true}
		if _, _, err := m.feed([]byte(tc.bytes)); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.want)
		}
	}
}

func TestBodies(t *testing.T) {
	body := func(m []byte) []byte {
		_, b, _ := bytes.Cut(m, []byte("\r\n\r\n"))
		return b
	}
	sum, seen := 0, map[string]bool{}
	for _, r := range searches(1000) {
		b := body(r)
		if !json.Valid(b) {
			t.Fatalf("not JSON: %s", b)
		}
		sum += len(b)
		seen[string(b)] = true
	}
	if mean := sum / 1000; mean < 500 || mean > 600 || len(seen) != 1000 {
		t.Errorf("searches: %d bytes, %d different", mean, len(seen))
	}
	b := body(bulks(1, 200)[0])
	if len(b) != 200*docBytes {
		t.Errorf("bulk: %d bytes", len(b))
	}
	for line := range bytes.Lines(b) {
		if !json.Valid(line) {
			t.Fatalf("not JSON: %s", line)
		}
	}
	var answer struct{ Items []any }
	if err := json.Unmarshal(body(bulkAnswer(int64(len(b)))), &answer); err != nil || len(answer.Items) != 200 {
		t.Errorf("bulk answer: %v, %d items", err, len(answer.Items))
	}
	for name, a := range map[string][]byte{"search": searchAnswer(), "root": rootAnswer("u")} {
		if !json.Valid(body(a)) {
			t.Errorf("%s answer is not JSON", name)
		}
	}
	if n := len(body(searchAnswer())); n < 1800 || n > 2200 {
		t.Errorf("search answer: %d bytes", n)
	}
}

func TestParseBenchmarks(t *testing.T) {
	got, err := parseBenchmarks(strings.NewReader("goos: linux\nBenchmarkA/b_c-2 \t 100\t 20.5 ns/op\t 300 MB/s\t 0 B/op\t 1 allocs/op\n" +
		"BenchmarkA/b_c-2 \t 100\t 30.5 ns/op\t 100 MB/s\t 0 B/op\t 1 allocs/op\nBenchmarkB \t 1\t 7 ns/op\t 5.6 ratio\nPASS\nok  \tx\t1.2s\n"))
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %d", err, len(got))
	}
	if a := got[0]; a.name != "A/b_c" || median(a.of["ns/op"]) != 25.5 || median(a.of["MB/s"]) != 200 || median(a.of["allocs/op"]) != 1 {
		t.Errorf("%+v", a)
	}
	if b := got[1]; b.name != "B" || median(b.of["ratio"]) != 5.6 {
		t.Errorf("%+v", b)
	}
	var out bytes.Buffer
	benchmarkTable("p", got).print(&out)
	for _, want := range []string{"### p", "| A/b c |", "| 25.5 |", "5.6 ratio"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestLinesTable(t *testing.T) {
	got, err := parseBenchmarks(strings.NewReader("BenchmarkLines/some_bulks/strict-2 1 5 ns/op 300 MB/s 40.0 MB/cpu-s 0.5 B/doc 0.01 allocs/doc\n" +
		"BenchmarkLines/some_bulks/peer_encoding/json_round_trip-2 1 5 ns/op 300 MB/s 20.0 MB/cpu-s\n" +
		"BenchmarkLines/some_bulks/peer_fastjson_walk-2 1 5 ns/op 300 MB/s 160 MB/cpu-s\n" +
		"BenchmarkLines/searches/strict-2 1 5 ns/op 300 MB/s 50 MB/cpu-s\n"))
	if err != nil {
		t.Fatal(err)
	}
	rows := linesTable(got).rows
	for i, want := range []string{
		"some bulks: strict 40 300 2.00 0.25 0.5 0.01 0",
		"some bulks: peer encoding/json round trip 20 300 1.00 0.12 – – 0",
		"some bulks: peer fastjson walk 160 300 8.00 1.00 – – 0",
		"searches: strict 50 300 – – – – 0", // its peers have not run
	} {
		if got := strings.Join(rows[i], " "); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestMedianAndRatio(t *testing.T) {
	for _, tc := range []struct {
		name string
		got  any
		want any
	}{
		{"nothing", median(nil), 0.0},
		{"odd", median([]float64{3, 1, 2}), 2.0},
		{"even", median([]float64{4, 1, 2, 3}), 2.5},
		// Each round against its own peer: the medians themselves would give 1.
		{"ratio", ratio([]float64{10, 20, 30}, []float64{20, 10, 15}), "2.00"},
		{"ratio to nothing", ratio([]float64{1}, nil), "–"},
		{"ratio to zero", ratio([]float64{1}, []float64{0}), "–"},
		{"difference", difference([]float64{5, 7, 9}, []float64{1, 1, 1}), "6"},
		{"spread", spread([]float64{9, 10, 11}), 20.0},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, tc.got, tc.want)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, tc := range []struct {
		args string
		ok   bool
	}{
		{"", true},
		{"-only proxy -rounds 1 -scale 0.1", true},
		{"-only lines,proxy", true},
		{"-only nginx", false},
		{"-rounds 0", false},
		{"-scale -1", false},
		{"proxy", false},
	} {
		if _, err := parseOptions(strings.Fields(tc.args), &bytes.Buffer{}); (err == nil) != tc.ok {
			t.Errorf("%q: %v", tc.args, err)
		}
	}
}
