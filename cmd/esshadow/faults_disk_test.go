//go:build faults && linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/esshadow/esshadow/internal/testenv"
)

// Killed at ten random moments, the proxy leaves files that can be repaired and
// hold all that clients were told more than the flush interval and a second ago.
func TestFaultsKills(t *testing.T) {
	const flush = 200 * time.Millisecond
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	e := newEngine(t)
	send(t, "POST", e.url+"/_bulk", bulkBody("items", 0, 4))
	file := filepath.Join(t.TempDir(), "esshadow.yml")
	if err := os.WriteFile(file, fmt.Appendf(nil, "capture:\n  flush_interval: %s\n", flush), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		moment := time.Duration(random.Int64N(int64(3 * time.Second)))
		dir := filepath.Join(t.TempDir(), fmt.Sprint("capture", i))
		p := start(t, proxyArgs(t, e.url, dir, "--config", file)...)
		url, _ := p.listening()
		ctx, stop := context.WithCancel(t.Context())
		acks := acknowledged{at: map[int]time.Time{}}
		done := make(chan struct{})
		go func() {
			defer close(done)
			acks.drive(ctx, url, 4)
		}()
		pause(ctx, moment)
		killed := time.Now()
		if err := p.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-p.exited
		stop()
		<-done
		esshadow(t, nil, "capture", "repair", dir).want(t, exitDone)
		esshadow(t, nil, "capture", "verify", dir).want(t, exitDone)
		held := numbersIn(t, esshadow(t, nil, "capture", "cat", dir).want(t, exitDone).out)
		lost, oldest := 0, time.Duration(0)
		for n, at := range acks.at {
			if held[n] {
				continue
			}
			lost++
			if oldest = max(oldest, killed.Sub(at)); killed.Sub(at) > flush+time.Second {
				t.Errorf("killed after %s: a request acknowledged %s before is lost", moment, killed.Sub(at))
			}
		}
		t.Logf("killed after %s: %d acknowledged, %d lost, the oldest %s before", moment, len(acks.at), lost, oldest)
	}
}

// A full disk stops the capture, not the traffic: what is lost is counted, and
// capturing goes on when there is room again.
func TestFaultsDiskFull(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=8m,mode=0700"); err != nil {
		testenv.Skip(t, "a small tmpfs cannot be mounted here (it takes root): "+err.Error())
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 6<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	e := newEngine(t)
	p := start(t, proxyArgs(t, e.url, filepath.Join(dir, "capture"))...)
	url, admin := p.listening()
	random := rand.New(rand.NewPCG(1, 2))
	write := func() {
		t.Helper()
		var b bytes.Buffer
		for range 200 {
			fmt.Fprintf(&b, "{\"index\":{\"_index\":\"items\"}}\n{\"n\":%d,\"m\":%d,\"o\":%d,\"t\":\"w%x w%x\"}\n",
				random.Uint32(), random.Uint32(), random.Uint32(), random.Uint64(), random.Uint64())
		}
		send(t, "POST", url+"/_bulk", b.String())
	}
	state := func() string {
		_, text := get(t, admin+"/readyz")
		return fmt.Sprint(decode[map[string]any](t, text)["capture"])
	}
	wait(t, "the disk is full", func() bool { write(); return state() != "map[state:on]" })
	if s := state(); s != "map[state:failed]" && s != "map[state:disk_low]" {
		t.Errorf("state %s", s)
	}
	begin := time.Now()
	for range 50 {
		write() // each is answered, see send
	}
	t.Logf("50 bulks while the disk is full: %s", time.Since(begin))
	if code, _ := get(t, admin+"/readyz"); code != 200 {
		t.Errorf("readyz %d: traffic passes", code)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	wait(t, "capture goes on", func() bool { return state() == "map[state:on]" })
	write()
	ends(t, p)
	if !strings.Contains(p.err(), "dropped") || strings.Contains(p.err(), "dropped 0") {
		t.Errorf("nothing was counted as dropped:\n%s", p.err())
	}
	esshadow(t, nil, "capture", "repair", filepath.Join(dir, "capture")).want(t, exitDone)
	esshadow(t, nil, "capture", "verify", filepath.Join(dir, "capture")).want(t, exitDone)
}
