package proxy

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/esshadow/esshadow/internal/testenv"

	"github.com/prometheus/client_golang/prometheus"
)

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func TestAdmin(t *testing.T) {
	defer http.DefaultClient.CloseIdleConnections()
	reg := prometheus.NewRegistry()
	n := recording(t)
	p := start(t, Deps{Registry: reg}, nil, n.url())
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- ServeAdmin(ctx, ln, p.AdminHandler(reg, func(r *Readiness) { r.Capture = map[string]string{"state": "on"} }), nil)
	}()
	admin := "http://" + ln.Addr().String()

	c := dial(t, p.addr)
	c.ask("POST /secret/_search HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}")
	c.ask("POST /_bulk HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}")
	dial(t, p.addr).ask("BROKEN\r\n\r\n")

	// The client has its answer a moment before it is counted.
	for p.Stats().Requests < 3 || p.Stats().InFlight > 0 {
		<-time.After(time.Millisecond)
	}

	if code, body := get(t, admin+"/healthz"); code != 200 || !strings.Contains(body, "alive") {
		t.Errorf("healthz %d %s", code, body)
	}
	code, body := get(t, admin+"/readyz")
	var state Readiness
	if err := json.Unmarshal([]byte(body), &state); err != nil || code != 200 || state.Status != "ready" ||
		len(state.Upstreams) != 1 || !state.Upstreams[0].Up || state.Capture == nil {
		t.Errorf("readyz %d %s", code, body)
	}
	_, text := get(t, admin+"/metrics")
	for _, want := range []string{
		`esshadow_proxy_requests_total{code="200",op="search"} 1`,
		`esshadow_proxy_requests_total{code="200",op="bulk"} 1`,
		`esshadow_proxy_requests_total{code="400",op="unknown"} 1`,
		`esshadow_proxy_request_seconds_count{class="read"} 1`,
		`esshadow_proxy_request_seconds_count{class="write"} 1`,
		`esshadow_proxy_body_bytes_total{direction="in"} 4`,
		`esshadow_proxy_body_bytes_total{direction="out"} 4`,
		`esshadow_proxy_upstream_seconds_count 2`,
		`esshadow_proxy_overhead_seconds_count 2`,
		`esshadow_proxy_in_flight 0`,
		`esshadow_proxy_upstream_up{upstream="` + n.ln.Addr().String() + `"} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("metrics lack %s", want)
		}
	}
	if strings.Contains(text, "secret") {
		t.Error("metrics quote a request")
	}
	if code, _ := get(t, admin+"/debug/pprof/"); code != 404 {
		t.Errorf("pprof %d", code)
	}

	p.draining.Store(true)
	if code, body := get(t, admin+"/readyz"); code != 503 || !strings.Contains(body, "draining") {
		t.Errorf("readyz while draining %d %s", code, body)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestReadinessComesBack(t *testing.T) {
	addr, free := testenv.DeadAddress(t)
	p := start(t, Deps{}, nil, "http://"+addr)
	dial(t, p.addr).ask(getRoot)
	if state, code := p.readiness(t.Context()); code != 503 || state.Status != "no_upstream" || state.Upstreams[0].Up {
		t.Errorf("readiness %+v %d", state, code)
	}
	free()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Skip("the port was taken meanwhile")
	}
	defer ln.Close()
	if state, code := p.readiness(t.Context()); code != 200 || !state.Upstreams[0].Up {
		t.Errorf("readiness %+v %d", state, code)
	}
}

func TestConfigValidate(t *testing.T) {
	ok := Default()
	ok.Upstreams = []string{"http://127.0.0.1:9200", "https://es.example/", "https://gate.example/es/", "http://[::1]:9200"}
	if err := ok.Validate(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Config){
		"upstreams":            func(c *Config) { c.Upstreams = nil },
		"want no query":        func(c *Config) { c.Upstreams = []string{"http://h:1/a?b"} },
		"balance":              func(c *Config) { c.Balance = "x" },
		"forwarded":            func(c *Config) { c.Forwarded = "x" },
		"proxy_protocol":       func(c *Config) { c.ProxyProtocol = []string{"10.0.0.0/8", "all"} },
		"client_ca":            func(c *Config) { c.TLS.ClientCA = "x" },
		"health_interval":      func(c *Config) { c.HealthInterval = -1 },
		"dns_ttl":              func(c *Config) { c.DNSTTL = 0 },
		"no credentials":       func(c *Config) { c.Upstreams = []string{"http://u:hunter2@h:1"} },
		"not a URL":            func(c *Config) { c.Upstreams = []string{"http://h:1/%zz"} },
		"want http://":         func(c *Config) { c.Upstreams = []string{"h:9200"} },
		"listen":               func(c *Config) { c.Listen = "9200" },
		"admin":                func(c *Config) { c.Admin = "9200" },
		"host_header":          func(c *Config) { c.HostHeader = "x" },
		"tls":                  func(c *Config) { c.TLS.Cert = "x" },
		"client_cert":          func(c *Config) { c.UpstreamTLS.ClientKey = "x" },
		"fingerprint":          func(c *Config) { c.UpstreamTLS.Fingerprint = "abc" },
		"max_header":           func(c *Config) { c.MaxHeader = 1 },
		"stream_above":         func(c *Config) { c.StreamAbove = 0 },
		"upstream_timeout":     func(c *Config) { c.UpstreamTimeout = -1 },
		"drain":                func(c *Config) { c.Drain = -1 },
		"upstream_connections": func(c *Config) { c.UpstreamConnections = 0 },
		"max_connections":      func(c *Config) { c.MaxConnections = 0 },
	} {
		c := ok
		change(&c)
		err := c.Validate()
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error quotes a password: %v", err)
		}
	}
	bad := Config{}
	if n := strings.Count(bad.Validate().Error(), "\n"); n < 8 {
		t.Errorf("only %d mistakes are named at once", n+1)
	}
	if _, err := New(bad, Deps{}); err == nil {
		t.Error("New takes it")
	}
}
