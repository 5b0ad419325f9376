package sanitize

// nameCache remembers names that stay, so that each is looked at once in a record:
// the post-check must know it, and what it is made of does not change.
type nameCache []nameEntry

type nameEntry struct {
	name  []byte
	stays bool
	round uint32 // of the post-check's set that the name was added to last
}

const (
	nameSlots = 1 << 9
	maxName   = 64
)

// known tells whether a name stays, by test, and adds it to the post-check's kept
// runs if it does.
func (w *Worker) known(cache nameCache, name []byte, test func(*Worker, []byte) bool) bool {
	if len(name) > maxName || len(name) == 0 {
		stays := test(w, name)
		if stays {
			w.post.keep(name)
		}
		return stays
	}
	h := w.post.kept.hash(name)
	e := &cache[h>>16&(nameSlots-1)]
	if string(e.name) != string(name) {
		e.name, e.stays, e.round = append(e.name[:0], name...), test(w, name), 0
	}
	if !e.stays && w.p.cfg.FieldNames == "drop-record" {
		return test(w, name)
	}
	if e.stays && e.round != w.post.kept.round {
		e.round = w.post.kept.round
		w.post.keep(name)
	}
	return e.stays
}

// keepField tells that a field's name is kept, and notes it.
func (w *Worker) keepField(name []byte) bool {
	return w.known(w.fieldNames, name, (*Worker).fieldStays)
}

// keepChosen is keepField for caller-chosen names.
func (w *Worker) keepChosen(name []byte) bool {
	return w.known(w.chosenNames, name, func(_ *Worker, name []byte) bool { return looksLikeSchema(name, "") })
}
