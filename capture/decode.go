package capture

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/esshadow/esshadow/internal/es"
)

// Errors of decoding, wrapped with the name of the field. They never quote the
// line.
var (
	ErrLine   = errors.New("not a line of a capture")
	errType   = errors.New("wrong type of value")
	errNumber = errors.New("not a whole number in range")
	errText   = errors.New("half a surrogate pair in a string")
	errBase64 = errors.New("malformed base64")
	errKind   = errors.New("unknown kind of line")
)

// maxInterned bounds the texts that a Decoder remembers, and maxInternLen their
// length, so that a capture of any size costs it the same memory.
const (
	maxInterned  = 4096
	maxInternLen = 128
)

// DecodeRecord reads one line into r, as Decoder.Decode does. Whoever reads many
// lines keeps a Decoder.
func DecodeRecord(line []byte, r *Record) error {
	var d Decoder
	return d.Decode(line, r)
}

// Decoder reads lines of a capture. Its zero value is ready; it is used by one
// goroutine at a time, and remembers the short texts that come again and again
// (operations, methods, header names and values) so that they cost nothing.
type Decoder struct {
	tok   es.Tokens
	buf   []byte
	gap   Gap
	known map[string]string
	list  []byte // the texts of a list, and where each ends
	ends  []int

	int64s    slab[int64]
	plains    slab[int]
	bools     slab[bool]
	shardSets slab[es.Shards]
	totals    slab[es.Total]
}

// Decode reads one line into r, replacing all that it held. The Body, Header and
// Handles slices of r are used again; nothing in r aliases line. Unknown fields
// are passed over; of a field that stands twice the last counts. A line of an
// unknown kind is an error, because it may mean what a reader must not ignore.
func (d *Decoder) Decode(line []byte, r *Record) error {
	*r = Record{Header: r.Header[:0], Body: r.Body[:0], Handles: r.Handles[:0]}
	d.tok.Reset(line)
	if k, err := d.tok.Next(); err != nil || k.Kind != es.ObjectStart {
		return notLine(err)
	}
	d.gap = Gap{}
	err := d.members(func(name []byte) error { return d.field(name, r, &d.gap) })
	if err == nil {
		_, err = d.tok.Next() // the end
	}
	if err != nil {
		return notLine(err)
	}
	switch r.Kind {
	case "", KindRecord:
	case KindGap:
		gap := d.gap
		r.Gap = &gap
	default:
		return notLine(errKind)
	}
	return nil
}

// DecodeSummary reads what AppendSummary wrote.
func (d *Decoder) DecodeSummary(in []byte, s *es.Summary) error {
	*s = es.Summary{}
	d.tok.Reset(in)
	if err := d.summary(s); err != nil {
		return err
	}
	_, err := d.tok.Next()
	return err
}

// members calls member for each member of the object that is open, with the
// name's text, until its end. member takes the value; the name is valid until
// then.
func (d *Decoder) members(member func(name []byte) error) error {
	for {
		k, err := d.tok.Next()
		if err != nil {
			return err
		}
		if k.Kind == es.ObjectEnd {
			return nil
		}
		raw := d.tok.Raw(k)
		name := raw[1 : len(raw)-1]
		if k.Escaped {
			name, _ = es.Unquote(nil, raw)
		}
		if err := member(name); err != nil {
			return err
		}
	}
}

// object calls member for each member of the object that comes next.
func (d *Decoder) object(place string, member func(name []byte) error) error {
	_, ok, err := d.take(es.ObjectStart)
	if ok {
		err = d.members(member)
	}
	return at(place, err)
}

// array calls elem with the first token of each element of the array that comes
// next. elem takes the rest of the element.
func (d *Decoder) array(place string, elem func(k es.Token) error) error {
	if _, ok, err := d.take(es.ArrayStart); !ok {
		return at(place, err)
	}
	for {
		k, err := d.tok.Next()
		if err == nil && k.Kind == es.ArrayEnd {
			return nil
		}
		if err == nil {
			err = elem(k)
		}
		if err != nil {
			return at(place, err)
		}
	}
}

func (d *Decoder) skip() error {
	_, _, err := d.tok.Skip()
	return err
}

// take is the value that comes next, as a token, if it is of the kind. ok is
// false without an error where it is null.
func (d *Decoder) take(kind es.Kind) (k es.Token, ok bool, err error) {
	k, err = d.tok.Next()
	switch {
	case err != nil:
		return k, false, err
	case k.Kind == es.Null:
		return k, false, nil
	case k.Kind != kind:
		return k, false, errType
	}
	return k, true, nil
}

func (d *Decoder) int(place string, v *int64) error {
	k, ok, err := d.take(es.Number)
	if ok {
		*v, err = d.intOf(k)
	}
	return at(place, err)
}

func (d *Decoder) intOf(k es.Token) (int64, error) {
	if k.Kind != es.Number {
		return 0, errType
	}
	return parseInt(d.tok.Raw(k))
}

// parseInt reads a JSON number that is whole. (strconv's error would quote it.)
func parseInt(raw []byte) (int64, error) {
	digits, minus := bytes.CutPrefix(raw, []byte("-"))
	if len(digits) > maxDigits {
		return 0, errNumber
	}
	var v uint64
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, errNumber
		}
		v = v*10 + uint64(c-'0')
	}
	switch {
	case minus && v <= -math.MinInt64:
		return -int64(v), nil
	case !minus && v <= math.MaxInt64:
		return int64(v), nil
	}
	return 0, errNumber
}

// maxDigits is how many digits an int64 has at most; a JSON number has no zeros
// before the first, and so many fit in a uint64.
const maxDigits = 19

func (d *Decoder) uint(place string, v *uint64) error {
	k, ok, err := d.take(es.Number)
	if ok {
		if *v, err = strconv.ParseUint(string(d.tok.Raw(k)), 10, 64); err != nil {
			err = errNumber
		}
	}
	return at(place, err)
}

// textOf is the decoded text of a string token. It is valid until the next call.
func (d *Decoder) textOf(k es.Token) ([]byte, error) {
	if k.Kind != es.String {
		return nil, errType
	}
	raw := d.tok.Raw(k)
	if !k.Escaped {
		return raw[1 : len(raw)-1], nil
	}
	var ok bool
	if d.buf, ok = es.Unquote(d.buf[:0], raw); !ok {
		return nil, errText
	}
	return d.buf, nil
}

// text reads a string that differs from line to line.
func (d *Decoder) text(place string, v *string) error {
	k, ok, err := d.take(es.String)
	if ok {
		var b []byte
		if b, err = d.textOf(k); err == nil {
			*v = string(b)
		}
	}
	return at(place, err)
}

// word reads a string that is likely to come again.
func (d *Decoder) word(place string, v *string) error {
	k, ok, err := d.take(es.String)
	if ok {
		*v, err = d.wordOf(k)
	}
	return at(place, err)
}

func (d *Decoder) wordOf(k es.Token) (string, error) {
	b, err := d.textOf(k)
	if err != nil {
		return "", err
	}
	return d.intern(b), nil
}

func (d *Decoder) intern(b []byte) string {
	if s, ok := d.known[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(b) > maxInternLen {
		return s
	}
	if d.known == nil {
		d.known = make(map[string]string)
	}
	if len(d.known) >= maxInterned {
		clear(d.known) // what comes often is soon there again
	}
	d.known[s] = s
	return s
}

// bytes appends a string's text to dst.
func (d *Decoder) bytes(place string, dst []byte) ([]byte, error) {
	k, ok, err := d.take(es.String)
	if ok {
		raw := d.tok.Raw(k)
		if !k.Escaped {
			return append(dst, raw[1:len(raw)-1]...), nil
		}
		if dst, ok = es.Unquote(dst, raw); !ok {
			err = errText
		}
	}
	return dst, at(place, err)
}

// base64 appends what a string of base64 stands for to dst.
func (d *Decoder) base64(place string, dst []byte) ([]byte, error) {
	k, ok, err := d.take(es.String)
	if ok {
		var b []byte
		if b, err = d.textOf(k); err == nil {
			if dst, err = base64.StdEncoding.AppendDecode(dst, b); err != nil {
				err = errBase64
			}
		}
	}
	return dst, at(place, err)
}

func notLine(err error) error {
	if err == nil {
		err = errType
	}
	return fmt.Errorf("%w: %w", ErrLine, err)
}

func at(place string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", place, err)
	}
	return nil
}
