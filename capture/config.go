package capture

import (
	"errors"
	"fmt"

	"github.com/esshadow/esshadow/internal/size"
)

// Config says what a Recorder captures and what it may use for that. Where the
// lines go is the matter of segment.Config.
type Config struct {
	// MaxBody bounds the request bodies that are captured. A longer one is
	// forwarded, but its record is dropped as body_too_large.
	MaxBody size.Size `yaml:"max_body"`
	// Queue bounds the bytes of exchanges and encoded lines in memory. Beyond it
	// records are dropped as queue_full. On top of it come, for each worker, one
	// record while it is sanitised (at most about twice MaxBody) and the writer's
	// block.
	Queue size.Size `yaml:"queue"`
	// Priority says what goes first when the queue is short of room. With
	// "writes", searches and other reads are dropped when less than a quarter of
	// it is free, and that quarter is left to writes: a lost search is one search
	// less, a lost write makes the target that it is replayed to another one. With
	// "none" they are equal.
	Priority string `yaml:"priority"`
	// Workers sanitise and encode. 0 means half the processors, at least one.
	Workers int `yaml:"workers"`
	// Nice is by how much the threads of workers and writer step back behind those
	// that serve clients while large requests come, 1 to 19, on Linux. As many workers that do not step back
	// help them while much waits in the queue, or waits long, unless more is lost than
	// captured all the same. 0: none steps back, workers take turns with the proxy.
	Nice int `yaml:"nice"`
	// Sample is the part of the connections that is captured, from 0 to 1. A
	// connection is captured as a whole or not at all.
	Sample float64 `yaml:"sample"`
	// StopOver pauses capturing, and nothing else, when of the last 10 000 requests
	// more than this share could not be sanitised. 0: never.
	StopOver float64 `yaml:"stop_if_dropped_over"`
	// Ops choose by operation, by the names that es.Op has.
	Ops Choice `yaml:"ops"`
	// Indices choose by the index expression of the path: patterns, in which *
	// stands for anything, are compared with each of its parts as they were
	// written. A request whose path names no index passes them.
	Indices Choice `yaml:"indices"`
}

// Choice names what is captured: what Include says, or all where it is empty,
// and of that nothing that Exclude says.
type Choice struct {
	Include []string `yaml:"include"`
	Exclude []string `yaml:"exclude"`
}

// Values of Config.Priority.
const (
	PriorityWrites = "writes"
	PriorityNone   = "none"
)

// Default is the Config that everything starts from.
func Default() Config {
	return Config{MaxBody: 16 * size.MiB, Queue: 64 * size.MiB, Priority: PriorityWrites, Sample: 1, Nice: 10}
}

const (
	maxWorkers = 256
	maxNice    = 19 // the kindest that a thread can be
)

// WorkersOn is Workers, or what 0 means where the Go runtime has so many
// processors.
func (c Config) WorkersOn(procs int) int {
	if c.Workers > 0 {
		return c.Workers
	}
	return max(1, procs/2)
}

// Validate names every mistake at once.
func (c Config) Validate() error {
	var errs []error
	if c.MaxBody < 1 {
		errs = append(errs, fmt.Errorf("max_body: %s: want at least 1B", c.MaxBody))
	}
	if c.Queue < size.MiB {
		errs = append(errs, fmt.Errorf("queue: %s: want at least 1MiB", c.Queue))
	}
	if c.Queue < c.MaxBody {
		errs = append(errs, fmt.Errorf("queue: %s: want at least max_body (%s), or its bodies never fit", c.Queue, c.MaxBody))
	}
	if c.Priority != PriorityWrites && c.Priority != PriorityNone {
		errs = append(errs, fmt.Errorf("priority: %q: want %s or %s", c.Priority, PriorityWrites, PriorityNone))
	}
	if c.Workers < 0 || c.Workers > maxWorkers {
		errs = append(errs, fmt.Errorf("workers: %d: want 0 (half the processors) to %d", c.Workers, maxWorkers))
	}
	if c.Nice < 0 || c.Nice > maxNice {
		errs = append(errs, fmt.Errorf("nice: %d: want 0 (off) to %d", c.Nice, maxNice))
	}
	if !(c.StopOver >= 0 && c.StopOver < 1) {
		errs = append(errs, fmt.Errorf("stop_if_dropped_over: %v: want a share from 0 (never) to below 1, such as 0.05", c.StopOver))
	}
	if !(c.Sample >= 0 && c.Sample <= 1) {
		errs = append(errs, fmt.Errorf("sample: %v: want a ratio from 0 to 1", c.Sample))
	}
	_, err := newFilter(c)
	return errors.Join(append(errs, err)...)
}
