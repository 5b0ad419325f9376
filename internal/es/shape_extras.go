package es

// extras writes what else a search asks for.
func (f *Fingerprinter) extras(root int32) {
	t := &f.tree
	if t.is(root, ObjectStart) {
		for _, name := range [...]string{"search_after", "pit", "slice", "min_score", "terminate_after", "indices_boost", "script", "max_docs", "conflicts"} {
			if n := t.get(root, name); n != none && t.at(n).kind != Null {
				f.write(name)
				if name == "script" {
					f.out = f.out[:len(f.out)-len(name)]
					f.script(n)
				}
				f.write(" ")
			}
		}
		for _, name := range [...]string{"profile", "explain"} {
			if t.is(t.get(root, name), True) {
				f.write(name)
				f.write(" ")
			}
		}
	}
	f.returned(root)
	f.scripts(root)
	if n := t.get(root, "highlight"); n != none {
		f.kind("highlight")
		f.list("highlight", t.get(n, "fields"))
		f.write(" ")
	}
	if n := t.get(root, "collapse"); n != none {
		f.kind("collapse")
		f.write("collapse")
		f.hasField(n)
		f.write(" ")
	}
	f.rescore(t.get(root, "rescore"))
	f.suggest(t.get(root, "suggest"))
}

// returned writes how much of each hit is asked for.
func (f *Fingerprinter) returned(root int32) {
	t := &f.tree
	if src := t.get(root, "_source"); t.is(src, False) {
		f.write("_source=no ")
	} else if src != none && !t.is(src, True) {
		f.list("_source", src)
		f.write(" ")
	}
	for _, name := range [...]string{"fields", "docvalue_fields", "stored_fields", "fetch_fields"} {
		if n := t.get(root, name); n != none {
			f.list(name, n)
			f.write(" ")
		}
	}
}

// scripts writes fields that scripts compute: how many, and one digest of all
// sources.
func (f *Fingerprinter) scripts(root int32) {
	t := &f.tree
	for _, name := range [...]string{"runtime_mappings", "script_fields", "derived"} {
		n := t.get(root, name)
		if !t.is(n, ObjectStart) || t.at(n).first == none {
			continue
		}
		f.list(name, n)
		mark, start := f.beginSet(), len(f.out)
		for c := t.at(n).first; c != none; c = t.at(c).next {
			f.member()
			f.script(t.get(c, "script"))
		}
		if f.endSet(mark, ",") {
			sum := Digest(f.out[start:])
			f.out = append(f.out[:start], '#')
			f.write(sum[:8])
		}
		f.write(" ")
	}
}

func (f *Fingerprinter) rescore(n int32) {
	t := &f.tree
	if n == none {
		return
	}
	f.kind("rescore")
	f.write("rescore[")
	mark := f.beginSet()
	if t.is(n, ArrayStart) {
		for c := t.at(n).first; c != none; c = t.at(c).next {
			f.member()
			f.queries(t.get(t.get(c, "query"), "rescore_query"), 1)
		}
	} else {
		f.member()
		f.queries(t.get(t.get(n, "query"), "rescore_query"), 1)
	}
	f.endSet(mark, ", ")
	f.write("] ")
}

func (f *Fingerprinter) suggest(n int32) {
	t := &f.tree
	if !t.is(n, ObjectStart) {
		return
	}
	f.kind("suggest")
	f.write("suggest[")
	mark := f.beginSet()
	for c := t.at(n).first; c != none; c = t.at(c).next {
		for _, kind := range [...]string{"term", "phrase", "completion"} {
			if s := t.get(c, kind); s != none {
				f.member()
				f.write(kind)
				f.hasField(s)
			}
		}
	}
	f.endSet(mark, ", ")
	f.write("] ")
}
