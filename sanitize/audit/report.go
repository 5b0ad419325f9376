package audit

import (
	"maps"
	"math"
	"slices"
)

// Report is what was looked through and what was found.
type Report struct {
	Files    int            `json:"files"`
	Lines    int64          `json:"lines"`
	Bytes    int64          `json:"bytes"`
	Found    int            `json:"found"`
	ByKind   map[string]int `json:"by_kind"`
	Findings []Finding      `json:"findings"`
	// Chance has the detectors whose hits a permuted number may be.
	Chance []Chance `json:"chance"`
	// Undecoded counts the Troubles, of which the first are listed.
	Undecoded int       `json:"undecoded"`
	Troubles  []Trouble `json:"troubles"`
}

// Chance compares the hits of a detector of digits with what chance gives for
// numbers as they come out of the sanitiser.
type Chance struct {
	Detector   string  `json:"detector"`
	Candidates int     `json:"candidates"` // numbers of a length that it takes
	Hits       int     `json:"hits"`
	Expected   float64 `json:"expected"`           // of Candidates, if they are random
	Beyond     bool    `json:"beyond"`             // more than chance explains: they count as found
	First      Finding `json:"first_hit,omitzero"` // to begin looking
}

// beyondChance is how unlikely so many hits must be to count as found.
const beyondChance = 0.001

// Report is the state of things; the Scanner may go on.
func (s *Scanner) Report() Report {
	r := s.report
	r.Findings, r.Troubles, r.ByKind = slices.Clone(r.Findings), slices.Clone(r.Troubles), maps.Clone(r.ByKind)
	for _, name := range slices.Sorted(maps.Keys(s.chance)) {
		c := *s.chance[name]
		if c.Beyond = c.Hits > 0 && poissonTail(c.Hits, c.Expected) < beyondChance; c.Beyond {
			r.Found += c.Hits
			r.ByKind[name] += c.Hits
		}
		r.Chance = append(r.Chance, c)
	}
	return r
}

// poissonTail is the probability of k or more events where mean are expected.
func poissonTail(k int, mean float64) float64 {
	if mean <= 0 {
		if k > 0 {
			return 0
		}
		return 1
	}
	if float64(k) > mean+20*math.Sqrt(mean)+20 {
		return 0
	}
	below := 0.0
	for i := range k {
		lg, _ := math.Lgamma(float64(i) + 1)
		below += math.Exp(float64(i)*math.Log(mean) - mean - lg)
	}
	return 1 - below
}
