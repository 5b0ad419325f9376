package capture

import "github.com/esshadow/esshadow/internal/es"

// Object reads a line that is no record but made of the same parts, as the
// outcomes of a run are. It calls member with the name of each member of the
// object; member has to take the value with one of the methods below, Skip for a
// name that it does not know. The name is valid until then. An error wraps
// ErrLine and does not quote the line.
//
// The methods below take the name again, for their errors. A null leaves what v
// points to as it is.
func (d *Decoder) Object(line []byte, member func(name []byte) error) error {
	d.tok.Reset(line)
	k, err := d.tok.Next()
	if err != nil || k.Kind != es.ObjectStart {
		return notLine(err)
	}
	if err = d.members(member); err == nil {
		_, err = d.tok.Next() // the end
	}
	if err != nil {
		return notLine(err)
	}
	return nil
}

// Members reads an object inside the line as Object reads the line. There is none
// where null stands.
func (d *Decoder) Members(name string, member func(name []byte) error) (there bool, err error) {
	if _, there, err = d.take(es.ObjectStart); there {
		err = d.members(member)
	}
	return there, at(name, err)
}

// Skip passes over a value.
func (d *Decoder) Skip() error { return d.skip() }

// Int reads a whole number.
func (d *Decoder) Int(name string, v *int64) error { return d.int(name, v) }

// Uint reads a whole number.
func (d *Decoder) Uint(name string, v *uint64) error { return d.uint(name, v) }

// Narrow reads a whole number.
func (d *Decoder) Narrow(name string, v *int) error { return d.narrow(name, v) }

// Bool reads true or false; null is false.
func (d *Decoder) Bool(name string, v *bool) error { return d.bool(name, v) }

// Text reads a string that differs from line to line.
func (d *Decoder) Text(name string, v *string) error { return d.text(name, v) }

// Word reads a string that is likely to come again: it is then the same.
func (d *Decoder) Word(name string, v *string) error { return d.word(name, v) }

// Summary reads what AppendSummary wrote, into what *v points to or, where that
// is nil, into a new one; null makes it nil.
func (d *Decoder) Summary(name string, v **es.Summary) error { return d.optSummary(name, v) }
