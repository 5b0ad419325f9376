package proxy

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/esshadow/esshadow/internal/bytemask"
)

// maxNamed bounds the header names that one message's Connection may list.
const maxNamed = 16

// head is what the proxy must know of a message's header lines. Its slices
// point into the block that scan got.
type head struct {
	block []byte // header lines as they came, each with its CRLF

	length  int64 // Content-Length, -1: none
	chunked bool
	close   bool // Connection: close
	keep    bool // Connection: keep-alive
	expect  bool // Expect: 100-continue
	host    bool
	probe   bool
	dechunk bool // the receiver knows no chunks
	forward bool // X-Forwarded-For is written anew

	contentType, contentCoding []byte

	named  [maxNamed][]byte // names that Connection lists, as they came
	nNamed int
}

// The ways a head can be malformed. All texts are constant: none quotes input.
var (
	errLine        = errors.New("malformed header line")
	errFold        = errors.New("folded header line")
	errLength      = errors.New("malformed or repeated content-length")
	errCoding      = errors.New("transfer-encoding other than one chunked")
	errBothFraming = errors.New("content-length beside transfer-encoding")
	errHosts       = errors.New("repeated host")
	errNamed       = errors.New("too many names in connection")
)

// scan reads the header lines of block, up to and without the empty line, more
// strictly than a server needs to: whatever another server might read in
// another way is an error.
func (h *head) scan(block []byte) error {
	*h = head{block: block, length: -1}
	hasTE := false
	for len(block) > 0 {
		name, value, rest, err := nextLine(block)
		if err != nil {
			return err
		}
		if err := h.note(name, value, &hasTE); err != nil {
			return err
		}
		block = rest
	}
	if hasTE && h.length >= 0 {
		return errBothFraming
	}
	return nil
}

// note keeps what one header line says about framing and connection.
func (h *head) note(name, value []byte, hasTE *bool) error {
	switch len(name) {
	case 4:
		if is(name, "host") {
			if h.host {
				return errHosts
			}
			h.host = true
		}
	case 6:
		if is(name, "expect") {
			h.expect = h.expect || is(value, expectContinue)
		}
	case 10:
		if is(name, "connection") {
			return h.noteConnection(value)
		}
	case 12:
		if is(name, "content-type") {
			h.contentType = value
		}
	case 14:
		switch {
		case is(name, "content-length"):
			n, ok := parseLength(value)
			if !ok || h.length >= 0 {
				return errLength
			}
			h.length = n
		case is(name, probeHeader):
			h.probe = true
		}
	case 16:
		if is(name, "content-encoding") {
			h.contentCoding = value
		}
	case 17:
		if is(name, "transfer-encoding") {
			if *hasTE || !is(value, "chunked") {
				return errCoding
			}
			*hasTE, h.chunked = true, true
		}
	}
	return nil
}

func (h *head) noteConnection(value []byte) error {
	for len(value) > 0 {
		item, rest, _ := bytes.Cut(value, []byte{','})
		value, item = rest, trimSpace(item)
		switch {
		case len(item) == 0:
		case is(item, "close"):
			h.close = true
		case is(item, "keep-alive"):
			h.keep = true
		case h.nNamed == maxNamed:
			return errNamed
		default:
			h.named[h.nNamed] = item
			h.nNamed++
		}
	}
	return nil
}

// appendKept appends the lines that pass, byte for byte. Those that concern one
// connection only do not; the framing lines do, as the body keeps its framing.
// host, when set, replaces the value of Host.
func (h *head) appendKept(dst []byte, host string) []byte {
	for block := h.block; len(block) > 0; {
		var name, line []byte
		name, line, block = cutLine(block)
		switch {
		case host != "" && is(name, "host"):
			dst = append(dst, name...)
			dst = append(dst, ": "...)
			dst = append(dst, host...)
			dst = append(dst, "\r\n"...)
		case !h.hopByHop(name):
			dst = append(dst, line...)
		}
	}
	return dst
}

func (h *head) hopByHop(name []byte) bool {
	switch len(name) {
	case 2:
		if is(name, "te") {
			return true
		}
	case 4:
		if is(name, "host") {
			return false
		}
	case 6:
		if is(name, "expect") {
			return h.expect
		}
	case 7:
		if is(name, "trailer") || is(name, "upgrade") {
			return true
		}
	case 10:
		if is(name, "connection") || is(name, "keep-alive") {
			return true
		}
	case 14:
		if is(name, "content-length") {
			return false
		}
	case 15:
		if is(name, forwardedFor) {
			return h.forward
		}
	case 16:
		if is(name, "proxy-connection") {
			return true
		}
	case 17:
		if is(name, "transfer-encoding") {
			return h.dechunk
		}
	}
	for _, n := range h.named[:h.nNamed] {
		if bytes.EqualFold(n, name) {
			return true
		}
	}
	return false
}

// nextLine cuts the first header line off block.
func nextLine(block []byte) (name, value, rest []byte, err error) {
	end := bytes.IndexByte(block, '\n')
	if end < 1 || block[end-1] != '\r' {
		return nil, nil, nil, errLine
	}
	line := block[:end-1]
	if len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
		return nil, nil, nil, errFold
	}
	colon := bytes.IndexByte(line, ':')
	if colon < 1 {
		return nil, nil, nil, errLine
	}
	name, value = line[:colon], trimSpace(line[colon+1:])
	for _, c := range name {
		if !tokenByte(c) {
			return nil, nil, nil, errLine
		}
	}
	if !printable(value) {
		return nil, nil, nil, errLine
	}
	return name, value, block[end+1:], nil
}

// printable tells that b has no control character but tabs. It looks at eight bytes at
// a time, and at each of them only where there is one.
func printable(b []byte) bool {
	for ; len(b) >= 8; b = b[8:] {
		if bytemask.Controls(binary.LittleEndian.Uint64(b)) != 0 && !printableBytes(b[:8]) {
			return false
		}
	}
	return printableBytes(b)
}

func printableBytes(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// cutLine is nextLine for a block that scan has seen.
func cutLine(block []byte) (name, line, rest []byte) {
	end := bytes.IndexByte(block, '\n') + 1
	return block[:bytes.IndexByte(block, ':')], block[:end], block[end:]
}

// The bytes of tchar, RFC 9110 5.6.2, as bits: 0 to 63 and 64 to 127.
const (
	tcharLow  = 0x03ff6cfa00000000
	tcharHigh = 0x57ffffffc7fffffe
)

func tokenByte(c byte) bool {
	switch {
	case c < 64:
		return uint64(tcharLow)>>c&1 != 0
	case c < 128:
		return uint64(tcharHigh)>>(c-64)&1 != 0
	}
	return false
}

// parseLength reads a Content-Length: digits and nothing else.
func parseLength(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	var n int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

const expectContinue = "100-continue"

// expects reports whether a line of block, which may be malformed yet, is an
// Expect: 100-continue.
func expects(block []byte) bool {
	for len(block) > 0 {
		line, rest, _ := bytes.Cut(block, []byte{'\n'})
		if block = rest; len(line) == 0 || line[0]|0x20 != 'e' {
			continue
		}
		name, value, _ := bytes.Cut(line, []byte{':'})
		if is(name, "expect") && is(trimSpace(bytes.TrimSuffix(value, []byte{'\r'})), expectContinue) {
			return true
		}
	}
	return false
}

// is reports whether b is the lower-case word, whatever b's letter case.
func is(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i := range b {
		c := b[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

func trimSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// originForm is the target as a server of the origin gets it: path and query of
// an absolute-form target, anything else as it came. ok is false for a target
// that no Elasticsearch client sends.
func originForm(target []byte) (origin []byte, ok bool) {
	if len(target) == 0 {
		return nil, false
	}
	if target[0] == '/' || string(target) == "*" {
		return target, true
	}
	i := bytes.Index(target, []byte("://"))
	if i < 0 {
		return nil, false
	}
	rest := target[i+3:]
	switch slash := bytes.IndexAny(rest, "/?"); {
	case slash < 0:
		return []byte("/"), true
	case rest[slash] == '/':
		return rest[slash:], true
	default: // http://host?query
		return append([]byte("/"), rest[slash:]...), true
	}
}
