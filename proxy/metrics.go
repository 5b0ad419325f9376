package proxy

import (
	"strconv"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/esshadow/esshadow/internal/es"
)

// metrics are the proxy's own. Labels are bounded: names of operations, status
// codes, and the configured upstreams.
type metrics struct {
	requests  *prometheus.CounterVec
	rows      [256]atomic.Pointer[metricRow]
	request   [es.ClassDestructive + 1]prometheus.Observer
	bytes     [2]prometheus.Counter // of bodies: requests', answers'
	upstream  prometheus.Histogram
	overhead  prometheus.Histogram
	aborted   *prometheus.CounterVec
	byClient  prometheus.Counter
	byNode    prometheus.Counter
	panics    prometheus.Counter
	badOrigin prometheus.Counter
	tapPanics prometheus.Counter
	up        *prometheus.GaugeVec
}

// metricRow holds the counters of one operation by status, made when first
// needed, so that counting a request allocates nothing.
type metricRow [600]atomic.Pointer[prometheus.Counter]

// codeGone stands for requests whose client left before the answer; the web
// server nginx made the number known.
const codeGone = 499

func newMetrics(reg prometheus.Registerer, inFlight func() float64) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "esshadow_proxy_requests_total",
			Help: "Requests by operation and by the status that the client got; 499: the client left first.",
		}, []string{"op", "code"}),
		upstream: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "esshadow_proxy_upstream_seconds",
			Help:    "From sending a request to the upstream to the last byte of its answer.",
			Buckets: latencyBuckets(),
		}),
		overhead: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "esshadow_proxy_overhead_seconds",
			Help:    "The proxy's own part: from the whole request to its sending, and from the answer's last byte to its writing.",
			Buckets: overheadBuckets(),
		}),
		aborted: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "esshadow_proxy_aborted_total",
			Help: "Exchanges that ended before the answer was whole, by who ended them.",
		}, []string{"by"}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "esshadow_proxy_panics_total",
			Help: "Requests on which the proxy itself failed.",
		}),
		badOrigin: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "esshadow_proxy_bad_proxy_headers_total",
			Help: "Connections of load balancers that were closed since they began with no header of the PROXY protocol.",
		}),
		tapPanics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "esshadow_proxy_tap_panics_total",
			Help: "Exchanges lost because capturing them failed.",
		}),
		up: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "esshadow_proxy_upstream_up",
			Help: "1 while the upstream answers or has not been asked yet, 0 after it failed.",
		}, []string{"upstream"}),
	}
	request := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "esshadow_proxy_request_seconds",
		Help:    "From a request's first byte to the last byte of its answer, as the client sees it, by class of operation.",
		Buckets: latencyBuckets(),
	}, []string{"class"})
	for class := range m.request {
		m.request[class] = request.WithLabelValues(es.Class(class).String())
	}
	bodies := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "esshadow_proxy_body_bytes_total",
		Help: "Bytes of bodies that passed, without their framing: in from clients, out to them.",
	}, []string{"direction"})
	m.bytes = [2]prometheus.Counter{bodies.WithLabelValues("in"), bodies.WithLabelValues("out")}
	m.byClient, m.byNode = m.aborted.WithLabelValues("client"), m.aborted.WithLabelValues("upstream")
	gauge := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "esshadow_proxy_in_flight",
		Help: "Requests that are being served.",
	}, inFlight)
	for _, c := range []prometheus.Collector{
		m.requests, request, bodies, m.upstream, m.overhead, m.aborted, m.panics, m.badOrigin, m.tapPanics, m.up, gauge,
	} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// count adds one request.
func (m *metrics) count(op es.Op, code int) {
	if code < 100 || code >= len(metricRow{}) {
		code = codeGone
	}
	row := m.rows[op].Load()
	if row == nil {
		row = new(metricRow)
		if !m.rows[op].CompareAndSwap(nil, row) {
			row = m.rows[op].Load()
		}
	}
	c := row[code].Load()
	if c == nil {
		made := m.requests.WithLabelValues(op.String(), strconv.Itoa(code))
		c = &made
		row[code].Store(c)
	}
	(*c).Inc()
}

// observe adds the times of a job that was forwarded.
func (m *metrics) observe(j *job) {
	m.bytes[0].Add(float64(j.bodySize))
	m.bytes[1].Add(float64(j.answerSize))
	m.request[j.class].Observe(j.done.Sub(j.arrived).Seconds())
	if j.last.IsZero() {
		return
	}
	m.upstream.Observe(j.last.Sub(j.sent).Seconds())
	m.overhead.Observe((j.sent.Sub(j.ready) + j.done.Sub(j.last)).Seconds())
}

// latencyBuckets: 250 µs to 2 minutes.
func latencyBuckets() []float64 {
	return []float64{
		.00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 120,
	}
}

// overheadBuckets: 5 µs to 1 s.
func overheadBuckets() []float64 {
	return []float64{
		.000005, .00001, .000025, .00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .1, 1,
	}
}
