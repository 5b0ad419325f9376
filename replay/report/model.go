package report

// Schema names the form of the JSON report; docs/report.schema.json describes
// it.
const Schema = "esshadow.report/1"

// Report is what a run says. Its JSON form is fixed; fields are only added.
type Report struct {
	Schema      string         `json:"schema"`
	Run         RunInfo        `json:"run"`
	Counts      Counts         `json:"counts"`
	Sender      Sender         `json:"sender"`
	Latency     Latencies      `json:"latency"`
	Differences map[string]int `json:"differences"` // requests by kind; one request may have several
	Examples    []Example      `json:"examples"`    // of the differences, a few of each kind
	Operations  []Operation    `json:"operations"`
	Shapes      []Shape        `json:"shapes"`
	Folded      int            `json:"shapes_folded,omitempty"` // shapes counted under "other"
	Verdict     Verdict        `json:"verdict"`
	Gates       []Gate         `json:"gates"`
	Warnings    []string       `json:"warnings,omitempty"`
}

// RunInfo says which run it was.
type RunInfo struct {
	Started     string   `json:"started"`
	Ended       string   `json:"ended"`
	Interrupted bool     `json:"interrupted,omitempty"`
	Speed       string   `json:"speed"`
	Capture     string   `json:"capture"`
	Mirror      bool     `json:"mirror,omitempty"` // a live mirror's run: there is no capture
	Source      Identity `json:"source"`
	Target      Identity `json:"target"`
	Version     string   `json:"version"`
}

// Identity is one cluster.
type Identity struct {
	Flavor  string `json:"flavor"`
	Version string `json:"version"`
	UUID    string `json:"uuid"`
}

// Counts are the sums of a run: Records = Planned + Refused, Planned = Sent +
// Shed, Sent = Answered + Errors, and of the answered ones Compared = Same +
// Different, the rest is NotComparable by reason.
type Counts struct {
	Records       int            `json:"records"`
	Planned       int            `json:"planned"`
	Sent          int            `json:"sent"`
	Answered      int            `json:"answered"`
	Shed          map[string]int `json:"shed"`
	Errors        map[string]int `json:"errors"`
	Refused       map[string]int `json:"refused"`
	Compared      int            `json:"compared"`
	NotComparable map[string]int `json:"not_comparable"`
	Same          int            `json:"same"`
	Different     int            `json:"different"`
	// SourceErrors counts, of the requests sent, those that failed in the same
	// sense (no answer, 429, 502, 503, 504) at the source.
	SourceErrors int `json:"source_errors"`
}

// Sender says whether the replayer itself kept up. Lag is the time between when
// a request was due and when it was sent.
type Sender struct {
	State       string    `json:"state"` // healthy, late, saturated
	Lag         Quantiles `json:"lag_ms"`
	SpanPlanned float64   `json:"span_planned_s"`
	SpanActual  float64   `json:"span_actual_s"`
	InFlightMax int       `json:"in_flight_max"`
}

// Latencies of answered requests. Response counts from the planned time, service
// from the sending; source is what the capture recorded of the same requests.
type Latencies struct {
	Response   Quantiles `json:"response_ms"`
	Service    Quantiles `json:"service_ms"`
	FirstByte  Quantiles `json:"first_byte_ms"`
	Source     Quantiles `json:"source_ms"`
	Took       Quantiles `json:"took_ms"`
	SourceTook Quantiles `json:"source_took_ms"`
}

// Operation is the part of one operation.
type Operation struct {
	Op          string         `json:"op"`
	Counts      Counts         `json:"counts"`
	Latency     Latencies      `json:"latency"`
	Differences map[string]int `json:"differences"`
}

// Shape is the part of one query shape.
type Shape struct {
	Shape       string         `json:"shape"` // readable form
	ID          string         `json:"id"`
	Op          string         `json:"op"`
	Index       string         `json:"index"`
	Example     *Sample        `json:"example"`
	N           int            `json:"n"` // answered
	Different   int            `json:"different"`
	Differences map[string]int `json:"differences"`
	Errors      int            `json:"errors"`
	Response    Quantiles      `json:"response_ms"`
	Source      Quantiles      `json:"source_ms"`
	TimeLost    float64        `json:"time_lost_s"` // own minus source time, summed; see Change
	Change      Change         `json:"change"`
}

// Sample is a request for people to read.
type Sample struct {
	Method string `json:"method"`
	Target string `json:"target"`
	Body   string `json:"body,omitempty"`
}

// Example is one difference.
type Example struct {
	Kind   string  `json:"kind"`
	Seq    uint64  `json:"seq"`
	Op     string  `json:"op"`
	Shape  string  `json:"shape"` // id
	Want   string  `json:"want"`
	Got    string  `json:"got"`
	Sample *Sample `json:"request,omitempty"`
}

// Verdict is the opinion of the report, and why.
type Verdict struct {
	State   string   `json:"state"` // same, worse, better, different, inconclusive
	Reasons []string `json:"reasons"`
}

// Gate is a condition that a pipeline set.
type Gate struct {
	Expr  string   `json:"expr"`
	State string   `json:"state"` // pass, fail, inconclusive
	Value *float64 `json:"value"`
}
