package capture

import (
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestParseInt(t *testing.T) {
	check := func(t rapid.TB, text string) {
		want, err := strconv.ParseInt(text, 10, 64)
		if got, e := parseInt([]byte(text)); (e != nil) != (err != nil) || err == nil && got != want {
			t.Errorf("parseInt(%s) = %d, %v; want %d, %v", text, got, e, want, err)
		}
	}
	for _, text := range []string{"0", "-0", "1760000000123456789", "1.0", "1e3", "9999999999999999999", "-9999999999999999999", "18446744073709551616", "92233720368547758080"} {
		check(t, text)
	}
	for d := range uint64(3) {
		check(t, strconv.FormatUint(math.MaxInt64-1+d, 10))
		check(t, "-"+strconv.FormatUint(math.MaxInt64+d, 10))
	}
	rapid.Check(t, func(t *rapid.T) { check(t, strconv.FormatInt(rapid.Int64().Draw(t, "v"), 10)) })
}
