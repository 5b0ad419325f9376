//go:build faults && linux

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"testing"
)

const (
	hugeBody = 1 << 30
	hugeRSS  = 64 // MiB
)

// numbered is a body of n bytes without a repetition, which costs nothing to
// make: a block whose beginning counts.
type numbered struct {
	n, at int64
	block []byte
}

func newNumbered(n int64) *numbered {
	b := &numbered{n: n, block: make([]byte, 64<<10)}
	for i := range b.block {
		b.block[i] = byte(i * 7 >> 3)
	}
	return b
}

func (b *numbered) Read(p []byte) (int, error) {
	if b.at == b.n {
		return 0, io.EOF
	}
	off := b.at % int64(len(b.block))
	if off == 0 {
		binary.LittleEndian.PutUint64(b.block, uint64(b.at))
	}
	k := copy(p, b.block[off:min(int64(len(b.block)), off+b.n-b.at)])
	b.at += int64(k)
	return k, nil
}

// digest reads all, and says how much it was and its checksum.
func digest(r io.Reader) (string, error) {
	h := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	n, err := io.CopyBuffer(h, r, make([]byte, 256<<10))
	return fmt.Sprintf("%d bytes, %08x", n, h.Sum32()), err
}

// peakMiB is the most memory that a process had, in all and without that of its
// own file, now.
func peakMiB(t *testing.T, pid int) (most, anon float64) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) float64 {
		m := regexp.MustCompile(`(?m)^` + name + `:\s+(\d+) kB`).FindSubmatch(status)
		if m == nil {
			t.Fatalf("no %s in /proc/PID/status", name)
		}
		kib, err := strconv.ParseFloat(string(m[1]), 64)
		if err != nil {
			t.Fatal(err)
		}
		return kib / 1024
	}
	return read("VmHWM"), read("RssAnon")
}

// 1 GiB passes each way, by length and in chunks, with and without capture, and
// the process never has more than 64 MiB.
func TestFaultsHugeBodies(t *testing.T) {
	want, err := digest(newNumbered(hugeBody))
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 1)
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/_bulk" {
			_, _ = io.WriteString(w, "{}")
			return
		}
		sum, err := digest(r.Body)
		if err != nil {
			sum = err.Error()
		}
		select {
		case got <- sum:
		default: // the test has ended
		}
		if r.ContentLength >= 0 {
			w.Header().Set("Content-Length", strconv.Itoa(hugeBody))
		}
		_, _ = io.CopyBuffer(struct{ io.Writer }{w}, newNumbered(hugeBody), make([]byte, 64<<10))
	}))
	t.Cleanup(node.Close)
	for _, framing := range []string{"length", "chunks"} {
		for _, capture := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, capture %t", framing, capture), func(t *testing.T) {
				args := []string{"proxy", "--upstream", node.URL, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}
				if capture {
					args = proxyArgs(t, node.URL, t.TempDir()+"/c")
				}
				p := start(t, args...)
				url, admin := p.listening()
				idle, _ := peakMiB(t, p.cmd.Process.Pid)
				q, err := http.NewRequest(http.MethodPost, url+"/_bulk", newNumbered(hugeBody))
				if err != nil {
					t.Fatal(err)
				}
				if framing == "length" {
					q.ContentLength = hugeBody
				}
				res, err := http.DefaultClient.Do(q)
				if err != nil {
					t.Fatal(err)
				}
				back, err := digest(res.Body)
				_ = res.Body.Close()
				var sent string
				select {
				case sent = <-got:
				default:
				}
				if sent != want || back != want || err != nil || res.StatusCode != 200 {
					t.Errorf("%d: the node got %s, the client %s (%v), want %s", res.StatusCode, sent, back, err, want)
				}
				most, anon := peakMiB(t, p.cmd.Process.Pid)
				t.Logf("%.1f MiB at the start, %.1f at most; %.1f of its own at the end", idle, most, anon)
				if most > hugeRSS {
					t.Errorf("the process had %.1f MiB, want at most %d", most, hugeRSS)
				}
				if capture {
					_, text := get(t, admin+"/metrics")
					if n := metric(text, `esshadow_capture_records_total{reason="body_too_large",result="dropped"}`); n != 1 {
						t.Errorf("%v dropped as too large, want 1", n)
					}
				}
				ends(t, p)
			})
		}
	}
}

// The body that the test sends is what it is said to be.
func TestFaultsNumberedBody(t *testing.T) {
	all, err := io.ReadAll(newNumbered(200_000))
	if err != nil || len(all) != 200_000 || bytes.Equal(all[:65536], all[65536:131072]) || !bytes.Equal(all[8:65536], all[65544:131072]) {
		t.Errorf("%d bytes, %v", len(all), err)
	}
}
