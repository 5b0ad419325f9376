package segment

import "time"

// Kinds of files, in Meta.Kind.
const (
	KindCapture  = "capture"
	KindOutcomes = "outcomes"
)

// Meta is what the header of a file says about the whole file, as JSON. This
// package sets Format, Created, Previous and reads Format; the rest it carries.
// A reader ignores fields it does not know.
type Meta struct {
	Format    int       `json:"format"`              // version of the byte layout
	Kind      string    `json:"kind"`                // capture or outcomes
	Created   time.Time `json:"created"`             // start of this file, UTC
	Capture   string    `json:"capture"`             // id of the capture: also the first part of the name
	Writer    string    `json:"writer"`              // id of the writer: also in the name
	Previous  string    `json:"previous,omitempty"`  // name of this writer's file before this one
	Encoding  string    `json:"encoding,omitempty"`  // what the lines are, such as ndjson/1
	Salt      string    `json:"salt,omitempty"`      // of the capture, hex
	KeyID     string    `json:"key_id,omitempty"`    // names the pseudonym key, does not give it away
	Rules     string    `json:"rules,omitempty"`     // hash of the sanitising rules
	Schema    string    `json:"schema,omitempty"`    // hash of the schema that the sanitiser knew fields by
	Scheme    string    `json:"scheme,omitempty"`    // version of the pseudonym scheme
	Preset    string    `json:"preset,omitempty"`    // name of the preset
	Sealed    []byte    `json:"sealed,omitempty"`    // the file's key, wrapped to the recipients (age)
	Plaintext bool      `json:"plaintext,omitempty"` // lines were not sanitised
	Source    *Source   `json:"source,omitempty"`    // cluster that the traffic went to
}

// Source names the cluster that was captured or, in an outcome file, replayed to.
type Source struct {
	UUID    string `json:"uuid,omitempty"`
	Version string `json:"version,omitempty"`
	Flavor  string `json:"flavor,omitempty"`
}
