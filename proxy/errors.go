package proxy

import (
	"errors"
	"net"
	"os"
	"strconv"
	"syscall"

	"github.com/valyala/fasthttp"
)

// refusal is an answer that the proxy gives for itself. Its texts are constant,
// so that no part of a request can come back in one.
type refusal struct {
	status int
	kind   string
	reason string
}

// Error makes a refusal an error of the request's path through the proxy.
func (r *refusal) Error() string { return r.kind }

func badRequest(reason string) *refusal { return &refusal{400, "proxy_bad_request", reason} }

var (
	errTooLargeHead = &refusal{431, "proxy_too_large", "request line and headers exceed what the proxy takes"}
	errTooLargeBody = &refusal{413, "proxy_too_large", "request body exceeds what the proxy takes"}
	errSlowRequest  = &refusal{408, "proxy_bad_request", "the request did not arrive in time"}
	errDraining     = &refusal{503, "proxy_draining", "the proxy is about to end"}
	errUnreachable  = &refusal{502, "proxy_upstream_unreachable", "no upstream could be reached"}
	errNoRoom       = &refusal{502, "proxy_upstream_unreachable", "no upstream connection became free in time"}
	errReset        = &refusal{502, "proxy_upstream_unreachable", "the upstream closed the connection without a whole answer"}
	errGarbage      = &refusal{502, "proxy_upstream_unreachable", "the upstream's answer is not valid HTTP"}
	errTimeout      = &refusal{504, "proxy_upstream_timeout", "the upstream did not answer in time"}
	errInternal     = &refusal{500, "proxy_internal", "the proxy failed on this request"}
)

// body is the answer in the shape that Elasticsearch clients parse.
func (r *refusal) appendBody(dst []byte) []byte {
	dst = append(dst, `{"error":{"root_cause":[{"type":"`...)
	dst = append(dst, r.kind...)
	dst = append(dst, `","reason":"`...)
	dst = append(dst, r.reason...)
	dst = append(dst, `"}],"type":"`...)
	dst = append(dst, r.kind...)
	dst = append(dst, `","reason":"`...)
	dst = append(dst, r.reason...)
	dst = append(dst, `"},"status":`...)
	dst = strconv.AppendInt(dst, int64(r.status), 10)
	return append(dst, '}')
}

// appendAnswer is the whole answer.
func (r *refusal) appendAnswer(dst []byte, headOnly, closing bool) []byte {
	var room [512]byte
	return appendOwn(dst, r.status, r.appendBody(room[:0]), headOnly, closing)
}

// appendOwn is an answer of the proxy's own with a JSON body.
func appendOwn(dst []byte, status int, body []byte, headOnly, closing bool) []byte {
	dst = append(dst, "HTTP/1.1 "...)
	dst = strconv.AppendInt(dst, int64(status), 10)
	dst = append(dst, ' ')
	dst = append(dst, fasthttp.StatusMessage(status)...)
	dst = append(dst, "\r\ncontent-type: application/json\r\ncontent-length: "...)
	dst = strconv.AppendInt(dst, int64(len(body)), 10)
	if closing {
		dst = append(dst, "\r\nconnection: close"...)
	}
	dst = append(dst, "\r\n\r\n"...)
	if headOnly {
		return dst
	}
	return append(dst, body...)
}

// outcomeOf is what the client is told of a failed attempt, and the class that
// stands in the Exchange.
func outcomeOf(err error) (r *refusal, class string) {
	var own *refusal
	switch {
	case errors.As(err, &own):
		return own, classOf(own)
	case errors.Is(err, errGone):
		return nil, "cancelled"
	case errors.Is(err, fasthttp.ErrNoFreeConns):
		return errNoRoom, "refused"
	case errors.Is(err, errNothingSent):
		return errUnreachable, "refused"
	case isTimeout(err):
		return errTimeout, "timeout"
	default:
		return errReset, "reset"
	}
}

func classOf(r *refusal) string {
	switch r {
	case errTimeout:
		return "timeout"
	case errGarbage:
		return "unreadable"
	case errReset:
		return "reset"
	case errUnreachable, errNoRoom:
		return "refused"
	}
	return "error"
}

func isTimeout(err error) bool {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return true
	}
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

// isBroken reports whether a write failed since the other side had closed, in
// which case its answer may still be readable.
func isBroken(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
}
