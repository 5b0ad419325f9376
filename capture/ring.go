package capture

// Ring is a queue that grows as it must: first in, first out, without moving what it
// holds. The zero value is empty. It is not safe for use by several goroutines.
type Ring[T any] struct {
	places []T
	head   int
	n      int
}

// minRing is how many places a Ring begins with.
const minRing = 64

// Len is how many there are.
func (r *Ring[T]) Len() int { return r.n }

// Push adds v as the last.
func (r *Ring[T]) Push(v T) {
	if r.n == len(r.places) {
		larger := make([]T, max(minRing, 2*len(r.places)))
		n := copy(larger, r.places[r.head:])
		copy(larger[n:], r.places[:r.head])
		r.places, r.head = larger, 0
	}
	r.places[(r.head+r.n)%len(r.places)] = v
	r.n++
}

// First is what Pop would remove; ok is false where there is none.
func (r *Ring[T]) First() (v T, ok bool) {
	if r.n == 0 {
		return v, false
	}
	return r.places[r.head], true
}

// Pop removes the first; ok is false where there is none. Nothing of it stays behind.
func (r *Ring[T]) Pop() (v T, ok bool) {
	if r.n == 0 {
		return v, false
	}
	var none T
	v, r.places[r.head] = r.places[r.head], none
	r.head = (r.head + 1) % len(r.places)
	r.n--
	return v, true
}
