package replay

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/esshadow/esshadow/internal/es"
)

// Veil takes from the outcomes of a sealed capture what could be read or guessed:
// digests of ids and names become digests under a key that only this run has,
// so that they still compare with each other and with nothing else.
type Veil struct{ mac hash.Hash }

// NewVeil draws the key of a run.
func NewVeil() (*Veil, error) {
	var key [32]byte
	if _, err := rand.Read(key[:]); err != nil {
		return nil, fmt.Errorf("veil: %w", err)
	}
	return &Veil{hmac.New(sha256.New, key[:])}, nil
}

// hide is used by one goroutine at a time.
func (v *Veil) hide(o *Outcome) {
	o.Example = nil
	o.Index = v.digest(o.Index)
	v.summary(o.Want)
	v.summary(o.Got)
}

func (v *Veil) summary(s *es.Summary) {
	if s == nil {
		return
	}
	for i, id := range s.IDs {
		s.IDs[i] = v.digest(id)
	}
	for i := range s.Aggs {
		s.Aggs[i].Path = v.digest(s.Aggs[i].Path)
	}
	for i := range s.Items {
		v.summary(&s.Items[i].Summary)
	}
}

// digest is 16 hex digits, as those of es.Digest; "" stays.
func (v *Veil) digest(text string) string {
	if text == "" {
		return ""
	}
	v.mac.Reset()
	_, _ = v.mac.Write([]byte(text))
	return hex.EncodeToString(v.mac.Sum(nil)[:8])
}
