package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// control is the part of the admin address that changes a running proxy. Its
// answers are JSON, and so are the bodies of what it is asked.
type control struct {
	g    *gateway
	open bool // the admin address is loopback
}

// maxControlBody bounds what a request may say.
const maxControlBody = 4 << 10

// rotateWait bounds the wait for a file to be closed.
const rotateWait = 10 * time.Second

// controlError is an answer that says no.
type controlError struct {
	status int
	msg    string
	why    error // for the log alone, nil: no more than msg
}

func (e *controlError) Error() string { return e.msg }

// logged is what the log says of an answer that says no.
func logged(err error) error {
	var e *controlError
	if errors.As(err, &e) && e.why != nil {
		return e.why
	}
	return err
}

func refusal(status int, format string, args ...any) error {
	return &controlError{status: status, msg: fmt.Sprintf(format, args...)}
}

// deed is one thing that can be asked for.
type deed struct {
	path   string
	method string
	do     func(c *control, ctx context.Context, body []byte) (any, error)
}

func deeds() []deed {
	return []deed{
		{"/control/status", http.MethodGet, (*control).status},
		{"/control/capture", http.MethodPost, (*control).capture},
		{"/control/mirror", http.MethodPost, (*control).mirror},
		{"/control/sample", http.MethodPost, (*control).sample},
		{"/control/rotate", http.MethodPost, (*control).rotate},
		{"/control/reload", http.MethodPost, (*control).reload},
		{"/control/drain", http.MethodPost, (*control).drain},
		{"/control/log-level", http.MethodPost, (*control).logLevel},
	}
}

// ServeHTTP implements http.Handler.
func (c *control) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	all := deeds()
	i := slices.IndexFunc(all, func(d deed) bool { return d.path == r.URL.Path })
	if err := c.allowed(r); err != nil {
		c.g.log.Warn("control refused", zap.String("from", r.RemoteAddr), zap.Error(logged(err)))
		w.Header().Set("WWW-Authenticate", "Bearer")
		answerControl(w, nil, err)
		return
	}
	if i < 0 {
		answerControl(w, nil, refusal(http.StatusNotFound, "no such endpoint: want one of %s", deedPaths(all)))
		return
	}
	d := all[i]
	if r.Method != d.method {
		w.Header().Set("Allow", d.method)
		answerControl(w, nil, refusal(http.StatusMethodNotAllowed, "%s wants %s", d.path, d.method))
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxControlBody))
	if err != nil {
		answerControl(w, nil, refusal(http.StatusRequestEntityTooLarge, "the body cannot be read, or exceeds %d bytes", maxControlBody))
		return
	}
	answer, err := d.do(c, r.Context(), body)
	if d.method == http.MethodPost {
		c.g.log.Info("control", zap.String("action", strings.TrimPrefix(d.path, "/control/")),
			zap.String("from", r.RemoteAddr), zap.Bool("done", err == nil), zap.Error(err))
	}
	answerControl(w, answer, err)
}

func deedPaths(all []deed) string {
	names := make([]string, len(all))
	for i, d := range all {
		names[i] = d.method + " " + d.path
	}
	return strings.Join(names, ", ")
}

// controlServer is by what ctl knows that a proxy's control answers, and not a cluster
// whose errors look alike.
const controlServer = "esshadow"

func answerControl(w http.ResponseWriter, answer any, err error) {
	code := http.StatusOK
	if err != nil {
		code = http.StatusInternalServerError
		var e *controlError
		if errors.As(err, &e) {
			code = e.status
		}
		if answer == nil {
			answer = map[string]any{"error": err.Error(), "status": code}
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Server", controlServer)
	w.WriteHeader(code)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	_ = enc.Encode(answer)
}

// wanted reads a request's parameters: a JSON object with these keys, all of
// them, and nothing else.
func wanted(body []byte, into any, example string) error {
	dec := json.NewDecoder(strings.NewReader(string(body)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil || dec.More() {
		return refusal(http.StatusBadRequest, "want a body such as %s", example)
	}
	return nil
}

// nothing refuses parameters where there are none.
func nothing(body []byte) error {
	if s := strings.TrimSpace(string(body)); s != "" && s != "{}" {
		return refusal(http.StatusBadRequest, "want no body")
	}
	return nil
}

// onOff reads which of the two is wanted.
func onOff(body []byte) (on bool, err error) {
	var q struct {
		State string `json:"state"`
	}
	if err := wanted(body, &q, `{"state":"on"}`); err != nil {
		return false, err
	}
	if q.State != "on" && q.State != "off" {
		return false, refusal(http.StatusBadRequest, "state %q: want on or off", q.State)
	}
	return q.State == "on", nil
}

func (c *control) capture(_ context.Context, body []byte) (any, error) {
	on, err := onOff(body)
	switch {
	case err != nil:
		return nil, err
	case c.g.recorder == nil:
		return nil, errNoCapture()
	}
	c.g.recorder.Pause(!on)
	return map[string]string{"state": c.g.recorder.State().String()}, nil
}

func (c *control) mirror(_ context.Context, body []byte) (any, error) {
	on, err := onOff(body)
	switch {
	case err != nil:
		return nil, err
	case c.g.mirror == nil:
		return nil, refusal(http.StatusConflict, "this proxy was started without a mirror")
	}
	c.g.mirror.Pause(!on)
	s := c.g.mirror.Stats()
	return map[string]string{"state": s.State()}, nil
}

func errNoCapture() error {
	return refusal(http.StatusConflict, "this proxy was started without a capture directory")
}

func (c *control) sample(_ context.Context, body []byte) (any, error) {
	var q struct {
		Ratio *float64 `json:"ratio"`
	}
	err := wanted(body, &q, `{"ratio":0.1}`)
	switch {
	case err != nil:
		return nil, err
	case q.Ratio == nil || !(*q.Ratio >= 0 && *q.Ratio <= 1):
		return nil, refusal(http.StatusBadRequest, "ratio: want a number from 0 to 1")
	case c.g.recorder == nil:
		return nil, errNoCapture()
	}
	c.g.setSample(*q.Ratio)
	return map[string]float64{"ratio": *q.Ratio}, nil
}

func (c *control) rotate(ctx context.Context, body []byte) (any, error) {
	if err := nothing(body); err != nil {
		return nil, err
	}
	if c.g.recorder == nil {
		return nil, errNoCapture()
	}
	ctx, stop := context.WithTimeout(ctx, rotateWait)
	defer stop()
	if err := c.g.recorder.Rotate(ctx); err != nil {
		return nil, refusal(http.StatusServiceUnavailable, "rotate: %v", err)
	}
	return map[string]bool{"rotated": true}, nil
}

func (c *control) reload(_ context.Context, body []byte) (any, error) {
	if err := nothing(body); err != nil {
		return nil, err
	}
	done := c.g.reload()
	if !done.OK {
		return done, refusal(http.StatusUnprocessableEntity, "%s", done.Error)
	}
	return done, nil
}

// drain is what SIGTERM does; the process ends afterwards.
func (c *control) drain(_ context.Context, body []byte) (any, error) {
	if err := nothing(body); err != nil {
		return nil, err
	}
	c.g.drain()
	return map[string]any{"draining": true, "within": c.g.config().Proxy.Drain.String()}, nil
}

func (c *control) logLevel(_ context.Context, body []byte) (any, error) {
	var q struct {
		Level string `json:"level"`
	}
	if err := wanted(body, &q, `{"level":"debug"}`); err != nil {
		return nil, err
	}
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, q.Level) {
		return nil, refusal(http.StatusBadRequest, "level %q: want debug, info, warn or error", q.Level)
	}
	level, err := zapcore.ParseLevel(q.Level)
	if err != nil {
		return nil, err
	}
	c.g.setLevel(level)
	return map[string]string{"level": q.Level}, nil
}
