package main

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/esshadow/esshadow/replay"
	"github.com/esshadow/esshadow/replay/diff"
	"github.com/esshadow/esshadow/replay/mirror"
)

// mirrorMetrics shows a mirror's Stats, and judges and times its outcomes as they
// come.
type mirrorMetrics struct {
	stats func() mirror.Stats

	result string // of the outcome that was judged last, for count

	mu                    sync.Mutex // guards what is timed and compared
	response, source, lag seconds
	results               map[string]uint64

	compared                                     *prometheus.Desc
	sending                                      sending
	offered, sampledOut                          *prometheus.Desc
	queue, inFlight, breaker, on, outcomes, disk *prometheus.Desc
}

func newMirrorMetrics() *mirrorMetrics {
	const f family = "esshadow_mirror_"
	m := &mirrorMetrics{
		sending:    f.sending("Requests that a guard did not let pass.", "Requests that were not sent although they might have been."),
		response:   f.seconds("response_seconds", "From when a mirrored request could be sent to the last byte of the target's answer."),
		source:     f.seconds("source_seconds", "What the source took for the same requests."),
		lag:        f.seconds("lag_seconds", "From when a mirrored request could be sent to its sending: waits for earlier ones of its connection among it."),
		compared:   f.desc("compared_total", "Answers by result of the comparison with the source's.", "result"),
		results:    map[string]uint64{},
		offered:    f.desc("offered_total", "Requests that the proxy passed and offered."),
		sampledOut: f.desc("sampled_out_total", "Requests of connections that are not mirrored."),
		queue:      f.desc("queue_bytes", "Memory held by requests on their way."),
		inFlight:   f.desc("in_flight", "Requests on their way."),
		breaker:    f.desc("breaker_state", "1 for the state that the breaker is in.", "state"),
		on:         f.desc("state", "1 for the state that mirroring is in.", "state"),
		outcomes:   f.desc("outcomes_total", "Outcome lines by what became of them.", "result"),
		disk:       f.desc("disk_state", "1 for the state that writing outcomes is in.", "state"),
	}
	for _, result := range comparedResults() {
		m.results[result] = 0
	}
	return m
}

func comparedResults() []string { return []string{"same", "different", "not_comparable"} }

func (m *mirrorMetrics) register(reg prometheus.Registerer) error {
	return reg.Register(m)
}

// judge is the engine's Judge: it names the kinds of difference of an outcome,
// each once. One goroutine at a time calls it.
func (m *mirrorMetrics) judge(o *replay.Outcome) []string {
	m.result = ""
	if o.Sent == 0 || o.Err != "" {
		return nil
	}
	v := compare(o)
	switch {
	case v.Why != "":
		m.result = "not_comparable"
	case v.Same():
		m.result = "same"
	default:
		m.result = "different"
	}
	return kindsOf(v)
}

// count is the engine's Counted.
func (m *mirrorMetrics) count(o *replay.Outcome) {
	if o.Sent == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lag.observe(o.Sent - o.Planned)
	if o.Err != "" {
		return
	}
	m.response.observe(o.Done - o.Planned)
	if o.SourceTook > 0 {
		m.source.observe(o.SourceTook * int64(time.Microsecond))
	}
	m.results[m.result]++
}

// putTimes puts what is timed and compared so far.
func (m *mirrorMetrics) putTimes(to scraped) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lag.put(to)
	m.response.put(to)
	m.source.put(to)
	to.countBy(m.compared, m.results)
}

// compare is the comparison that a report makes too.
func compare(o *replay.Outcome) diff.Verdict {
	return diff.Compare(diff.Answer{Status: o.SourceStatus, Summary: o.Want}, diff.Answer{Status: o.Status, Summary: o.Got},
		diff.Ask{ExactTotal: o.ExactTotal, Sorted: o.Sorted, TerminateAfter: o.TerminateAfter, Fidelity: o.Fidelity, FidWhy: o.FidWhy}, diff.DefaultTolerances())
}

// Describe implements prometheus.Collector.
func (m *mirrorMetrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range append(m.sending.all(), m.offered, m.sampledOut, m.queue, m.inFlight, m.breaker, m.on, m.outcomes, m.disk,
		m.lag.desc, m.response.desc, m.source.desc, m.compared) {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (m *mirrorMetrics) Collect(ch chan<- prometheus.Metric) {
	to := scraped(ch)
	m.putTimes(to) // before the counts, which are ahead of the times
	s := m.stats()
	to.count(m.offered, s.Offered)
	to.count(m.sampledOut, s.SampledOut)
	m.sending.collect(to, &replay.Counts{
		Sent: s.Sent, Codes: s.Codes, Refused: s.Refused, Shed: s.Shed, Errors: s.Errors, Differences: s.Differences,
	})
	to.gauge(m.queue, float64(s.QueueBytes))
	to.gauge(m.inFlight, float64(s.InFlight))
	for _, b := range mirror.Breakers() {
		to.gauge(m.breaker, flag(b == s.Breaker), b.String())
	}
	for _, state := range mirror.States() {
		to.gauge(m.on, flag(state == s.State()), state)
	}
	to.count(m.outcomes, s.Written, "written")
	to.count(m.outcomes, s.Lost, "lost")
	for _, d := range mirror.Disks() {
		to.gauge(m.disk, flag(d == s.Disk), d.String())
	}
}
