package replay

import (
	"strconv"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
)

// AppendOutcome appends o as one line of an outcome file, without the newline:
// the JSON that the tags of Outcome say, its fields in their order, without
// reflection. A run writes one for each request and its report reads each twice.
func AppendOutcome(dst []byte, o *Outcome) []byte {
	dst = strconv.AppendUint(append(dst, `{"seq":`...), o.Seq, 10)
	dst = strconv.AppendInt(append(dst, `,"t":`...), o.Time, 10)
	dst = strconv.AppendUint(append(dst, `,"conn":`...), o.Conn, 10)
	dst = appendString(dst, `,"op":`, o.Op)
	dst = appendString(dst, `,"class":`, o.Class)
	dst = appendText(dst, `,"shape":`, o.Shape)
	dst = appendText(dst, `,"index":`, o.Index)

	dst = appendText(dst, `,"refused":`, o.Refused)
	dst = appendText(dst, `,"shed":`, o.Shed)
	dst = appendText(dst, `,"err":`, o.Err)

	dst = appendNonZero(dst, `,"planned":`, o.Planned)
	dst = appendNonZero(dst, `,"ready":`, o.Ready)
	dst = appendNonZero(dst, `,"sent":`, o.Sent)
	dst = appendNonZero(dst, `,"first":`, o.First)
	dst = appendNonZero(dst, `,"done":`, o.Done)

	dst = appendNonZero(dst, `,"status":`, int64(o.Status))
	dst = appendSummary(dst, `,"got":`, o.Got)
	dst = appendNonZero(dst, `,"size":`, o.AnswerSize)

	dst = appendNonZero(dst, `,"src_status":`, int64(o.SourceStatus))
	dst = appendSummary(dst, `,"want":`, o.Want)
	dst = appendNonZero(dst, `,"src_wait":`, o.SourceWait)
	dst = appendNonZero(dst, `,"src_took":`, o.SourceTook)

	dst = appendTrue(dst, `,"exact_total":`, o.ExactTotal)
	dst = appendTrue(dst, `,"sorted":`, o.Sorted)
	dst = appendTrue(dst, `,"terminate_after":`, o.TerminateAfter)
	dst = appendText(dst, `,"fid":`, o.Fidelity)
	dst = appendText(dst, `,"fid_why":`, o.FidWhy)
	if o.Example != nil {
		dst = appendExample(append(dst, `,"example":`...), o.Example)
	}
	return append(dst, '}')
}

func appendExample(dst []byte, e *Example) []byte {
	dst = appendString(dst, `{"method":`, e.Method)
	dst = appendString(dst, `,"target":`, e.Target)
	dst = appendText(dst, `,"body":`, e.Body)
	dst = appendText(dst, `,"shape":`, e.Shape)
	return append(dst, '}')
}

func appendString(dst []byte, name, text string) []byte {
	return es.AppendQuoted(append(dst, name...), []byte(text))
}

func appendText(dst []byte, name, text string) []byte {
	if text == "" {
		return dst
	}
	return appendString(dst, name, text)
}

func appendNonZero(dst []byte, name string, v int64) []byte {
	if v == 0 {
		return dst
	}
	return strconv.AppendInt(append(dst, name...), v, 10)
}

func appendTrue(dst []byte, name string, v bool) []byte {
	if !v {
		return dst
	}
	return append(append(dst, name...), "true"...)
}

func appendSummary(dst []byte, name string, s *es.Summary) []byte {
	if s == nil {
		return dst
	}
	return capture.AppendSummary(append(dst, name...), s)
}

// OutcomeDecoder reads lines of outcome files. Its zero value is ready; it is
// used by one goroutine at a time and remembers the words that come again and
// again.
type OutcomeDecoder struct {
	d         capture.Decoder
	got, want *es.Summary // the last line's, to be used again
	example   *Example
}

// DecodeOutcome reads one line. Whoever reads many keeps an OutcomeDecoder.
func DecodeOutcome(line []byte, o *Outcome) error {
	var d OutcomeDecoder
	return d.Decode(line, o)
}

// Decode reads one line into o, replacing all that it held. Got, Want and
// Example are good until the next call: they are used again. Unknown fields are
// passed over; of a field that stands twice the last counts. An error wraps
// capture.ErrLine and does not quote the line.
func (d *OutcomeDecoder) Decode(line []byte, o *Outcome) error {
	*o = Outcome{}
	return d.d.Object(line, func(name []byte) error { return d.field(name, o) })
}

func (d *OutcomeDecoder) field(name []byte, o *Outcome) error {
	switch string(name) {
	case "seq":
		return d.d.Uint("seq", &o.Seq)
	case "t":
		return d.d.Int("t", &o.Time)
	case "conn":
		return d.d.Uint("conn", &o.Conn)
	case "op":
		return d.d.Word("op", &o.Op)
	case "class":
		return d.d.Word("class", &o.Class)
	case "shape":
		return d.d.Word("shape", &o.Shape)
	case "index":
		return d.d.Word("index", &o.Index)
	case "refused":
		return d.d.Word("refused", &o.Refused)
	case "shed":
		return d.d.Word("shed", &o.Shed)
	case "err":
		return d.d.Word("err", &o.Err)
	case "planned":
		return d.d.Int("planned", &o.Planned)
	case "ready":
		return d.d.Int("ready", &o.Ready)
	case "sent":
		return d.d.Int("sent", &o.Sent)
	case "first":
		return d.d.Int("first", &o.First)
	case "done":
		return d.d.Int("done", &o.Done)
	}
	return d.answerField(name, o)
}

func (d *OutcomeDecoder) answerField(name []byte, o *Outcome) error {
	switch string(name) {
	case "status":
		return d.d.Narrow("status", &o.Status)
	case "got":
		return d.summary("got", &d.got, &o.Got)
	case "size":
		return d.d.Int("size", &o.AnswerSize)
	case "src_status":
		return d.d.Narrow("src_status", &o.SourceStatus)
	case "want":
		return d.summary("want", &d.want, &o.Want)
	case "src_wait":
		return d.d.Int("src_wait", &o.SourceWait)
	case "src_took":
		return d.d.Int("src_took", &o.SourceTook)
	case "exact_total":
		return d.d.Bool("exact_total", &o.ExactTotal)
	case "sorted":
		return d.d.Bool("sorted", &o.Sorted)
	case "terminate_after":
		return d.d.Bool("terminate_after", &o.TerminateAfter)
	case "fid":
		return d.d.Word("fid", &o.Fidelity)
	case "fid_why":
		return d.d.Word("fid_why", &o.FidWhy)
	case "example":
		return d.readExample(o)
	}
	return d.d.Skip()
}

// summary reads into spare, which v then points to.
func (d *OutcomeDecoder) summary(name string, spare, v **es.Summary) error {
	*v = *spare
	err := d.d.Summary(name, v)
	if *v != nil {
		*spare = *v
	}
	return err
}

func (d *OutcomeDecoder) readExample(o *Outcome) error {
	o.Example = nil
	if d.example == nil {
		d.example = new(Example)
	}
	e := d.example
	*e = Example{}
	there, err := d.d.Members("example", func(name []byte) error {
		switch string(name) {
		case "method":
			return d.d.Word("method", &e.Method)
		case "target":
			return d.d.Text("target", &e.Target)
		case "body":
			return d.d.Text("body", &e.Body)
		case "shape":
			return d.d.Text("shape", &e.Shape)
		}
		return d.d.Skip()
	})
	if there {
		o.Example = e
	}
	return err
}
