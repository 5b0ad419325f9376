package sanitize

import (
	"bytes"

	"github.com/esshadow/esshadow/internal/es"
)

// judgeField notes what a clause or an aggregation tells still of a field whose
// values an action made equal, or took away. The path is that of the field.
func (r *rewriter) judgeField(o *object) {
	pl := r.planFor(r.path)
	gone := pl.action == actDrop || pl.action == actNull
	switch {
	case o.name == "exists" && gone:
		r.note(broken, "dropped_field")
	case pl.facts != nil && pl.action.replaces() && mayOutgrow(pl.facts):
		r.note(approx, "ignore_above")
	case o.name != "agg_of" && o.name != "agg_field" && o.name != "collapse":
	case gone, pl.action == actMask, pl.action == actShape, pl.action == actBucket, pl.action == actGeoGrid,
		pl.d.style.fold && (pl.facts == nil || !pl.facts.Text.Folds), pl.d.style.stem:
		r.note(approx, "lossy_field") // fewer buckets than there were
	case pl.native && pl.facts.Kind == es.KindFraction && r.p.floats != numbersKeep:
		r.note(approx, "lossy_field")
	}
}

// judgeInterval notes that dates or numbers moved across the borders of a
// histogram's intervals. The value comes next; it is only looked at.
func (r *rewriter) judgeInterval() {
	saved := r.t
	k, err := r.t.Next()
	r.t = saved
	if err != nil || k.Kind != es.String && k.Kind != es.Number {
		return
	}
	raw := bytes.Trim(r.t.Raw(k), `"`)
	pl := r.planFor(r.path)
	switch {
	case pl.action == actShift, pl.native && isNumeric(pl.facts) && !r.keepsOrder(pl) && r.p.ints != numbersGuard:
		r.note(approx, "interval")
	case !pl.action.replaces() || !pl.d.style.shiftDates:
	case movesInterval(raw, pl.d.style.days):
		r.note(approx, "interval")
	}
}

// movesInterval tells the calendar's intervals that whole weeks, or whole days,
// are no multiple of.
func movesInterval(interval []byte, days bool) bool {
	switch string(interval) {
	case "month", "1M", "quarter", "1q", "year", "1y":
		return true
	case "week", "1w", "7d":
		return days
	}
	return false
}

// peekField looks for the member "field" of an object that was just opened, so
// that rules for that field hold for values that stand before it.
func (r *rewriter) peekField() reason {
	r.path = r.path[:0]
	if !r.p.byField {
		return kept
	}
	// The reader looks ahead and is put back: what it has open below this object
	// it leaves as it is.
	saved := r.t
	defer func() { r.t = saved }()
	for {
		k, err := r.t.Next()
		if err != nil || k.Kind != es.Key {
			return kept // the walk itself reports what is wrong
		}
		isField := string(r.t.Raw(k)) == `"field"`
		start, end, err := r.t.Skip()
		if err != nil {
			return kept
		}
		if raw := r.in[start:end]; isField && len(raw) > 1 && raw[0] == '"' {
			r.path = append(r.path, raw[1:len(raw)-1]...)
			return kept
		}
	}
}
