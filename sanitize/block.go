package sanitize

import (
	"bytes"
	"net/netip"
	"strings"

	"github.com/esshadow/esshadow/internal/es"
)

// A range of addresses has no meaning among pseudonyms, which keep prefixes and
// not the order; but one that is exactly a CIDR block has: the block's pseudonym.

// bounds2 are the two bounds of a range of addresses; opens says that a bound is
// not in the range itself.
type bounds2 struct {
	low, high           netip.Addr
	opensLow, opensHigh bool
}

// blockOf is the block that a range is, if it is one.
func (b bounds2) blockOf() (p netip.Prefix, ok bool) {
	low, high := b.low, b.high
	if b.opensLow {
		low = after(low)
	}
	if b.opensHigh {
		high = before(high)
	}
	low, high = low.Unmap(), high.Unmap()
	if !low.IsValid() || !high.IsValid() || low.Is4() != high.Is4() || high.Less(low) {
		return p, false
	}
	for bits := low.BitLen(); bits >= 0; bits-- {
		if p, _ = low.Prefix(bits); p.Addr() != low { // bits behind it are set
			return p, false
		}
		if lastOf(p) == high {
			return p, true
		}
	}
	return p, false
}

// after and before are the neighbours of an address. IPv4 lies within IPv6, as
// engines store it, so that there is one next to its last and first too; the zero
// Addr where there is none.
func after(a netip.Addr) netip.Addr {
	a = a.Unmap()
	if n := a.Next(); n.IsValid() || !a.Is4() {
		return n
	}
	return netip.AddrFrom16(a.As16()).Next()
}

func before(a netip.Addr) netip.Addr {
	a = a.Unmap()
	if n := a.Prev(); n.IsValid() || !a.Is4() {
		return n
	}
	return netip.AddrFrom16(a.As16()).Prev()
}

// lastOf is the last address of a block.
func lastOf(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for i := p.Bits(); i < 8*len(b); i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	a, _ := netip.AddrFromSlice(b)
	return a
}

// mapBlock is the range that a block becomes, open where b is. ok is false where b
// is no block, and where an open bound would lie beyond all addresses.
func (d *domain) mapBlock(b bounds2) (out bounds2, ok bool) {
	p, ok := b.blockOf()
	if !ok || d.style.form != formTokens || d.style.shapeless {
		return b, false
	}
	q, err := d.mapAddr(p.Addr()).Prefix(p.Bits())
	if err != nil {
		return b, false
	}
	out = bounds2{q.Addr(), lastOf(q), b.opensLow, b.opensHigh}
	if out.opensLow {
		out.low = before(out.low)
	}
	if out.opensHigh {
		out.high = after(out.high)
	}
	return out, out.low.IsValid() && out.high.IsValid()
}

// blockBound handles an address that bounds a range. Together with the other bound
// it may be a block.
func (r *rewriter) blockBound(k es.Token) bool {
	if r.datedBy != "range_of" && r.datedBy != "agg_range" {
		return false
	}
	b, ok := r.addressBounds(r.datedText())
	if !ok {
		return false
	}
	out, ok := r.Worker.text.mapBlock(b)
	if !ok {
		return false
	}
	a := out.low
	if r.upper {
		a = out.high
	}
	r.replace(k)
	r.out = append(a.AppendTo(append(r.out, '"')), '"')
	return true
}

// addressBounds reads the bounds of a range clause, or of a range of ip_range. ok
// is false where there are not two that are addresses.
func (r *rewriter) addressBounds(text []byte) (b bounds2, ok bool) {
	var t es.Tokens
	t.MaxDepth = r.p.cfg.MaxDepth
	t.Reset(text)
	if _, err := t.Next(); err != nil {
		return b, false
	}
	b.opensHigh = r.datedBy == "agg_range" // from is in such a range, to is not
	for lows, highs := 0, 0; ; {
		k, err := t.Next()
		if err != nil {
			return b, false
		}
		if k.Kind != es.Key {
			return b, lows == 1 && highs == 1
		}
		name := strings.Trim(string(t.Raw(k)), `"`)
		start, end, err := t.Skip()
		if err != nil {
			return b, false
		}
		value := text[start:end]
		no := string(value) == "false" || string(value) == `"false"`
		switch name {
		case "gt", "gte", "from":
			lows++
			b.low, ok = wholeAddress(value)
			b.opensLow = b.opensLow || name == "gt"
		case "lt", "lte", "to":
			highs++
			b.high, ok = wholeAddress(value)
			b.opensHigh = b.opensHigh || name == "lt"
		case "include_lower":
			b.opensLow, ok = b.opensLow || no, true
		case "include_upper":
			b.opensHigh, ok = b.opensHigh || no, true
		default:
			ok = true
		}
		if !ok {
			return b, false
		}
	}
}

// wholeAddress reads a JSON string, or a word, that is an address and nothing else.
func wholeAddress(text []byte) (netip.Addr, bool) {
	a, err := netip.ParseAddr(string(bytes.Trim(text, `"`)))
	return a, err == nil && a.Zone() == ""
}

// upperBound tells the names of the members that bound a range from above.
func upperBound(name []byte) bool {
	return string(name) == "lt" || string(name) == "lte" || string(name) == "to"
}

// oddBlock tells an address with a length of a prefix behind it that the address
// does not end at: an address field takes it for the block around.
func oddBlock(s []byte) bool {
	head, bits, ok := bytes.Cut(s, []byte{'/'})
	if !ok || len(bits) == 0 || len(bits) > 3 || !digitsAt(bits, 0, len(bits)) {
		return false
	}
	a, n := address(head)
	if n == 0 || n != len(head) {
		return false
	}
	p, err := a.Unmap().Prefix(int(parseDigits(bits)))
	return err != nil || p.Addr() != a.Unmap()
}

// luceneBlock appends a range of a query string that is a block of addresses.
func (w *Worker) luceneBlock(dst, s []byte, field string, tokens bool) ([]byte, bool) {
	words := bytes.Fields(s[1 : len(s)-1])
	if len(words) != 3 || string(words[1]) != "TO" {
		return dst, false
	}
	b := bounds2{opensLow: s[0] == '{', opensHigh: s[len(s)-1] == '}'}
	var ok [2]bool
	b.low, ok[0] = wholeAddress(luceneUnescape(nil, words[0]))
	b.high, ok[1] = wholeAddress(luceneUnescape(nil, words[2]))
	if !ok[0] || !ok[1] {
		return dst, false
	}
	d := w.text
	if !tokens {
		pl := w.planFor([]byte(field))
		if !pl.action.replaces() {
			return dst, false
		}
		d = pl.d
	}
	out, is := d.mapBlock(b)
	if !is {
		return dst, false
	}
	quoted := func(dst []byte, a netip.Addr) []byte { return append(a.AppendTo(append(dst, '"')), '"') }
	dst = append(quoted(append(dst, s[0]), out.low), " TO "...)
	return append(quoted(dst, out.high), s[len(s)-1]), true
}
