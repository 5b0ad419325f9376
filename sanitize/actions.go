package sanitize

import "slices"

// action is what becomes of a field's values. docs/sanitize.md says of each
// whether it is injective and what survives it.
type action uint8

const (
	actTokens action = iota
	actKeep
	actMask
	actDrop
	actNull
	actShape
	actDropRecord
	actPseudonym
	actPrefix
	actCharsub
	actEmail
	actURL
	actFPE
	actShift
	actDateShift
	actIPPrefix
	actBucket
	actGeoGrid
	actLonShift
)

// Actions lists the names of the actions, in the order of their constants.
func Actions() []string {
	return []string{
		"tokens", "keep", "mask", "drop", "null", "shape", "drop-record", "pseudonym", "prefix", "charsub", "email", "url",
		"fpe", "shift", "date-shift", "ip-prefix", "bucket", "geo-grid", "lon-shift",
	}
}

func parseAction(name string) (action, bool) {
	i := slices.Index(Actions(), name)
	return action(max(i, 0)), i >= 0
}

// replaces tells the actions that put a pseudonym or another value in place of a
// value; the others keep it, or put a constant.
func (a action) replaces() bool { return a == actTokens || a >= actPseudonym }

// weak tells the actions that anybody undoes who reads enough of the capture.
func (a action) weak() bool { return a == actCharsub || a == actLonShift }

// quotes tells the actions that make a string of a number: a number of the same
// text must get the same pseudonym, and a pseudonym of letters is no number.
func (a action) quotes() bool {
	switch a {
	case actPseudonym, actPrefix, actCharsub, actEmail, actURL:
		return true
	}
	return false
}

// form is how a domain turns a text into its pseudonym.
type form uint8

const (
	formTokens  form = iota // run by run
	formWhole               // the whole text by one word
	formPrefix              // character by character, chosen by those before
	formCharsub             // character by character
	formURL
	formDate   // a date moved, anything else as tokens
	formShift  // a number moved, anything else as tokens
	formBucket // a number rounded, anything else as tokens
)

func (a action) form() form {
	switch a {
	case actPseudonym:
		return formWhole
	case actPrefix:
		return formPrefix
	case actCharsub:
		return formCharsub
	case actURL:
		return formURL
	case actDateShift:
		return formDate
	case actShift:
		return formShift
	case actBucket:
		return formBucket
	}
	return formTokens
}
