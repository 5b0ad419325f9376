package netio

// Room has memory for a fetch: for what comes of a read on a connection that may wait
// for long.
type Room interface {
	// Take gives some, of one byte at least.
	Take() []byte
	// Give takes it back: nothing was read into it.
	Give()
}
