package proxy

import (
	"math/bits"
	"sync"
)

const (
	minShift   = 12 // 4 KiB
	smallShift = 16 // 64 KiB: up to here sync.Pool keeps buffers
	maxShift   = 24 // 16 MiB: above it nothing is kept
)

// buffer is memory for one body or head, b its bytes in use.
type buffer struct{ b []byte }

// buffers hands out memory in powers of two. What it keeps above 64 KiB is
// bounded in bytes, since a sync.Pool of bodies holds as much as the worst
// moment of the last minutes needed. Where room is short, what has lain there for
// longest gives way: sizes that were in use once must not keep out those that are.
type buffers struct {
	limit int64
	small [smallShift - minShift + 1]sync.Pool

	mu    sync.Mutex
	held  int64 // bytes in large, at most limit
	puts  uint64
	large [maxShift - smallShift][]kept // by size; the last is given out first, so the first is the oldest
}

// kept is a buffer that waits to be used again.
type kept struct {
	*buffer
	at uint64 // of buffers.puts
}

func newBuffers(limit int64) *buffers { return &buffers{limit: limit} }

// get returns an empty buffer of room(n) bytes.
func (p *buffers) get(n int) *buffer {
	shift := shiftOf(n)
	switch {
	case shift <= smallShift:
		if v, ok := p.small[shift-minShift].Get().(*buffer); ok {
			return v
		}
	case shift <= maxShift:
		if v := p.pop(shift); v != nil {
			return v
		}
	}
	return &buffer{make([]byte, 0, room(n))}
}

// put takes a buffer back. Nobody may use it afterwards.
func (p *buffers) put(b *buffer) {
	if b == nil {
		return
	}
	n := cap(b.b)
	shift := shiftOf(n)
	if n != 1<<shift {
		return
	}
	b.b = b.b[:0]
	switch {
	case shift <= smallShift:
		p.small[shift-minShift].Put(b)
	case shift <= maxShift:
		p.push(shift, b)
	}
}

// steepAbove is where buffers grow fourfold: what they outgrow is kept for
// reuse, and by doubling that would be as much again as the largest.
const steepAbove = 1 << 20

// grown is how large a buffer to get in b's place, which has no room for more
// bytes; b is nil where there is none yet.
func grown(b *buffer, more int) int {
	if b == nil {
		return more
	}
	factor := 2
	if cap(b.b) >= steepAbove {
		factor = 4
	}
	return max(factor*cap(b.b), len(b.b)+more)
}

func (p *buffers) pop(shift int) *buffer {
	p.mu.Lock()
	defer p.mu.Unlock()
	class := &p.large[shift-smallShift-1]
	n := len(*class)
	if n == 0 {
		return nil
	}
	b := (*class)[n-1].buffer
	(*class)[n-1] = kept{}
	*class = (*class)[:n-1]
	p.held -= int64(cap(b.b))
	return b
}

func (p *buffers) push(shift int, b *buffer) {
	size := int64(cap(b.b))
	if size > p.limit {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.held+size > p.limit {
		p.forgetOldest()
	}
	p.held += size
	p.puts++
	class := &p.large[shift-smallShift-1]
	*class = append(*class, kept{b, p.puts})
}

// forgetOldest leaves a buffer to the garbage collector. There is one, and p.mu is held.
func (p *buffers) forgetOldest() {
	var oldest *[]kept
	for i := range p.large {
		if class := &p.large[i]; len(*class) > 0 && (oldest == nil || (*class)[0].at < (*oldest)[0].at) {
			oldest = class
		}
	}
	p.held -= int64(cap((*oldest)[0].b))
	(*oldest)[0] = kept{}
	*oldest = (*oldest)[1:]
}

// room is how many bytes a buffer for n has.
func room(n int) int {
	if shift := shiftOf(n); shift <= maxShift {
		return 1 << shift
	}
	return n
}

// shiftOf is the exponent of the smallest power of two that holds n.
func shiftOf(n int) int {
	return max(minShift, bits.Len(uint(max(n, 1)-1)))
}
