package capture

import (
	"encoding/base64"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/esshadow/esshadow/internal/es"
)

// Kinds of line.
const (
	KindRecord = "record" // may be left out
	KindGap    = "gap"
)

// seqRoom is the most bytes that the beginning of a line, `{"seq":N`, takes.
const seqRoom = len(`{"seq":`) + 20

// AppendRecord appends r as one line of a capture, without the newline:
//
//	{"seq":N,"t":ns,"conn":N,"n":N,"op":…,"method":…,"target":…,"headers":{…},
//	 "body":…,"size":[request,answer],"wait":µs,"took":µs,"status":N,"err":…,
//	 "want":{…},"shape":…,"fid":…,"fid_why":…,"ids":[{"kind","dir","id"}]}
//	{"seq":N,"kind":"gap","t":ns,"reason":…,"count":N,"from":ns,"to":ns}
//
// The order of the fields is fixed. Texts, objects and arrays that are empty are
// left out. A body or target that is not UTF-8 stands as base64 (RFC 4648, with
// padding) in body64 or target64. Header lines of one name are joined with ", "
// at the place of the first (RFC 9110, 5.3); a header value that is not UTF-8
// loses its bad bytes to U+FFFD.
func AppendRecord(dst []byte, r *Record) []byte {
	return appendRest(appendSeq(dst, r.Seq), r)
}

// appendSeq appends the beginning of a line. It stands apart from the rest
// because the number is known only where the line is written.
func appendSeq(dst []byte, seq uint64) []byte {
	return strconv.AppendUint(append(dst, `{"seq":`...), seq, 10)
}

// appendRest appends what follows appendSeq.
func appendRest(dst []byte, r *Record) []byte {
	if r.Kind == KindGap {
		return appendGap(dst, r)
	}
	dst = appendInt(dst, `,"t":`, r.Time)
	dst = appendUint(dst, `,"conn":`, r.Conn)
	dst = appendUint(dst, `,"n":`, r.Request)
	dst = appendText(dst, `,"op":`, r.Op)
	dst = appendText(dst, `,"method":`, r.Method)
	dst = appendTarget(dst, r.Target)
	dst = appendHeaders(dst, r.Header)
	if r.BodyEncoded != nil {
		dst = append(dst, r.BodyEncoded...)
	} else {
		dst = appendBody(dst, r.Body)
	}
	dst = appendInt(dst, `,"size":[`, r.BodySize)
	dst = appendInt(dst, `,`, r.AnswerSize)
	dst = appendInt(dst, `],"wait":`, r.Wait)
	dst = appendInt(dst, `,"took":`, r.Took)
	dst = appendInt(dst, `,"status":`, int64(r.Status))
	dst = appendText(dst, `,"err":`, r.Err)
	dst = appendWant(dst, r)
	dst = appendText(dst, `,"shape":`, r.Shape)
	dst = appendText(dst, `,"fid":`, r.Fidelity)
	dst = appendText(dst, `,"fid_why":`, r.FidWhy)
	dst = appendHandles(dst, r.Handles)
	return append(dst, '}')
}

func appendGap(dst []byte, r *Record) []byte {
	gap := Gap{}
	if r.Gap != nil {
		gap = *r.Gap
	}
	dst = appendInt(append(dst, `,"kind":"gap"`...), `,"t":`, r.Time)
	dst = appendText(dst, `,"reason":`, gap.Reason)
	dst = appendUint(dst, `,"count":`, gap.Count)
	dst = appendInt(dst, `,"from":`, gap.From)
	return append(appendInt(dst, `,"to":`, gap.To), '}')
}

func appendWant(dst []byte, r *Record) []byte {
	if r.Want == nil {
		return dst
	}
	dst = append(dst, `,"want":`...)
	if r.WantEncoded != nil {
		return appendEncodedWant(dst, r.Want.Took, r.WantEncoded)
	}
	return AppendSummary(dst, r.Want)
}

func appendTarget(dst []byte, target string) []byte {
	if utf8.ValidString(target) {
		return appendText(dst, `,"target":`, target)
	}
	dst = append(dst, `,"target64":"`...)
	return append(base64.StdEncoding.AppendEncode(dst, []byte(target)), '"')
}

func appendBody(dst, body []byte) []byte {
	switch {
	case len(body) == 0:
		return dst
	case utf8.Valid(body):
		return es.AppendQuotedText(append(dst, `,"body":`...), body)
	}
	dst = append(dst, `,"body64":"`...)
	return append(base64.StdEncoding.AppendEncode(dst, body), '"')
}

func appendHeaders(dst []byte, headers []Header) []byte {
	if len(headers) == 0 {
		return dst
	}
	dst = append(dst, `,"headers":{`...)
	for i := range headers {
		if namedBefore(headers, i) {
			continue
		}
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, headers[i].Name), ':')
		dst = appendString(dst, joined(headers, i))
	}
	return append(dst, '}')
}

func namedBefore(headers []Header, i int) bool {
	for j := range headers[:i] {
		if strings.EqualFold(headers[j].Name, headers[i].Name) {
			return true
		}
	}
	return false
}

// joined is the value of all lines that have the name of line i, the first of
// them.
func joined(headers []Header, i int) string {
	value := headers[i].Value
	for _, h := range headers[i+1:] {
		if strings.EqualFold(h.Name, headers[i].Name) {
			value += ", " + h.Value
		}
	}
	return value
}

func appendHandles(dst []byte, handles []Handle) []byte {
	for i := range handles {
		if i == 0 {
			dst = append(dst, `,"ids":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = appendString(append(dst, `{"kind":`...), handles[i].Kind)
		dst = appendString(append(dst, `,"dir":`...), handles[i].Dir)
		dst = appendString(append(dst, `,"id":`...), handles[i].ID)
		dst = append(dst, '}')
	}
	if len(handles) > 0 {
		dst = append(dst, ']')
	}
	return dst
}

func appendInt(dst []byte, name string, v int64) []byte {
	return strconv.AppendInt(append(dst, name...), v, 10)
}

func appendUint(dst []byte, name string, v uint64) []byte {
	return strconv.AppendUint(append(dst, name...), v, 10)
}

// appendText appends a field unless its text is empty.
func appendText(dst []byte, name, text string) []byte {
	if text == "" {
		return dst
	}
	return appendString(append(dst, name...), text)
}

// appendString appends s as a JSON string. The conversion copies nothing.
func appendString(dst []byte, s string) []byte {
	return es.AppendQuoted(dst, []byte(s))
}
