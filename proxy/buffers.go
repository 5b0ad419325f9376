package proxy

import (
	"math/bits"
	"sync"
	"sync/atomic"
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
// moment of the last minutes needed.
type buffers struct {
	limit int64
	held  atomic.Int64
	small [smallShift - minShift + 1]sync.Pool

	mu    sync.Mutex
	large [maxShift - smallShift][]*buffer
}

func newBuffers(limit int64) *buffers { return &buffers{limit: limit} }

// get returns an empty buffer of at least n bytes.
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
	default:
		return &buffer{make([]byte, 0, n)}
	}
	return &buffer{make([]byte, 0, 1<<shift)}
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

// grow returns a buffer with b's bytes and room for more of them, and takes b
// back if it is another one.
func (p *buffers) grow(b *buffer, more int) *buffer {
	if cap(b.b)-len(b.b) >= more {
		return b
	}
	factor := 2
	if cap(b.b) >= steepAbove {
		factor = 4
	}
	g := p.get(max(factor*cap(b.b), len(b.b)+more))
	g.b = append(g.b, b.b...)
	p.put(b)
	return g
}

func (p *buffers) pop(shift int) *buffer {
	p.mu.Lock()
	defer p.mu.Unlock()
	class := &p.large[shift-smallShift-1]
	n := len(*class)
	if n == 0 {
		return nil
	}
	b := (*class)[n-1]
	(*class)[n-1] = nil
	*class = (*class)[:n-1]
	p.held.Add(-int64(cap(b.b)))
	return b
}

func (p *buffers) push(shift int, b *buffer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held.Load()+int64(cap(b.b)) > p.limit {
		return
	}
	p.held.Add(int64(cap(b.b)))
	class := &p.large[shift-smallShift-1]
	*class = append(*class, b)
}

// shiftOf is the exponent of the smallest power of two that holds n.
func shiftOf(n int) int {
	return max(minShift, bits.Len(uint(max(n, 1)-1)))
}
