package capture

import "sync/atomic"

// Header is one header line, spelled as it came.
type Header struct {
	Name, Value string
}

// Exchange is one request and its answer as they passed the proxy: unsanitised,
// in memory only. It has no encoder, and prints as "[exchange]".
//
// Whoever holds an Exchange owns its bytes: the proxy fills it with copies or
// with buffers that it gave up. Each holder calls Release once, and the last one
// gives the buffers back. While there are several they only read.
type Exchange struct {
	Time    int64  // arrival of the request's first byte, Unix ns
	Conn    uint64 // connection, counted from 1 by the proxy
	Request uint64 // number of the request on its connection, from 1

	Method string
	Target string // request target as it came
	Header []Header
	Body   []byte
	// BodySize is the length of the request body on the wire. Body is empty and
	// shorter when it exceeded what is captured.
	BodySize int64
	// Unheld says that there was no room for the bodies when they passed: neither was
	// copied, whatever their sizes.
	Unheld bool

	Status       int    // 0: no answer, Err says why
	Err          string // error class: timeout, refused, reset, cancelled …
	AnswerType   string // Content-Type
	AnswerCoding string // Content-Encoding
	Answer       []byte
	AnswerSize   int64 // as BodySize
	Wait, Took   int64 // first and last byte of the answer after Time, ns

	// Free takes the buffers back. It may be nil.
	Free func(*Exchange)

	more int32 // holders besides the first; atomic
}

// String keeps what it holds out of every log.
func (*Exchange) String() string { return "[exchange]" }

// GoString is String.
func (*Exchange) GoString() string { return "[exchange]" }

// MarshalJSON keeps an Exchange out of every file.
func (*Exchange) MarshalJSON() ([]byte, error) { return []byte(`"[exchange]"`), nil }

// Weight is the memory that the Exchange holds, in bytes, for queue bounds.
func (x *Exchange) Weight() int64 {
	w := cap(x.Body) + cap(x.Answer) + len(x.Target) + len(x.Method) + 256
	for i := range x.Header {
		w += len(x.Header[i].Name) + len(x.Header[i].Value) + 32
	}
	return int64(w)
}

// Share adds a holder. Whoever calls it holds the Exchange.
func (x *Exchange) Share() { atomic.AddInt32(&x.more, 1) }

// Release ends one holder's hold; the last one's gives the buffers back.
func (x *Exchange) Release() {
	if atomic.AddInt32(&x.more, -1) >= 0 {
		return
	}
	if x.Free != nil {
		x.Free(x)
	}
}
