package sanitize

import (
	"bytes"
	"hash/maphash"
	"strings"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
)

// answered is the answer that a remembered request had the last time, if neither of
// them has a handle. While the index does not change, the next is the same but for the
// time that it took.
type answered struct {
	is      answerMark
	want    es.Summary
	encoded capture.Encoded // of want
	size    int             // bytes that this takes, about
}

// answerMark tells answers apart. The hash has a secret seed of this process, so that
// one answer is taken for another once in 2^64.
type answerMark struct {
	text   uint64 // hash of the body, without the number of took at its beginning
	size   int
	cut    bool // there was one
	status int
	media  string // Content-Type
}

const (
	memoAnswer    = 384      // bytes that a remembered answer takes besides its Summary, about
	memoAnswerMax = 64 << 10 // larger answers are not remembered
)

// mark is that of an answer without Content-Encoding.
func (m *memo) mark(x *capture.Exchange, rest []byte) answerMark {
	return answerMark{
		text: maphash.Bytes(m.seed, rest), size: len(rest),
		cut: len(rest) < len(x.Answer), status: x.Status, media: x.AnswerType,
	}
}

// splitTook cuts {"took":N off an answer that begins with it, as those of searches
// do. The rest begins behind the number. ok is false where no such number begins it.
func splitTook(answer []byte) (took int64, rest []byte, ok bool) {
	const head, digits = `{"took":`, 15
	if len(answer) < len(head) || string(answer[:len(head)]) != head {
		return 0, answer, false
	}
	i := len(head)
	for ; i < len(answer) && i < len(head)+digits && answer[i] >= '0' && answer[i] <= '9'; i++ {
		took = 10*took + int64(answer[i]-'0')
	}
	if i == len(head) || i == len(answer) || answer[i] != ',' || i > len(head)+1 && answer[len(head)] == '0' {
		return 0, answer, false
	}
	return took, answer[i:], true
}

// answeredAgain fills in what the answer says where the request at hand and its answer
// are remembered.
func (w *Worker) answeredAgain(rec *capture.Record, x *capture.Exchange) bool {
	a := &w.asking
	if a.recalled == nil || x.Status == 0 || len(x.Answer) == 0 || len(x.Answer) > memoAnswerMax || x.AnswerCoding != "" {
		return false
	}
	took, rest, cut := splitTook(x.Answer)
	a.took, a.answer = took, w.memo.mark(x, rest)
	known := a.recalled.answer
	if known == nil || known.is != a.answer {
		return false
	}
	rec.Want, rec.WantEncoded = known.again(took, cut), known.encoded
	return true
}

// rememberAnswer notes the answer to the request at hand, if that is remembered.
func (w *Worker) rememberAnswer(rec *capture.Record, x *capture.Exchange) {
	a, want := &w.asking, rec.Want
	if a.answer.size == 0 || len(rec.Handles) > 0 {
		return
	}
	if rest := x.Answer[len(x.Answer)-a.answer.size:]; a.answer.cut && (want.Took == nil || *want.Took != a.took || bytes.Contains(rest, []byte(`"took"`))) {
		return
	}
	w.memo.answer(a.hash, a.recalled, a.answer, want)
}

// again is the Summary of the same answer, which took another time where that was
// cut off its text.
func (a *answered) again(took int64, cut bool) *es.Summary {
	s := &struct {
		es.Summary
		took int64
	}{a.want, took}
	if cut {
		s.Took = &s.took
	}
	return &s.Summary
}

func (w *Worker) summarize(x *capture.Exchange) *es.Summary {
	return w.sum.Summarize(w.route.Op, x.Status, x.AnswerType, x.AnswerCoding, x.Answer, w.Mapper())
}

// answer notes the last answer to a remembered request.
func (m *memo) answer(h uint64, e *remembered, mark answerMark, want *es.Summary) {
	m.bytes -= e.size()
	mark.media = strings.Clone(mark.media)
	a := &answered{is: mark, want: *want, encoded: capture.EncodeWant(want)}
	a.size = memoAnswer + len(mark.media) + want.Size() + len(a.encoded)
	e.answer = a
	m.bytes += e.size()
	m.fit(h)
}
