package audit

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// clean is text in compatibility form (full-width letters and digits become
// plain ones) without invisible characters. It may be the text itself.
func clean(text []byte) []byte {
	if isPlain(text) || !utf8.Valid(text) {
		return text
	}
	out := make([]byte, 0, len(text))
	for _, r := range string(norm.NFKC.Bytes(text)) {
		if !invisible(r) {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

// lower is text in lower case; it may be the text itself.
func lower(text []byte) []byte {
	if isPlain(text) {
		for _, c := range text {
			if c >= 'A' && c <= 'Z' {
				return bytes.ToLower(text)
			}
		}
		return text
	}
	if !utf8.Valid(text) {
		return asciiLower(text)
	}
	return bytes.ToLower(text)
}

func asciiLower(text []byte) []byte {
	out := bytes.Clone(text)
	for i, c := range out {
		if c >= 'A' && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return out
}

// foldWord is the form that words are compared in.
func foldWord(word string) []byte { return lower(clean([]byte(word))) }

func isPlain(text []byte) bool {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// invisible tells characters that are not seen: zero-width ones, soft hyphens,
// marks of direction, variation selectors.
func invisible(r rune) bool {
	return unicode.Is(unicode.Cf, r) || r == 0x034F || r >= 0xFE00 && r <= 0xFE0F || r == 0x115F || r == 0x1160 || r == 0x3164
}

// squeeze joins digits that stand apart by one or two separators, as in
// telephone and card numbers; nil where none do.
func squeeze(text []byte) []byte {
	var out []byte
	last := -1 // index behind the last digit
	for i, c := range text {
		if c < '0' || c > '9' {
			continue
		}
		if last >= 0 && i > last && i-last <= 2 && separators(text[last:i]) {
			if out == nil {
				out = append(make([]byte, 0, len(text)), text[:last]...)
			}
		} else if out != nil {
			out = append(out, text[last:i]...)
		}
		if out != nil {
			out = append(out, c)
		}
		last = i + 1
	}
	if out != nil {
		out = append(out, text[last:]...)
	}
	return out
}

func separators(s []byte) bool {
	for _, c := range s {
		switch c {
		case ' ', '-', '.', '/', '(', ')', '_':
		default:
			return false
		}
	}
	return true
}

// printable tells text of people, not the bytes that decoding something else
// gives: valid UTF-8 with hardly any control characters.
func printable(text []byte) bool {
	if !utf8.Valid(text) {
		return false
	}
	odd := 0
	for _, c := range text {
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7F {
			odd++
		}
	}
	return odd*20 <= len(text)
}

// anonymous tells that every run of ASCII letters in s is a pseudonym of
// esshadow, as docs/sanitize.md describes them: 13 consonants of a fixed set, or
// one of the English stop words that stay. Without any letter it is false.
func anonymous(s []byte) bool {
	any := false
	for i := 0; i < len(s); {
		if !isLetter(s[i]) {
			if s[i] >= utf8.RuneSelf {
				return false
			}
			i++
			continue
		}
		start := i
		for i < len(s) && isLetter(s[i]) {
			i++
		}
		if any = true; !pseudonym(s[start:i]) {
			return false
		}
	}
	return any
}

const pseudonymSize = 13

func pseudonym(run []byte) bool {
	run = lower(run)
	if len(run) != pseudonymSize {
		return stopWord(string(run))
	}
	for _, c := range run {
		if bytes.IndexByte([]byte("bcdfghjkmpqvwxz"), c) < 0 {
			return false
		}
	}
	return true
}

func stopWord(w string) bool {
	switch w {
	case "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of", "on",
		"or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with":
		return true
	}
	return false
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isAlnum(c byte) bool  { return isLetter(c) || isDigit(c) }
