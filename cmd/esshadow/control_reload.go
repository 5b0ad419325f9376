package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/esshadow/esshadow/capture/segment"
	"github.com/esshadow/esshadow/configs"
	"github.com/esshadow/esshadow/proxy"
)

// reloadResult says what became of a reload.
type reloadResult struct {
	Time    time.Time `json:"time"`
	OK      bool      `json:"ok"`
	Error   string    `json:"error,omitempty"` // why the old configuration holds
	Changed []string  `json:"changed"`         // keys that hold from now on
	Restart []string  `json:"needs_restart"`   // keys that differ and hold after a restart
	Notes   string    `json:"note,omitempty"`
}

// reload reads the configuration again, by the layers that the process was
// started with, and takes over what can change while it runs. A configuration
// that is invalid in any part changes nothing.
func (g *gateway) reload() reloadResult {
	g.reloading.Lock()
	defer g.reloading.Unlock()
	g.notify("RELOADING=1")
	defer g.notify("READY=1")
	r := reloadResult{Time: time.Now().UTC(), Changed: []string{}, Restart: []string{}}
	if err := g.takeOver(&r); err != nil {
		r.Error = err.Error()
		r.Changed = []string{}
		g.log.Error("configuration not reloaded, the old one holds", zap.Error(err))
	} else {
		r.OK = true
		g.log.Info("configuration reloaded", zap.Strings("changed", r.Changed), zap.Strings("needs_restart", r.Restart))
	}
	g.mu.Lock()
	g.last = &r
	g.mu.Unlock()
	return r
}

func (g *gateway) takeOver(r *reloadResult) error {
	if g.again == nil {
		return errors.New("this proxy has no configuration of its own")
	}
	next, err := g.again()
	if err != nil {
		return err
	}
	now := g.config()
	if err := checkNext(&now, &next); err != nil {
		return err
	}
	for _, key := range changedKeys(now, next) {
		if changesLive(key, g.recorder != nil, g.mirror != nil) {
			r.Changed = append(r.Changed, key)
		} else {
			r.Restart = append(r.Restart, key)
		}
	}
	next.Proxy.MaxBody = next.Capture.MaxBody
	if err := g.proxy.Reload(next.Proxy); err != nil {
		return err
	}
	if g.recorder != nil {
		if err := g.recorder.Reload(next.Capture.Config); err != nil {
			return err
		}
	}
	if g.mirror != nil {
		if err := g.mirror.Reload(next.Mirror.Config); err != nil {
			return err
		}
		now.Mirror.Sample, now.Mirror.Queue, now.Mirror.InFlight = next.Mirror.Sample, next.Mirror.Queue, next.Mirror.InFlight
	}
	level, err := zapcore.ParseLevel(next.Log.Level)
	if err != nil {
		return err
	}
	g.level.SetLevel(level)

	workers, nice := now.Capture.Workers, now.Capture.Nice
	now.Proxy, now.Capture.Config, now.Log.Level = g.proxy.Config(), next.Capture.Config, next.Log.Level
	now.Capture.Workers, now.Capture.Nice = workers, nice
	g.mu.Lock()
	g.cfg = now
	g.mu.Unlock()
	return nil
}

// checkNext says what is wrong with the configuration that is to follow now. What
// needs a restart is looked at too: there it would be refused.
func checkNext(now, next *configs.Config) error {
	errs := []error{
		next.Log.Validate(), configs.Under("proxy", next.Proxy.Validate()), configs.Under("capture", next.Capture.Config.Validate()),
		configs.Under("capture", next.Capture.Files.Validate()), configs.Under("mirror", next.Mirror.Config.Validate()),
	}
	if next.Mirror.On() {
		errs = append(errs, configs.Under("mirror.target", next.Mirror.Target.TargetConfig.Validate()))
	}
	if next.Mirror.On() || next.Capture.Files.Dir != "" {
		errs = append(errs, configs.Under("sanitize", next.Sanitize.Config.Validate()))
		if _, err := segment.ParseRecipients(next.Sanitize.Recipients); err != nil {
			errs = append(errs, fmt.Errorf("sanitize.recipients: %w", err))
		}
	}
	if file := next.Proxy.AdminTokenFile; file != "" && file != now.Proxy.AdminTokenFile {
		if _, _, err := readToken(file); err != nil { // nobody could put it right by ctl
			errs = append(errs, fmt.Errorf("proxy.admin_token_file: %w", err))
		}
	}
	return errors.Join(errs...)
}

// changesLive tells whether a running proxy can take over a key's new value.
func changesLive(key string, captures, mirrors bool) bool {
	section, name, _ := strings.Cut(key, ".")
	switch section {
	case "proxy":
		return !slices.Contains(proxy.RestartKeys(), name)
	case "capture":
		top, _, _ := strings.Cut(name, ".")
		return captures && slices.Contains([]string{"max_body", "queue", "priority", "sample", "ops", "indices"}, top)
	case "mirror":
		return mirrors && slices.Contains([]string{"sample", "queue", "in_flight"}, name)
	case "log":
		return name == "level"
	}
	return false
}

// changedKeys are the keys of a proxy whose values differ, as paths of the YAML
// file.
func changedKeys(a, b configs.Config) (keys []string) {
	for section, pair := range map[string][2]any{
		"proxy": {a.Proxy, b.Proxy}, "capture": {a.Capture, b.Capture},
		"mirror": {a.Mirror, b.Mirror}, "sanitize": {a.Sanitize, b.Sanitize}, "log": {a.Log, b.Log},
	} {
		keys = differ(keys, section, reflect.ValueOf(pair[0]), reflect.ValueOf(pair[1]))
	}
	slices.Sort(keys)
	return keys
}

func differ(keys []string, path string, a, b reflect.Value) []string {
	if a.Kind() != reflect.Struct || !hasKeys(a.Type()) {
		if emptyList(a) && emptyList(b) || reflect.DeepEqual(a.Interface(), b.Interface()) {
			return keys
		}
		return append(keys, path)
	}
	for i := range a.NumField() {
		name, option, _ := strings.Cut(a.Type().Field(i).Tag.Get("yaml"), ",")
		switch {
		case name == "-" || name == "" && option != "inline":
		case option == "inline":
			keys = differ(keys, path, a.Field(i), b.Field(i))
		default:
			keys = differ(keys, path+"."+name, a.Field(i), b.Field(i))
		}
	}
	return keys
}

// hasKeys tells a section from a value that happens to be a struct.
func hasKeys(t reflect.Type) bool {
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("yaml") != "" {
			return true
		}
	}
	return false
}

func emptyList(v reflect.Value) bool { return v.Kind() == reflect.Slice && v.Len() == 0 }
