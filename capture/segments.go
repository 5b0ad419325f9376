package capture

import (
	"time"

	"go.uber.org/zap"

	"github.com/esshadow/esshadow/capture/segment"
)

// Encoding names the lines of a capture in segment.Meta.
const Encoding = "ndjson/1"

// OpenSegments gives the Open of Options that writes segment files. It fills in
// the Meta's kind and encoding. log may be nil.
func OpenSegments(cfg segment.Config, meta segment.Meta, log *zap.Logger, opts ...segment.Option) func(Report) (Lines, error) {
	if log == nil {
		log = zap.NewNop()
	}
	meta.Kind, meta.Encoding = segment.KindCapture, Encoding
	return func(r Report) (Lines, error) {
		all := append([]segment.Option{
			segment.OnWritten(r.Written), segment.WithDrops(r.Drops), segment.OnRepair(repaired(log)),
		}, opts...)
		w, err := segment.NewWriter(cfg, meta, time.Now(), all...)
		if err != nil {
			return nil, err
		}
		return w, nil
	}
}

func repaired(log *zap.Logger) func(segment.Report, error) {
	return func(r segment.Report, err error) {
		if err != nil {
			log.Warn("segment of an earlier run cannot be repaired", zap.Error(err))
			return
		}
		log.Info("segment of an earlier run repaired",
			zap.String("file", r.Path), zap.Uint64("records", r.Records), zap.Int64("bytes_cut", r.Cut))
	}
}
