package es

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// What was packed in any way comes back, whatever the Decoder read before.
func TestDecodeRoundTrip(t *testing.T) {
	d := Decoder{Max: 1 << 16}
	rapid.Check(t, func(rt *rapid.T) {
		plain := bytes.Repeat(rapid.SliceOfN(rapid.Byte(), 1, 200).Draw(rt, "plain"), rapid.IntRange(1, 300).Draw(rt, "times"))
		zl := zlibbed(t, plain)
		coding, body := "", plain
		switch rapid.IntRange(0, 4).Draw(rt, "coding") {
		case 1:
			coding, body = "gzip", gzipped(t, plain)
		case 2:
			coding, body = "deflate", zl
		case 3:
			coding, body = "deflate , x-gzip", gzipped(t, zl)
		case 4:
			coding, body = "gzip", append(gzipped(t, plain[:len(plain)/2]), gzipped(t, plain[len(plain)/2:])...) // RFC 1952: members in a row
		}
		cut := rapid.IntRange(0, len(body)-1).Draw(rt, "cut")
		if _, err := d.Decode("gzip", body[:cut]); coding == "gzip" && cut > 0 && cut < 18 && !errors.Is(err, ErrCut) {
			rt.Fatalf("cut at %d of %d: %v", cut, len(body), err)
		}
		got, err := d.Decode(coding, body)
		if len(plain) > d.Max && coding != "" {
			if !errors.Is(err, ErrTooLarge) {
				rt.Fatalf("%d bytes: %v", len(plain), err)
			}
			return
		}
		if err != nil || !bytes.Equal(got, plain) {
			rt.Fatalf("%q: %d bytes became %d, %v", coding, len(plain), len(got), err)
		}
		if coding == "" && &got[0] != &body[0] {
			rt.Fatal("a body without a coding was copied")
		}
	})
}

// FuzzDecode holds that no body makes Decode panic or exceed its bound.
func FuzzDecode(f *testing.F) {
	f.Add("gzip", gzipped(f, []byte("{}")))
	f.Add("deflate", zlibbed(f, []byte("{}")))
	f.Add("gzip,deflate", []byte("\x1f\x8b\x08\x04\x00\x00\x00\x00\x00\x00\xff\xff"))
	f.Add("deflate", []byte{0x63, 0x00})
	f.Fuzz(func(t *testing.T, coding string, body []byte) {
		d := Decoder{Max: 1 << 16}
		out, err := d.Decode(coding, body)
		if err == nil && len(out) > max(d.Max, len(body)) {
			t.Fatalf("%d bytes", len(out))
		}
		again, err2 := d.Decode(coding, body)
		if !errors.Is(err2, err) || err == nil && len(again) != len(out) {
			t.Fatalf("%v and then %v", err, err2)
		}
	})
}
