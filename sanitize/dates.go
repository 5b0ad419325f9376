package sanitize

// dateLen is the length of the date, and of the time of day and zone after it,
// that b begins with: yyyy-MM-dd, yyyy/MM/dd, yyyy.MM.dd, or dd/MM/yyyy and the
// like. A character that is part of a word must not follow.
func dateLen(b []byte) int {
	n := 10
	switch {
	case len(b) < n:
		return 0
	case digitsAt(b, 0, 4) && isDateSep(b[4]) && digitsAt(b, 5, 2) && b[7] == b[4] && digitsAt(b, 8, 2):
		if b[0] == '0' || two(b, 5) > 12 || two(b, 5) == 0 || two(b, 8) > 31 || two(b, 8) == 0 {
			return 0
		}
	case digitsAt(b, 0, 2) && isDateSep(b[2]) && digitsAt(b, 3, 2) && b[5] == b[2] && digitsAt(b, 6, 4):
		x, y := two(b, 0), two(b, 3)
		if x == 0 || y == 0 || x > 31 || y > 31 || min(x, y) > 12 {
			return 0
		}
	default:
		return 0
	}
	n += timeLen(b[n:])
	if n < len(b) && (asciiClass(b[n]) != classSep || b[n] >= 0x80) {
		if class, _ := classAt(b, n); class != classSep {
			return 0
		}
	}
	return n
}

// timeLen is the length of "T12:30", " 12:30:15.123Z", "T12+01:00" … .
func timeLen(b []byte) int {
	if len(b) < 3 || b[0] != 'T' && b[0] != ' ' || !digitsAt(b, 1, 2) || two(b, 1) > 24 {
		if len(b) > 0 && b[0] == 'T' && (len(b) == 1 || asciiClass(b[1]) == classSep) {
			return 1 // yyyy-MM-ddT, which ES takes
		}
		return 0
	}
	n := 3
	for n+2 < len(b) && b[n] == ':' && digitsAt(b, n+1, 2) {
		n += 3
	}
	if b[0] == ' ' && n == 3 { // "2024-05-01 12 apples"
		return 0
	}
	if n+1 < len(b) && (b[n] == '.' || b[n] == ',') && digitsAt(b, n+1, 1) {
		for n++; n < len(b) && digitsAt(b, n, 1); n++ {
		}
	}
	return n + zoneLen(b[n:])
}

func zoneLen(b []byte) int {
	switch {
	case len(b) > 0 && b[0] == 'Z':
		return 1
	case len(b) > 5 && (b[0] == '+' || b[0] == '-') && digitsAt(b, 1, 2) && b[3] == ':' && digitsAt(b, 4, 2):
		return 6
	case len(b) > 4 && (b[0] == '+' || b[0] == '-') && digitsAt(b, 1, 4):
		return 5
	case len(b) > 2 && (b[0] == '+' || b[0] == '-') && digitsAt(b, 1, 2):
		return 3
	}
	return 0
}

func isDateSep(c byte) bool { return c == '-' || c == '/' || c == '.' }

func digitsAt(b []byte, i, n int) bool {
	if i+n > len(b) {
		return false
	}
	for _, c := range b[i : i+n] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

func two(b []byte, i int) int { return int(b[i]-'0')*10 + int(b[i+1]-'0') }

// date appends a date: as it is, or with its day moved by the domain's secret
// number of weeks. Only year first dates can be moved for sure.
func (d *domain) date(dst, b []byte) ([]byte, bool) {
	if !d.style.shiftDates {
		return append(dst, b...), true
	}
	if !digitsAt(b, 0, 4) {
		return dst, false
	}
	y, m, day := civil(dayNumber(two(b, 0)*100+two(b, 2), two(b, 5), two(b, 8)) + d.days)
	if y < 1000 || y > 9999 {
		return dst, false
	}
	dst = append(appendShort(dst, uint32(y), 4), b[4])
	dst = append(appendShort(dst, uint32(m), 2), b[7])
	dst = appendShort(dst, uint32(day), 2)
	return append(dst, b[10:]...), true
}

// dayNumber counts days of the proleptic Gregorian calendar from 1 March of
// year 0, so that the leap day ends a year.
func dayNumber(y, m, d int) int {
	if m <= 2 {
		y--
		m += 12
	}
	return 365*y + y/4 - y/100 + y/400 + (153*(m-3)+2)/5 + d - 1
}

// civil is the inverse of dayNumber.
func civil(n int) (y, m, d int) {
	const days400 = 146097
	era := n / days400
	n %= days400
	y = (n - n/1460 + n/36524 - n/146096) / 365
	n -= 365*y + y/4 - y/100
	m = (5*n + 2) / 153
	d = n - (153*m+2)/5 + 1
	y += 400 * era
	if m += 3; m > 12 {
		m -= 12
		y++
	}
	return y, m, d
}
