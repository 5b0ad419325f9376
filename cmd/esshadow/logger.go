package main

import (
	"io"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/spf13/pflag"

	"github.com/esshadow/esshadow/configs"
)

func logFlags(f *pflag.FlagSet, l *configs.Log) {
	f.StringVar(&l.Level, "log-level", l.Level, "debug, info, warn or error")
	f.StringVar(&l.Format, "log-format", l.Format, "console or json")
}

// newLogger writes to w. The Log must be valid.
func newLogger(l configs.Log, w io.Writer) *zap.Logger {
	log, _ := newLeveled(l, w)
	return log
}

// newLeveled is newLogger with a level that can be changed.
func newLeveled(l configs.Log, w io.Writer) (*zap.Logger, zap.AtomicLevel) {
	level, err := zapcore.ParseLevel(l.Level)
	if err != nil {
		level = zapcore.InfoLevel
	}
	enc := zap.NewProductionEncoderConfig()
	enc.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	encoder := zapcore.NewJSONEncoder(enc)
	if l.Format == "console" {
		enc.EncodeLevel = zapcore.CapitalLevelEncoder
		encoder = zapcore.NewConsoleEncoder(enc)
	}
	atomic := zap.NewAtomicLevelAt(level)
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(w)), atomic)), atomic
}
