package sanitize

import (
	"bytes"
	"hash/maphash"
	"strings"

	"github.com/esshadow/esshadow/capture"
	"github.com/esshadow/esshadow/internal/es"
)

// answered is the answer that a remembered request had the last time. While the
// index does not change, the next is the same but for the time that it took.
type answered struct {
	is   answerMark
	want es.Summary
	size int // bytes that this takes, about
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

// summary is the Summary of the answer to the request at hand.
func (w *Worker) summary(x *capture.Exchange) *es.Summary {
	e := w.asking.recalled
	if e == nil || len(x.Answer) > memoAnswerMax || x.AnswerCoding != "" {
		return w.summarize(x)
	}
	took, rest, cut := splitTook(x.Answer)
	mark := w.memo.mark(x, rest)
	if e.answer != nil && e.answer.is == mark {
		return e.answer.again(took, cut)
	}
	want := w.summarize(x)
	if !cut || want.Took != nil && *want.Took == took && !bytes.Contains(rest, []byte(`"took"`)) {
		w.memo.answer(w.asking.hash, e, mark, want)
	}
	return want
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
	e.answer = &answered{is: mark, want: *want, size: memoAnswer + len(mark.media) + want.Size()}
	m.bytes += e.size()
	m.fit(h)
}
