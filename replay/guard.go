package replay

import "github.com/esshadow/esshadow/internal/es"

// Reasons to refuse a record: it is then never planned.
const (
	RefusedWrite       = "write"          // writes were not asked for
	RefusedUnmapped    = "unmapped_index" // a write to an index that no rule of the index map is for
	RefusedMassWrite   = "mass_write"     // writes documents that a query chooses
	RefusedAdmin       = "admin"
	RefusedDestructive = "destructive"
	RefusedUnknown     = "unknown"   // no known API
	RefusedInference   = "inference" // costs money
	RefusedStream      = "stream"    // a full-duplex stream, of which the capture holds no body
	RefusedMalformed   = "malformed" // cannot be sent as a request, or its body cannot be rewritten safely
	RefusedNoBody      = "no_body"   // the capture did not keep the body
	RefusedHandle      = "handle"    // uses a scroll, PIT or async id that the target did not give
)

// refuse is the reason not to send a request of this operation and class, ""
// where it may be sent. Where a write may go is looked at when it is rewritten.
func refuse(cfg *Config, op es.Op, class es.Class) string {
	switch op {
	case es.OpInference:
		return RefusedInference
	case es.OpBulkStream:
		return RefusedStream
	}
	switch class {
	case es.ClassRead, es.ClassReadState:
		return ""
	case es.ClassWrite:
		if !cfg.Writes {
			return RefusedWrite
		}
		return ""
	case es.ClassMassWrite:
		return RefusedMassWrite
	case es.ClassAdminRead, es.ClassAdminWrite:
		return RefusedAdmin
	case es.ClassDestructive:
		return RefusedDestructive
	}
	return RefusedUnknown
}
