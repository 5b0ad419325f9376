package capture

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/internal/testenv"
)

// corpusRequest is a line of the corpus. Bodies that are JSON stand as such,
// others as text.
type corpusRequest struct {
	Method string          `json:"method"`
	Path   string          `json:"path"`
	Body   json.RawMessage `json:"body"`
}

func corpus(t *testing.T, file string) (out []*Exchange) {
	t.Helper()
	all, err := os.ReadFile(testenv.Corpus(t, file))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(all) {
		var c corpusRequest
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		body := []byte(c.Body)
		var text string
		if json.Unmarshal(c.Body, &text) == nil {
			body = []byte(text)
		}
		out = append(out, &Exchange{
			Time: int64(len(out) + 1), Conn: 1, Request: uint64(len(out) + 1),
			Method: c.Method, Target: c.Path, Body: body, BodySize: int64(len(body)),
		})
	}
	return out
}

// Every request of the corpus goes through recorder, file and source, comes out
// byte for byte or is filtered by its class, and nothing is lost uncounted.
func TestCorpusThroughFiles(t *testing.T) {
	for _, file := range []string{"search_bodies.ndjson", "bulk_bodies.ndjson", "other_requests.ndjson"} {
		t.Run(file, func(t *testing.T) {
			requests := corpus(t, file)
			dir := t.TempDir()
			f := onDisk(t, segmentConfig(dir))
			want := map[int64]*Exchange{}
			for _, x := range requests {
				if filterReason(es.Classify(x.Method, x.Target)) == "" {
					want[x.Time] = x
				}
				f.Offer(x)
			}
			s, err := f.Close(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			f.balanced(t, s, uint64(len(requests)))
			if s.Captured != uint64(len(want)) || s.Captured == 0 || len(s.Dropped) > 0 {
				t.Errorf("%d of %d captured: %+v", s.Captured, len(want), s)
			}
			got, err := readAll(openAll(t, SourceOptions{}, dir))
			if err != nil || len(got) != len(want) {
				t.Errorf("%d records of %d, %v", len(got), len(want), err)
			}
			for i := range got {
				x := want[got[i].Time]
				if x == nil || !bytes.Equal(x.Body, got[i].Body) || x.Target != got[i].Target || x.Method != got[i].Method {
					t.Fatalf("request %d changed", got[i].Time)
				}
			}
			t.Logf("%d requests, %d captured, %d bytes of lines, %d in files", len(requests), s.Captured, s.RawBytes, s.WrittenBytes)
		})
	}
}
