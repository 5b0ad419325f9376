package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"
)

// Readiness is the body of /readyz.
type Readiness struct {
	Status    string          `json:"status"` // ready, draining, no_upstream or starting
	Upstreams []UpstreamState `json:"upstreams"`
	Capture   any             `json:"capture,omitempty"`
	Mirror    any             `json:"mirror,omitempty"`
}

// UpstreamState is one node in Readiness.
type UpstreamState struct {
	Upstream string `json:"upstream"`
	Up       bool   `json:"up"`
}

// AdminHandler serves /metrics from reg, /healthz (the process lives) and
// /readyz (it takes requests and some node is believed to answer; 503 else).
// beside, which may be nil, adds the states of capturing and mirroring to
// /readyz; they do not decide readiness, as traffic passes without them.
func (p *Proxy) AdminHandler(reg prometheus.Gatherer, beside func(*Readiness)) http.Handler {
	mux := http.NewServeMux()
	HandleAlive(mux, reg)
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		state, code := p.readiness(r.Context())
		if beside != nil {
			beside(&state)
		}
		writeJSON(w, code, state)
	})
	return mux
}

// HandleAlive adds /metrics from reg and /healthz to mux.
func HandleAlive(mux *http.ServeMux, reg prometheus.Gatherer) {
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "alive"})
	})
}

// UpstreamStatus is what a proxy knows of one node.
type UpstreamStatus struct {
	Upstream    string `json:"upstream"`
	Up          bool   `json:"up"`
	InFlight    int64  `json:"in_flight"`
	Connections int    `json:"connections"` // kept ones among them
	Failures    int    `json:"failures"`    // in a row

	Addresses []string `json:"addresses"` // that its name stands for
}

// Upstreams tells of every node.
func (p *Proxy) Upstreams() []UpstreamStatus {
	out := []UpstreamStatus{}
	for _, n := range p.now.Load().nodes.all {
		out = append(out, UpstreamStatus{
			Upstream: n.name, Up: n.retryAt.Load() == 0, InFlight: n.active.Load(),
			Connections: n.pool.ConnsCount(), Failures: int(n.failures.Load()), Addresses: n.places.addresses(),
		})
	}
	return out
}

// Readiness is what /readyz says.
func (p *Proxy) Readiness(ctx context.Context) Readiness {
	r, _ := p.readiness(ctx)
	return r
}

// Config is the configuration that holds.
func (p *Proxy) Config() Config { return p.now.Load().cfg }

func (p *Proxy) readiness(ctx context.Context) (Readiness, int) {
	ok, up := p.ready(ctx)
	state, code := Readiness{Status: "ready"}, http.StatusOK
	for _, n := range p.now.Load().nodes.all {
		state.Upstreams = append(state.Upstreams, UpstreamState{n.name, n.retryAt.Load() == 0})
	}
	if ok {
		return state, code
	}
	switch {
	case p.draining.Load():
		state.Status = "draining"
	case up == 0:
		state.Status = "no_upstream"
	default:
		state.Status = "starting"
	}
	return state, http.StatusServiceUnavailable
}

func writeJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v)
}

// ServeAdmin serves h on ln until ctx ends, and tells faults, where there is one to
// tell, what goes wrong below h.
func ServeAdmin(ctx context.Context, ln net.Listener, h http.Handler, faults *zap.Logger) error {
	s := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, ErrorLog: adminLog(faults)}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ln) }()
	select {
	case err := <-served:
		return fmt.Errorf("admin: %w", err)
	case <-ctx.Done():
	}
	limit, stop := context.WithTimeout(context.Background(), 2*time.Second)
	defer stop()
	if err := s.Shutdown(limit); err != nil {
		_ = s.Close()
	}
	if err := <-served; err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("admin: %w", err)
	}
	return nil
}

// adminFaults takes what net/http has to say. It repeats itself each second while it
// cannot accept.
type adminFaults struct {
	log   *zap.Logger
	mu    sync.Mutex
	short shortage
}

func adminLog(to *zap.Logger) *log.Logger {
	if to == nil {
		return nil // net/http has one of its own
	}
	return log.New(&adminFaults{log: to.With(zap.String("address", "admin"))}, "", 0)
}

// Write implements io.Writer.
func (f *adminFaults) Write(b []byte) (int, error) {
	text := strings.TrimSpace(string(b))
	if why, ok := strings.CutPrefix(text, "http: Accept error: "); ok {
		f.mu.Lock()
		defer f.mu.Unlock()
		why, _, _ = strings.Cut(why, "; retrying")
		f.short.tell(f.log, errors.New(why))
		return len(b), nil
	}
	f.log.Error("fault in serving", zap.String("error", text))
	return len(b), nil
}
