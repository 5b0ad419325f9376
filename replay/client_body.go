package replay

import (
	"errors"
	"io"
)

// readBody reads the whole body. It keeps what the bounds allow and goes on
// reading without keeping, so that the times stay true.
func (c *Client) readBody(r io.Reader, length int, ans *Answer) error {
	if r == nil || length == 0 {
		return nil
	}
	first := 4096
	if length > 0 {
		first = min(length, 64<<10)
	}
	if c.maxBody > 0 && int64(length) > c.maxBody {
		ans.Cut = cutTooLarge
	} else {
		c.grow(ans, first)
	}
	for {
		buf := ans.Body[len(ans.Body):cap(ans.Body)]
		if ans.Cut != "" {
			return c.discard(r, ans)
		}
		n, err := r.Read(buf)
		ans.Size += int64(n)
		ans.Body = ans.Body[:len(ans.Body)+n]
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case len(ans.Body) == cap(ans.Body):
			c.grow(ans, nextSize(cap(ans.Body), length))
		}
	}
}

// nextSize is the next size of the buffer for a body of the length given (-1:
// unknown). What a header promises is not allocated before half of it came.
func nextSize(size, length int) int {
	if next := 2 * size; length < size || next < length {
		return next
	}
	return length
}

// Why an answer's body was not kept.
const (
	cutTooLarge = "too_large"
	cutNoRoom   = "no_room"
)

func (c *Client) grow(ans *Answer, size int) {
	if c.maxBody > 0 && int64(size) > c.maxBody {
		if size = int(c.maxBody) + 1; cap(ans.Body) >= size {
			ans.Cut = cutTooLarge
			c.Release(ans)
			return
		}
	}
	if !c.room.try(int64(size)) {
		ans.Cut = cutNoRoom
		c.Release(ans)
		return
	}
	body := make([]byte, len(ans.Body), size)
	copy(body, ans.Body)
	c.Release(ans)
	ans.Body = body
}

// discard reads the rest without keeping it.
func (c *Client) discard(r io.Reader, ans *Answer) error {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		ans.Size += int64(n)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
