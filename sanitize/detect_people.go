package sanitize

import "strings"

// isWordByte tells what may not stand beside a match: ASCII letters and digits.
// Han and other letters may, as text has them beside numbers.
func isWordByte(c byte) bool { return c < 0x80 && asciiClass(c) != classSep }

// alone tells that s[i:j] has no ASCII letter or digit beside it.
func alone(s []byte, i, j int) bool {
	return (i == 0 || !isWordByte(s[i-1])) && (j >= len(s) || !isWordByte(s[j]))
}

// hasEmail: local part, @, labels, a last label of letters. The @ may be
// percent-encoded, an entity, or full-width.
func hasEmail(s []byte) bool {
	for i := 0; i < len(s); i++ {
		size := 0
		for _, at := range []string{"@", "%40", "&#64;", "＠"} {
			if strings.HasPrefix(string(s[i:min(i+len(at), len(s))]), at) {
				size = len(at)
			}
		}
		if size == 0 || i == 0 || !isLocal(s[i-1]) {
			continue
		}
		j, label, labels := i+size, i+size, 0
		for j < len(s) && (isWordByte(s[j]) || s[j] == '-' || s[j] == '.') {
			if s[j] == '.' {
				if j == label {
					break
				}
				labels, label = labels+1, j+1
			}
			j++
		}
		last := s[label:j]
		if labels > 0 && len(last) >= 2 && (asciiClass(last[0]) == classLetter) && asciiClass(last[len(last)-1]) == classLetter {
			return true
		}
	}
	return false
}

func isLocal(c byte) bool { return isWordByte(c) || strings.IndexByte("._%+'-", c) >= 0 }

// digitGroups calls yield with the digits of every run of digits in s, in which
// single separators may stand, until it returns true. plus tells a + in front.
func digitGroups(s []byte, separators string, yield func(digits []byte, plus bool) bool) bool {
	var digits []byte
	for i := 0; i < len(s); {
		if !digitsAt(s, i, 1) {
			i++
			continue
		}
		start := i
		digits = digits[:0]
		for i < len(s) {
			if digitsAt(s, i, 1) {
				digits = append(digits, s[i])
			} else if strings.IndexByte(separators, s[i]) < 0 || !digitsAt(s, i+1, 1) {
				break
			}
			i++
		}
		if alone(s, start, i) && yield(digits, start > 0 && s[start-1] == '+') {
			return true
		}
	}
	return false
}

// hasPhoneCN: 1[3-9] and nine digits, with +86 or 0086 or without.
func hasPhoneCN(s []byte) bool {
	return digitGroups(s, " -.", func(d []byte, _ bool) bool {
		switch {
		case len(d) == 13 && string(d[:2]) == "86":
			d = d[2:]
		case len(d) == 15 && string(d[:4]) == "0086":
			d = d[4:]
		}
		return len(d) == 11 && d[0] == '1' && d[1] >= '3'
	})
}

// hasE164: + and 8 to 15 digits.
func hasE164(s []byte) bool {
	return digitGroups(s, " -.", func(d []byte, plus bool) bool { return plus && len(d) >= 8 && len(d) <= 15 && d[0] != '0' })
}

// hasIDCN: 17 digits and a digit or X, with date and check digit.
func hasIDCN(s []byte) bool {
	for i := 0; i+18 <= len(s); i++ {
		if !digitsAt(s, i, 17) {
			continue
		}
		id := append([]byte(nil), s[i:i+18]...)
		if id[17] == 'x' {
			id[17] = 'X'
		}
		if (digitsAt(id, 17, 1) || id[17] == 'X') && alone(s, i, i+18) && residentID(id) {
			return true
		}
	}
	return false
}

// hasCard: issuer range, length and Luhn digit.
func hasCard(s []byte) bool {
	return digitGroups(s, " -", func(d []byte, _ bool) bool { return len(d) >= 13 && len(d) <= 19 && cardNumber(d) })
}

// hasIBAN: country, check digits, the country's length, remainder 1 modulo 97.
func hasIBAN(s []byte) bool {
	for i := 0; i+15 <= len(s); i++ {
		if asciiClass(s[i]) != classLetter || asciiClass(s[i+1]) != classLetter || !digitsAt(s, i+2, 2) || i > 0 && isWordByte(s[i-1]) {
			continue
		}
		size := ibanSize(strings.ToUpper(string(s[i : i+2])))
		var text []byte
		j := i
		for ; j < len(s) && len(text) < size; j++ {
			if s[j] == ' ' {
				continue
			}
			if !isWordByte(s[j]) {
				break
			}
			text = append(text, s[j])
		}
		if size > 0 && len(text) == size && (j >= len(s) || !isWordByte(s[j])) && mod97(text) == 1 {
			return true
		}
	}
	return false
}

// mod97 is ISO 7064's remainder of an IBAN: its first four characters go to the
// end, letters count from 10.
func mod97(text []byte) int {
	rest := 0
	for i := range text {
		c := text[(i+4)%len(text)]
		switch {
		case c >= '0' && c <= '9':
			rest = (rest*10 + int(c-'0')) % 97
		default:
			rest = (rest*100 + int(c|0x20-'a') + 10) % 97
		}
	}
	return rest
}

// ibanSize is the length of a country's IBANs, 0 for a country that has none.
func ibanSize(country string) int {
	const table = "AD24AE23AL28AT20AZ28BA20BE16BG22BH22BR29BY28CH21CR22CY28CZ24DE22DK18DO28EE20EG29ES24FI18FO18FR27GB22GE22GI23GL18GR27GT28" +
		"HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22MK19MR27MT31MU30NL18NO15PK24PL28PS29PT25QA29" +
		"RO24RS22SA24SC31SE24SI19SK24SM27ST25SV28TL23TN24TR26UA29VA22VG24XK20"
	for i := 0; i < len(table); i += 4 {
		if table[i:i+2] == country {
			return two([]byte(table), i+2)
		}
	}
	return 0
}
