package proxy

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// The standard library on both sides finds nothing between them.
func TestStandardClientAndServer(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Seen", fmt.Sprint(r.Method, r.ContentLength, r.TransferEncoding, r.Header.Get("Expect")))
		b, _ := io.ReadAll(r.Body) // the server gives up a body once it has answered
		_, _ = w.Write(b)
	})
	mux.HandleFunc("/pieces", func(w http.ResponseWriter, _ *http.Request) {
		for i := range 20 {
			fmt.Fprintf(w, "%d;", i)
			w.(http.Flusher).Flush()
		}
	})
	mux.HandleFunc("/gzip", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, strings.Repeat("zipped", 1000))
		_ = z.Close()
	})
	mux.HandleFunc("/none", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) })
	node := httptest.NewServer(mux)
	defer node.Close()
	p := start(t, Deps{Tap: newTap()}, nil, node.URL)
	tr := &http.Transport{MaxIdleConnsPerHost: 8}
	defer tr.CloseIdleConnections()
	c := &http.Client{Transport: tr}
	do := func(method, path string, body io.Reader, expect bool) (string, http.Header, error) {
		req, err := http.NewRequest(method, "http://"+p.addr+path, body)
		if err != nil {
			return "", nil, err
		}
		if expect {
			req.Header.Set("Expect", "100-continue")
		}
		resp, err := c.Do(req)
		if err != nil {
			return "", nil, err
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		return string(b), resp.Header, err
	}

	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range 10 {
				big := strings.Repeat(fmt.Sprint(worker, i), 1<<(2*i))
				pipe, w := io.Pipe()
				go func() {
					_, err := io.WriteString(w, big)
					_ = w.CloseWithError(err)
				}()
				var pieces strings.Builder
				for k := range 20 {
					fmt.Fprintf(&pieces, "%d;", k)
				}
				for _, want := range []struct {
					method, path, body string
					in                 io.Reader
					expect             bool
				}{
					{"POST", "/echo", big, strings.NewReader(big), false},
					{"POST", "/echo", big, bytes.NewReader([]byte(big)), true},
					{"PUT", "/echo", big, pipe, false},
					{"GET", "/pieces", pieces.String(), nil, false},
					{"GET", "/gzip", strings.Repeat("zipped", 1000), nil, false},
					{"HEAD", "/gzip", "", nil, false},
					{"DELETE", "/none", "", nil, false},
				} {
					got, h, err := do(want.method, want.path, want.in, want.expect)
					if err != nil || got != want.body {
						t.Errorf("%s %s: %d bytes, want %d (%v)", want.method, want.path, len(got), len(want.body), err)
					}
					if want.in == pipe && !strings.Contains(h.Get("X-Seen"), "chunked") {
						t.Errorf("the framing changed: %s", h.Get("X-Seen"))
					}
					if strings.Contains(h.Get("X-Seen"), "100-continue") {
						t.Error("Expect was passed on")
					}
				}
			}
		})
	}
	wg.Wait()
}
