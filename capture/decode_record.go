package capture

import "github.com/esshadow/esshadow/internal/es"

// field reads the value of one member of a line.
func (d *Decoder) field(name []byte, r *Record, gap *Gap) (err error) {
	switch string(name) {
	case "seq":
		return d.uint("seq", &r.Seq)
	case "kind":
		return d.word("kind", &r.Kind)
	case "t":
		return d.int("t", &r.Time)
	case "conn":
		return d.uint("conn", &r.Conn)
	case "n":
		return d.uint("n", &r.Request)
	case "op":
		return d.word("op", &r.Op)
	case "method":
		return d.word("method", &r.Method)
	case "target":
		return d.text("target", &r.Target)
	case "target64":
		d.buf, err = d.base64("target64", d.buf[:0])
		r.Target = string(d.buf)
		return err
	case "headers":
		return d.headers(r)
	case "body":
		r.Body, err = d.bytes("body", r.Body[:0])
		return err
	case "body64":
		r.Body, err = d.base64("body64", r.Body[:0])
		return err
	case "size":
		return d.sizes(r)
	case "wait":
		return d.int("wait", &r.Wait)
	case "took":
		return d.int("took", &r.Took)
	}
	return d.answerField(name, r, gap)
}

func (d *Decoder) answerField(name []byte, r *Record, gap *Gap) error {
	switch string(name) {
	case "status":
		return d.narrow("status", &r.Status)
	case "err":
		return d.word("err", &r.Err)
	case "want":
		r.Want = nil // the last record's may be kept by someone
		return d.optSummary("want", &r.Want)
	case "shape":
		return d.word("shape", &r.Shape)
	case "fid":
		return d.word("fid", &r.Fidelity)
	case "fid_why":
		return d.word("fid_why", &r.FidWhy)
	case "ids":
		return d.handles(r)
	case "reason":
		return d.word("reason", &gap.Reason)
	case "count":
		return d.uint("count", &gap.Count)
	case "from":
		return d.int("from", &gap.From)
	case "to":
		return d.int("to", &gap.To)
	}
	return d.skip()
}

func (d *Decoder) headers(r *Record) error {
	r.Header = r.Header[:0]
	return d.object("headers", func(name []byte) error {
		h := Header{Name: d.intern(name)}
		if err := d.word("value", &h.Value); err != nil {
			return err
		}
		r.Header = append(r.Header, h)
		return nil
	})
}

func (d *Decoder) sizes(r *Record) error {
	n := 0
	return d.array("size", func(k es.Token) error {
		v, err := d.intOf(k)
		switch n {
		case 0:
			r.BodySize = v
		case 1:
			r.AnswerSize = v
		}
		n++
		return err
	})
}

func (d *Decoder) handles(r *Record) error {
	r.Handles = r.Handles[:0]
	return d.array("ids", func(k es.Token) error {
		if k.Kind != es.ObjectStart {
			return errType
		}
		var h Handle
		err := d.members(func(name []byte) error {
			switch string(name) {
			case "kind":
				return d.word("kind", &h.Kind)
			case "dir":
				return d.word("dir", &h.Dir)
			case "id":
				return d.text("id", &h.ID)
			}
			return d.skip()
		})
		r.Handles = append(r.Handles, h)
		return err
	})
}
