package main

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/capture/segment"
	"github.com/esshadow/esshadow/sanitize"
)

// newRegistry holds what every process shows of itself.
func newRegistry(b buildInfo) *prometheus.Registry {
	reg := prometheus.NewRegistry()
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "esshadow_build_info", Help: "1, with the version as labels.",
		ConstLabels: prometheus.Labels{"version": b.Version, "go": b.Go},
	})
	info.Set(1)
	reg.MustRegister(info, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return reg
}

// captureMetrics shows a Recorder's Stats; a nil Recorder is state off.
type captureMetrics struct {
	stats                                       func() capture.Stats
	dir                                         string
	records, queue, raw, written, on, free, cpu *prometheus.Desc
}

func newCaptureMetrics(stats func() capture.Stats, dir string) *captureMetrics {
	const f family = "esshadow_capture_"
	return &captureMetrics{
		stats:   stats,
		dir:     dir,
		records: f.desc("records_total", "Requests by what became of their record.", "result", "reason"),
		queue:   f.desc("queue_bytes", "Memory held by exchanges and lines on their way to the file."),
		raw:     f.desc("raw_bytes_total", "Bytes of lines written, before compression."),
		written: f.desc("written_bytes_total", "Bytes written to segment files."),
		free:    f.desc("disk_free_bytes", "Free space of the file system that the capture is on."),
		cpu:     f.desc("cpu_seconds_total", "Processor time of sanitising, encoding and writing, without collecting their garbage; on Linux."),
		on:      f.desc("state", "1 for the state that capture is in.", "state"),
	}
}

// detectedMetric shows what the sanitiser's detectors found; a nil pipe, nothing.
// The labels are the names of the detectors that are in use.
type detectedMetric struct {
	pipe *sanitize.Pipeline
	desc *prometheus.Desc
}

func newDetectedMetric(pipe *sanitize.Pipeline) *detectedMetric {
	return &detectedMetric{pipe, prometheus.NewDesc("esshadow_sanitize_detected_total",
		"Values that a rule keeps and in which a detector found personal data or a secret.", []string{"detector"}, nil)}
}

// Describe implements prometheus.Collector.
func (m *detectedMetric) Describe(ch chan<- *prometheus.Desc) { ch <- m.desc }

// Collect implements prometheus.Collector.
func (m *detectedMetric) Collect(ch chan<- prometheus.Metric) {
	if m.pipe == nil {
		return
	}
	for _, d := range m.pipe.Detected() {
		scraped(ch).count(m.desc, d.Count, d.Detector)
	}
}

// detected are the counts of those detectors that found something.
func detected(pipe *sanitize.Pipeline) map[string]uint64 {
	found := map[string]uint64{}
	if pipe != nil {
		for _, d := range pipe.Detected() {
			if d.Count > 0 {
				found[d.Detector] = d.Count
			}
		}
	}
	return found
}

// Describe implements prometheus.Collector.
func (m *captureMetrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.records, m.queue, m.raw, m.written, m.on, m.free, m.cpu} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (m *captureMetrics) Collect(ch chan<- prometheus.Metric) {
	s := m.stats()
	to := scraped(ch)
	to.count(m.records, s.Captured, "captured", "")
	to.count(m.records, s.SampledOut, "sampled_out", "")
	to.countBy(m.records, s.Filtered, "filtered")
	to.countBy(m.records, s.Dropped, "dropped")
	to.count(m.raw, s.RawBytes)
	to.count(m.written, s.WrittenBytes)
	ch <- prometheus.MustNewConstMetric(m.cpu, prometheus.CounterValue, s.CPU.Seconds())
	to.gauge(m.queue, float64(s.QueueBytes))
	if m.dir != "" {
		if free, err := segment.FreeSpace(m.dir); err == nil {
			to.gauge(m.free, float64(free))
		}
	}
	for _, st := range capture.States() {
		to.gauge(m.on, flag(st == s.State), st.String())
	}
}
