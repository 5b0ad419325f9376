package netio

import "errors"

// ErrSpoke says that the peer said something, or closed its side, before it was asked.
var ErrSpoke = errors.New("the peer spoke first")
