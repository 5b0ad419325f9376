//go:build !amd64

package sanitize

// scansHits tells that there is a nearHits here.
const scansHits = false

func nearHits(*nearScan) {}

func nearAhead(*nearScan) {}
