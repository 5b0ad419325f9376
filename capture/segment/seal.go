package segment

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"
)

// A sealed file holds its blocks encrypted. A key of its own is wrapped to the
// recipients (age, X25519) in the file's header; each block is AES-256-GCM over
// its data frame, with the number of the block in the nonce and the block's
// header, but for what the ciphertext itself decides, as associated data, so that
// a block that was swapped, repeated or taken from elsewhere does not open.

// ErrSealed says that a block cannot be opened: no identity was given, none of
// those given fits, or the block was tampered with.
var ErrSealed = errors.New("sealed")

const (
	sealKeyLen  = 32
	maxSealText = 1 << 16 // longest wrapped key that is unwrapped
)

// sealer opens and closes the blocks of one file.
type sealer struct{ aead cipher.AEAD }

func newSealer(key []byte) (*sealer, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("seal: %w", err)
	}
	return &sealer{aead}, nil
}

// wrapKey makes the key of a file and its form in the header.
func wrapKey(recipients []age.Recipient) (*sealer, []byte, error) {
	key := make([]byte, sealKeyLen)
	if _, err := rand.Read(key); err != nil {
		return nil, nil, fmt.Errorf("seal: %w", err)
	}
	defer clear(key)
	var text bytes.Buffer
	w, err := age.Encrypt(&text, recipients...)
	if err == nil {
		_, err = w.Write(key)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("seal: wrap key: %w", err)
	}
	s, err := newSealer(key)
	return s, text.Bytes(), err
}

// unwrapKey opens the key of a file.
func unwrapKey(text []byte, identities []age.Identity) (*sealer, error) {
	if len(identities) == 0 {
		return nil, fmt.Errorf("%w: no identity is given", ErrSealed)
	}
	if len(text) > maxSealText {
		return nil, fmt.Errorf("%w: wrapped key is too long", ErrSealed)
	}
	r, err := age.Decrypt(bytes.NewReader(text), identities...)
	if err != nil {
		return nil, fmt.Errorf("%w: none of the identities opens it", ErrSealed)
	}
	key, err := io.ReadAll(io.LimitReader(r, sealKeyLen+1))
	defer clear(key)
	if err != nil || len(key) != sealKeyLen {
		return nil, fmt.Errorf("%w: the wrapped key is damaged", ErrSealed)
	}
	return newSealer(key)
}

// nonce is the number of the block; each file has a key of its own.
func (s *sealer) nonce(seq uint32) []byte {
	return binary.LittleEndian.AppendUint64(make([]byte, s.aead.NonceSize()-8, s.aead.NonceSize()), uint64(seq))
}

// seal encrypts the data frame b[start:] in place, inside a skippable frame.
func (s *sealer) seal(b []byte, start int, mark uint32, i BlockInfo) []byte {
	plain := b[start:]
	n := len(plain) + s.aead.Overhead()
	out := appendFrame(make([]byte, 0, sealedFixed+n), tagSealed, sealedFixed-frameLen+n)
	out = s.aead.Seal(out, s.nonce(i.Seq), plain, sealedHeader(mark, i))
	return append(b[:start], out...)
}

// open decrypts the frame of a block into dst; false: it is not what was sealed.
func (s *sealer) open(dst, frame []byte, mark uint32, i BlockInfo) ([]byte, bool) {
	if len(frame) < sealedFixed || !hasTag(frame, tagSealed) || wholeFrame(frame) != int64(len(frame)) {
		return dst, false
	}
	out, err := s.aead.Open(dst[:0], s.nonce(i.Seq), frame[sealedFixed:], sealedHeader(mark, i))
	return out, err == nil
}

// Recipients are whom blocks are sealed to.
type Recipients []age.Recipient

// Identities open sealed blocks.
type Identities []age.Identity

// WithRecipients seals the blocks to the recipients.
func WithRecipients(recipients Recipients) Option {
	return func(o *options) { o.recipients = recipients }
}

// WithIdentities opens sealed blocks. Without one that fits, a sealed file can be
// verified and repaired, and its lines are an error that matches ErrSealed.
func WithIdentities(identities Identities) ReadOption {
	return func(r *Reader) { r.identities = identities }
}

// ParseRecipients reads X25519 recipients (age1…).
func ParseRecipients(texts []string) (Recipients, error) {
	out := make(Recipients, 0, len(texts))
	for _, t := range texts {
		r, err := age.ParseX25519Recipient(t)
		if err != nil {
			return nil, fmt.Errorf("recipient %q: want an age X25519 recipient, age1…", t)
		}
		out = append(out, r)
	}
	return out, nil
}

// ParseIdentities reads an identity file as age-keygen writes it. Its errors do
// not quote it.
func ParseIdentities(text io.Reader) (Identities, error) {
	ids, err := age.ParseIdentities(text)
	if err != nil {
		return nil, errors.New("no age identities (AGE-SECRET-KEY-1…) in the file")
	}
	return ids, nil
}
