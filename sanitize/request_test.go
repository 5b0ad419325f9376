package sanitize

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/testenv"
)

const testKeyText = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

func testKey(t testing.TB) Key {
	t.Helper()
	k, err := ParseKey([]byte(testKeyText))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func preset(name string) Config {
	c := Default()
	c.Preset = name
	return c
}

func newWorker(t testing.TB, cfg Config) *Worker {
	t.Helper()
	p, err := New(cfg, testKey(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	return p.Worker()
}

// exchange makes an Exchange of a request; header are names and values in turn.
func exchange(method, target, body string, header ...string) *capture.Exchange {
	x := &capture.Exchange{Method: method, Target: target, Body: []byte(body), BodySize: int64(len(body)), Status: 200}
	for i := 0; i+1 < len(header); i += 2 {
		x.Header = append(x.Header, capture.Header{Name: header[i], Value: header[i+1]})
	}
	return x
}

// request is a line of the corpus.
type request struct {
	Name, Source, Method, Path, Kind string
	Headers                          map[string]string
	ContentType                      string `json:"content_type"`
	Body                             json.RawMessage
	BodyEncoding                     string `json:"body_encoding"`
	Canaries                         []string
	Position, Direction, Expect      string
	Status                           int
	ID                               string
}

// text is the body as bytes: a JSON string's text, or the JSON itself.
func (r *request) text(t testing.TB) string {
	if len(r.Body) == 0 || string(r.Body) == "null" {
		return ""
	}
	if r.Body[0] != '"' {
		return string(r.Body)
	}
	var s string
	if err := json.Unmarshal(r.Body, &s); err != nil {
		t.Fatal(err)
	}
	if r.BodyEncoding == "base64" {
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	return s
}

func (r *request) exchange(t testing.TB) *capture.Exchange {
	x := exchange(r.Method, r.Path, r.text(t))
	if !strings.HasPrefix(x.Target, "/") && !strings.Contains(x.Target, "://") {
		x.Target = "/" + x.Target
	}
	for k, v := range r.Headers {
		x.Header = append(x.Header, capture.Header{Name: k, Value: v})
	}
	if r.ContentType != "" {
		x.Header = append(x.Header, capture.Header{Name: "Content-Type", Value: r.ContentType})
	}
	return x
}

func corpus(t testing.TB, file string) []request {
	t.Helper()
	f, err := os.Open(testenv.Corpus(t, file))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var all []request
	in := bufio.NewReader(f)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 1 {
			var r request
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			all = append(all, r)
		}
		if err != nil {
			return all
		}
	}
}
