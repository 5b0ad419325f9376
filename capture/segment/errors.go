package segment

import (
	"errors"
	"fmt"
)

// What can be wrong with a file, for errors.Is. The three are different on
// purpose: a torn file is repaired by cutting it, a corrupt one has good parts
// behind the damage and must not be cut, and one of a newer version is sound
// but not ours to judge.
var (
	ErrTorn    = errors.New("torn")
	ErrCorrupt = errors.New("corrupt")
	ErrVersion = errors.New("written by a newer version")
	ErrLimit   = errors.New("over the limit")
)

// What can be wrong while writing, for errors.Is.
var (
	ErrDiskLow = errors.New("free disk space is below the floor")
	ErrLine    = errors.New("line cannot be stored")
	ErrBusy    = errors.New("being written by another process")
	ErrGone    = errors.New("file was moved or removed while it was written")
	ErrClosed  = errors.New("writer is closed")
)

// TornError reports that a file ends within a part: everything before Offset is
// whole, nothing behind it is. errors.Is(err, ErrTorn) holds.
type TornError struct {
	Path   string
	Offset int64  // first byte that belongs to no whole part
	Why    string // constant text
}

func (e *TornError) Error() string { return place(e.Path, e.Offset) + "torn: " + e.Why }

// Is implements errors.Is.
func (e *TornError) Is(target error) bool { return target == ErrTorn }

// CorruptError reports damage with good parts behind it, or a file that is no
// segment at all. errors.Is(err, ErrCorrupt) holds.
type CorruptError struct {
	Path   string
	Offset int64
	Why    string // constant text
}

func (e *CorruptError) Error() string { return place(e.Path, e.Offset) + "corrupt: " + e.Why }

// Is implements errors.Is.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// VersionError reports a sound file that uses what this version does not know.
// errors.Is(err, ErrVersion) holds.
type VersionError struct {
	Path   string
	Offset int64
	What   string // such as "format version 2"
}

func (e *VersionError) Error() string {
	return place(e.Path, e.Offset) + "written by a newer version: " + e.What
}

// Is implements errors.Is.
func (e *VersionError) Is(target error) bool { return target == ErrVersion }

// LimitError reports a length in a sound file that is above what the reader was
// told to allocate. errors.Is(err, ErrLimit) holds.
type LimitError struct {
	Path   string
	Offset int64
	What   string // what is too long
	Length int64
	Limit  int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%s%s of %d bytes is over the limit of %d", place(e.Path, e.Offset), e.What, e.Length, e.Limit)
}

// Is implements errors.Is.
func (e *LimitError) Is(target error) bool { return target == ErrLimit }

// LostError is what the methods of Writer return when lines given to it will
// not be in any file: Records of them, Raw bytes long, because of Err. Every line offered
// to Append is, in the end, written (see OnWritten), lost (the sum of all
// LostErrors) or pending.
type LostError struct {
	Records uint64
	Raw     uint64
	Err     error
}

func (e *LostError) Error() string { return fmt.Sprintf("%d lines lost: %v", e.Records, e.Err) }

// Unwrap gives the reason.
func (e *LostError) Unwrap() error { return e.Err }

// Lost adds up the lines that err, which may join several errors, gives up.
func Lost(err error) uint64 {
	switch e := err.(type) { //nolint:errorlint // walks the whole tree itself, since errors.As finds only the first
	case nil:
		return 0
	case *LostError:
		return e.Records
	case interface{ Unwrap() error }:
		return Lost(e.Unwrap())
	case interface{ Unwrap() []error }:
		var n uint64
		for _, inner := range e.Unwrap() {
			n += Lost(inner)
		}
		return n
	}
	return 0
}

func place(path string, offset int64) string {
	return fmt.Sprintf("segment %s: offset %d: ", path, offset)
}
