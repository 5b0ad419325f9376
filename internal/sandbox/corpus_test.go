package sandbox

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/esshadow/esshadow/internal/testenv"
)

// TestCorpus sends every real request there is: whatever it asks, the answer is
// JSON, and never an accident of the engine.
func TestCorpus(t *testing.T) {
	for _, file := range []string{"bulk_bodies.ndjson", "search_bodies.ndjson", "other_requests.ndjson"} {
		t.Run(file, func(t *testing.T) {
			f, err := os.Open(testenv.Corpus(t, file))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			e := newEngine(t, Options{})
			in := bufio.NewReaderSize(f, 64<<20)
			counts := map[int]int{}
			for {
				line, err := in.ReadSlice('\n')
				if len(line) == 0 && err != nil {
					break
				}
				method, path, body := corpusRequest(t, line)
				if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, " \t") {
					continue // not a request line: a placeholder of the corpus
				}
				w := call(e, method+" "+path, body)
				counts[w.Code]++
				empty := w.Body.Len() == 0 && method == "HEAD"
				text := strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain")
				if w.Code >= 500 || !json.Valid(w.Body.Bytes()) && !empty && !text {
					t.Errorf("%s %s %s: %d %s", method, path, body, w.Code, w.Body)
				}
			}
			t.Logf("answers by status: %v", counts)
			if counts[200] == 0 {
				t.Error("nothing was answered")
			}
		})
	}
}

func corpusRequest(t *testing.T, line []byte) (method, path, body string) {
	t.Helper()
	var r struct {
		Method, Path string
		Body         json.RawMessage
	}
	if err := json.Unmarshal(line, &r); err != nil {
		t.Fatal(err)
	}
	body = string(r.Body)
	var text string
	if json.Unmarshal(r.Body, &text) == nil {
		body = text
	}
	return r.Method, r.Path, body
}
