package sanitize

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
)

// DetectorRules say what is looked for in strings that a rule keeps, and what
// becomes of a string in which something is found. Detectors never choose a
// pseudonym: a query holds fragments that they would not recognise.
type DetectorRules struct {
	// InKeptFields is report (count it, see Pipeline.Detected), mask or
	// drop-record.
	InKeptFields string `yaml:"in_kept_fields"`
	// Use lists detectors of Detectors; empty: all. high_entropy only ever reports.
	Use Globs `yaml:"use"`
}

const (
	detectReport = "report"
	detectMask   = "mask"
	detectDrop   = "drop-record"
)

// detector recognises one kind of personal data or of secret, at the place of a
// text where one may begin.
type detector struct {
	name  string
	needs hint
	find  func(s []byte) bool
}

// hint is what a text must have for a detector to be worth running.
type hint uint8

const (
	hintAt     hint = 1 << iota // @, in one of its spellings
	hintDigits                  // eight digits
	hintLong                    // fifteen bytes
	hintURL                     // : ? or &
	hintDash                    // -----
)

func hintsOf(s []byte) (h hint) {
	digits := 0
	for _, c := range s {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == '@', c == '%', c == '&', c == 0xEF:
			h |= hintAt | hintURL
		case c == ':', c == '?':
			h |= hintURL
		case c == '-':
			h |= hintDash
		}
	}
	if digits >= 8 {
		h |= hintDigits
	}
	if len(s) >= 15 {
		h |= hintLong
	}
	return h
}

func allDetectors() []detector {
	return []detector{
		{"email", hintAt, hasEmail},
		{"phone:cn", hintDigits, hasPhoneCN},
		{"phone:e164", hintDigits, hasE164},
		{"id:cn", hintDigits, hasIDCN},
		{"card", hintDigits, hasCard},
		{"iban", hintLong, hasIBAN},
		{"jwt", hintLong, hasJWT},
		{"pem", hintDash, hasPEM},
		{"es_api_key", hintLong, hasAPIKey},
		{"url_credentials", hintURL, hasURLCredentials},
		{entropyName, hintLong, hasEntropy},
	}
}

const entropyName = "high_entropy"

// Detectors lists the names of the detectors.
func Detectors() []string {
	var names []string
	for _, d := range allDetectors() {
		names = append(names, d.name)
	}
	return names
}

func (r *DetectorRules) mistakes() (errs []error) {
	if m := r.InKeptFields; m != "" && m != detectReport && m != detectMask && m != detectDrop {
		errs = append(errs, fmt.Errorf("detectors.in_kept_fields: %q is not one of report, mask, drop-record", m))
	}
	for i, name := range r.Use {
		if !slices.Contains(Detectors(), name) {
			errs = append(errs, fmt.Errorf("detectors.use[%d]: %q is not one of %s", i, name, strings.Join(Detectors(), ", ")))
		}
	}
	return errs
}

// detectors are those in use, and how often each has found something.
type detectors struct {
	mode  string
	use   []detector
	found []atomic.Uint64
}

func newDetectors(r DetectorRules) *detectors {
	d := &detectors{mode: r.InKeptFields}
	for _, one := range allDetectors() {
		if len(r.Use) == 0 || slices.Contains(r.Use, one.name) {
			d.use = append(d.use, one)
		}
	}
	d.found = make([]atomic.Uint64, len(d.use))
	return d
}

// Detection is how often a detector found something in kept values.
type Detection struct {
	Detector string
	Count    uint64
}

// Detected gives the counts of all detectors in use, by all workers.
func (p *Pipeline) Detected() []Detection {
	out := make([]Detection, len(p.detect.use))
	for i, d := range p.detect.use {
		out[i] = Detection{d.name, p.detect.found[i].Load()}
	}
	return out
}

// minDetected is the length below which no text is looked at.
const minDetected = 6

// look gives what the rules want done with a kept value: "" for nothing,
// detectMask or detectDrop; and whether anything was found.
func (d *detectors) look(s []byte) (want string, found bool) {
	if len(s) < minDetected || dateLen(s) == len(s) {
		return "", false
	}
	hints := hintsOf(s)
	for i := range d.use {
		if d.use[i].needs&^hints != 0 || !d.use[i].find(s) {
			continue
		}
		found = true
		d.found[i].Add(1)
		if d.mode != detectReport && d.use[i].name != entropyName {
			return d.mode, true
		}
	}
	return "", found
}

// detect is look for a value of the request at hand.
func (w *Worker) detect(s []byte) (want string) {
	want, found := w.p.detect.look(s)
	w.asking.unlike = w.asking.unlike || found // each time it comes it counts
	return want
}
