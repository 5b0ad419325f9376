package main

import (
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/esshadow/esshadow/replay"
)

// family is what the names of metrics that belong together begin with.
type family string

func (f family) desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(string(f)+name, help, labels, nil)
}

// seconds is a histogram of times from 0.5 ms to a minute. Unlike the library's, its
// values of a scrape are those of the moment in which a collector puts them: that
// of the counts beside them. Whoever holds it guards it.
type seconds struct {
	desc   *prometheus.Desc
	bounds []float64
	counts []uint64 // by bucket; what is above all is in count alone
	count  uint64
	sum    float64
}

func (f family) seconds(name, help string) seconds {
	bounds := prometheus.ExponentialBuckets(0.0005, 2, 18)
	return seconds{desc: f.desc(name, help), bounds: bounds, counts: make([]uint64, len(bounds))}
}

// observe takes a time in ns.
func (h *seconds) observe(ns int64) {
	v := max(0, time.Duration(ns).Seconds())
	if i, _ := slices.BinarySearch(h.bounds, v); i < len(h.counts) {
		h.counts[i]++
	}
	h.count++
	h.sum += v
}

func (h *seconds) put(to scraped) {
	below, n := make(map[float64]uint64, len(h.counts)), uint64(0)
	for i, bound := range h.bounds {
		n += h.counts[i]
		below[bound] = n
	}
	to <- prometheus.MustNewConstHistogram(h.desc, h.count, h.sum, below)
}

// sending is what is counted of requests to a target.
type sending struct {
	sent, answers, refused, shed, errors, differences *prometheus.Desc
}

func (f family) sending(refused, shed string) sending {
	return sending{
		sent:        f.desc("sent_total", "Requests sent to the target."),
		answers:     f.desc("answers_total", "Answers by status, errors with a status included.", "code"),
		refused:     f.desc("refused_total", refused, "reason"),
		shed:        f.desc("shed_total", shed, "reason"),
		errors:      f.desc("errors_total", "Requests without a usable answer.", "class"),
		differences: f.desc("differences_total", "Requests whose answers differ, by kind.", "kind"),
	}
}

func (s *sending) all() []*prometheus.Desc {
	return []*prometheus.Desc{s.sent, s.answers, s.refused, s.shed, s.errors, s.differences}
}

// collect puts what of c is sending's.
func (s *sending) collect(to scraped, c *replay.Counts) {
	to.count(s.sent, c.Sent)
	for code, n := range c.Codes {
		to.count(s.answers, n, strconv.Itoa(code))
	}
	to.countBy(s.refused, c.Refused)
	to.countBy(s.shed, c.Shed)
	to.countBy(s.errors, c.Errors)
	to.countBy(s.differences, c.Differences)
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

func (to scraped) gauge(d *prometheus.Desc, v float64, labels ...string) {
	to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func flag(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
