package main

import (
	"context"
	"os"
	"time"

	"github.com/esshadow/esshadow/internal/es"
	"github.com/esshadow/esshadow/proxy"
)

// statusReport is the answer of /control/status.
type statusReport struct {
	Version  string    `json:"version"`
	Instance string    `json:"instance"`
	PID      int       `json:"pid"`
	Started  time.Time `json:"started"`
	State    string    `json:"state"` // ready, draining, no_upstream, starting

	Proxy     proxyStatus            `json:"proxy"`
	Upstreams []proxy.UpstreamStatus `json:"upstreams"`
	Capture   captureStatus          `json:"capture"`
	Mirror    *mirrorStatus          `json:"mirror,omitempty"` // absent: nothing is mirrored
	Log       logStatus              `json:"log"`
	Config    configStatus           `json:"config"`
}

type proxyStatus struct {
	Listen      string `json:"listen"`
	Admin       string `json:"admin"`
	Connections int64  `json:"connections"` // accepted since the start
	Requests    int64  `json:"requests"`
	Own         int64  `json:"own_answers"`
	InFlight    int64  `json:"in_flight"`
}

type captureStatus struct {
	State      string            `json:"state"`
	Why        string            `json:"why,omitempty"` // nothing can be written
	Dir        string            `json:"dir,omitempty"`
	Preset     string            `json:"preset,omitempty"`
	Sample     float64           `json:"sample"`
	Received   uint64            `json:"received"`
	Captured   uint64            `json:"captured"`
	Filtered   map[string]uint64 `json:"filtered"`
	SampledOut uint64            `json:"sampled_out"`
	Dropped    map[string]uint64 `json:"dropped"`
	Detected   map[string]uint64 `json:"detected"` // in values that rules keep, by detector
	Pending    uint64            `json:"pending"`
	Queue      int64             `json:"queue_bytes"`
	Raw        uint64            `json:"raw_bytes"`
	Written    uint64            `json:"written_bytes"`
}

type mirrorStatus struct {
	State    string      `json:"state"`
	Breaker  string      `json:"breaker"`
	Why      string      `json:"why,omitempty"` // the breaker is not closed
	Target   string      `json:"target"`
	Identity es.Identity `json:"identity"`
	Dir      string      `json:"dir"`
	Sample   float64     `json:"sample"`
	Writes   bool        `json:"writes"`

	Offered     uint64            `json:"offered"`
	Sent        uint64            `json:"sent"`
	Answered    uint64            `json:"answered"`
	Errors      map[string]uint64 `json:"errors"`
	Refused     map[string]uint64 `json:"refused"`
	SampledOut  uint64            `json:"sampled_out"`
	Shed        map[string]uint64 `json:"shed"`
	Pending     uint64            `json:"pending"`
	Differences map[string]uint64 `json:"differences"`
	Queue       int64             `json:"queue_bytes"`
	InFlight    int               `json:"in_flight"`
	Disk        string            `json:"disk"`
	Written     uint64            `json:"outcomes_written"`
	Lost        uint64            `json:"outcomes_lost"`
}

func (g *gateway) mirrorStatus() *mirrorStatus {
	if g.mirror == nil {
		return nil
	}
	s, cfg := g.mirror.Stats(), g.config().Mirror
	return &mirrorStatus{
		State: s.State(), Breaker: s.Breaker.String(), Why: s.Why, Target: cfg.Target.URL, Identity: s.Target, Dir: g.mirrorDir,
		Sample: g.mirror.Sample(), Writes: cfg.Writes,
		Offered: s.Offered, Sent: s.Sent, Answered: s.Answered, Errors: s.Errors, Refused: s.Refused, SampledOut: s.SampledOut,
		Shed: s.Shed, Pending: s.Pending, Differences: s.Differences, Queue: s.QueueBytes, InFlight: s.InFlight,
		Disk: s.Disk.String(), Written: s.Written, Lost: s.Lost,
	}
}

type logStatus struct {
	Level string `json:"level"`
}

type configStatus struct {
	File   string        `json:"file"` // empty: none
	Reload *reloadResult `json:"last_reload,omitempty"`
}

func (c *control) status(ctx context.Context, body []byte) (any, error) {
	if err := nothing(body); err != nil {
		return nil, err
	}
	g := c.g
	cfg, p, s := g.config(), g.proxy.Stats(), g.captureStats()
	ready := g.proxy.Readiness(ctx)
	r := statusReport{
		Version: readBuild().Version, Instance: g.proxy.Instance(), PID: os.Getpid(), Started: g.started, State: ready.Status,
		Proxy: proxyStatus{
			Listen: g.listen, Admin: g.admin,
			Connections: p.Connections, Requests: p.Requests, Own: p.Own, InFlight: p.InFlight,
		},
		Upstreams: g.proxy.Upstreams(),
		Capture: captureStatus{
			State: s.State.String(), Received: s.Received, Captured: s.Captured, Filtered: s.Filtered, SampledOut: s.SampledOut,
			Dropped: s.Dropped, Detected: detected(g.pipe), Pending: s.Pending, Queue: s.QueueBytes, Raw: s.RawBytes, Written: s.WrittenBytes,
		},
		Mirror: g.mirrorStatus(),
		Log:    logStatus{g.level.String()},
		Config: configStatus{File: g.file, Reload: g.lastReload()},
	}
	if s.Why != nil {
		r.Capture.Why = s.Why.Error()
	}
	if g.recorder != nil {
		r.Capture.Dir, r.Capture.Preset, r.Capture.Sample = cfg.Capture.Files.Dir, g.preset, g.recorder.Sample()
	}
	return r, nil
}
