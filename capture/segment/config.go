package segment

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/esshadow/esshadow/internal/size"
)

// SyncPolicy says when a file is forced to the disk. docs/segment-format.md
// states what each loses.
type SyncPolicy string

// Sync policies.
const (
	SyncNone     SyncPolicy = "none"     // never: the operating system decides
	SyncBlock    SyncPolicy = "block"    // after every block
	SyncInterval SyncPolicy = "interval" // at most once in Config.SyncInterval
)

// Level is how hard blocks are compressed.
type Level string

// Levels.
const (
	LevelFastest Level = "fastest"
	LevelDefault Level = "default"
	LevelBetter  Level = "better"
)

// Config is how files are written. A zero size, age or count means no bound.
type Config struct {
	Dir           string        `yaml:"dir"`            // made (0700) where it is missing
	BlockSize     size.Size     `yaml:"block_size"`     // raw bytes of a block; a longer line has a block of its own
	MaxLine       size.Size     `yaml:"max_line"`       // a longer line is refused
	FlushInterval time.Duration `yaml:"flush_interval"` // a block is cut at this age even if it is not full
	Sync          SyncPolicy    `yaml:"sync"`
	SyncInterval  time.Duration `yaml:"sync_interval"`
	RotateSize    size.Size     `yaml:"rotate_size"` // a file of this size is closed
	RotateAge     time.Duration `yaml:"rotate_age"`  // a file of this age is closed, if it holds a line
	KeepSize      size.Size     `yaml:"keep_size"`   // oldest closed files go while all of Dir are larger
	KeepAge       time.Duration `yaml:"keep_age"`    // closed files go at this age
	KeepFiles     int           `yaml:"keep_files"`  // oldest closed files go while there are more
	MinFree       size.Size     `yaml:"min_free"`    // free bytes of the file system below which nothing is written
	Level         Level         `yaml:"level"`
}

// Bounds of settings.
const (
	minBlockSize = 4 * size.KiB
	maxBlockSize = 16 * size.MiB
	maxLine      = DefaultMaxBlock // what every reader takes by default
)

// DefaultConfig is 256 KiB blocks at the fastest level (within 5 % of the
// ratio of 1 MiB blocks, a quarter of the memory and of the loss), files of at
// most 256 MiB and one hour, kept for ever, and a floor of 1 GiB of free disk.
func DefaultConfig() Config {
	return Config{
		BlockSize: 256 * size.KiB, MaxLine: maxLine, FlushInterval: time.Second,
		Sync: SyncInterval, SyncInterval: time.Second,
		RotateSize: 256 * size.MiB, RotateAge: time.Hour,
		MinFree: size.GiB, Level: LevelFastest,
	}
}

// Validate names every mistake at once. An empty Dir is none: what it means is
// for the caller to say.
func (c Config) Validate() error {
	var errs []error
	bad := func(key, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: "+format, append([]any{key}, args...)...))
	}
	if c.BlockSize < minBlockSize || c.BlockSize > maxBlockSize {
		bad("block_size", "%v is not between %v and %v", c.BlockSize, minBlockSize, maxBlockSize)
	}
	if c.MaxLine < c.BlockSize || c.MaxLine > maxLine {
		bad("max_line", "%v is not between block_size and %v", c.MaxLine, size.Size(maxLine))
	}
	if c.FlushInterval <= 0 {
		bad("flush_interval", "%v is not above 0", c.FlushInterval)
	}
	switch c.Sync {
	case SyncNone, SyncBlock:
	case SyncInterval:
		if c.SyncInterval <= 0 {
			bad("sync_interval", "%v is not above 0", c.SyncInterval)
		}
	default:
		bad("sync", "%q is none of none, block, interval", c.Sync)
	}
	if _, ok := c.Level.zstd(); !ok {
		bad("level", "%q is none of fastest, default, better", c.Level)
	}
	for _, s := range []struct {
		key   string
		value int64
	}{
		{"rotate_size", int64(c.RotateSize)},
		{"rotate_age", int64(c.RotateAge)},
		{"keep_size", int64(c.KeepSize)},
		{"keep_age", int64(c.KeepAge)},
		{"keep_files", int64(c.KeepFiles)},
		{"min_free", int64(c.MinFree)},
	} {
		if s.value < 0 {
			bad(s.key, "is below 0")
		}
	}
	return errors.Join(errs...)
}

func (l Level) zstd() (zstd.EncoderLevel, bool) {
	switch l {
	case LevelFastest:
		return zstd.SpeedFastest, true
	case LevelDefault:
		return zstd.SpeedDefault, true
	case LevelBetter:
		return zstd.SpeedBetterCompression, true
	}
	return 0, false
}

// validName says whether s may be a part of a file's name.
func validName(s string, dash bool) bool {
	if s == "" || len(s) > 64 || strings.HasPrefix(s, "-") {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-' && dash:
		default:
			return false
		}
	}
	return true
}
