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
	case o.name != "agg_of" && o.name != "agg_field" && o.name != "collapse":
	case gone, pl.action == actMask, pl.action == actShape, pl.action == actBucket, pl.action == actGeoGrid,
		pl.d.style.fold, pl.d.style.stem:
		r.note(approx, "lossy_field") // fewer buckets than there were
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
	case pl.action == actShift:
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
