package mirror

import (
	"errors"
	"fmt"
	"time"

	"github.com/esshadow/esshadow/capture/segment"
	"github.com/esshadow/esshadow/internal/size"
	"github.com/esshadow/esshadow/replay"
)

// Config says what of the live traffic is mirrored, and within which bounds.
// Where to is a replay.TargetConfig.
type Config struct {
	// Sample is the part of the connections that is mirrored, from 0 to 1. A
	// connection is mirrored as a whole or not at all, and the same connections are
	// chosen as by the capture's sample.
	Sample float64 `yaml:"sample"`

	Writes    bool               `yaml:"writes"`     // send writes: needs IndexMap or SameIndex
	SameIndex bool               `yaml:"same_index"` // writes go to indices of the source's names
	IndexMap  []replay.IndexRule `yaml:"index_map"`

	// Queue bounds the bytes of requests that are held, from the client's answer to
	// the target's; beyond it they are shed as queue_full.
	Queue size.Size `yaml:"queue"`
	// InFlight bounds their number; beyond it they are shed as in_flight.
	InFlight   int           `yaml:"in_flight"`
	HandleWait time.Duration `yaml:"handle_wait"` // for a scroll or PIT id that is still on its way

	// BreakerFailures failures in a row make the breaker open: no connection, no
	// answer in time, 502, 503, 504. A 429 counts for a fifth of one.
	BreakerFailures int `yaml:"breaker_failures"`
	// BreakerWait is how long the target is left alone then, doubled with each
	// failure to come back, up to BreakerMaxWait.
	BreakerWait    time.Duration `yaml:"breaker_wait"`
	BreakerMaxWait time.Duration `yaml:"breaker_max_wait"`

	// Drain bounds the wait for what is in flight at the end.
	Drain time.Duration `yaml:"drain"`

	// Outcome files: KeepSize bounds all of the run directory's together, the oldest
	// go first; below MinFree of free disk none is written.
	RotateSize    size.Size     `yaml:"rotate_size"`
	RotateAge     time.Duration `yaml:"rotate_age"`
	KeepSize      size.Size     `yaml:"keep_size"`
	KeepAge       time.Duration `yaml:"keep_age"`
	MinFree       size.Size     `yaml:"min_free"`
	FlushInterval time.Duration `yaml:"flush_interval"`
}

// Default is the configuration that users get who set nothing but a target.
func Default() Config {
	return Config{
		Sample: 1, Queue: 64 * size.MiB, InFlight: 1024, HandleWait: 10 * time.Second,
		BreakerFailures: 20, BreakerWait: time.Second, BreakerMaxWait: 30 * time.Second,
		Drain:      5 * time.Second,
		RotateSize: 64 * size.MiB, RotateAge: time.Hour, KeepSize: size.GiB, MinFree: size.GiB, FlushInterval: time.Second,
	}
}

// DefaultTarget is the target's configuration without its URL: a target that
// is slower than this is no reason to hold live requests any longer.
func DefaultTarget() replay.TargetConfig {
	t := replay.DefaultTarget()
	t.Timeout, t.MaxAnswer, t.AnswerMemory = 30*time.Second, 16*size.MiB, 64*size.MiB
	return t
}

// Validate names every mistake at once.
func (c *Config) Validate() error {
	var errs []error
	bad := func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	bad(!(c.Sample >= 0 && c.Sample <= 1), "sample: %v: want a ratio from 0 to 1", c.Sample)
	bad(c.Queue < size.MiB, "queue: %s: want at least 1MiB", c.Queue)
	bad(c.InFlight < 1 || c.InFlight > maxInFlight, "in_flight: %d: want 1 to %d", c.InFlight, maxInFlight)
	bad(c.BreakerFailures < 1, "breaker_failures: %d: want 1 or more", c.BreakerFailures)
	bad(c.BreakerWait < time.Millisecond, "breaker_wait: %v: want 1ms or more", c.BreakerWait)
	bad(c.BreakerMaxWait < c.BreakerWait, "breaker_max_wait: %v: want breaker_wait (%v) or more", c.BreakerMaxWait, c.BreakerWait)
	bad(c.Drain < 0, "drain: %v: want 0 or more", c.Drain)
	engine := c.Engine()
	errs = append(errs, engine.Validate(), c.files().Validate())
	return errors.Join(errs...)
}

// maxInFlight keeps the engine's own queues, which do not shed, from filling.
const maxInFlight = 1 << 15

// Engine is the engine's part: all bounds are the mirror's own.
func (c *Config) Engine() replay.Config {
	e := replay.Default()
	e.Speed, e.InFlight, e.InFlightMemory, e.AheadMemory = 1, 0, 0, size.TiB
	e.Writes, e.SameIndex, e.IndexMap, e.HandleWait = c.Writes, c.SameIndex, c.IndexMap, c.HandleWait
	return e
}

// files is how outcome files are written.
func (c *Config) files() segment.Config {
	f := segment.DefaultConfig()
	f.RotateSize, f.RotateAge, f.KeepSize, f.KeepAge = c.RotateSize, c.RotateAge, c.KeepSize, c.KeepAge
	f.MinFree, f.FlushInterval = c.MinFree, c.FlushInterval
	return f
}
