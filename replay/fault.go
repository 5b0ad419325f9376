package replay

import (
	"fmt"

	"go.uber.org/zap"

	"github.com/esshadow/esshadow/capture"
)

// Fault is why a mirrored request is shed that a fault of ours kept from being
// sent, and the class of one whose answer a fault kept from being read.
const Fault = "panic"

// survive is to be deferred. It keeps a panic in a live mirror from ending the
// process, which serves clients: after sees to the request at hand, and the first
// one is logged, by its type and place and never its value, which may quote what
// was sent. A replay has nobody else to spare: there the panic goes on.
func (e *Engine) survive(after func()) {
	if e.deps.Feed == nil {
		return
	}
	v := recover()
	if v == nil {
		return
	}
	if e.faulty.CompareAndSwap(false, true) {
		e.deps.Log.Error("panic in mirror, counted from now on", zap.String("type", fmt.Sprintf("%T", v)), zap.Stack("stack"))
	}
	after()
}

// fault settles an item that a panic stopped on its way: it was not sent, as far
// as is known, or nothing can be said of its answer.
func (e *Engine) fault(it *item) {
	o := &it.out
	if o.Sent != 0 {
		o.Err, o.Got = Fault, nil
		return
	}
	e.deps.Target.Release(&it.ans)
	o.Shed, o.Refused = Fault, ""
	if o.Planned == 0 {
		o.Planned = max(1, e.clock())
	}
}

// stopped is the item of a live request that cannot even be planned.
func (r *liveReader) stopped(q *Live) *item {
	it := &item{live: &Live{Done: q.Done}, due: max(1, r.e.clock())}
	it.out = Outcome{
		Seq: r.seq, Time: q.Record.Time, Conn: q.Record.Conn, Op: it.plan.op.String(), Class: it.plan.class.String(),
		Shed: Fault, Fidelity: capture.Broken, FidWhy: Fault,
	}
	r.planner = newPlanner(&r.e.cfg, r.planner.target) // what the fault left of the old one is not known
	r.planner.live = true
	return it
}
