// Package configs reads configuration files into the Config values of the
// packages that obey them. It is strict: an unknown key, a duplicate key or a
// value of the wrong kind is an error that shows the line and says what is
// allowed. It reads no file and no environment by itself.
package configs
