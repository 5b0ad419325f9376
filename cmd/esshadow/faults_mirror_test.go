//go:build faults && linux

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/esshadow/esshadow/internal/testenv"
)

// newShadow is a target that says who it is, and does with all else what act says.
func newShadow(t *testing.T, act func(c *net.TCPConn, r *http.Request) bool) *brokenNode {
	t.Helper()
	const who = `{"name":"shadow","cluster_name":"shadow","cluster_uuid":"shadow-uuid","version":{"number":"8.19.0","build_flavor":"default"},"tagline":"You Know, for Search"}`
	return newBrokenNode(t, func(c *net.TCPConn, r *http.Request) bool {
		if r.URL.Path != "/" {
			return act(c, r)
		}
		_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s", len(who), who)
		return true
	})
}

// blackHole takes everything and answers nothing.
func blackHole(c *net.TCPConn, _ *http.Request) bool {
	_, _ = io.Copy(io.Discard, c)
	return false
}

func says(text string) func(c *net.TCPConn, _ *http.Request) bool {
	return func(c *net.TCPConn, _ *http.Request) bool {
		_, _ = io.WriteString(c, text)
		return true
	}
}

// Whatever a mirror's target does to it, no client's request fails, and the sums
// hold.
func TestFaultsMirror(t *testing.T) {
	for name, x := range map[string]struct {
		act   func(c *net.TCPConn, r *http.Request) bool
		class string // of the errors; "": none
	}{
		"freezes": {blackHole, "timeout"},
		"resets before a byte": {func(c *net.TCPConn, _ *http.Request) bool {
			_ = c.SetLinger(0)
			return false
		}, "reset"},
		"resets mid-body": {func(c *net.TCPConn, _ *http.Request) bool {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\ncontent-length: 3000000\r\n\r\n"+strings.Repeat("x", 100_000))
			return false
		}, "unreadable"},
		"answers garbage": {func(c *net.TCPConn, _ *http.Request) bool {
			_, _ = io.WriteString(c, "\x16\x03\x01 garbage\r\n\r\n")
			return false
		}, "unreadable"},
		"storm of 503": {says("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n"), "unavailable"},
		"storm of 429": {says("HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n"), "throttled"},
		"huge answers": {func(c *net.TCPConn, _ *http.Request) bool {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 20000000\r\n\r\n")
			piece := make([]byte, 1<<20)
			for range 20 {
				_, _ = c.Write(piece[:1_000_000])
			}
			return true
		}, "unreadable"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t)
			send(t, "POST", e.url+"/_bulk?refresh=true", bulkBody("items", 0, 4))
			shadow := newShadow(t, x.act)
			dir := filepath.Join(t.TempDir(), "run")
			p := start(t, mirrorArgs(t, e.url, "http://"+shadow.Addr().String(), dir, "--mirror-timeout", "300ms", "--mirror-in-flight", "64")...)
			url, admin := p.listening()
			l := newLoad(url, 2, 1)
			l.after(t, 300)
			wait(t, "errors are counted", func() bool {
				_, text := get(t, admin+"/metrics")
				return metric(text, fmt.Sprintf("esshadow_mirror_errors_total{class=%q}", x.class)) > 0
			})
			if name != "huge answers" { // which are answers
				wait(t, "the breaker opens", func() bool {
					_, text := get(t, admin+"/metrics")
					return metric(text, `esshadow_mirror_shed_total{reason="breaker_open"}`) > 0
				})
			}
			l.after(t, 100)
			if code, text := get(t, admin+"/readyz"); code != 200 {
				t.Errorf("readyz %d %s: traffic passes", code, text)
			}
			l.stop(t)
			_, text := get(t, admin+"/metrics")
			if held := metric(text, "esshadow_mirror_in_flight"); held > 64 {
				t.Errorf("%v requests are held", held)
			}
			ends(t, p)
			if !strings.Contains(p.err(), "esshadow mirror: offered") {
				t.Errorf("no sums:\n%s", p.err())
			}
			r := esshadow(t, nil, "report", "--format", "json", dir).want(t, exitDone)
			c := decode[struct {
				Counts struct {
					Records, Planned, Sent int
					Shed, Refused, Errors  map[string]int
				}
			}](t, r.out).Counts
			shed := 0
			for _, n := range c.Shed {
				shed += n
			}
			if c.Planned != c.Sent+shed || c.Records != int(l.sent.Load()) || c.Errors[x.class] == 0 {
				t.Errorf("%d requests of clients: %+v", l.sent.Load(), c)
			}
		})
	}
}

// A target that takes connections and says nothing at all, not even who it is,
// delays the start by the time of one question, and gets nothing.
func TestFaultsMirrorToNobody(t *testing.T) {
	e := newEngine(t)
	send(t, "POST", e.url+"/_bulk?refresh=true", bulkBody("items", 0, 4))
	hole := newBrokenNode(t, blackHole)
	p := start(t, mirrorArgs(t, e.url, "http://"+hole.Addr().String(), filepath.Join(t.TempDir(), "run"))...)
	url, admin := p.listening()
	l := newLoad(url, 2, 0)
	l.after(t, 200)
	l.stop(t)
	_, text := get(t, admin+"/metrics")
	if metric(text, "esshadow_mirror_sent_total") != 0 || metric(text, `esshadow_mirror_shed_total{reason="breaker_open"}`) < 200 {
		t.Errorf("not all is shed:\n%s", text)
	}
	ends(t, p)
	if hole.conns.Load() > 20 {
		t.Errorf("%d connections to a target that says nothing", hole.conns.Load())
	}
}

// Clients of a proxy with a mirror that hangs wait no longer than those of one
// without.
func TestFaultsMirrorCostsNoClient(t *testing.T) {
	e := newEngine(t)
	send(t, "POST", e.url+"/_bulk?refresh=true", bulkBody("items", 0, 48))
	shadow := newShadow(t, blackHole)
	with := start(t, mirrorArgs(t, e.url, "http://"+shadow.Addr().String(), filepath.Join(t.TempDir(), "run"), "--mirror-timeout", "2s", "--mirror-in-flight", "32")...)
	without := start(t, "proxy", "--upstream", e.url, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	withURL, admin := with.listening()
	withoutURL, _ := without.listening()
	var took [2][]time.Duration
	for i := range 1000 { // in turn, so that the machine's moods are the same for both
		for k, url := range []string{withURL, withoutURL} {
			begin := time.Now()
			send(t, "POST", url+"/items/_search", searchBody(i))
			took[k] = append(took[k], time.Since(begin))
		}
	}
	var p50, p99 [2]time.Duration
	for k := range took {
		slices.Sort(took[k])
		p50[k], p99[k] = took[k][len(took[k])/2], took[k][len(took[k])*99/100]
	}
	_, text := get(t, admin+"/metrics")
	t.Logf("with a mirror that hangs: p50 %s, p99 %s; without: p50 %s, p99 %s; shed for in_flight %v, for the breaker %v",
		p50[0], p99[0], p50[1], p99[1], metric(text, `esshadow_mirror_shed_total{reason="in_flight"}`), metric(text, `esshadow_mirror_shed_total{reason="breaker_open"}`))
	if p50[0] > 2*p50[1]+2*time.Millisecond || p99[0] > 4*p99[1]+50*time.Millisecond {
		t.Error("clients wait for the mirror")
	}
	ends(t, with)
	ends(t, without)
}

// A full disk costs the mirror its outcomes, and nothing else.
func TestFaultsMirrorDiskFull(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=2m,mode=0700"); err != nil {
		testenv.Skip(t, "a small tmpfs cannot be mounted here (it takes root): "+err.Error())
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	source, target := newEngine(t), newEngine(t)
	for _, e := range []*engine{source, target} {
		send(t, "POST", e.url+"/_bulk?refresh=true", bulkBody("items", 0, 4))
	}
	file := filepath.Join(t.TempDir(), "esshadow.yml")
	if err := os.WriteFile(file, []byte("mirror:\n  min_free: 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(dir, "run")
	p := start(t, mirrorArgs(t, source.url, target.url, run, "--config", file)...)
	url, admin := p.listening()
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 4<<20), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	l := newLoad(url, 2, 0)
	state := func() string {
		_, text := get(t, admin+"/readyz")
		return decode[struct{ Mirror struct{ Disk string } }](t, text).Mirror.Disk
	}
	wait(t, "the disk is full", func() bool { return state() != "on" })
	l.after(t, 200)
	sentBefore := func() float64 {
		_, text := get(t, admin+"/metrics")
		return metric(text, "esshadow_mirror_sent_total")
	}
	n := sentBefore()
	wait(t, "mirroring goes on", func() bool { return sentBefore() > n })
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	wait(t, "outcomes are written again", func() bool { return state() == "on" })
	l.after(t, 100)
	l.stop(t)
	_, text := get(t, admin+"/metrics")
	if lost := metric(text, `esshadow_mirror_outcomes_total{result="lost"}`); lost < 1 {
		t.Errorf("%v outcomes are lost", lost)
	}
	ends(t, p)
	esshadow(t, nil, "report", run).want(t, exitDone)
}
