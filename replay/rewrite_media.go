package replay

import (
	"strings"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
)

// rewriteMedia turns vendor media types that the target does not speak into
// plain ones, in Content-Type and Accept together: a target refuses a request
// in which they do not agree.
func rewriteMedia(headers []capture.Header, target es.Identity) []capture.Header {
	foreign := false
	for _, h := range headers {
		if mediaHeader(h.Name) && !speaks(target, h.Value) {
			foreign = true
		}
	}
	if !foreign {
		return headers
	}
	for i, h := range headers {
		if mediaHeader(h.Name) {
			headers[i].Value = es.RewriteMedia(h.Value, 0)
		}
	}
	return headers
}

func mediaHeader(name string) bool {
	return strings.EqualFold(name, "Content-Type") || strings.EqualFold(name, "Accept")
}

// speaks tells whether the target takes the vendor types of a header: version N
// and N+1 take compatible-with=N, a serverless project those of 8 and 9, and no
// other maker's engine any.
func speaks(target es.Identity, value string) bool {
	for entry := range strings.SplitSeq(value, ",") {
		m := es.ParseMedia(entry)
		if !m.Vendor {
			continue
		}
		switch target.Flavor {
		case es.FlavorServerless:
			if m.Compat != 8 && m.Compat != 9 {
				return false
			}
		case es.FlavorElasticsearch:
			// The compatibility types came with 7.11 and are asked for from 8 on.
			if target.Major < 8 || m.Compat != target.Major && m.Compat != target.Major-1 {
				return false
			}
		default:
			return false
		}
	}
	return true
}
