//go:build faults && linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// files raises the limit of open files of this process, and of those it starts.
func files(t *testing.T, want uint64) {
	t.Helper()
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		t.Fatal(err)
	}
	if l.Cur >= want {
		return
	}
	l.Cur = min(max(l.Cur, want), max(l.Max, l.Cur))
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l); err != nil || l.Cur < want {
		t.Fatalf("this test needs %d open files, the limit is %d: %v", want, l.Max, err)
	}
}

// Slow and aborting clients cost nobody else anything.
func TestFaultsClients(t *testing.T) {
	e := newEngine(t)
	send(t, "POST", e.url+"/_bulk", bulkBody("items", 0, 4))
	p := start(t, proxyArgs(t, e.url, t.TempDir()+"/c")...)
	url, admin := p.listening()
	addr := strings.TrimPrefix(url, "http://")
	connect := func() net.Conn {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	ended := make(chan struct{})
	var rude sync.WaitGroup
	for range 50 { // a byte at a time
		rude.Go(func() {
			c := connect()
			defer func() { _ = c.Close() }()
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for _, b := range []byte(strings.Repeat("POST /items/_search HTTP/1.1\r\nHost: h\r\n\r\n", 100)) {
				select {
				case <-ended:
					return
				case <-tick.C:
				}
				if _, err := c.Write([]byte{b}); err != nil {
					return
				}
			}
		})
	}
	for i := range 8 { // leave in the head, in the body, before the answer
		rude.Go(func() {
			body := searchBody(1)
			whole := fmt.Sprintf("POST /items/_search HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
			for n := i; ; n += 7 {
				select {
				case <-ended:
					return
				default:
				}
				c := connect()
				_, _ = io.WriteString(c, whole[:n%(len(whole)+1)])
				if n%2 == 0 {
					_ = c.(*net.TCPConn).SetLinger(0)
				}
				_ = c.Close()
			}
		})
	}
	l := newLoad(url, 4, 2)
	l.after(t, 2000)
	l.stop(t)
	close(ended)
	rude.Wait()
	wait(t, "nothing is left", func() bool {
		_, text := get(t, admin+"/metrics")
		return metric(text, "esshadow_proxy_in_flight") == 0 && metric(text, "esshadow_proxy_panics_total") == 0
	})
	ends(t, p)
}

// 5000 connections that were used once and stay, beside others that work.
func TestFaultsIdleConnections(t *testing.T) {
	const count = 5000
	files(t, count+1000)
	e := newEngine(t)
	send(t, "POST", e.url+"/_bulk", bulkBody("items", 0, 4))
	p := start(t, proxyArgs(t, e.url, t.TempDir()+"/c")...)
	url, admin := p.listening()
	rss := func() float64 {
		_, text := get(t, admin+"/metrics")
		return metric(text, "process_resident_memory_bytes") / (1 << 20)
	}
	before := rss()
	conns := make([]net.Conn, 0, count)
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	for range count {
		c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
		_ = c.SetDeadline(time.Now().Add(2 * patience))
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || res.StatusCode != 200 {
			t.Fatalf("connection %d: %v", len(conns), err)
		}
	}
	after := rss()
	t.Logf("%d idle connections: %.0f MiB, then %.0f MiB: %.1f KiB each", count, before, after, (after-before)*1024/count)
	if each := (after - before) * 1024 / count; each > 64 {
		t.Errorf("an idle connection costs %.1f KiB", each)
	}
	l := newLoad(url, 4, 4)
	l.after(t, 1000)
	l.stop(t)
	ends(t, p)
}

// 10000 connections for one request each.
func TestFaultsShortConnections(t *testing.T) {
	e := newEngine(t)
	send(t, "POST", e.url+"/_bulk", bulkBody("items", 0, 4))
	p := start(t, proxyArgs(t, e.url, t.TempDir()+"/c")...)
	url, admin := p.listening()
	l := newLoad(url, 0, 16)
	for end := time.Now().Add(10 * patience); l.sent.Load() < 10_000 && time.Now().Before(end); {
		l.after(t, 100)
	}
	l.stop(t)
	wait(t, "all are closed", func() bool {
		fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
		return err == nil && len(fds) < 64
	})
	_, text := get(t, admin+"/metrics")
	if n := metric(text, `esshadow_proxy_requests_total{code="200",op="search"}`); n < 10_000 {
		t.Errorf("%v requests counted", n)
	}
	ends(t, p)
}
