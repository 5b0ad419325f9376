package audit

import "bytes"

// detect runs every detector over readable text.
func (s *Scanner) detect(text []byte, way string) {
	sure := func(kind string, value []byte) { s.found(kind, value, way, -1) }
	emails(text, func(v []byte) { sure("email", v) })
	ibans(text, func(v []byte) { sure("iban", v) })
	jwts(text, func(v []byte) { sure("jwt", v) })
	pems(text, func(v []byte) { sure("pem", v) })
	credentials(text, func(v []byte) { sure("credentials", v) })
	apiKeys(text, func(v []byte) { sure("es_api_key", v) })
	urlSecrets(text, func(v []byte) { sure("url_credentials", v) })
	numbers(text, &s.cards, func(kind string, v []byte, hit bool, odds float64) {
		s.candidate(kind, v, way, hit, odds)
	})
}

// candidate counts a number that a detector of digits takes, and its hit.
func (s *Scanner) candidate(kind string, v []byte, way string, hit bool, odds float64) {
	sum := "n" + kind + s.digest(v)
	if s.coarse || s.listed[sum] {
		return
	}
	s.listed[sum] = true
	c := s.chance[kind]
	if c == nil {
		c = &Chance{Detector: kind}
		s.chance[kind] = c
	}
	c.Candidates++
	c.Expected += odds
	if !hit {
		return
	}
	if c.Hits++; c.Hits == 1 {
		c.First = s.here()
		c.First.Kind, c.First.Way, c.First.Word, c.First.Digest = kind, way, -1, s.digest(v)
	}
}

func emails(text []byte, yield func([]byte)) {
	for i := 0; ; {
		at := bytes.IndexByte(text[i:], '@')
		if at < 0 {
			return
		}
		at += i
		i = at + 1
		start := at
		for start > 0 && at-start < 64 && localByte(text[start-1]) {
			start--
		}
		end, tld := domainEnd(text, at+1)
		if start == at || tld < 2 {
			continue
		}
		local, domain := text[start:at], text[at+1:end]
		if anonymous(local) || !hasLetter(local) && anonymous(domain) {
			continue
		}
		yield(text[start:end])
	}
}

func localByte(c byte) bool {
	return isAlnum(c) || c >= 0x80 || bytes.IndexByte([]byte("._%+'-"), c) >= 0
}

func hasLetter(s []byte) bool {
	return bytes.ContainsFunc(s, func(r rune) bool { return r > 0x7F || isLetter(byte(r)) })
}

// domainEnd is where the host name at i ends, and how many letters its last
// label has; 0 where it has one label only.
func domainEnd(text []byte, i int) (end, tld int) {
	label, labels := 0, 0
	end = i
	for j := i; ; j++ {
		if j < len(text) && (isAlnum(text[j]) || text[j] == '-' || text[j] >= 0x80) {
			label++
			continue
		}
		if label == 0 {
			break
		}
		labels++
		end = j
		tld = letterLabel(text[j-label : j])
		label = 0
		if j >= len(text) || text[j] != '.' {
			break
		}
	}
	if labels < 2 {
		return end, 0
	}
	return end, tld
}

func letterLabel(l []byte) int {
	if bytes.HasPrefix(lower(l), []byte("xn--")) {
		return len(l)
	}
	for _, c := range l {
		if !isLetter(c) && c < 0x80 {
			return 0
		}
	}
	return len(l)
}

// ibanLength is the length of an account number by country, as the registry of
// SWIFT has it.
func ibanLength(country string) int {
	switch country {
	case "NO":
		return 15
	case "BE":
		return 16
	case "DK", "FI", "FO", "GL", "NL", "SD":
		return 18
	case "MK", "SI":
		return 19
	case "AT", "BA", "EE", "KZ", "LT", "LU", "XK":
		return 20
	case "CH", "CR", "HR", "LI", "LV":
		return 21
	case "BG", "BH", "DE", "GB", "GE", "IE", "ME", "RS", "VA":
		return 22
	case "AE", "GI", "IL", "IQ", "OM", "SO", "TL":
		return 23
	case "AD", "CZ", "ES", "MD", "PK", "RO", "SA", "SE", "SK", "TN", "VG":
		return 24
	case "LY", "PT", "ST":
		return 25
	case "IS", "TR":
		return 26
	case "BI", "DJ", "FR", "GR", "IT", "MC", "MR", "SM":
		return 27
	case "AL", "AZ", "BY", "CY", "DO", "GT", "HU", "LB", "NI", "PL", "SV":
		return 28
	case "BR", "EG", "PS", "QA", "UA":
		return 29
	case "JO", "KW", "MU", "YE":
		return 30
	case "MT", "SC":
		return 31
	case "LC":
		return 32
	case "RU":
		return 33
	}
	return 0
}

func ibans(text []byte, yield func([]byte)) {
	for i := 0; i+4 <= len(text); i++ {
		if !isLetter(text[i]) || !isLetter(text[i+1]) || !isDigit(text[i+2]) || i > 0 && isAlnum(text[i-1]) {
			continue
		}
		size := ibanLength(string(bytes.ToUpper(text[i : i+2])))
		if size == 0 {
			continue
		}
		compact := make([]byte, 0, size)
		j := i
		for ; j < len(text) && len(compact) < size; j++ {
			if c := text[j]; isAlnum(c) {
				compact = append(compact, c)
			} else if c != ' ' && c != '-' || j > 0 && !isAlnum(text[j-1]) {
				break
			}
		}
		if len(compact) == size && (j == len(text) || !isAlnum(text[j])) && mod97(bytes.ToUpper(compact)) == 1 {
			yield(compact)
		}
	}
}

// mod97 is ISO 7064 as IBAN uses it: the first four characters go to the end,
// letters count from 10.
func mod97(iban []byte) int {
	m := 0
	for i := range iban {
		c := iban[(i+4)%len(iban)]
		if isDigit(c) {
			m = (m*10 + int(c-'0')) % 97
		} else {
			m = (m*100 + int(c-'A') + 10) % 97
		}
	}
	return m
}

func jwts(text []byte, yield func([]byte)) {
	for i := 0; ; {
		j := bytes.Index(text[i:], []byte("eyJ"))
		if j < 0 {
			return
		}
		start := i + j
		i = start + 3
		end, dots := start, 0
		for end < len(text) && (sixBits(text[end]) >= 0 && text[end] != '+' && text[end] != '/' || text[end] == '.' && dots < 2) {
			if text[end] == '.' {
				dots++
			}
			end++
		}
		head, rest, ok := bytes.Cut(text[start:end], []byte{'.'})
		if !ok || len(head) < 10 || len(rest) < 4 {
			continue
		}
		if plain := from64(head); bytes.HasPrefix(plain, []byte(`{"`)) && bytes.Contains(plain, []byte(`":`)) {
			yield(text[start:end])
			i = end
		}
	}
}

func pems(text []byte, yield func([]byte)) {
	for i := 0; ; {
		j := bytes.Index(text[i:], []byte("-----BEGIN "))
		if j < 0 {
			return
		}
		i += j + len("-----BEGIN ")
		end := bytes.Index(text[i:], []byte("-----"))
		if end < 0 || end > 64 {
			continue
		}
		for _, word := range []string{"KEY", "CERTIFICATE", "MESSAGE", "SIGNATURE", "PKCS7", "CMS"} {
			if bytes.Contains(text[i:i+end], []byte(word)) {
				yield(text[i:min(len(text), i+end+64)])
				break
			}
		}
	}
}

// apiKeys finds keys of Elasticsearch: base64 of an id and a secret with a colon
// between, and service tokens.
func apiKeys(text []byte, yield func([]byte)) {
	words(text, 32, func(_, run []byte) {
		if bytes.HasPrefix(run, []byte("AAEAAW")) && len(run) >= 40 {
			yield(run)
			return
		}
		plain := from64(run)
		id, secret, ok := bytes.Cut(plain, []byte{':'})
		if ok && len(id) == 20 && len(secret) == 22 && allKeyBytes(id) && allKeyBytes(secret) {
			yield(run)
		}
	})
}

func allKeyBytes(s []byte) bool {
	for _, c := range s {
		if !isAlnum(c) && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// credentials finds the values of Authorization headers, wherever they stand.
func credentials(text []byte, yield func([]byte)) {
	words(text, 8, func(before, run []byte) {
		before = lower(before)
		switch {
		case bytes.HasSuffix(before, []byte("basic ")), bytes.HasSuffix(before, []byte("apikey ")):
			if plain := from64(run); printable(plain) && bytes.IndexByte(plain, ':') > 0 {
				yield(run)
			}
		case bytes.HasSuffix(before, []byte("bearer ")):
			if len(run) >= 16 && !anonymous(run) && bytes.ContainsFunc(run, func(r rune) bool { return isDigit(byte(r)) }) {
				yield(run)
			}
		}
	})
}

// words calls yield with each run of base64 characters, padding left out, of at
// least n, and the up to ten bytes before it.
func words(text []byte, n int, yield func(before, run []byte)) {
	for i := 0; i < len(text); {
		if sixBits(text[i]) < 0 {
			i++
			continue
		}
		start := i
		for i < len(text) && sixBits(text[i]) >= 0 {
			i++
		}
		if i-start >= n {
			yield(text[max(0, start-10):start], text[start:i])
		}
	}
}

// urlSecrets finds user-info and secret parameters in URLs.
func urlSecrets(text []byte, yield func([]byte)) {
	for i := 0; ; {
		j := bytes.Index(text[i:], []byte("://"))
		if j < 0 || i+j == 0 || !isAlnum(text[i+j-1]) {
			if j < 0 {
				return
			}
			i += j + 3
			continue
		}
		i += j + 3
		end := i
		for end < len(text) && text[end] > ' ' && text[end] != '"' && text[end] != '\'' && text[end] != '<' && text[end] != '>' {
			end++
		}
		url := text[i:end]
		host := url
		if k := bytes.IndexAny(url, "/?#"); k >= 0 {
			host = url[:k]
		}
		if at := bytes.LastIndexByte(host, '@'); at > 0 && bytes.IndexByte(host[:at], ':') >= 0 && !anonymous(host[:at]) {
			yield(host[:at])
		}
		if _, query, ok := bytes.Cut(url, []byte{'?'}); ok {
			secretParams(query, yield)
		}
	}
}

func secretParams(query []byte, yield func([]byte)) {
	for p := range bytes.SplitSeq(query, []byte{'&'}) {
		name, value, _ := bytes.Cut(p, []byte{'='})
		switch string(lower(name)) {
		case "token", "access_token", "id_token", "refresh_token", "api_key", "apikey", "sig", "signature", "secret", "password",
			"passwd", "session", "sessionid", "x-amz-signature", "x-amz-credential", "x-amz-security-token":
			if len(value) >= 6 && !anonymous(value) {
				yield(value)
			}
		}
	}
}
