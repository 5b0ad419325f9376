package sanitize

import (
	"encoding/base64"
	"math"
	"slices"
	"strings"
)

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
