package main

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// family is what the names of metrics that belong together begin with.
type family string

func (f family) desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(string(f)+name, help, labels, nil)
}

// seconds is a histogram of times from 0.5 ms to a minute.
func (f family) seconds(name, help string) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: string(f) + name, Help: help, Buckets: prometheus.ExponentialBuckets(0.0005, 2, 18),
	})
}

// scraped is where a collector puts the values of one scrape.
type scraped chan<- prometheus.Metric

func (to scraped) count(d *prometheus.Desc, v uint64, labels ...string) {
	to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(v), labels...)
}

// countBy puts a count for each name, which is the last label.
func (to scraped) countBy(d *prometheus.Desc, counts map[string]uint64, labels ...string) {
	for name, n := range counts {
		to.count(d, n, append(labels[:len(labels):len(labels)], name)...)
	}
}

// countByCode is countBy for answers by status.
func (to scraped) countByCode(d *prometheus.Desc, counts map[int]uint64) {
	for code, n := range counts {
		to.count(d, n, strconv.Itoa(code))
	}
}

func (to scraped) gauge(d *prometheus.Desc, v float64, labels ...string) {
	to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func flag(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
