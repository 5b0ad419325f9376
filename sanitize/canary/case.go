package canary

import (
	"bufio"
	"bytes"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

//go:embed *.ndjson
var builtIn embed.FS

// What must become of a case.
const (
	ExpectAbsent   = "absent"            // the mark is nowhere; the record may be there
	ExpectEither   = "absent_or_dropped" // the same, said of cases that cannot be captured
	ExpectDropped  = "dropped"           // no record
	DirectionIn    = "request"           // marks are in the request
	DirectionOut   = "response"          // marks are in the answer
	DirectionLog   = "log"               // marks must not be in logs; as a request else
	encodingBase64 = "base64"
)

// Case is one exchange with marks in it.
type Case struct {
	Name         string            `json:"name"`
	Method       string            `json:"method,omitempty"`
	Path         string            `json:"path,omitempty"`
	Headers      map[string]string `json:"headers,omitempty"`
	Body         string            `json:"body,omitempty"`
	BodyEncoding string            `json:"body_encoding,omitempty"` // base64, else text
	Canaries     []string          `json:"canaries"`
	Position     string            `json:"position"`            // for people
	Direction    string            `json:"direction,omitempty"` // request where it is empty
	Expect       string            `json:"expect"`
	Status       int               `json:"status,omitempty"` // of the answer, direction response
	// Wire: Body is the whole request as it goes over the connection, for requests
	// that no client would make.
	Wire bool `json:"wire,omitempty"`
	// KeptIn names presets that keep the marked value on purpose, AnyPreset for all.
	KeptIn []string `json:"kept_in,omitempty"`
}

// AnyPreset stands for every preset in KeptIn.
const AnyPreset = "any"

// Keeps tells that a preset keeps the marked value on purpose.
func (c *Case) Keeps(preset string) bool {
	return slices.Contains(c.KeptIn, preset) || slices.Contains(c.KeptIn, AnyPreset)
}

// Bytes are the body.
func (c *Case) Bytes() ([]byte, error) {
	if c.BodyEncoding == encodingBase64 {
		return base64.StdEncoding.DecodeString(c.Body)
	}
	return []byte(c.Body), nil
}

// mistakes says what is wrong with a case.
func (c *Case) mistakes() error {
	var errs []error
	if c.Name == "" || len(c.Canaries) == 0 {
		errs = append(errs, errors.New("want a name and canaries"))
	}
	if !slices.Contains([]string{ExpectAbsent, ExpectEither, ExpectDropped}, c.Expect) {
		errs = append(errs, errors.New("expect: want absent, absent_or_dropped or dropped"))
	}
	if !slices.Contains([]string{"", DirectionIn, DirectionOut, DirectionLog}, c.Direction) {
		errs = append(errs, errors.New("direction: want request, response or log"))
	}
	if !c.Wire && (c.Method == "" || c.Path == "") {
		errs = append(errs, errors.New("want a method and a path"))
	}
	if _, err := c.Bytes(); err != nil {
		errs = append(errs, errors.New("body: not base64"))
	}
	return errors.Join(errs...)
}

// Read reads cases, one JSON object a line. Errors say the line; they quote
// nothing of it.
func Read(r io.Reader) ([]Case, error) {
	in := bufio.NewReader(r)
	var all []Case
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var c Case
			if json.Unmarshal(line, &c) != nil {
				return nil, fmt.Errorf("canary: line %d: not a case", n)
			}
			if err := c.mistakes(); err != nil {
				return nil, fmt.Errorf("canary: line %d: %w", n, err)
			}
			all = append(all, c)
		}
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("canary: %w", err)
		}
	}
}

// Cases are the built-in ones: written by hand first, then position by position.
func Cases() ([]Case, error) {
	var all []Case
	for _, name := range []string{"cases.ndjson", "positions.ndjson"} {
		f, err := builtIn.Open(name)
		if err != nil {
			return nil, fmt.Errorf("canary: %w", err)
		}
		cases, err := Read(f)
		_ = f.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, cases...)
	}
	return all, nil
}
