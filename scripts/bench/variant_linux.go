package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// variant is one way from the load to the backend.
type variant struct {
	name    string
	addr    netip.AddrPort
	process *process // nil: no proxy
	metrics string   // URL; empty: captures nothing
	dropped map[string]uint64
}

// The variants, as the tables name them.
const (
	direct     = "direct"
	nginx      = "nginx"
	haproxy    = "haproxy"
	reverse    = "ReverseProxy"
	captureOff = "esshadow, capture off"
	captureOn  = "esshadow, capture on"
	captureNew = "esshadow, capture on, each anew"
)

// variantNames are in the order of the tables' rows.
func variantNames() []string {
	return []string{direct, nginx, haproxy, reverse, captureOff, captureOn, captureNew}
}

// awaitAnswer waits until a server answers.
func (v *variant) awaitAnswer(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := get(ctx, "http://"+v.addr.String()+"/", nil); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer within %s", v.name, startWait)
		case <-v.process.ended:
			return fmt.Errorf("%s ended early", v.name)
		case <-tick.C:
		}
	}
}

// get reads a page line by line and says how many there were.
func get(ctx context.Context, url string, line func(string)) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	n := 0
	s := bufio.NewScanner(resp.Body)
	for ; s.Scan(); n++ {
		if line != nil {
			line(s.Text())
		}
	}
	if resp.StatusCode != http.StatusOK {
		return n, fmt.Errorf("status %d", resp.StatusCode)
	}
	return n, s.Err()
}

// startAnew starts the proxy without memory of requests that came before.
func startAnew(bin, dir string, backend netip.AddrPort) (*variant, error) {
	config := filepath.Join(dir, "anew.yml")
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = os.WriteFile(config, []byte("sanitize:\n  request_cache: 0\n"), 0o600)
	}
	if err != nil {
		return nil, err
	}
	v, err := startEsshadow(bin, filepath.Join(dir, "capture-anew"), backend, "--config", config)
	if v != nil {
		v.name = captureNew
	}
	return v, err
}

// startEsshadow starts the proxy; an empty folder captures nothing.
func startEsshadow(bin, dir string, backend netip.AddrPort, more ...string) (*variant, error) {
	args := []string{"proxy", "--upstream", "http://" + backend.String(), "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--log-level", "error"}
	name := captureOff
	if dir != "" {
		name = captureOn
		args = append(args, "--capture", dir, "--preset", "fidelity")
	}
	args = append(args, more...)
	p, err := startProcess("", bin, args...)
	if err != nil {
		return nil, err
	}
	v, err := esshadowVariant(p, name)
	if err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return v, nil
}

func esshadowVariant(p *process, name string) (*variant, error) {
	line, err := p.awaitLine("listening on ")
	if err != nil {
		return nil, err
	}
	listening, err := wordAfter(line, "listening on ")
	if err != nil {
		return nil, err
	}
	addr, err := netip.ParseAddrPort(listening)
	if err != nil {
		return nil, err
	}
	admin, err := wordAfter(line, "admin on ")
	if err != nil {
		return nil, err
	}
	v := &variant{name: name, addr: addr, process: p}
	if name == captureOn {
		v.metrics = "http://" + admin + "/metrics"
	}
	return v, nil
}

// counted is what the capture's counters say.
type counted struct {
	queue   float64
	dropped map[string]uint64
	state   string
}

func (v *variant) counted(ctx context.Context) (counted, error) {
	c := counted{dropped: map[string]uint64{}}
	_, err := get(ctx, v.metrics, func(line string) {
		name, value, _ := strings.Cut(line, " ")
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return
		}
		switch {
		case name == "esshadow_capture_queue_bytes":
			c.queue = n
		case strings.HasPrefix(name, "esshadow_capture_records_total{") && strings.Contains(name, `result="dropped"`):
			c.dropped[label(name, "reason")] += uint64(n)
		case strings.HasPrefix(name, "esshadow_capture_state{") && n == 1:
			c.state = label(name, "state")
		}
	})
	return c, err
}

func label(name, key string) string {
	_, rest, _ := strings.Cut(name, key+`="`)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// settle waits until nothing is on its way to the disk, so that one load does
// not pay for another, and says what was dropped since the last time.
func (v *variant) settle(ctx context.Context) (map[string]uint64, error) {
	if v.metrics == "" {
		return nil, nil
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for range 200 {
		c, err := v.counted(ctx)
		if err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
		if c.state != "on" {
			return nil, fmt.Errorf("capture is %q: is the disk full?", c.state)
		}
		if c.queue == 0 {
			news := map[string]uint64{}
			for reason, n := range c.dropped {
				if d := n - v.dropped[reason]; d > 0 {
					news[reason] = d
				}
			}
			v.dropped = c.dropped
			return news, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
	return nil, errors.New("the capture's queue is not empty after 10 s")
}
