package capture

import (
	"bytes"

	"github.com/esshadow/esshadow/internal/es"
)

// Encoded is a part of a Record as it stands on a line: what comes again need not be
// encoded again. Nil is none. It is read-only, and only this package makes it.
type Encoded []byte

// EncodeBody gives a Record's Body as it stands on a line, in no more memory than it
// needs, as it is made to be kept.
func EncodeBody(body []byte) Encoded { return bytes.Clone(appendBody(nil, body)) }

// EncodeWant gives what of a Summary stands behind its Took, which is another each
// time.
func EncodeWant(s *es.Summary) Encoded {
	rest := *s
	rest.Took = nil
	return bytes.Clone(AppendSummary(nil, &rest)[1:])
}

// appendEncodedWant is AppendSummary where all but Took is encoded.
func appendEncodedWant(dst []byte, took *int64, rest Encoded) []byte {
	dst = append(dst, '{')
	if took != nil {
		dst = appendInt(dst, `"took":`, *took)
		if rest[0] != '}' {
			dst = append(dst, ',')
		}
	}
	return append(dst, rest...)
}
