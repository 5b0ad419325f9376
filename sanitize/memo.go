package sanitize

import (
	"bytes"
	"hash/maphash"
	"math/bits"
	"strings"

	"github.com/esshadow/esshadow/capture"
)

// memo remembers what whole requests became. Dashboards, health checks and popular
// searches ask the same over and over, byte for byte; of such a request nothing but
// its headers and its answer has to be looked at again, and the answer only where it
// is another: see answered.
//
// What never comes again must not push out what does: a request is remembered when
// it comes for the second time. Where room is short any other is forgotten.
type memo struct {
	seed   maphash.Seed
	limit  int // bytes, 0 for no memo at all
	bytes  int
	byHash map[uint64]*remembered
	seen   []uint64 // a bit for each request met
	met    int      // bits that are set
}

// remembered is a request and what became of it.
type remembered struct {
	method, target string
	body           []byte // decoded
	op             string
	madeMethod     string
	madeTarget     string
	madeBody       []byte
	encodedBody    capture.Encoded
	madeNested     []byte // what of it lies encoded in the others
	shape          string
	fid            fidelity
	answer         *answered // the last one; nil: none that can be remembered
}

const (
	memoBody  = 16 << 10 // larger bodies, before or after, are not remembered
	memoEntry = 320      // bytes that an entry takes besides its texts, about
	memoSeen  = 1 << 18  // bits of seen, in use up to an eighth
)

func newMemo(limit int) *memo {
	m := &memo{seed: maphash.MakeSeed(), limit: limit}
	if limit > 0 {
		m.byHash, m.seen = make(map[uint64]*remembered), make([]uint64, memoSeen/64)
	}
	return m
}

func (m *memo) takes(target string, body []byte) bool {
	return m.limit > 0 && len(body) <= memoBody && len(target) <= memoBody
}

func (m *memo) hash(method, target string, body []byte) uint64 {
	h := maphash.Bytes(m.seed, body)
	h ^= bits.RotateLeft64(maphash.String(m.seed, target), 1)
	return h ^ bits.RotateLeft64(maphash.String(m.seed, method), 2)
}

// find is what became of a request, nil where that is not remembered.
func (m *memo) find(h uint64, method, target string, body []byte) *remembered {
	e := m.byHash[h]
	if e == nil || e.method != method || e.target != target || !bytes.Equal(e.body, body) {
		return nil
	}
	return e
}

// again tells whether a request was met before, not long ago; of one in eight that
// were not at most, it says so too.
func (m *memo) again(h uint64) bool {
	word, bit := &m.seen[h%memoSeen/64], uint64(1)<<(h%64)
	if *word&bit != 0 {
		return true
	}
	if m.met++; m.met > memoSeen/8 {
		clear(m.seen)
		m.met = 1
	}
	*word |= bit
	return false
}

func (e *remembered) size() int {
	n := memoEntry + len(e.target) + len(e.body) + len(e.madeTarget) + len(e.madeBody) + len(e.encodedBody) + len(e.madeNested)
	if e.answer != nil {
		n += e.answer.size
	}
	return n
}

// put remembers e, which must alias nothing that changes.
func (m *memo) put(h uint64, e *remembered) {
	m.forget(h) // another request of the same hash
	m.byHash[h] = e
	m.bytes += e.size()
	m.fit(h)
}

// fit forgets others than h until all fit. The order of a map is as good as any.
func (m *memo) fit(h uint64) {
	for other := range m.byHash {
		if m.bytes <= m.limit {
			return
		}
		if other != h {
			m.forget(other)
		}
	}
}

func (m *memo) forget(h uint64) {
	if e := m.byHash[h]; e != nil {
		m.bytes -= e.size()
		delete(m.byHash, h)
	}
}

// asking is the request at hand as the memo sees it.
type asking struct {
	hash     uint64 // 0: it is neither looked up nor remembered
	target   string // in origin form
	fid      fidelity
	recalled *remembered // nil where it is not
	answer   answerMark
	took     int64 // what the number that is cut off that answer says
	unlike   bool  // what becomes of it depends on more than itself, or is counted
}

// recall fills in what is remembered of the request at hand, whose headers are there
// already. Where one of them has a word of its own, nothing is: the post-check has to
// know whether the request has it too.
func (w *Worker) recall(rec *capture.Record, method, target string, body []byte) bool {
	w.asking = asking{}
	if w.noMemo || w.telling || !w.memo.takes(target, body) {
		return false
	}
	w.asking = asking{hash: w.memo.hash(method, target, body), target: target}
	e := w.memo.find(w.asking.hash, method, target, body)
	if e == nil {
		return false
	}
	w.asking.recalled = e
	w.fid = e.fid
	w.out = append(w.out[:0], e.madeTarget...)
	w.nested = append(w.nested[:0], e.madeNested...)
	rec.Op, rec.Method, rec.Target, rec.Shape = e.op, e.madeMethod, e.madeTarget, e.shape
	rec.Body, rec.BodyEncoded = append(rec.Body, e.madeBody...), e.encodedBody
	return true
}

// remember notes what the request at hand became, once the record has passed the
// post-check.
func (w *Worker) remember(rec *capture.Record, method string) {
	a := &w.asking
	if a.hash == 0 || a.recalled != nil || a.unlike || len(rec.Body) > memoBody || len(w.nested) > memoBody || !w.memo.again(a.hash) {
		return
	}
	both := append(append(make([]byte, 0, len(w.plainBody)+len(rec.Body)), w.plainBody...), rec.Body...)
	n := len(w.plainBody)
	w.memo.put(a.hash, &remembered{
		method: strings.Clone(method), target: strings.Clone(a.target), body: both[:n:n],
		op: rec.Op, madeMethod: rec.Method, madeTarget: rec.Target, madeBody: both[n:], encodedBody: capture.EncodeBody(both[n:]),
		madeNested: bytes.Clone(w.nested), shape: rec.Shape, fid: a.fid,
	})
}
