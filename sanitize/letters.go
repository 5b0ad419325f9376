package sanitize

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/go-porterstemmer"
	"golang.org/x/text/unicode/norm"
)

// lettersAt appends the words for the run of letters s[i:end] in a style that
// splits or normalises runs.
func (d *domain) lettersAt(dst, s []byte, i, end int) []byte {
	run := s[i:end]
	if d.style.stem && isClitic(s, i, end) {
		return append(dst, run...)
	}
	for d.style.splitCase {
		n := caseEnd(run)
		if n == len(run) {
			break
		}
		dst = d.letters(dst, run[:n])
		run = run[n:]
	}
	return d.letters(dst, run)
}

// caseEnd is the length of the first part of a run of letters that is split as
// word_delimiter splits it: before an upper-case letter behind a lower-case one.
// The upper-case letters of "XMLHttp" are split as well, before their last.
func caseEnd(run []byte) int {
	upper, size := utf8.DecodeRune(run)
	wasUpper, uppers := unicode.IsUpper(upper), 1
	for i := size; i < len(run); i += size {
		var r rune
		r, size = utf8.DecodeRune(run[i:])
		switch isUpper := unicode.IsUpper(r); {
		case isUpper && !wasUpper:
			return i
		case !isUpper && wasUpper && uppers > 1 && unicode.IsLower(r):
			_, last := utf8.DecodeLastRune(run[:i])
			return i - last
		case isUpper:
			uppers++
		default:
			wasUpper = false
		}
	}
	return len(run)
}

// isClitic tells what stands behind an apostrophe in English and is cut off by
// its analyser: it stays, so that the analyser still does.
func isClitic(s []byte, i, end int) bool {
	switch string(s[i:end]) {
	case "s", "S":
	default:
		return false
	}
	before := s[:i]
	return len(before) > 1 && before[i-1] == '\'' || len(before) > 3 && string(before[i-3:]) == "’"
}

// normalized is what the word of a run in lower case is made of.
func (d *domain) normalized(low []byte) []byte {
	if d.style.fold {
		low = foldMarks(low)
	}
	if d.style.stem && isASCII(low) && len(low) <= 64 {
		low = []byte(string(porterstemmer.StemWithoutLowerCasing([]rune(string(low)))))
	}
	return low
}

// foldMarks takes the marks off letters, as ASCII folding does: é is e, ß is ss.
func foldMarks(low []byte) []byte {
	if isASCII(low) {
		return low
	}
	out := make([]byte, 0, len(low))
	for _, r := range string(norm.NFKD.Bytes(slices.Clone(low))) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case folded(r) != "":
			out = append(out, folded(r)...)
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	if len(out) == 0 { // marks alone
		return low
	}
	return out
}

// folded is what letters fold to that have no decomposition.
func folded(r rune) string {
	switch r {
	case 'ß':
		return "ss"
	case 'æ':
		return "ae"
	case 'œ':
		return "oe"
	case 'ø':
		return "o"
	case 'đ', 'ð':
		return "d"
	case 'þ':
		return "th"
	case 'ł':
		return "l"
	case 'ħ':
		return "h"
	case 'ı':
		return "i"
	case 'ŋ':
		return "n"
	}
	return ""
}

// topDomains are top-level domains that action email keeps.
func topDomains() []string {
	return []string{
		"com", "org", "net", "edu", "gov", "mil", "int", "info", "biz", "io", "ai", "app", "dev", "cn", "hk", "tw", "jp", "kr", "sg", "de", "ch",
		"uk", "fr", "es", "pt", "nl", "pl", "cz", "dk", "se", "fi", "eu", "ru", "ua", "tr", "ca", "mx", "br", "ar", "cl", "au", "nz", "za", "co",
		"test", "example", "invalid", "localhost",
	}
}

// urlSchemes are what action url keeps.
func urlSchemes() []string {
	return []string{"http", "https", "ftp", "sftp", "ws", "wss", "file", "mailto", "tel", "urn", "data", "ssh", "git", "ldap", "ldaps", "jdbc"}
}
