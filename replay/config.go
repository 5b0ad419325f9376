package replay

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/esshadow/esshadow/internal/size"
)

// Secret is a password or key. It prints as "[secret]" wherever it goes.
type Secret string

const hidden = "[secret]"

// String keeps the secret out of logs and files, as GoString and MarshalText do.
func (Secret) String() string { return hidden }

// GoString is String.
func (Secret) GoString() string { return hidden }

// MarshalText is String.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// Reveal is the secret itself.
func (s Secret) Reveal() string { return string(s) }

// Config says what of a capture is sent, when, and within which bounds.
type Config struct {
	Speed  Speed  `yaml:"speed"`
	Window Window `yaml:"-"`

	Writes    bool        `yaml:"writes"`     // send writes: needs IndexMap or SameIndex
	SameIndex bool        `yaml:"same_index"` // writes go to indices of the captured names
	IndexMap  []IndexRule `yaml:"index_map"`

	InFlight       int           `yaml:"in_flight"`        // requests due and not done; 0: no bound
	InFlightMemory size.Size     `yaml:"in_flight_memory"` // their bodies; 0: no bound
	Ahead          time.Duration `yaml:"ahead"`            // read ahead of the due time
	AheadMemory    size.Size     `yaml:"ahead_memory"`     // bodies read ahead
	Backlog        int           `yaml:"backlog"`          // answers that wait to be noted
	HandleWait     time.Duration `yaml:"handle_wait"`      // for a scroll or PIT id that is still on its way

	DryRun bool `yaml:"-"`
	// Origin is how long ago the run began whose times the outcomes count from: a
	// mirror goes on with the run of the process before.
	Origin time.Duration `yaml:"-"`
}

// TargetConfig says where requests go, and as whom.
type TargetConfig struct {
	URL      string `yaml:"url"`
	User     string `yaml:"user"`
	Password Secret `yaml:"-"`
	APIKey   Secret `yaml:"-"` // as the API gives it: base64 of id:key

	CACert      []byte `yaml:"-"`           // PEM
	Fingerprint string `yaml:"fingerprint"` // SHA-256 of a certificate of the chain, in hex
	Insecure    bool   `yaml:"insecure"`    // no check of the certificate

	Connections  int           `yaml:"connections"` // 0: as many as there are requests in flight
	Timeout      time.Duration `yaml:"timeout"`     // from sent to the last byte; 0: none
	IdleTimeout  time.Duration `yaml:"idle_timeout"`
	MaxAnswer    size.Size     `yaml:"max_answer"`    // above it an answer is timed, but not judged
	AnswerMemory size.Size     `yaml:"answer_memory"` // all answers held; at least twice MaxAnswer
}

// Default is the configuration that users get who set nothing.
func Default() Config {
	return Config{
		Speed: 1, InFlight: 4096, InFlightMemory: 256 * size.MiB, Ahead: 10 * time.Second, AheadMemory: 64 * size.MiB,
		Backlog: 1 << 16, HandleWait: 10 * time.Second,
	}
}

// DefaultTarget is Default for the target.
func DefaultTarget() TargetConfig {
	return TargetConfig{
		Timeout: time.Minute, IdleTimeout: 50 * time.Second, MaxAnswer: 64 * size.MiB, AnswerMemory: 256 * size.MiB,
	}
}

// Validate names everything that is wrong, at once.
func (c *Config) Validate() error {
	var errs []error
	bad := func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	bad(c.Speed < 0, "speed: want a factor above 0, or max")
	bad(c.InFlight < 0, "in_flight: want 0 (no bound) or more")
	bad(c.InFlightMemory < 0, "in_flight_memory: want 0 (no bound) or more")
	bad(c.Ahead <= 0, "ahead: want more than 0")
	bad(c.AheadMemory <= 0, "ahead_memory: want more than 0")
	bad(c.Backlog <= 0, "backlog: want more than 0")
	bad(c.HandleWait < 0, "handle_wait: want 0 or more")
	bad(c.Window.Duration < 0, "duration: want 0 (all) or more")
	bad(c.Window.To != 0 && c.Window.To <= c.Window.From, "to: want a time after from")
	bad(c.Writes && !c.SameIndex && len(c.IndexMap) == 0, "writes: needs index_map or same_index, which say where they may go")
	bad(c.SameIndex && len(c.IndexMap) > 0, "same_index and index_map exclude each other")
	for _, r := range c.IndexMap {
		if err := r.check(); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Validate names everything that is wrong, at once. No secret is in its error.
func (cfg *TargetConfig) Validate() error {
	var errs []error
	bad := func(is bool, text string) {
		if is {
			errs = append(errs, errors.New(text))
		}
	}
	if _, err := cfg.parseURL(); err != nil {
		errs = append(errs, err)
	}
	if _, err := cfg.tlsConfig(""); err != nil {
		errs = append(errs, err)
	}
	bad(cfg.User != "" && cfg.APIKey != "", "user and api_key_file exclude each other")
	bad(cfg.User == "" && cfg.Password != "", "password_file: a password needs a user")
	bad(strings.ContainsAny(cfg.authorization(), "\r\n"), "api_key_file: has a line break")
	bad(cfg.Connections < 0, "connections: want 0 (no bound) or more")
	bad(cfg.Timeout < 0, "timeout: want 0 (none) or more")
	bad(cfg.IdleTimeout <= 0, "idle_timeout: want more than 0")
	bad(cfg.MaxAnswer <= 0, "max_answer: want more than 0")
	bad(cfg.AnswerMemory < 2*cfg.MaxAnswer, "answer_memory: want at least twice max_answer")
	return errors.Join(errs...)
}

// parseURL reads the target's URL. User and password in it are refused: they
// would stand in process lists and shell histories.
func (cfg *TargetConfig) parseURL() (*url.URL, error) {
	u, err := url.Parse(cfg.URL)
	switch {
	case err != nil: // url.Parse quotes the text, which may hold a password
		return nil, errors.New("target: not a URL: want http://host:9200 or https://host:9200/prefix")
	case u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return nil, errors.New("target: want http://host:9200 or https://host:9200/prefix")
	case u.User != nil:
		return nil, errors.New("target: user and password do not belong into the URL: use user and password_file, or api_key_file")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("target: a query or fragment has no meaning here")
	}
	return u, nil
}

// pathPrefix is what stands before each request's target.
func pathPrefix(u *url.URL) string { return strings.TrimRight(u.EscapedPath(), "/") }
