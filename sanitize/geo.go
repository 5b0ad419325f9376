package sanitize

import (
	"bytes"

	"github.com/esshadow/esshadow/internal/es"
)

// geo handles an array of places, or of coordinates, that has just been opened.
func (r *rewriter) geo() reason {
	for i := 0; ; i++ {
		k, why := r.next()
		if why != kept {
			return why
		}
		if k.Kind == es.ArrayEnd {
			return kept
		}
		r.longitude = i == 0 // x comes first
		if why = r.value(k, node{scalar: pGeo}); why != kept {
			return why
		}
	}
}

// geoObject handles a point, a shape or a box that has just been opened.
func (r *rewriter) geoObject() reason {
	return r.members(func(k es.Token, name []byte) reason {
		n := node{scalar: pGeo}
		switch string(name) {
		case "lon", "x", "left", "right":
			r.longitude = true
		default:
			r.longitude = false
		}
		if !r.inDoc && isBoxSide(name) {
			if pl := r.geoPlan(); pl != nil && pl.action == actLonShift {
				r.note(approx, "geo_box") // it may lie across the date line now
			}
		}
		switch string(name) {
		case "type", "orientation", "radius", "relation", "crs", "properties":
			n.scalar = pS
		case "lat", "lon", "x", "y", "coordinates", "geometries", "geometry", "top_left", "bottom_right", "top_right",
			"bottom_left", "top", "left", "bottom", "right", "wkt", "points", "geohash", "point", "location", "z":
		default:
			return dropUnknownKey
		}
		r.keepText(k, name)
		return r.node(n)
	})
}

func isBoxSide(name []byte) bool {
	switch string(name) {
	case "top_left", "bottom_right", "top_right", "bottom_left", "left", "right":
		return true
	}
	return false
}

// coarse handles a coordinate.
func (r *rewriter) coarse(k es.Token) reason {
	if pl := r.geoPlan(); pl != nil {
		return r.coordinate(k, pl)
	}
	switch r.p.cfg.Geo {
	case "keep":
		r.post.keep(r.t.Raw(k))
		return kept
	case "drop":
		return dropGeo
	}
	r.note(broken, "geo")
	raw := r.t.Raw(k)
	r.replace(k)
	r.out = appendRounded(r.out, raw, significant)
	return kept
}

// place handles a place in text form: "lat,lon", WKT, a geohash or a grid cell.
func (r *rewriter) place(k es.Token, s []byte) reason {
	if pl := r.geoPlan(); pl != nil {
		return r.placeText(k, s, pl)
	}
	switch {
	case r.p.cfg.Geo == "drop":
		return dropGeo
	case r.p.cfg.Geo == "keep":
		if !isPlace(s) && !isLatLon(s, 0) && !isGeohash(s) && !isCell(s) {
			return dropGeo
		}
		r.post.keep(s)
		r.keepText(k, s)
		return kept
	case !isPlace(s) && !isLatLon(s, 0):
		return dropGeo
	}
	r.note(broken, "geo")
	r.put(k, s, appendRoundedText)
	return kept
}

// appendRoundedText rounds every number in a text.
func appendRoundedText(dst, s []byte) []byte {
	for len(s) > 0 {
		n := 0
		for n < len(s) && (digitsAt(s, n, 1) || s[n] == '.' || n > 0 && (s[n] == 'e' || s[n] == 'E')) {
			n++
		}
		if n == 0 {
			dst = append(dst, s[0])
			s = s[1:]
			continue
		}
		dst = appendRounded(dst, s[:n], significant)
		s = s[n:]
	}
	return dst
}

func isGeohash(s []byte) bool {
	if len(s) == 0 || len(s) > 12 {
		return false
	}
	for _, c := range s {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if bytes.IndexByte([]byte("0123456789bcdefghjkmnpqrstuvwxyz"), c) < 0 {
			return false
		}
	}
	return true
}

// isCell tells a geotile or geohex cell: 6/32/22, 811fbffffffffff.
func isCell(s []byte) bool {
	for _, c := range s {
		if c != '/' && !isHex(c) {
			return false
		}
	}
	return len(s) > 0 && len(s) <= 32
}

// vector handles an array of numbers that has just been opened.
func (r *rewriter) vector() reason {
	if r.p.cfg.Vectors == "drop" {
		return dropVector
	}
	for depth := 1; depth > 0; {
		k, why := r.next()
		if why != kept {
			return why
		}
		switch k.Kind {
		case es.ArrayStart:
			depth++
		case es.ArrayEnd:
			depth--
		case es.Number:
			r.post.keep(r.t.Raw(k))
		default:
			return dropShape
		}
	}
	return kept
}

// minVector is how many numbers in a row make a vector of a document's array.
const minVector = 64

// isVector tells that an array, of which s is what follows its bracket, holds
// nothing but minVector or more numbers.
func isVector(s []byte) bool {
	commas := 0
	for _, c := range s {
		switch {
		case c == ',':
			commas++
		case c == ']':
			return commas+1 >= minVector
		case c >= '0' && c <= '9', c == '.', c == '-', c == '+', c == 'e', c == 'E', c <= ' ':
		default:
			return false
		}
	}
	return false
}

func (r *rewriter) oneOfVector() reason {
	if r.p.cfg.Vectors == "drop" {
		return dropVector
	}
	return kept
}

// vectorText handles a vector, or a picture to make one of, in base64 or hex:
// nothing of it can be checked, so it drops the record.
func (r *rewriter) vectorText(es.Token, []byte) reason { return dropVector }
