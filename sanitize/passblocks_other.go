//go:build !amd64

package sanitize

// passesBlocks tells that there is no passBlocks here.
func passesBlocks() bool { return false }

func passBlocks(*passScan) {}
