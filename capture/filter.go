package capture

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"net/url"
	"strings"

	"github.com/esshadow/esshadow/internal/es"
)

// Reasons for which a request is filtered: it is no traffic to replay.
const (
	FilteredInfo        = "info"        // GET /, which clients ask to greet
	FilteredAdminRead   = "admin_read"  // looks at the cluster, not at documents
	FilteredAdminWrite  = "admin_write" // settings, mappings, maintenance
	FilteredDestructive = "destructive" // can lose data or access
	FilteredOperation   = "operation"   // not among Config.Ops
	FilteredIndex       = "index"       // not among Config.Indices
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

// writes tells whether requests of a route change documents. Those that change
// anything else are filtered.
func writes(route es.Route) bool {
	return route.Class == es.ClassWrite || route.Class == es.ClassMassWrite
}

// filter is Config.Ops and Config.Indices, ready to ask.
type filter struct {
	ops              map[es.Op]bool // nil: all
	include, exclude []string
}

// newFilter names every mistake at once.
func newFilter(c Config) (*filter, error) {
	f := &filter{include: c.Indices.Include, exclude: c.Indices.Exclude}
	var errs []error
	mark := func(key string, names []string, v bool) {
		for _, name := range names {
			op, ok := es.ParseOp(name)
			if !ok {
				errs = append(errs, fmt.Errorf("ops.%s: %q is no operation", key, name))
				continue
			}
			f.ops[op] = v
		}
	}
	if len(c.Ops.Include)+len(c.Ops.Exclude) > 0 {
		f.ops = map[es.Op]bool{}
		for _, op := range es.Ops() {
			f.ops[op] = len(c.Ops.Include) == 0
		}
		mark("include", c.Ops.Include, true)
		mark("exclude", c.Ops.Exclude, false)
	}
	for _, list := range []struct {
		key      string
		patterns []string
	}{{"include", f.include}, {"exclude", f.exclude}} {
		for _, p := range list.patterns {
			if p == "" || strings.ContainsAny(p, ", \t") {
				errs = append(errs, fmt.Errorf("indices.%s: %q: want one pattern, such as logs-*", list.key, p))
			}
		}
	}
	return f, errors.Join(errs...)
}

// reason says why a request that filterReason lets pass is not captured, "" if
// it is.
func (f *filter) reason(route es.Route) string {
	if f.ops != nil && !f.ops[route.Op] {
		return FilteredOperation
	}
	if len(f.include)+len(f.exclude) == 0 || route.Index == "" {
		return ""
	}
	expression, err := url.PathUnescape(route.Index)
	if err != nil {
		expression = route.Index
	}
	included := len(f.include) == 0
	for part := range strings.SplitSeq(expression, ",") {
		if strings.HasPrefix(part, "-") {
			continue // takes away from what stands before it
		}
		if matchesAny(f.exclude, part) {
			return FilteredIndex
		}
		included = included || matchesAny(f.include, part)
	}
	if !included {
		return FilteredIndex
	}
	return ""
}

func matchesAny(patterns []string, name string) bool {
	for _, p := range patterns {
		if matches(p, name) {
			return true
		}
	}
	return false
}

// matches compares with a pattern in which * stands for any run of bytes. It
// goes back to the last * only, so its time is bounded by the product of both
// lengths.
func matches(pattern, name string) bool {
	star, resume := -1, 0
	p, n := 0, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, resume = p, n
			p++
		case p < len(pattern) && pattern[p] == name[n]:
			p++
			n++
		case star >= 0:
			resume++
			p, n = star+1, resume
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// Sampled tells whether a connection belongs to the part of all connections that
// ratio names. The same connection always gives the same answer, and one that
// belongs to a small ratio belongs to every larger one.
func Sampled(conn uint64, ratio float64) bool {
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
