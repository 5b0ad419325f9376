package main

import (
	"context"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/esshadow/esshadow/configs"
	"github.com/esshadow/esshadow/proxy"
)

// running is what can change of a gateway while it serves.
type running struct {
	started time.Time
	listen  string // addresses as they came out
	admin   string
	file    string // of the configuration
	preset  string
	// mirrorDir is the mirror's run directory.
	mirrorDir string
	level     zap.AtomicLevel
	again     func() (configs.Config, error) // reads the configuration anew; nil: cannot
	end       context.CancelFunc             // begins to drain
	notify    func(state string)             // tells the service manager; never nil

	reloading sync.Mutex // held during a reload

	mu   sync.Mutex
	cfg  configs.Config // that holds
	last *reloadResult
}

// config is the configuration that holds now.
func (r *running) config() configs.Config {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cfg
}

func (r *running) lastReload() *reloadResult {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// setSample holds until the next reload says otherwise.
func (g *gateway) setSample(ratio float64) {
	g.mu.Lock()
	g.cfg.Capture.Sample = ratio
	g.mu.Unlock()
	g.recorder.SetSample(ratio)
}

// setLevel holds until the next reload says otherwise.
func (g *gateway) setLevel(level zapcore.Level) {
	g.mu.Lock()
	g.cfg.Log.Level = level.String()
	g.mu.Unlock()
	g.level.SetLevel(level)
}

// drain begins what SIGTERM begins.
func (g *gateway) drain() { g.end() }

// adminHandler serves what shows the proxy, and what changes it.
func (g *gateway) adminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", g.proxy.AdminHandler(g.registry, func(r *proxy.Readiness) {
		r.Capture = map[string]string{"state": g.captureStats().State.String()}
		if g.mirror != nil {
			s := g.mirror.Stats()
			state := map[string]string{"state": s.State(), "breaker": s.Breaker.String(), "disk": s.Disk.String()}
			if s.Why != "" {
				state["why"] = s.Why
			}
			r.Mirror = state
		}
	}))
	mux.Handle("/control/", &control{g: g, open: loopback(g.admin)})
	return mux
}

// reloadOnHangup reloads at each SIGHUP, until the returned function is called.
func (g *gateway) reloadOnHangup() (stop func()) {
	signals, ended, done := make(chan os.Signal, 1), make(chan struct{}), make(chan struct{})
	signal.Notify(signals, syscall.SIGHUP)
	go func() {
		defer close(done)
		for {
			select {
			case <-signals:
				g.reload()
			case <-ended:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(ended)
		<-done
	}
}
