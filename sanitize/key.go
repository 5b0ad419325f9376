package sanitize

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
)

// Scheme is the version of how pseudonyms are made. It stands in every
// segment's header: equal scheme, key and scope give equal pseudonyms for ever.
const Scheme = 1

const keySize = 32

// Key is the secret that pseudonyms are made with. It prints as "[secret]" in
// every form, so that it cannot reach a log, a configuration dump or a file.
// The zero Key is none.
type Key struct {
	b         [keySize]byte
	set       bool
	ephemeral bool
}

// Errors of keys. They never quote the material.
var (
	ErrKeyMode = errors.New("key file may be read by others than its owner: chmod 600")
	ErrKeyForm = errors.New("key must be 64 hexadecimal digits (as openssl rand -hex 32 prints)")
	ErrKeyWeak = errors.New("key repeats one digit")
	ErrNoKey   = errors.New("no key")
)

// String keeps the key out of every log.
func (Key) String() string { return "[secret]" }

// GoString is String.
func (Key) GoString() string { return "[secret]" }

// Format prints [secret] whatever the verb is.
func (Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, "[secret]") }

// MarshalText keeps the key out of every text encoding, JSON included.
func (Key) MarshalText() ([]byte, error) { return []byte("[secret]"), nil }

// MarshalYAML keeps the key out of YAML.
func (Key) MarshalYAML() (any, error) { return "[secret]", nil }

// LoadKey reads a key file. On Unix the file must not be accessible to group
// or others.
func LoadKey(path string) (Key, error) {
	f, err := os.Open(path)
	if err != nil {
		return Key{}, fmt.Errorf("key file: %w", err)
	}
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil {
		return Key{}, fmt.Errorf("key file: %w", err)
	}
	if st.IsDir() {
		return Key{}, fmt.Errorf("key file: %s is a directory", path)
	}
	if runtime.GOOS != "windows" && st.Mode().Perm()&0o077 != 0 {
		return Key{}, fmt.Errorf("%s: %w", path, ErrKeyMode)
	}
	text, err := io.ReadAll(io.LimitReader(f, 4096))
	if err != nil {
		return Key{}, fmt.Errorf("key file: %w", err)
	}
	defer clear(text)
	k, err := ParseKey(text)
	if err != nil {
		return Key{}, fmt.Errorf("%s: %w", path, err)
	}
	return k, nil
}

// ParseKey reads the text of a key file; white space around it is allowed.
func ParseKey(text []byte) (Key, error) {
	text = bytes.TrimSpace(text)
	k := Key{set: true}
	if len(text) != 2*keySize {
		return Key{}, ErrKeyForm
	}
	if _, err := hex.Decode(k.b[:], text); err != nil {
		return Key{}, ErrKeyForm
	}
	if bytes.Count(text, text[:1]) == len(text) {
		return Key{}, ErrKeyWeak
	}
	return k, nil
}

// EphemeralKey makes a key that lives in this process only. Its pseudonyms
// agree with no other capture's and cannot be recomputed after the process ended.
func EphemeralKey() (Key, error) {
	k := Key{set: true, ephemeral: true}
	if _, err := rand.Read(k.b[:]); err != nil {
		return Key{}, fmt.Errorf("sanitize: make key: %w", err)
	}
	return k, nil
}

// Ephemeral tells that the key came from EphemeralKey.
func (k Key) Ephemeral() bool { return k.ephemeral }

// ID names the key without telling anything about it: 16 hex digits, the first
// 8 bytes of HMAC-SHA256(key, "key-id"). It is "" without a key.
func (k Key) ID() string {
	if !k.set {
		return ""
	}
	h := hmac.New(sha256.New, k.b[:])
	h.Write([]byte("key-id"))
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// derive makes the subkey of one primitive in one domain: HKDF-SHA256 (RFC
// 5869) with the capture's salt, or none, and info
// "esshadow/scheme1/<domain>/<primitive>". Errors cannot happen at these sizes.
func (k Key) derive(salt []byte, domain, primitive string, size int) ([]byte, error) {
	info := fmt.Sprintf("esshadow/scheme%d/%s/%s", Scheme, domain, primitive)
	sub, err := hkdf.Key(sha256.New, k.b[:], salt, info, size)
	if err != nil {
		return nil, fmt.Errorf("sanitize: derive key: %w", err)
	}
	return sub, nil
}
