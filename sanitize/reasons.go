package sanitize

// reason is why a record is not captured; "" means that it is.
type reason string

// The reasons. They are counted and shown: names of positions, never values.
const (
	kept reason = ""

	dropUnknownEndpoint reason = "unknown_endpoint" // no known API has this path
	dropEndpoint        reason = "endpoint"         // a known API whose requests are not captured
	dropTarget          reason = "target"           // request target malformed
	dropContentType     reason = "content_type"     // body neither JSON nor NDJSON
	dropEncoding        reason = "encoding"         // Content-Encoding not known
	dropDecompress      reason = "decompress"       // compressed body malformed
	dropBodyTooLarge    reason = "body_too_large"   // above the bound, as it came or decoded
	dropJSON            reason = "json"             // malformed JSON, or more than one value
	dropNDJSON          reason = "ndjson"           // malformed framing of _bulk or _msearch
	dropUTF8            reason = "utf8"             // invalid UTF-8, or half a surrogate pair
	dropDepth           reason = "depth"            // nested too deeply
	dropUnknownClause   reason = "unknown_clause"   // query clause not known
	dropUnknownAgg      reason = "unknown_agg"      // aggregation not known
	dropUnknownKey      reason = "unknown_key"      // member of a clause or body not known
	dropUnknownParam    reason = "unknown_param"    // URL parameter not known
	dropUnknownPath     reason = "unknown_path"     // path segment not known
	dropShape           reason = "unexpected_shape" // an object or array where none is known
	dropStructural      reason = "structural_value" // an option's value that does not look like one
	dropScript          reason = "script"           // inline script that the policy refuses
	dropTemplate        reason = "template"         // Mustache source
	dropQueryLanguage   reason = "query_language"   // SQL, ES|QL, EQL, PPL
	dropUnparsableQuery reason = "unparsable_query" // query string, wildcard or regexp not surely understood
	dropGeo             reason = "geo"              // a place in a form that cannot be made coarse
	dropVector          reason = "vector"           // embedding, which can be inverted
	dropSecret          reason = "secret"           // credentials in a body
	dropPostcheck       reason = "postcheck"        // an original word was found in the finished record
	dropDetector        reason = "detector"         // personal data found in a kept value
	dropRule            reason = "rule"             // a rule says drop-record
	dropPanic           reason = "panic"            // a fault of the sanitiser itself
)

// Reasons lists every reason that Sanitize can return, in a fixed order.
func Reasons() []string {
	all := []reason{
		dropUnknownEndpoint, dropEndpoint, dropTarget, dropContentType, dropEncoding, dropDecompress,
		dropBodyTooLarge, dropJSON, dropNDJSON, dropUTF8, dropDepth, dropUnknownClause, dropUnknownAgg,
		dropUnknownKey, dropUnknownParam, dropUnknownPath, dropShape, dropStructural, dropScript, dropTemplate,
		dropQueryLanguage, dropUnparsableQuery, dropGeo, dropVector, dropSecret, dropPostcheck, dropDetector,
		dropRule, dropPanic,
	}
	names := make([]string, len(all))
	for i, r := range all {
		names[i] = string(r)
	}
	return names
}
