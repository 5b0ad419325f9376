package bytemask

// Eight bytes are looked at as one word: each byte of it is compared by an addition
// that sets its highest bit, and no carry leaves a byte.
const (
	EveryByte = 0x0101010101010101
	HighBits  = 0x8080808080808080
	LowerBits = 0x2020202020202020 // what makes ASCII letters lower case
)

// NotLetters has the highest bit set of each byte of w that is no ASCII letter.
// low is w with the letters in lower case; its other bytes mean nothing.
func NotLetters(w uint64) (stop, low uint64) {
	low = w | LowerBits
	x := low &^ HighBits
	letter := (x + EveryByte*(0x80-'a')) &^ (x + EveryByte*(0x80-('z'+1)))
	return (^letter | w) & HighBits, low
}

// NotDigits is NotLetters for ASCII digits.
func NotDigits(w uint64) (stop uint64) {
	x := w &^ HighBits
	digit := (x + EveryByte*(0x80-'0')) &^ (x + EveryByte*(0x80-('9'+1)))
	return (^digit | w) & HighBits
}

// gather makes eight bits of the highest bits of eight bytes.
func gather(w uint64) uint64 { return (w & HighBits >> 7) * 0x0102040810204080 >> 56 }

// zeroBytes has the highest bit set of each byte of w that is zero, and of no other.
func zeroBytes(w uint64) uint64 { return ^((w&^HighBits + ^uint64(HighBits)) | w) }

// Controls is 0 where none of eight bytes is an ASCII control character. Where one is, a
// bit of it is set, and perhaps of bytes above it.
func Controls(w uint64) (some uint64) {
	del := w ^ EveryByte*0x7f
	return ((w-EveryByte*' ')&^w | (del-EveryByte)&^del) & HighBits
}
