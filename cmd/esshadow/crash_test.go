package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/esshadow/esshadow/capture/segment"
)

// acknowledged is when a client got the whole answer to each of its requests.
type acknowledged struct {
	mu sync.Mutex
	at map[int]time.Time
}

// drive sends searches that can be told apart in the capture, by their from and
// size, from several clients until ctx ends or the server goes away.
func (a *acknowledged) drive(ctx context.Context, url string, clients int) {
	var all sync.WaitGroup
	numbers := make(chan int)
	tr := &http.Transport{MaxIdleConnsPerHost: clients}
	defer tr.CloseIdleConnections()
	client := &http.Client{Transport: tr}
	for range clients {
		all.Go(func() {
			for n := range numbers {
				body := fmt.Sprintf(`{"query":{"match_all":{}},"from":%d,"size":%d}`, n%5000, n/5000)
				res, err := client.Post(url+"/items/_search", "application/json", strings.NewReader(body))
				if err != nil {
					continue
				}
				_, err = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
				if err == nil && res.StatusCode == http.StatusOK {
					a.mu.Lock()
					a.at[n] = time.Now()
					a.mu.Unlock()
				}
			}
		})
	}
	for n := 1; ctx.Err() == nil; n++ {
		select {
		case numbers <- n:
		case <-ctx.Done():
		}
		pause(ctx, 2*time.Millisecond)
	}
	close(numbers)
	all.Wait()
}

// Killed under load, a proxy loses at most what its clients were told within the
// flush interval and a second; what is left can be repaired.
func TestKilledProxyLosesAtMostTheFlushInterval(t *testing.T) {
	e := newEngine(t)
	send(t, "POST", e.url+"/_bulk", bulkBody("items", 0, 4))
	dir := filepath.Join(t.TempDir(), "capture")
	p := start(t, proxyArgs(t, e.url, dir)...)
	url, _ := p.listening()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	acks := acknowledged{at: map[int]time.Time{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		acks.drive(ctx, url, 4)
	}()
	pause(ctx, 4*time.Second)
	killed := time.Now()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.exited
	stop()
	<-done

	r := esshadow(t, nil, "capture", "verify", dir).want(t, exitFailed, "1 of 1 files are not whole")
	if !strings.Contains(r.out, "torn") {
		t.Errorf("verify: %s", r.out)
	}
	r = esshadow(t, nil, "capture", "repair", dir).want(t, exitDone)
	if !strings.Contains(r.out, "closed as") {
		t.Errorf("repair: %s", r.out)
	}
	esshadow(t, nil, "capture", "verify", dir).want(t, exitDone)
	esshadow(t, nil, "capture", "repair", dir).want(t, exitDone) // again: nothing to do

	held := numbersIn(t, esshadow(t, nil, "capture", "cat", dir).want(t, exitDone).out)
	bound := segment.DefaultConfig().FlushInterval + time.Second
	old, lost, oldestLost := 0, 0, time.Duration(0)
	for n, at := range acks.at {
		age := killed.Sub(at)
		if age > bound {
			old++
		}
		if held[n] {
			continue
		}
		lost++
		oldestLost = max(oldestLost, age)
		if age > bound {
			t.Errorf("request %d was acknowledged %s before the kill and is not in the capture", n, age)
		}
	}
	t.Logf("%d acknowledged, %d of them longer than %s ago; %d held, %d lost, the oldest of them acknowledged %s before the kill",
		len(acks.at), old, bound, len(held), lost, oldestLost.Round(time.Millisecond))
	if old < 100 {
		t.Errorf("only %d requests were old enough to test anything", old)
	}
}

// numbersIn finds the requests of drive in the lines of capture cat.
func numbersIn(t *testing.T, lines string) map[int]bool {
	t.Helper()
	found := map[int]bool{}
	from, size := regexp.MustCompile(`"from":(\d+)`), regexp.MustCompile(`"size":(\d+)`)
	for line := range strings.Lines(lines) {
		var rec struct {
			Body json.RawMessage `json:"body"`
		}
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			t.Fatalf("a line of cat is no JSON: %v", err)
		}
		body := string(rec.Body)
		if text := ""; json.Unmarshal(rec.Body, &text) == nil {
			body = text
		}
		f, s := from.FindStringSubmatch(body), size.FindStringSubmatch(body)
		if f == nil || s == nil {
			t.Fatalf("a record without from and size: %.300s", line)
		}
		a, _ := strconv.Atoi(f[1])
		b, _ := strconv.Atoi(s[1])
		found[b*5000+a] = true
	}
	return found
}
