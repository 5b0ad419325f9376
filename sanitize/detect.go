package sanitize

import (
	"encoding/base64"
	"fmt"
	"math"
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
	name string
	find func(s []byte) bool
}

func allDetectors() []detector {
	return []detector{
		{"email", hasEmail}, {"phone:cn", hasPhoneCN}, {"phone:e164", hasE164}, {"id:cn", hasIDCN}, {"card", hasCard}, {"iban", hasIBAN},
		{"jwt", hasJWT}, {"pem", hasPEM}, {"es_api_key", hasAPIKey}, {"url_credentials", hasURLCredentials}, {entropyName, hasEntropy},
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
// detectMask or detectDrop.
func (d *detectors) look(s []byte) (want string) {
	if len(s) < minDetected {
		return ""
	}
	for i := range d.use {
		if !d.use[i].find(s) {
			continue
		}
		d.found[i].Add(1)
		if d.mode != detectReport && d.use[i].name != entropyName {
			return d.mode
		}
	}
	return ""
}

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

// hasJWT: three parts in base64url, the first of which begins as {" does.
func hasJWT(s []byte) bool {
	for i := 0; i+3 <= len(s); i++ {
		if string(s[i:i+3]) != "eyJ" || i > 0 && isWordByte(s[i-1]) {
			continue
		}
		head := base64Len(s[i:])
		if head < 10 || i+head >= len(s) || s[i+head] != '.' {
			continue
		}
		body := base64Len(s[i+head+1:])
		if end := i + head + 1 + body; body >= 2 && end < len(s) && s[end] == '.' {
			return true
		}
	}
	return false
}

// base64Len is how long the characters of base64 or base64url go.
func base64Len(s []byte) int {
	n := 0
	for n < len(s) && (isWordByte(s[n]) || s[n] == '-' || s[n] == '_' || s[n] == '+' || s[n] == '/') {
		n++
	}
	return n
}

func hasPEM(s []byte) bool {
	text := string(s)
	_, after, ok := strings.Cut(text, "-----BEGIN ")
	return ok && strings.Contains(after, "-----")
}

// hasAPIKey: an Authorization value, a service token, or base64 of id:key.
func hasAPIKey(s []byte) bool {
	for i := 0; i < len(s); i++ {
		if !isWordByte(s[i]) || i > 0 && isWordByte(s[i-1]) {
			continue
		}
		n := base64Len(s[i:])
		word := s[i : i+n]
		switch {
		case n > 40 && strings.HasPrefix(string(word), "AAEAAW"):
			return true
		case n >= 4 && (equalFold(string(word), "apikey") || equalFold(string(word), "basic") || equalFold(string(word), "bearer")):
			if i+n < len(s) && s[i+n] == ' ' && base64Len(s[i+n+1:]) >= 16 {
				return true
			}
		case n >= 50 && n <= 80:
			plain, err := base64.RawStdEncoding.AppendDecode(nil, word)
			if err == nil && len(plain) > 21 && plain[20] == ':' && isKeyText(plain[:20]) && isKeyText(plain[21:]) {
				return true
			}
		}
		i += n
	}
	return false
}

func isKeyText(s []byte) bool {
	for _, c := range s {
		if !isWordByte(c) && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// hasURLCredentials: user info with a password, or a parameter that carries a
// credential.
func hasURLCredentials(s []byte) bool {
	text := string(s)
	for {
		_, rest, ok := strings.Cut(text, "://")
		if !ok {
			break
		}
		authority := rest[:len(rest)-len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~%!$&'()*+,;=:@-[]"))]
		if user, _, ok := strings.Cut(authority, "@"); ok && strings.Contains(user, ":") {
			return true
		}
		text = rest
	}
	for i := range s {
		if s[i] != '?' && s[i] != '&' {
			continue
		}
		if name, value, ok := strings.Cut(string(s[i+1:]), "="); ok && len(value) >= 6 && isSecretParam([]byte(name)) {
			return true
		}
	}
	return false
}

// hasEntropy: 20 and more characters of base64 or hex in a row with as many bits
// each as chance gives; a UUID is none.
func hasEntropy(s []byte) bool {
	for i := 0; i < len(s); i++ {
		n := base64Len(s[i:])
		if n < 20 {
			i += n
			continue
		}
		word := s[i : i+n]
		hex := !slices.ContainsFunc(word, func(c byte) bool { return !isHex(c) })
		limit := 4.0
		if hex {
			limit = 3.0
		}
		if uuidLen(word) == 0 && hasDigit(word) && entropy(word) > limit {
			return true
		}
		i += n
	}
	return false
}

// entropy is in bits a byte.
func entropy(s []byte) float64 {
	var count [256]int
	for _, c := range s {
		count[c]++
	}
	h := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			h -= p * math.Log2(p)
		}
	}
	return h
}
