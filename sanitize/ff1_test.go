package sanitize

import (
	"crypto/aes"
	"encoding/hex"
	"testing"
)

// TestFF1Vectors holds the radix 10 samples of NIST SP 800-38G (FF1samples.pdf).
func TestFF1Vectors(t *testing.T) {
	const (
		key128 = "2B7E151628AED2A6ABF7158809CF4F3C"
		key192 = "2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F"
		key256 = "2B7E151628AED2A6ABF7158809CF4F3CEF4359D8D580AA4F7F036D6F04FC6A94"
		tweak  = "39383736353433323130"
	)
	for _, c := range []struct{ name, key, tweak, plain, want string }{
		{"sample 1", key128, "", "0123456789", "2433477484"},
		{"sample 2", key128, tweak, "0123456789", "6124200773"},
		{"sample 4", key192, "", "0123456789", "2830668132"},
		{"sample 5", key192, tweak, "0123456789", "2496655549"},
		{"sample 7", key256, "", "0123456789", "6657667009"},
		{"sample 8", key256, tweak, "0123456789", "1001623463"},
	} {
		t.Run(c.name, func(t *testing.T) {
			key, _ := hex.DecodeString(c.key)
			tw, _ := hex.DecodeString(c.tweak)
			block, err := aes.NewCipher(key)
			if err != nil {
				t.Fatal(err)
			}
			f := ff1{block: block, tweak: tw}
			got := []byte(c.plain)
			f.encrypt(got)
			if string(got) != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
