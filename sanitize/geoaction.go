package sanitize

import (
	"bytes"
	"math/big"

	"github.com/esshadow/esshadow/internal/es"
)

// geoPlan is the plan of the place at hand where a rule gives it an action for
// places.
func (r *rewriter) geoPlan() *plan {
	if pl := r.planFor(r.path); pl.action == actGeoGrid || pl.action == actLonShift {
		return pl
	}
	return nil
}

// placed appends a coordinate: rounded down to the grid, or, if it is a
// longitude, turned by the domain's secret part of a full turn.
func (d *domain) placed(dst, raw []byte, a action, longitude bool) (out []byte, ok bool) {
	v, ok := parseAmount(raw)
	if !ok {
		return dst, false
	}
	switch {
	case a == actGeoGrid:
		v = v.floor(d.style.step)
	case longitude:
		const eighth = 8                                           // decimals of 360/256
		v = v.plus(amount{big.NewInt(140625000 * d.turn), eighth}) // 1.40625 degrees each
		if half, full := whole(180), whole(360); !v.less(half) && v.less(full.plus(half)) {
			v = v.plus(full.times(-1))
		}
	}
	return v.appendTo(dst), true
}

func whole(n int64) amount { return amount{big.NewInt(n), 0} }

// placedText appends "lat,lon" or a shape in text form.
func (d *domain) placedText(dst, s []byte, a action) (out []byte, ok bool) {
	if isLatLon(s, 0) {
		lat, lon, _ := bytes.Cut(s, []byte{','})
		if dst, ok = d.placed(dst, lat, a, false); !ok {
			return dst, false
		}
		return d.placed(append(dst, ','), bytes.TrimLeft(lon, " "), a, true)
	}
	if !isWKT(s) || bytes.ContainsAny(s[:2], "eEbB") && a == actLonShift { // ENVELOPE and BBOX have their own order
		return dst, false
	}
	n := 0 // coordinates since the last comma or bracket
	for i := 0; i < len(s); {
		end := i
		for end < len(s) && (digitsAt(s, end, 1) || bytes.IndexByte([]byte("+-.eE"), s[end]) >= 0 && (end > i || s[end] < 'A')) {
			end++
		}
		if end == i {
			if s[i] == ',' || s[i] == '(' {
				n = 0
			}
			dst = append(dst, s[i])
			i++
			continue
		}
		if n > 1 { // height
			dst = append(dst, s[i:end]...)
		} else if dst, ok = d.placed(dst, s[i:end], a, n == 0); !ok {
			return dst, false
		}
		n++
		i = end
	}
	return dst, true
}

// coordinate handles a coordinate of a place with such a plan.
func (r *rewriter) coordinate(k es.Token, pl *plan) reason {
	r.judgePlace(pl.action)
	out, ok := pl.d.placed(r.tmp[:0], r.t.Raw(k), pl.action, r.longitude)
	r.tmp = out
	if !ok {
		return dropGeo
	}
	r.replace(k)
	r.out = append(r.out, out...)
	return kept
}

// placeText handles a place in text form with such a plan.
func (r *rewriter) placeText(k es.Token, s []byte, pl *plan) reason {
	r.judgePlace(pl.action)
	out, ok := pl.d.placedText(r.tmp[:0], s, pl.action)
	r.tmp = out
	if !ok {
		return dropGeo
	}
	r.replace(k)
	r.out = es.AppendQuoted(r.out, out)
	return kept
}

// judgePlace notes what a place of a query tells still. A turned globe has the
// distances that it had.
func (r *rewriter) judgePlace(a action) {
	if !r.inDoc && a == actGeoGrid {
		r.note(broken, "geo")
	}
}
