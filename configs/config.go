package configs

import (
	_ "embed"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/capture/segment"
	"github.com/esshadow/esshadow/proxy"
	"github.com/esshadow/esshadow/replay"
	"github.com/esshadow/esshadow/replay/mirror"
	"github.com/esshadow/esshadow/sanitize"
)

// Config is a whole configuration file.
type Config struct {
	Proxy    proxy.Config `yaml:"proxy"`
	Capture  Capture      `yaml:"capture"`
	Sanitize Sanitize     `yaml:"sanitize"`
	Mirror   Mirror       `yaml:"mirror"`
	Replay   Replay       `yaml:"replay"`
	Report   Report       `yaml:"report"`
	Sandbox  Sandbox      `yaml:"sandbox"`
	Demo     Demo         `yaml:"demo"`
	Log      Log          `yaml:"log"`
}

// Capture is what is captured, and the files that it goes to.
type Capture struct {
	capture.Config `yaml:",inline"`
	Files          segment.Config `yaml:",inline"`
}

// Sanitize is the rules, which may also stand in a file of their own, and where
// the key is.
type Sanitize struct {
	sanitize.Config `yaml:",inline"`
	Rules           string `yaml:"rules"` // file that replaces all of this section but key
	Key             string `yaml:"key"`   // file; empty: a key for this process alone
}

// Mirror is what of the live traffic is sent to a second cluster, and where.
type Mirror struct {
	mirror.Config `yaml:",inline"`
	Out           string `yaml:"out"` // run directory; empty: named by the time
	Target        Target `yaml:"target"`
}

// On tells that there is a target to mirror to.
func (m *Mirror) On() bool { return m.Target.URL != "" }

// Replay is what is sent, and where.
type Replay struct {
	replay.Config `yaml:",inline"`
	Target        Target `yaml:"target"`
	Key           string `yaml:"key"`      // the capture's key file, for targets with the original ids
	Identity      string `yaml:"identity"` // age identity file, for sealed captures

	Out      string        `yaml:"out"`      // run directory; empty: named by the time
	From     string        `yaml:"from"`     // RFC 3339, or relative to the capture as +5m, -1h
	To       string        `yaml:"to"`       // likewise
	Duration time.Duration `yaml:"duration"` // of captured time; 0: all
	DryRun   bool          `yaml:"dry_run"`
	Admin    string        `yaml:"admin"` // address of /metrics and /healthz while it runs; "off" for none
}

// Report is how a report is drawn.
type Report struct {
	Format string `yaml:"format"` // text, json
	Output string `yaml:"output"` // a new file; "-": standard output
}

// Sandbox is the embedded engine and its faults.
type Sandbox struct {
	Listen      string        `yaml:"listen"`
	Latency     time.Duration `yaml:"latency"` // of every answer
	Slow        []string      `yaml:"slow"`    // kind:field=delay
	DropEvery   int           `yaml:"drop_every"`
	RejectEvery int           `yaml:"reject_every"`
	MaxDocs     int           `yaml:"max_docs"`
}

// Demo is the demonstration.
type Demo struct {
	Dir    string        `yaml:"dir"`    // kept; empty: a temporary one
	Length time.Duration `yaml:"length"` // of the load
	Rate   int           `yaml:"rate"`   // searches per second
}

// Target is where requests are replayed to. Secrets are named by file.
type Target struct {
	replay.TargetConfig `yaml:",inline"`
	PasswordFile        string `yaml:"password_file"`
	APIKeyFile          string `yaml:"api_key_file"`
	CACertFile          string `yaml:"ca_cert"`
}

// Log is how the process logs.
type Log struct {
	Level  string `yaml:"level"`  // debug, info, warn, error
	Format string `yaml:"format"` // console, json
}

// Default is the configuration where nothing is said.
func Default() Config {
	return Config{
		Proxy:    proxy.Default(),
		Capture:  Capture{Config: capture.Default(), Files: segment.DefaultConfig()},
		Sanitize: Sanitize{Config: sanitize.Default()},
		Mirror:   Mirror{Config: mirror.Default(), Target: Target{TargetConfig: mirror.DefaultTarget()}},
		Replay:   Replay{Config: replay.Default(), Admin: "off", Target: Target{TargetConfig: replay.DefaultTarget()}},
		Report:   Report{Format: "text", Output: "-"},
		Sandbox:  Sandbox{Listen: "127.0.0.1:9200", MaxDocs: 1_000_000},
		Demo:     Demo{Length: 10 * time.Second, Rate: 200},
		Log:      Log{Level: "info", Format: "console"},
	}
}

//go:embed esshadow.yml
var reference string

// Reference is the commented configuration file that says what Default says.
func Reference() string { return reference }

// Load reads a configuration file into c, whose present values hold where the
// file says nothing. name stands in errors for the file.
func Load(name string, text []byte, c *Config) error {
	return decode(name, text, c)
}

// LoadRules reads a file of sanitising rules.
func LoadRules(name string, text []byte) (sanitize.Config, error) {
	c := sanitize.Default()
	if err := decode(name, text, &c); err != nil {
		return c, err
	}
	return c, locate(name, text, c.Validate())
}

// Check validates the values of a whole file: every mistake with its line.
func Check(name string, text []byte) error {
	c := Default()
	if err := decode(name, text, &c); err != nil {
		return err
	}
	return locate(name, text, c.Validate())
}

// Locate puts the line of the file before each mistake that begins with a key.
func Locate(name string, text []byte, err error) error { return locate(name, text, err) }

// Validate names every mistake at once. Settings that only a command line can
// complete (an upstream, a target) may be missing.
func (c *Config) Validate() error {
	p, t := c.Proxy, c.Replay.Target.TargetConfig
	if len(p.Upstreams) == 0 {
		p.Upstreams = []string{"http://127.0.0.1:9200"}
	}
	m := c.Mirror.Target.TargetConfig
	for _, url := range []*string{&t.URL, &m.URL} {
		if *url == "" {
			*url = "http://127.0.0.1:9200"
		}
	}
	return errors.Join(
		Under("proxy", p.Validate()),
		Under("capture", c.Capture.Config.Validate()),
		Under("capture", c.Capture.Files.Validate()),
		Under("sanitize", c.Sanitize.Config.Validate()),
		Under("mirror", c.Mirror.Config.Validate()),
		Under("mirror.target", m.Validate()),
		Under("replay", c.Replay.Config.Validate()),
		Under("replay.target", t.Validate()),
		Under("replay", c.Replay.window()),
		Under("replay", c.Replay.CheckAdmin()),
		Under("report", c.Report.Validate()),
		Under("sandbox", c.Sandbox.Validate()),
		Under("demo", c.Demo.Validate()),
		c.Log.Validate(),
	)
}

// Under puts the section before the key that each mistake names, so that a mistake
// in one of several sections with equal keys says which: capture.sample, mirror.sample.
func Under(section string, err error) error {
	var out []error
	for _, e := range split(err) {
		text := strings.TrimPrefix(e.Error(), section+": ")
		// A target calls its URL by the name of the flag that most commands have for it.
		if rest, ok := strings.CutPrefix(text, "target: "); ok && strings.HasSuffix(section, ".target") {
			text = "url: " + rest
		}
		out = append(out, &mistake{section + "." + text, e})
	}
	return errors.Join(out...)
}

// mistake is an error under another text.
type mistake struct {
	text string
	err  error
}

func (m *mistake) Error() string { return m.text }
func (m *mistake) Unwrap() error { return m.err }

// CheckAdmin tells whether the admin address is one.
func (r Replay) CheckAdmin() error {
	if r.Admin == "" || r.Admin == "off" {
		return nil
	}
	if _, _, err := net.SplitHostPort(r.Admin); err != nil {
		return fmt.Errorf("admin: %q: want host:port, or off", r.Admin)
	}
	return nil
}

// window checks what can be checked without a capture.
func (r Replay) window() error {
	var errs []error
	for _, x := range []struct{ key, text string }{{"from", r.From}, {"to", r.To}} {
		if x.text == "" {
			continue
		}
		if _, err := replay.ParseMoment(x.text); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", x.key, err))
		}
	}
	if r.Duration < 0 {
		errs = append(errs, errors.New("duration: want 0 (all) or more"))
	}
	return errors.Join(errs...)
}

// Validate names every mistake at once.
func (r Report) Validate() error {
	if formats := []string{"text", "json"}; !slices.Contains(formats, r.Format) {
		return fmt.Errorf("format: %q is none of %s", r.Format, strings.Join(formats, ", "))
	}
	return nil
}

// Validate names every mistake at once. Whoever makes the engine reads Slow.
func (s Sandbox) Validate() error {
	var errs []error
	for _, x := range []struct {
		key   string
		value int
	}{{"latency", int(s.Latency)}, {"drop_every", s.DropEvery}, {"reject_every", s.RejectEvery}, {"max_docs", s.MaxDocs}} {
		if x.value < 0 {
			errs = append(errs, fmt.Errorf("%s: want 0 or more", x.key))
		}
	}
	if _, _, err := net.SplitHostPort(s.Listen); err != nil {
		errs = append(errs, fmt.Errorf("listen %q: want host:port, with a port from 0 to 65535", s.Listen))
	}
	return errors.Join(errs...)
}

// Validate names every mistake at once.
func (d Demo) Validate() error {
	var errs []error
	if d.Length <= 0 {
		errs = append(errs, errors.New("length: want more than 0"))
	}
	if d.Rate <= 0 {
		errs = append(errs, errors.New("rate: want more than 0"))
	}
	return errors.Join(errs...)
}

// Validate names every mistake at once.
func (l Log) Validate() error {
	var errs []error
	if levels := []string{"debug", "info", "warn", "error"}; !slices.Contains(levels, l.Level) {
		errs = append(errs, fmt.Errorf("log.level: %q is none of %s", l.Level, strings.Join(levels, ", ")))
	}
	if formats := []string{"console", "json"}; !slices.Contains(formats, l.Format) {
		errs = append(errs, fmt.Errorf("log.format: %q is none of %s", l.Format, strings.Join(formats, ", ")))
	}
	return errors.Join(errs...)
}
