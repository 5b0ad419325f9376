package sanitize

import (
	"slices"
	"strings"

	"github.com/esshadow/esshadow/internal/es"
)

// proposal is the rule for a field, empty where the defaults are right, another
// one that a person may take instead, and what is to say about them.
type proposal struct {
	rule, other string
	notes       []string
}

func (p *proposal) note(text string) { p.notes = append(p.notes, text) }

// proposal is the draft's rule for a field.
func (d *draft) proposal(f es.FieldInfo) proposal {
	if f.Type == "alias" {
		if target, ok := d.schema.Field(f.Target); ok && target.Type != "alias" {
			p := d.proposal(target)
			p.note("an alias: queries by this name need the rule of its target")
			return p
		}
	}
	if f.Runtime {
		return proposal{notes: []string{"no document holds it: a query for it compares what a script makes of replaced values"}}
	}
	if p, ok := d.personal(f); ok {
		return p
	}
	if f.Type == "ip" {
		return proposal{rule: "action: ip-prefix"}
	}
	if f.Index != es.TextNone {
		return d.text(f)
	}
	return d.other(f)
}

// text is the rule for a field that holds text.
func (d *draft) text(f es.FieldInfo) proposal {
	p := proposal{rule: "action: tokens"}
	norm := ""
	if f.Folds {
		norm = "fold"
	}
	switch f.Index {
	case es.TextStem:
		if strings.Contains(f.Language, "english") || f.Language == "porter" {
			norm = strings.TrimPrefix(norm+`, "stem:english"`, ", ")
			p.note("words that the analyser makes equal get one pseudonym; a stemmer other than Porter's may differ for some")
			break
		}
		p.note("words with different endings get unrelated pseudonyms: matches of other forms of a word are lost")
	case es.TextEdge:
		p.rule = "action: prefix"
		p.other = "action: tokens"
		p.note("beginnings of words are searched: prefix keeps common beginnings, and so shows them; tokens hides them and loses these matches")
		return p
	case es.TextNgram, es.TextCJK, es.TextDictionary:
		p.other = "action: charsub, accept_weak: true"
		p.note("parts of words are searched: tokens loses these matches; charsub keeps them, but is a cipher that frequencies of characters undo")
		return p
	case es.TextOther:
		p.note("what the analyser does is not known to survive: counts of queries on it may differ")
	}
	if norm != "" {
		p.rule += ", normalize: [" + norm + "]"
		if len(d.subs[f.Path]) > 0 && f.Index != es.TextWhole {
			p.note("normalize makes values equal that a sub-field of type keyword tells apart: leave it out where that one counts more")
		}
	}
	if f.Splits {
		p.rule += ", split: [case]"
	}
	return p
}

// other is what to say of a field that holds no text.
func (d *draft) other(f es.FieldInfo) proposal {
	says := func(text string) proposal { return proposal{notes: []string{text}} }
	switch f.Type {
	case "long", "integer", "short", "byte", "unsigned_long", "double", "float", "half_float", "scaled_float", "token_count", "rank_feature", "rank_features", "histogram",
		"integer_range", "long_range", "float_range", "double_range", "aggregate_metric_double":
		return says("the preset's numbers: " + d.config.Numbers)
	case "date", "date_nanos", "date_range":
		return says("the preset's dates: " + d.config.Dates)
	case "geo_point", "geo_shape", "shape", "point", "xy_point", "xy_shape":
		p := says("the preset's geo: " + d.config.Geo)
		if f.Type == "geo_point" && d.config.Geo == "keep" {
			p.note(`if places are homes: - { match: ` + quoted(f.Path) + `, action: geo-grid, step: "0.01" }`)
		}
		return p
	case "dense_vector", "sparse_vector", "knn_vector":
		return says("the preset's vectors: " + d.config.Vectors + "; a vector may tell what text it was made of")
	case "binary":
		return proposal{rule: `action: "null"`}
	case "boolean":
		return says("kept")
	}
	return says("the preset's defaults hold")
}

// sensitive is a kind of personal value by the words in the names of fields.
type sensitive struct {
	what  string
	words []string
}

func sensitives() []sensitive {
	return []sensitive{
		{"a credential", strings.Fields("password passwd pwd passphrase token secret apikey api_key access_key private_key credential credentials authorization cookie session_id jwt 密码 口令 令牌")},
		{"a number that names a person or an account", strings.Fields("ssn passport iban bic id_card idcard identity_no national_id tax_id taxid card_number credit_card bank_card cvv 身份证 护照 银行卡 社保")},
		{"a telephone number", strings.Fields("phone mobile telephone tel fax msisdn cell 手机 电话 传真")},
		{"an address of mail", strings.Fields("email e_mail mail 邮箱 邮件")},
		{"a day of birth", strings.Fields("birth birthday birthdate dob born 生日 出生")},
	}
}

// personal is the rule for a field whose name says that it holds a person's.
func (d *draft) personal(f es.FieldInfo) (proposal, bool) {
	words := nameWords(f.Path)
	for _, s := range sensitives() {
		if !slices.ContainsFunc(s.words, func(w string) bool { return namesIt(words, w) }) {
			continue
		}
		p := proposal{notes: []string{"by its name it may hold " + s.what}}
		text, num := f.Index != es.TextNone, strings.Contains(" long integer unsigned_long ", " "+f.Type+" ")
		switch s.what {
		case "a credential":
			if !text {
				continue
			}
			p.rule, p.other = "action: mask, locked: true", "action: pseudonym"
		case "a number that names a person or an account":
			switch {
			case f.Index == es.TextWhole:
				p.rule, p.other = "action: pseudonym, locked: true", "action: mask, locked: true"
			case text:
				p.rule, p.other = "action: tokens, locked: true", "action: mask, locked: true"
			case num:
				p.rule = "action: fpe, locked: true"
			default:
				continue
			}
		case "a telephone number":
			if !text && !num {
				continue
			}
			p.rule = "action: fpe"
		case "an address of mail":
			if !text {
				continue
			}
			p.rule = "action: email"
		case "a day of birth":
			if f.Type != "date" && f.Type != "date_nanos" {
				continue
			}
			p.rule = "action: date-shift"
		}
		return p, true
	}
	return proposal{}, false
}

// nameWords is a path in lower case with its words, those of camelCase too,
// between underscores.
func nameWords(path string) string {
	var b strings.Builder
	b.WriteByte('_')
	low := false
	for _, r := range path {
		switch {
		case r == '.' || r == '-' || r == ' ' || r == '@':
			r = '_'
		case r >= 'A' && r <= 'Z':
			if low {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
			low = false
			b.WriteRune(r)
			continue
		}
		low = r >= 'a' && r <= 'z'
		b.WriteRune(r)
	}
	b.WriteByte('_')
	return b.String()
}

// namesIt finds a word: a Latin one whole, one of another script anywhere.
func namesIt(name, word string) bool {
	if word[0] < 0x80 {
		word = "_" + word + "_"
	}
	return strings.Contains(name, word)
}
