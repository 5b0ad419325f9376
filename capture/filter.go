package capture

import (
	"math"
	"math/bits"

	"github.com/esshadow/esshadow/internal/es"
)

// Reasons for which a request is filtered: it is no traffic to replay.
const (
	FilteredInfo        = "info"        // GET /, which clients ask to greet
	FilteredAdminRead   = "admin_read"  // looks at the cluster, not at documents
	FilteredAdminWrite  = "admin_write" // settings, mappings, maintenance
	FilteredDestructive = "destructive" // can lose data or access
)

// filterReason says why requests of a route are not captured, "" if they are.
// Reads, reads with state, writes and writes by query are captured. A path that
// no API has goes on to the Sanitizer, which drops and counts it: an endpoint
// that esshadow does not know yet must show as a loss, not vanish in a filter.
func filterReason(route es.Route) string {
	if route.Op == es.OpInfo {
		return FilteredInfo
	}
	switch route.Class {
	case es.ClassAdminRead:
		return FilteredAdminRead
	case es.ClassAdminWrite:
		return FilteredAdminWrite
	case es.ClassDestructive:
		return FilteredDestructive
	}
	return ""
}

// sampled tells whether a connection belongs to the part of all connections that
// ratio names. The same connection always gives the same answer, and one that
// belongs to a small ratio belongs to every larger one.
func sampled(conn uint64, ratio float64) bool {
	if ratio >= 1 {
		return true
	}
	return float64(mix(conn))/math.MaxUint64 < ratio
}

// mix spreads numbers that differ little over all 64 bits: the high and the low
// half of a product with an odd constant (the golden ratio), folded, twice.
func mix(n uint64) uint64 {
	const golden = 0x9e3779b97f4a7c15
	for range 2 {
		hi, lo := bits.Mul64(n^golden, golden)
		n = hi ^ lo
	}
	return n
}
