package proxy

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// Characters of which random heads are made. None of the names drawn from them
// concerns the connection: those are the documented changes.
const (
	nameChars   = "abXY-_.1!~"
	valueChars  = "abc XY\t,;:=\"'()<>@[]{}\\/?%\x80\xff"
	targetChars = "ab/._-~%2F*+;:,&=?#<>{}|\\^`\"[]@!$'()\x80\xff"
)

func drawText(chars string, max int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		picks := rapid.SliceOfN(rapid.IntRange(0, len(chars)-1), 0, max).Draw(t, "picks")
		b := make([]byte, len(picks))
		for i, k := range picks {
			b[i] = chars[k]
		}
		return string(b)
	})
}

func drawHeaders(t *rapid.T) string {
	var b strings.Builder
	for range rapid.IntRange(0, 8).Draw(t, "headers") {
		name := "x" + drawText(nameChars, 20).Draw(t, "name")
		if rapid.Bool().Draw(t, "known") {
			name = rapid.SampledFrom([]string{
				"accept", "AUTHORIZATION", "Content-type", "content-Encoding", "cookie", "User-agent", "Date", "server",
				"x-elastic-product", "Set-cookie", "warning", "Content-Language", "accept-encoding", "Referer",
			}).Draw(t, "name")
		}
		fmt.Fprintf(&b, "%s:%s\r\n", name, drawText(valueChars, 40).Draw(t, "value"))
	}
	return b.String()
}

// frame ends a head and appends the body in one of the framings.
func frame(t *rapid.T, head string, body []byte) string {
	if rapid.Bool().Draw(t, "chunked") {
		var b strings.Builder
		b.WriteString(head + rapid.SampledFrom([]string{"Transfer-Encoding: chunked", "transfer-encoding:Chunked"}).Draw(t, "te") + "\r\n\r\n")
		for len(body) > 0 {
			n := rapid.IntRange(1, len(body)).Draw(t, "chunk")
			fmt.Fprintf(&b, "%x\r\n%s\r\n", n, body[:n])
			body = body[n:]
		}
		return b.String() + "0\r\n\r\n"
	}
	return fmt.Sprintf("%s%s %d\r\n\r\n%s", head, rapid.SampledFrom([]string{"Content-Length:", "content-length:\t"}).Draw(t, "cl"), len(body), body)
}

// Whatever is sent, however it is cut, arrives; and so does the answer.
func TestDifferential(t *testing.T) {
	var mu sync.Mutex
	var replies []string
	n := answering(t, func(*seen) string {
		mu.Lock()
		defer mu.Unlock()
		r := replies[0]
		replies = replies[1:]
		return r
	})
	tap := newTap()
	p := start(t, Deps{Tap: tap}, func(c *Config) { c.StreamAbove = 8 << 10 }, n.url())
	offered := 0
	rapid.Check(t, func(t *rapid.T) {
		c := dial(n.t, p.addr)
		defer c.Close()
		before := len(n.requests())
		var wire strings.Builder
		var methods, sent, replied []string
		for range rapid.IntRange(1, 3).Draw(t, "requests") {
			method := rapid.SampledFrom([]string{"GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "X-Y"}).Draw(t, "method")
			target := "/" + drawText(targetChars, 60).Draw(t, "target")
			size := rapid.SampledFrom([]int{0, 1, 101, 5002, 8191, 8192, 8193, 70003})
			body := bytes.Repeat([]byte("b\r\n0"), 20000)[:size.Draw(t, "body")]
			req := frame(t, fmt.Sprintf("%s %s HTTP/1.1\r\nhOST: h\r\n%s", method, target, drawHeaders(t)), body)
			answerBody := bytes.Repeat([]byte("a\r\n0"), 20000)[:size.Draw(t, "answer")]
			status := rapid.SampledFrom([]string{"200 OK", "201 ", "404 Not Found", "500 x y", "429"}).Draw(t, "status")
			reply := frame(t, "HTTP/1.1 "+status+"\r\n"+drawHeaders(t), answerBody)
			wire.WriteString(req)
			methods, sent, replied = append(methods, method), append(sent, req), append(replied, reply)
		}
		mu.Lock()
		replies = slices.Clone(replied)
		mu.Unlock()

		all := wire.String()
		cuts := rapid.SliceOfN(rapid.IntRange(0, len(all)), 0, 5).Draw(t, "cuts")
		slices.Sort(cuts)
		from := 0
		for _, at := range append(cuts, len(all)) {
			c.write(all[from:at])
			from = at
		}
		for i := range sent {
			got := c.read(methods[i])
			want := parseAnswer(replied[i])
			if got.line != want.line || !slices.Equal(got.headers, want.headers) || !bytes.Equal(got.body, want.body) || got.err != nil {
				t.Fatalf("request %d %q: answer\n%+v, want\n%+v", i, sent[i], got, want)
			}
			arrived, _ := readSeen(newReader(sent[i]))
			s := n.requests()[before+i]
			if s.line != arrived.line || !slices.Equal(s.headers, arrived.headers) || !bytes.Equal(s.body, arrived.body) {
				t.Fatalf("request %d arrived as\n%q, sent\n%q", i, s.raw, sent[i])
			}
			offered++
			x := tap.wait(n.t, offered)[offered-1]
			if !bytes.Equal(x.Body, s.body) || !bytes.Equal(x.Answer, want.body) || x.Status != want.status() {
				t.Fatalf("request %d: the copy differs", i)
			}
			var lines []string
			for _, h := range x.Header {
				lines = append(lines, h.Name+":"+h.Value)
			}
			if len(lines) != len(s.headers) {
				t.Fatalf("request %d: headers %q, copied %q", i, s.headers, lines)
			}
		}
	})
}
